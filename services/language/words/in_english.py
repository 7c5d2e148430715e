"""Small words, verbs and times of a request in English, so that one grammar reads all languages.

Names and whatever else the table of a language does not have stay as they are. What comes out is
read by rules and never shown. Pure.
"""

import re
from calendar import month_name
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain

from data_models.values import ClosedValue
from services.language.words.detection import language_of
from services.language.words.folding import fold
from services.language.words.vocabulary import LANGUAGES, read_table, read_words

_READ_CHARS = 2_000
_TELLING_CHARS = 4
_NOT_AT_END = re.compile(r"(?<!\w)not(?=[\s,]*(?:please[\s,]*)?\Z)")
_REST = r"(?P<rest>[^.?!;\n]{1,160}?)"
_HOURS = ("one", "two", "three", "four", "five", "six",
          "seven", "eight", "nine", "ten", "eleven", "twelve")  # fmt: skip
_QUOTED = re.compile('["\u201c\u201e\u00ab][^"\u201c\u201d\u00bb\n]{1,200}["\u201d\u201c\u00bb]')
_DAY_OF_MONTH = re.compile(
    r"(?i)\b(on|due|until|am|bis|zum|den) ([1-9]|[12]\d|3[01])\.(1[0-2]|0?[1-9])(?!\d|[.:]\d)\.?"
)
_DOTTED_HOUR = re.compile(
    r"(?i)(?<![\d.])([01]?\d|2[0-3])\.([0-5]\d)(?= ?(?:uhr|h)\b| ?(?:-|–|bis) ?\d[\d.:]{0,4} ?uhr)"
)
_SPOKEN_HOUR = re.compile(
    r"(?i)\b(half past|(?<=\bat )half|(?:a )?quarter (?:past|to)|[1-5]?\d past)"
    rf" ([1-9]|1\d|2[0-3]|{'|'.join(_HOURS)})(?=\b|[ap]m\b)(?![:.]\d)"
)
_WORD = re.compile(r"[^\W\d_]+")
_DOTTED, _OF_HOURS = re.compile(r"\d\.\d"), frozenset({"half", "past", "quarter"})
_CLAUSE = re.compile(r"(?:[^.?!;\n]|(?<=\b\d)\.(?= \w+(?:tag|woch)\b))+")


class EnglishFor(ClosedValue):
    """What the phrases of a language are in English; the German file explains."""

    verbs: Mapping[str, tuple[str, ...]]
    apart: Mapping[str, tuple[str, ...]]
    words: Mapping[str, tuple[str, ...]]
    forms: Mapping[str, tuple[str, ...]]
    slips: Mapping[str, tuple[str, ...]] = {}


@lru_cache(maxsize=512)
def in_english(text: str, language: str = "") -> str:
    """Return `text` with what the table of its language has in English; quotes stay as they are.

    Args:
        language: Which it is in; "" to tell by its words.
    """
    text = with_months(text)
    # "in zwei Wochen": a small word of both languages, so the others tell.
    likely = language or _with_most_words(text)
    told = language or language_of(text[:_READ_CHARS], default=likely)
    told = told if told == "en" else likely or told
    if told not in LANGUAGES or told == "en":
        if _words_in(text).isdisjoint(_words_of_slips()):
            return text
        known = _put_right("words", "slips")
        return _said("words", "slips").sub(lambda one: known[one[0].casefold()], text)
    kept: list[str] = []

    def put_by(match: re.Match[str]) -> str:
        kept.append(match[0])
        return f" \x02{len(kept) - 1}\x02 "

    masked = _QUOTED.sub(put_by, text[:_READ_CHARS])
    english = _CLAUSE.sub(lambda clause: _clause(clause[0], told), masked)
    english = _SPOKEN_HOUR.sub(_as_clock, english)
    return re.sub(r" ?\x02(\d+)\x02 ?", lambda one: f" {kept[int(one[1])]} ", english).strip()


