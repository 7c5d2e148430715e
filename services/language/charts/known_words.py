"""How much of a text a language knows by its own words for things of a chart. Pure."""

from services.language.charts.chart_words import lexicon
from services.language.words.folding import fold
from services.language.words.vocabulary import drug_classes

_ABBREVIATED_CHARS = 4


def names_in(words: str, language: str) -> bool:
    """Whether all that is named is named in a language's own words: "Windpocken?", and no "GGT".

    A drug is called so in any language, and a gene; a class of drugs has names of its own.
    """
    folded = fold(words)[0].replace("-", " ")
    pieces = lexicon(language).pieces(folded)
    # "Therapie" is no slip of English therapies.
    named = [one for one in pieces if one.text in folded and (one.of("name") or one.of("topic"))]
    named = [one for one in named if all(each.tool != "biomarkers" for each in one.of("topic"))]
    classes = {called for name, row in drug_classes().items() for called in (name, *row["words"])}
    is_class = {one.removesuffix("s").casefold() for one in classes}.__contains__
    telling = [
        any(is_class(each.name) for each in one.of("name"))
        or max(len(each) * each.isalpha() for each in one.words) > _ABBREVIATED_CHARS
        for one in named
        if all(each.tool != "medications" or is_class(each.name) for each in one.of("name"))
    ]
    return any(telling) and all(lexicon(language).is_own(one.words) for one in named)


def unknown_in(words: str, language: str) -> int:
    """Return how many words a language does not know: "Impfung komplett?" is no English."""
    pieces = lexicon(language).pieces(fold(words)[0])
    return sum(not one.labels and one.words[0].isalpha() for one in pieces)
