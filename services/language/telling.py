"""Whether a message tells something and asks nothing: "she gets short of breath on stairs". Pure.

What is told is kept as the user's words; it is no question to the record. Only plain sentences of
a subject with its verb behind it, a value behind its name ("K 6.1, called by the lab") and a dose
that was given count: "her potassium" and "is she dizzy" ask.
"""

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, Field

from data_models.values import ClosedValue
from services.language.chart_nouns import chart_nouns, measured_nouns
from services.language.commands import behind_retraction
from services.language.folding import words_of
from services.language.held_forms import grammars
from services.language.held_statements import behind_corrections
from services.language.name_kinds import kind_of_name
from services.language.people_words import of_people
from services.language.quantities import Quantity, quantities_in
from services.language.statement_tables import stem
from services.language.statement_words import statement_words
from services.language.text_words import asks_question, sentences_in
from services.language.vocabulary import LANGUAGES, read_words

_Openers: TypeAlias = tuple[tuple[str, ...], ...]
_LONGEST_SUBJECT, _LONGEST_THING = 5, 3
_ADVERBS_LIMIT = 2


def _folded(phrases: Sequence[str]) -> _Openers:
    return tuple(sorted((tuple(words_of(each)) for each in phrases), key=len, reverse=True))


def _single(phrases: Sequence[str]) -> frozenset[str]:
    return frozenset(word for each in phrases for word in words_of(each))


_Phrases: TypeAlias = Annotated[_Openers, BeforeValidator(_folded)]
_Words: TypeAlias = Annotated[frozenset[str], BeforeValidator(_single)]


class TellingWords(ClosedValue):
    """The words of one language that a told sentence begins with; the English file explains."""

    leads: _Phrases
    persons: _Phrases
    owners: _Phrases
    verbs: _Phrases
    endings: tuple[str, ...] = Field(description="Of further verbs, right behind a person.")
    own_persons: _Phrases
    own_verbs: _Phrases
    adverbs: _Phrases
    asking: _Phrases
    contracted: _Words = Field(frozenset(), description="A person with `is` grown to it.")
    between: _Phrases = Field((), description="Between a name and its value.")
    behind: _Phrases = Field((), description="Behind a value that is told.")
    given: _Words = Field(frozenset(), description="What says of a dose that it was given.")
    alone: _Phrases = Field((), description="Verbs before which nobody needs to be named.")
    open_words: _Words = Field(frozenset(), description="With a verb alone they ask: `takes any`.")
    of_things: _Phrases = Field((), description="Verbs behind the name of what a chart holds.")
    tags: _Phrases = Field((), description="Behind what somebody else says.")


_PATIENT = "patient"
"""What stands where the name of the subject stood."""
_NOBODY = (("there",), ("es",))
_TIMES = frozenset({"a", "mo", "wk", "d", "h", "min", "s"})
_YEARS = range(1900, 2100)


def is_told(text: str) -> bool:
    """Whether each line of `text` is a sentence that tells something, in any language."""
    lines = [line for line in text.splitlines() if line.strip()]
    return bool(lines) and "?" not in text and all(map(_is_line_told, lines))


@lru_cache(maxsize=1_000)
def told_in(text: str) -> Sequence[str]:
    """Return what `text` tells: all of it, or what stands beside a wish, a question, a "no"."""
    said = behind_retraction(text) or text
    if is_told(said):
        return (said,)
    sentences = (one for one in sentences_in(said.replace("; ", ", ")) if "?" not in one)
    clauses = (
        [one] if is_told(one) else [each for by in grammars() for each in by["joins"].split(one)]
        for one in sentences
    )
    return list(dict.fromkeys(each for some in clauses for each in some if is_told(each)))


def _is_line_told(text: str) -> bool:
    words, quantities = words_of(text), quantities_in(text)
    is_asked = any(map(asks_question, text.split(", ")[1:]))  # "knee pain, what does he take"
    split = (by["joins"].split(text) for by in grammars())  # "potassium, and is she on insulin"
    is_asked |= any(any(map(asks_question, b)) and not _is_line_told(a) for a, *b in split)
    return not is_asked and any(
        _tells(words, phrases)
        or (bool(quantities) and _tells_a_value(text, quantities[0], phrases))
        or (bool(quantities) and _tells_a_dose(text, words, quantities, phrases))
        or _is_tagged(words, phrases)
        for phrases in map(_phrases, LANGUAGES)
    )