def with_months(text: str) -> str:
    """Return "am 3.12", "3. Dez." and "Dec 3rd" as "3 December", and "half past 2" as 2:30."""
    said, is_dotted = _words_in(text), _DOTTED.search(text) is not None
    text = _DOTTED_HOUR.sub(r"\1:\2", text) if is_dotted else text
    text = text if said.isdisjoint(_OF_HOURS) else _SPOKEN_HOUR.sub(_as_clock, text)
    if is_dotted:
        text = _DAY_OF_MONTH.sub(lambda one: f"{one[1]} {one[2]} {month_name[int(one[3])]}", text)
    if not is_dotted and said.isdisjoint(_months()):
        return text
    return _day_and_month().sub(
        lambda one: f"{one[1] or one[4]} {month_name[_months()[_letters(one[2] or one[3])]]}", text
    )


def _as_clock(said: re.Match[str]) -> str:
    named, part = said[2].casefold(), said[1].casefold()
    hour = int(named) if named.isdecimal() else _HOURS.index(named) + 1
    minute = 30 if part.startswith("half") else 15 if "quarter" in part else int(part.split()[0])
    return f"{(hour - 1) or 12}:{60 - minute}" if part.endswith("to") else f"{hour}:{minute:02}"


@cache
def _day_and_month() -> re.Pattern[str]:
    names = "|".join(sorted(_months(), key=len, reverse=True)).replace("marz", "m[aä]rz")
    day = r"([1-9]|[12]\d|3[01])"
    return re.compile(
        rf"(?i)(?<![\d./])\b{day}(?:st|nd|rd|th|\.(?! ?may\b))?(?: of)? ?({names})\b\.?"
        rf"|\b({names})\b\.? (?:the )?{day}(?:st|nd|rd|th)?\b"
        r"(?!\.\d|:| ?[-–] ?\d\d?(?::| ?uhr)| ?[ap]\.?m\b| ?uhr)"
    )


@cache
def _months() -> Mapping[str, int]:
    """Return the names of months in all languages, folded, with their numbers."""
    tables = (read_table(f"{language}/times")["months"] for language in LANGUAGES)
    return {name: at for table in tables for at, names in enumerate(table, 1) for name in names}


def spelt(text: str, *, default: str) -> str:
    """Return `text` with small English words as they are spelt: "wen was", "manny".

    Args:
        default: The language where `text` tells none.
    """
    if _said("slips").search(text) is None or language_of(text, default=default) != "en":
        return text
    return _said("slips").sub(lambda one: slips()[one[0].casefold()], text)


def slips() -> Mapping[str, str]:
    """Return small English words as people misspell them, and what each is."""
    return _put_right("slips")


@cache
def _put_right(*names: str) -> Mapping[str, str]:
    tables = (read_table("en/in_english")[name].items() for name in names)
    return {slip: right for right, some in chain(*tables) for slip in some}


@cache
def _said(*names: str) -> re.Pattern[str]:
    return re.compile(rf"(?i)\b(?:{'|'.join(_put_right(*names))})\b")


@cache
def _words_of_slips() -> frozenset[str]:
    return _words_in(" ".join(_put_right("words", "slips")))


@lru_cache(maxsize=4_096)
def is_word_of_request(word: str) -> bool:
    """Whether `word` is a verb by which somebody asks for something, in another language."""
    return _letters(word) in _verbs_of_all()


@cache
def _verbs_of_all() -> frozenset[str]:
    tables = [_table(language) for language in LANGUAGES if language != "en"]
    return frozenset(_letters(one) for each in tables for row in each.verbs.values() for one in row)


def _with_most_words(text: str) -> str:
    """Return the language whose words of requests a text holds most of; "" for none."""
    plain = _letters(text[:_READ_CHARS])
    others = [language for language in LANGUAGES if language != "en"]
    likely = [each for each in others if not _words_in(plain).isdisjoint(_telling_words(each))]
    counts = {language: len(_telling(language).findall(plain)) for language in likely}
    best = max(likely, key=lambda language: counts[language], default="")
    return best if counts.get(best) else ""


