"""Words and numbers of a sentence in the form in which they are compared. Pure."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise, product

from services.language.figures.quantities import Quantity
from services.language.words.statement_phrases import FoundPhrase, said_by
from services.language.words.statement_tables import saying, stem
from services.language.words.statement_words import (
    StatementWords,
    is_clinical_name,
    statement_words,
)

SOURCE_TYPE = r"[A-Z][a-z][A-Za-z]{1,39}/(?!(?:volume|mass|area|time|moles)\b)"
"""`Hemoglobin [Mass/volume] in Blood` names a test and no source."""
_KNOWN_TYPE = (
    r"(?:[A-Z][a-z]+[A-Z][A-Za-z]{1,30}|Patient|Observation|Condition|Procedure|Encounter|Goal|Flag"
    r"|Immunization|Medication|Device|Coverage|Claim|Consent|Specimen|Appointment|Attachment|Guideline|Study)/"
)
# A drug of two is none: "Amoxicillin/clavulanate"; a type that nobody knows has a number behind it.
REFERENCE = re.compile(
    rf"\b(?:{_KNOWN_TYPE}|{SOURCE_TYPE}(?=[\w.-]*\d))[A-Za-z0-9][A-Za-z0-9.-]{{0,63}}"
)
_MARK = re.compile(rf"(?P<space> ?)\[(?P<source>{REFERENCE.pattern})\]")
ROMAN = re.compile(r"(?:IV|VI{0,3}|I{1,3}|V|IX|X)(?P<rest>[A-C]?[0-9]?)$")
_NUMERALS = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X")
_ARABIC = {roman: number for number, roman in enumerate(_NUMERALS, 1)}
_GRADED = re.compile(r"(?P<number>\d{1,2})(?P<rest>[A-Ca-c]?[0-9]?)$")
WORD = re.compile(r"[^\W_]+(?:[-'’.+][^\W_]+)*\+?|[,;()–—]")
"""A word, or a sign that parts clauses."""
_OF_WHOM = frozenset({"about_patient"})
_GENE = "EGFR"
_DOSE = "mg"
"""Behind it `ER` is how a tablet is made."""
_PER_VOLUME = frozenset({"dl", "l", "ml"})
_DASHES = frozenset({"–", "—"})
_BREAKS = frozenset({",", ";"}) | _DASHES
_RANGE_CHARS = 3
_LONG_CHARS = 8
_INFLECTED_CHARS = 6
_ENDINGS = ("en", "em", "es", "e")
_ADJECTIVES = ("er", "en", "em")
_BEFORE_ER = frozenset("tgv")  # "erhöhter", not "higher"
_BESIDE = frozenset(product(("with", "at", "in", "mit", "bei"), ("a", "an", "einer", "einem")))
_ENDING = frozenset({"ended", "begun"})
_SPAN_WORDS = 4
_BETWEEN = (["between"], ["zwischen"])


def numbered_marks(text: str, *, most: int) -> tuple[str, tuple[str, ...]]:
    """Return `text` with `[1]` for `[Observation/k-7]`, and the sources in their order.

    More text behind it changes no number. Beyond `most` sources there is no mark.
    """
    sources: dict[str, int] = {}

    def number(found: "re.Match[str]") -> str:
        position = sources.setdefault(found["source"], len(sources) + 1)
        return f"{found['space']}[{position}]" if position <= most else ""

    return _MARK.sub(number, text), tuple(sources)[:most]


def breaks_in(
    words: Sequence[tuple[int, str]],
    lower: Sequence[str],
    found: Sequence[FoundPhrase],
    quantities: Sequence[Quantity],
) -> list[int]:
    """Return the places, among the words of a sentence, at which its clauses begin."""
    breaks = [
        at
        for at, word in enumerate(lower)
        if word in _BREAKS
        and not (_is_in_number(words, at) or _is_range(words[at], quantities))
        and not [one for one in found if one.start < at < one.end - 1]
    ]
    splits = [one for one in found if "splits" in one.tags and not _joins_numbers(lower, one)]
    breaks += [one.start for one in splits if not _ends_a_span(lower[: one.start])]
    first = quantities[0].start if quantities else 1 << 30
    last = quantities[-1].start if quantities else 0
    same = [one for one in found if one.said.same]
    named = [one.start for one in same]
    # Another thing and its value: "heart failure with an EF of 37 %".
    breaks += [
        at - 2
        for at in named
        if at > 2 and words[at][0] < last and tuple(lower[at - 2 : at]) in _BESIDE
    ]
    breaks += _behind_pronouns(lower, found)
    breaks += _behind_polarities(lower, found)
    # "79 kg at 162 cm (BMI 30)": another thing, its value behind it.
    opened = [
        one.start
        for one in same
        if lower[one.start - 1] == "("
        and words[one.start][0] < last
        and (first < words[one.start][0] or _is_beside_another(one, same))
    ]
    breaks += opened
    # "(BMI 13.8) she had gained 2.7 kg": what follows is of something else.
    ends = ([n for n in range(at, len(lower)) if lower[n] == ")"][:1] for at in opened)
    return breaks + [end + 1 for each in ends for end in each if end + 1 < len(lower)]


def _behind_pronouns(lower: Sequence[str], found: Sequence[FoundPhrase]) -> Iterator[int]:
    """Yield where a clause on what was named begins.

    "A sprain that resolved within four weeks", "a woman who currently takes a pill".
    """
    for one in found:
        before = lower[max(0, one.start - 1) : one.start]
        if before and before[0] in saying("which") and not _ENDING.isdisjoint(one.tags):
            yield one.start - 1
        if "takes" in one.tags and "who" in lower[max(1, one.start - 2) : one.start]:
            yield max(at for at in range(one.start) if lower[at] == "who")


def _joins_numbers(lower: Sequence[str], one: FoundPhrase) -> bool:
    """Whether a word stands between two numbers, and no more of them: "cycles 3 and 4"."""
    near = lower[max(0, one.start - 2) : one.end + 1]
    return len(near) > _RANGE_CHARS and near[0].isalpha() and all(map(str.isdigit, near[1::2]))


def joints_in(lower: Sequence[str], named: Sequence[int]) -> Iterator[int]:
    """Yield the places at which what is told of one thing may end: those between two names.

    At a comma or an "and" it may end wherever they stand.
    """
    joints, splits = statement_words().joints, _BREAKS | {"and", "und", "sowie", "but", "aber"}
    between = {one for before, at in pairwise(named) for one in range(before + 1, at)}
    for at in range(1, len(lower)):
        if lower[at] in splits or (at in between and lower[at] in joints):
            yield at


def _is_beside_another(one: FoundPhrase, named: Sequence[FoundPhrase]) -> bool:
    """Whether something else is named before: "she is obese (BMI 34)"."""
    before = [each for each in named if each.start < one.start]
    return bool(before) and before[-1].said.same != one.said.same


def _behind_polarities(lower: Sequence[str], found: Sequence[FoundPhrase]) -> Iterator[int]:
    """Yield where what was tested ends and what it was found in begins: `PR negative carcinoma`."""
    polar = statement_words().polar
    if polar.isdisjoint(map(stem, lower)):
        return
    tested = [at for at, one in enumerate(lower) if stem(one) in polar]
    named = {at for one in found if one.said.same for at in range(one.start, one.end)}
    named |= {at for at, word in enumerate(lower) if is_clinical_name(stem(word))}
    for at in tested:
        ends = (end for end in range(at + 1, len(lower)) if lower[end] in _BREAKS)
        end = next(ends, len(lower))
        if at - 1 in named and any(at < place < end for place in named):
            yield at + 1


def _ends_a_span(before: Sequence[str]) -> bool:
    """Whether what follows ends a span that is told with both ends: "between 20.6 and"."""
    near = before[-_SPAN_WORDS:]
    is_span = any(one[0].isdigit() for one in near) or near[-1:] in _BETWEEN  # dates are no words
    return is_span and bool({"between", "zwischen"} & set(near))


def _is_in_number(words: Sequence[tuple[int, str]], at: int) -> bool:
    """Whether a comma stands in a number: `18,4`; or between days, which are no words."""
    if not 0 < at < len(words) - 1 or words[at][1] != ",":
        return False
    offset, before, behind = words[at][0], words[at - 1], words[at + 1]
    if before[1] in "(," and behind[1] in ",)":
        return True  # "(May 2021, June 2022)"
    is_tight = before[0] + len(before[1]) == offset and behind[0] == offset + 1
    return is_tight and before[1].isdigit() and behind[1][0].isdigit()


def _is_range(dash: tuple[int, str], quantities: Sequence[Quantity]) -> bool:
    """Whether a dash stands between two numbers: `130–134 mmol/L`."""
    at, sign = dash
    return sign in _DASHES and any(
        one.end <= at < other.start <= one.end + _RANGE_CHARS for one, other in pairwise(quantities)
    )


def placed(word: str) -> tuple[str, ...]:
    """Return a word of a place in the body in the words of records."""
    vocabulary = statement_words()
    if (side := vocabulary.sides.get(word)) is not None:
        return (side,)
    return vocabulary.places.get(word.removesuffix("s")) or vocabulary.places.get(
        word, (stem(word),)
    )


def allergen_in(words: Sequence[str]) -> tuple[str, ...]:
    """Return the stem of what stands before `allergy`, whatever it is: `latex allergy`."""
    known = statement_words()
    for before, word in () if saying("allergy").isdisjoint(words) else pairwise(words):
        is_named = word in saying("allergy") and before[0].isalpha() and before not in known.fillers
        if is_named and before not in known.phrases:
            return (stem(before),)
    return ()


def keep_comparisons(lower: list[str], words: Sequence[tuple[int, str]]) -> None:
    """Put back what stands before "als": in "niedriger als 5" nothing is called low."""
    for at in () if saying("than").isdisjoint(lower) else range(len(lower) - 1):
        if lower[at + 1] in saying("than"):
            lower[at] = words[at][1].lower()


@lru_cache(maxsize=20_000)
def base_form(word: str) -> str:
    """Return a word in lower case, one of German as it stands in the tables: `erhöht`."""
    known, word = statement_words(), word.lower().replace("’", "'")
    listed = f"{word[:-2]}e"  # "chronischer Sinusitis" is listed as "chronische Sinusitis"
    is_adjective = word.endswith(_ADJECTIVES) and len(word) >= _INFLECTED_CHARS
    if is_adjective and listed in known.exclusive:
        return listed
    if len(word) < _INFLECTED_CHARS or _is_in_tables(word, known):
        return word
    bases = [word.removesuffix(one) for one in _ENDINGS if word.endswith(one)]
    if word.endswith("er") and (word[-3] in _BEFORE_ER or len(word) > _LONG_CHARS):
        bases.append(word[:-2])
    if len(word) > _LONG_CHARS and word.endswith("s"):
        bases.append(word[:-1])  # "des Vorhofflimmerns"
    is_listed = is_adjective and stem(listed) in known.named
    bases.append(listed if is_listed else word)
    return next((one for one in bases if _is_in_tables(one, known)), bases[-1])


def _is_in_tables(word: str, known: StatementWords) -> bool:
    rows = known.phrases.get(word, ())
    stemmed = stem(word)
    is_alone = any(len(one.words) == 1 for one in rows)
    return is_alone or stemmed in known.exclusive or stemmed in known.happening


@lru_cache(maxsize=20_000)
def english_stem(word: str) -> str:
    """Return the stem of a word; of what was cut or is inflamed in English letters.

    `hemikolektomie`, `appendizitis`.
    """
    stemmed = stem(word)
    if not stemmed.endswith(("zitis", "ektomie")):
        return stemmed
    if stemmed.endswith("zitis"):
        return f"{stemmed[:-5].replace('k', 'c')}citis"
    return f"{stemmed[:-2].replace('k', 'c')}y"


def is_bold(line: str) -> bool:
    """Whether a line is all in bold letters: a heading."""
    line = line.strip()
    return len(line) > 4 and line[:2] == line[-2:] == "**" and "**" not in line[2:-2]


def graded(word: str) -> str:
    """Return a stage or grade in one form, `4B` for `IVB` and `4b`; "" where it is none."""
    if (roman := ROMAN.match(word)) is not None:
        number = word[: len(word) - len(roman["rest"])]
        return f"{_ARABIC[number]}{roman['rest']}"
    arabic = _GRADED.match(word.removeprefix("G") if word[1:2].isdigit() else word)
    return f"{int(arabic['number'])}{arabic['rest'].upper()}" if arabic else ""


def scale(word: str) -> str:
    """Return the English word of a scale."""
    return {"stadium": "stage", "ckd": "stage", "grad": "grade", "typ": "type"}.get(word, word)


def blank(found: re.Match[str]) -> str:
    """Return as many spaces as were found."""
    return " " * len(found.group())


def masked(text: str, spans: Collection[tuple[int, int]]) -> str:
    """Return `text` with spaces in the place of `spans`."""
    for start, end in spans:
        text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    return text


def without_refs(text: str, refs: Collection[str]) -> str:
    """Return `text` without source ids, their brackets too where nothing else is in them."""
    for ref in refs:
        bare = re.escape(ref)
        text = re.sub(rf"\s*[\[(]\s*(?:[Ss]ources?:?\s*)?{bare}\s*[\])]", "", text)
        text = re.sub(rf"[,;]?\s*\b{bare}(?![\w-])", "", text)
    return text


def runs_of(
    named: Mapping[int, str], meant: Mapping[int, tuple[str, ...]]
) -> Iterator[frozenset[str]]:
    """Yield the names that stand side by side."""
    run: list[str] = []
    before = -2
    for at in sorted({*named, *meant}):
        if at != before + 1 and len(run) > 1:
            yield frozenset(run)
        run = [*(run if at == before + 1 else ()), *(meant.get(at) or (named[at],))]
        before = at
    if len(run) > 1:
        yield frozenset(run)


def phrases_in(words: Sequence[tuple[int, str]], lower: Sequence[str]) -> list[FoundPhrase]:
    """Return the phrases in words; "he got" and "72 Jahre alt" name no test, "er" says who."""
    found, months = [], statement_words().months
    for one in statement_words().found_in(lower):
        if one.start and lower[one.start] in months and words[one.start][1].istitle():
            continue  # "in May" says of nothing that it may be
        if not one.said.same or _is_written_so(words[one.start][1], one, lower):
            found.append(one)
        elif tags := one.tags & _OF_WHOM:
            found.append(FoundPhrase(one.start, one.end, tags, said_by(tags)))
    return found


def _is_written_so(word: str, phrase: FoundPhrase, lower: Sequence[str]) -> bool:
    """Whether a short name is in capitals, where it is also a word of a language.

    Beside a dose it says how a tablet is made: "500 mg ER", "ER 100 mg".
    """
    behind = lower[phrase.end : phrase.end + 3]
    if word == _GENE:  # of a filtration rate there is a number
        return "exon" not in behind and any(one[0].isdigit() for one in behind[:2])
    if "in_capitals" not in phrase.tags and word.lower() not in statement_words().in_capitals:
        return True
    before = lower[max(0, phrase.start - 1)]
    is_dose = _DOSE in behind[:2] and _PER_VOLUME.isdisjoint(behind)
    is_of_drug = before == _DOSE or before.isdigit() or is_dose
    return word.isupper() and not is_of_drug


def over_behind(first_name: int, phrases: Iterable[FoundPhrase]) -> frozenset[str]:
    """Return the cue of words for an end that stand behind what has ended: "X was stopped"."""
    ends = [one.start for one in phrases if "ended" in one.tags]
    return frozenset({"over_behind_name"} if ends and min(ends) > first_name else ())


def called_in(stems: Mapping[int, str], phrases: Iterable[FoundPhrase]) -> frozenset[str]:
    """Return the stems of the words of names: `high`, `blood`, `pressure` of hypertension."""
    named = (one for one in phrases if one.said.same or one.said.means)
    places = (range(one.start, one.end) for one in named)
    return frozenset(stems[at] for place in places for at in place if at in stems)


def exclusive_in(stems: Mapping[int, str], phrases: Iterable[FoundPhrase]) -> tuple[str, ...]:
    """Return the words of which one holds; "chronic conditions" is of a kind, "ihr Mann" of kin."""
    kinds = [range(p.start, p.end) for p in phrases if p.said.topics or "errands" in p.tags]
    groups = statement_words().exclusive
    return tuple(w for at, w in stems.items() if w in groups and not any(at in k for k in kinds))