@lru_cache(maxsize=1_000)
def puts_right_what_was_told(text: str) -> bool:
    """Whether `text`, right behind what was told, puts it right; "sorry, show the CT" does not."""
    return "?" not in text and any(
        (len(said := words_of(rest)) > 1 or quantities_in(rest))
        and said[0] not in statement_words().imperatives
        and not asks_question(rest)
        for rest in behind_corrections(text)
    )


def is_other_figure(text: str, told: str) -> bool:
    """Whether `text` is but a figure in place of one of `told`, whatever was asked since."""
    rest, units = next(behind_corrections(text), ""), {one.unit for one in quantities_in(told)}
    return rest[:1].isdecimal() and {one.unit for one in quantities_in(rest)} - units in (
        {""},
        set(),
    )


@cache
def _phrases(language: str) -> TellingWords:
    return read_words(language, "telling", TellingWords)


@cache
def _asking() -> frozenset[str]:
    """Return the single words that ask, in any language."""
    every = map(_phrases, LANGUAGES)
    return frozenset().union(
        *({*one.open_words, *(" ".join(each) for each in one.asking)} for one in every)
    )


def _is_tagged(words: Sequence[str], phrases: TellingWords) -> bool:
    """Whether somebody is said to say so, and nothing is asked: "no allergies, she says"."""
    if not words or (words[0],) in phrases.asking or words[0] in statement_words().imperatives:
        return False
    return any(tuple(words[-len(tag) :]) == tag for tag in phrases.tags)


def _tells(words: Sequence[str], phrases: TellingWords) -> bool:
    words = _without(words, phrases.leads, most=len(words))
    if not words or ((words[-1],) in phrases.asking and (words[-1],) not in phrases.verbs):
        return False  # "…, right" asks; "…, dass sie es nicht nimmt" ends with its verb
    if _tells_alone(words, phrases):
        return True
    if (words[0],) in phrases.asking:
        return False
    if words[0] in phrases.contracted:
        return len(words) > 1
    if (behind := _behind(words, phrases.own_persons)) is not None:
        return _behind(_without(behind, phrases.adverbs), phrases.own_verbs) is not None
    return _tells_of_somebody(words, phrases) or _tells_of_a_thing(words, phrases)


def _tells_of_somebody(words: Sequence[str], phrases: TellingWords) -> bool:
    if (behind := _behind(words, phrases.persons)) is not None:
        # "Ada Byron is her hb low" asks of whom it names.
        asks = words[0] == _PATIENT and (*behind[:1],) in phrases.asking and len(behind) > 2
        asked = (*phrases.persons, *phrases.owners, *_NOBODY)
        return not (asks and _behind(behind[1:], asked)) and _has_its_verb(behind, phrases)
    kin, owned = _behind_kin(words), _behind(words, phrases.owners)
    if kin and (_has_its_verb(kin, phrases) or _noun_in(kin, phrases.verbs, phrases, most=1)):
        return True  # also with a name: "niece Carla is POA"
    return owned is not None and bool(_noun_in(owned, phrases.verbs, phrases))


def _tells_of_a_thing(words: Sequence[str], phrases: TellingWords) -> bool:
    """Whether the verb stands behind what a chart holds: "lasix went up to 80"."""
    named = _noun_in(words, phrases.of_things, phrases, most=_LONGEST_THING)
    is_known = any(one in chart_nouns() or kind_of_name(stem(one)) for one in named)
    return is_known and named[0] not in statement_words().imperatives


def _has_its_verb(behind: Sequence[str], phrases: TellingWords) -> bool:
    rest = _without(behind, phrases.adverbs)
    is_verb = len(rest) > 1 and rest[0].endswith(phrases.endings)
    return is_verb or _behind(rest, phrases.verbs) is not None