def _clause(text: str, language: str) -> str:
    # Letter by letter: the table is folded, and names keep their letters outside of it.
    plain = _letters(text)
    for pattern, put in _rules(language):
        plain = pattern.sub(put, plain)
    verb = _last_verb(language).search(plain)
    if verb is not None and not _begins_with_verb(language).match(plain):
        plain = f" {verb['verb']} {plain[: verb.start()]}{plain[verb.end() :]}"
    # "Sag den Termin nicht ab": a not behind everything refuses the whole.
    return plain if _NOT_AT_END.search(plain) is None else f" do not {_NOT_AT_END.sub('', plain)}"


def _letters(text: str) -> str:
    return fold(text)[0]


@lru_cache(maxsize=512)
def _words_in(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(_letters(text)))


_Put = str | Callable[[re.Match[str]], str]


@cache
def _rules(language: str) -> Sequence[tuple[re.Pattern[str], _Put]]:
    table = _table(language)
    found: list[tuple[re.Pattern[str], _Put]] = [
        (re.compile(form), put) for put, forms in table.forms.items() for form in forms
    ]
    for english, pairs in table.apart.items():
        for pair in pairs:
            first, _, last = pair.partition(" ... ")
            form = rf"(?<!\w){_plain(first)}(?!\w){_REST}(?<!\w){_plain(last)}(?!\w)"
            found.append((re.compile(form), rf"{english}\g<rest>"))
    known = {
        _letters(phrase): english
        for group in (table.verbs, table.words)
        for english, phrases in group.items()
        for phrase in phrases
    }
    longest = "|".join(_plain(one) for one in sorted(known, key=len, reverse=True))
    found.append(
        (
            re.compile(rf"(?<!\w)(?:{longest})(?!\w)"),
            lambda match: known[" ".join(match[0].split())],
        )
    )
    return found


def _plain(phrase: str) -> str:
    return re.escape(_letters(phrase)).replace(r"\ ", r"\s+")


@cache
def _verbs(language: str) -> str:
    return "|".join(map(re.escape, sorted({*_table(language).verbs}, key=len, reverse=True)))


@cache
def _last_verb(language: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?P<verb>{_verbs(language)})(?=[\s,]*(?:please[\s,]*)?\Z)")


@cache
def _begins_with_verb(language: str) -> re.Pattern[str]:
    return re.compile(rf"\W*(?:please\W+)?(?:{_verbs(language)})(?!\w)")


@cache
def _telling(language: str) -> re.Pattern[str]:
    forms = [
        rf"{_plain(first)}(?!\w)[^.!?]*(?<!\w){_plain(last)}" if last else _plain(first)
        for first, _, last in _phrases_of(language)
    ]
    return re.compile(rf"(?<!\w)(?:{'|'.join(forms)})(?!\w)")


@cache
def _telling_words(language: str) -> frozenset[str]:
    """Return the words of which a text has one where anything of the language stands in it."""
    each = (_words_in(f"{first} {last}") for first, _, last in _phrases_of(language))
    return frozenset(max(sorted(words), key=len) for words in each)


def _phrases_of(language: str) -> Iterator[tuple[str, str, str]]:
    """Yield what is not English too, the pieces of a verb, and the two of one together."""
    table = _table(language)
    groups = (table.verbs, table.words)
    every = {one for group in groups for row in group.values() for one in row}
    english = {word for group in groups for phrase in group for word in phrase.split()}
    pairs = [one.partition(" ... ") for each in table.apart.values() for one in each]
    for one in every.union(*((first, last) for first, _, last in pairs)):
        if one not in english and len(one) >= _TELLING_CHARS:
            yield one, "", ""
    yield from pairs


@cache
def _table(language: str) -> EnglishFor:
    return read_words(language, "in_english", EnglishFor)