def _behind_kin(words: Sequence[str]) -> Sequence[str] | None:
    """Return what stands behind a relative or one of the staff: "twin sister has", "the nurse"."""
    determined = of_people("definite", "owners")
    named = words[1:] if words[0] in determined else words
    people = of_people("staff", "relatives")
    at = max((at for at, each in enumerate(named[:2]) if each in people), default=None)
    return None if at is None else named[at + 1 :]


def _tells_alone(words: Sequence[str], phrases: TellingWords) -> bool:
    """Whether it names nobody: "lives alone", "not on insulin", "stopped his metformin"."""
    is_open = not phrases.open_words.isdisjoint(words)
    if (behind := _behind(words, phrases.alone)) is not None:
        is_sure = len(words) - len(behind) > 1 and (words[0],) not in phrases.asking
        return bool(behind) and (is_sure or not is_open)
    behind = _behind(words, phrases.own_verbs) or ()
    return _behind(behind, phrases.owners) is not None and not is_open


def _tells_a_value(text: str, value: Quantity, phrases: TellingWords) -> bool:
    """Whether a value stands behind the name of what is measured: "Doyle: K 6.1", "BP 90/60"."""
    if _is_a_time(text, value):
        return False
    before = _without(words_of(text[: value.start]), phrases.leads)
    before = before[1:] if before[:1] == [_PATIENT] else before
    name, *between = before or [""]
    rest = text[value.end :].strip()
    first = words_of(rest)[:1]
    is_detail = rest[:1].isalpha() and (_asking() | chart_nouns()).isdisjoint(words_of(rest))
    is_end = not first or rest[0] in ",;.(" or (*first,) in phrases.behind or is_detail
    is_named = name in measured_nouns() and not _without(between, phrases.between)
    orders = statement_words().imperatives
    clauses = (words_of(each)[:1] for by in grammars() for each in by["joins"].split(f" {rest}"))
    asks_too = any(one and (one[0] in orders or (*one,) in phrases.asking) for one in clauses)
    return is_named and is_end and not asks_too


def _tells_a_dose(
    text: str, words: Sequence[str], quantities: Sequence[Quantity], phrases: TellingWords
) -> bool:
    """Whether it is said that a dose was given: "morphine 5 mg iv given at 23:10"."""
    if phrases.given.isdisjoint(words):
        return False
    told = [one for one in quantities if not _is_a_time(text, one)]
    is_of_drug = any(kind_of_name(stem(each)) == "medication" for each in words)
    is_dose = any(one.unit for one in told) or bool(told and is_of_drug)
    return is_dose and _asking().isdisjoint((words[0], words[-1]))


def _is_a_time(text: str, value: Quantity) -> bool:
    year = text[value.start : value.end].rpartition(".")[2]  # also of "03.2019"
    is_year = not value.unit and year.isdecimal() and int(year) in _YEARS
    return is_year or value.unit in _TIMES


def _noun_in(
    words: Sequence[str], verbs: _Openers, phrases: TellingWords, *, most: int = _LONGEST_SUBJECT
) -> Sequence[str]:
    """Return the noun of a few words with a verb behind it: "left leg" is swollen."""
    asking = (at for at, word in enumerate(words) if (word,) in phrases.asking)
    longest = min(most, next(asking, len(words)))  # "his eGFR when CKD was found"
    sizes = range(1, longest + 1)
    told = (n for n in sizes if _behind(_without(words[n:], phrases.adverbs), verbs) is not None)
    return words[: next(told, 0)]


def _behind(words: Sequence[str], openers: _Openers) -> Sequence[str] | None:
    """Return what stands behind the first of `openers` that begins `words`, if one does."""
    for opener in openers if words else ():
        if opener[0] == words[0] and tuple(words[: len(opener)]) == opener:
            return words[len(opener) :]
    return None


def _without(
    words: Sequence[str], openers: _Openers, *, most: int = _ADVERBS_LIMIT
) -> Sequence[str]:
    for _ in range(most):
        if (behind := _behind(words, openers)) is None:
            break
        words = behind
    return words
