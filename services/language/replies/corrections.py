"""Whether a message takes back an answer or a consent. Rules over words; pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from data_models.values import ClosedValue
from services.language.words.folding import words_of
from services.language.words.vocabulary import LANGUAGES, folded, read_words, replies

LONGEST_CHARS = 160
_PART = r"[^\n?]{1,80}?"


class CorrectionWords(ClosedValue):
    """The words of one language; the English file explains."""

    leads: tuple[str, ...]
    takes_back: tuple[str, ...]
    not_words: tuple[str, ...]
    but_words: tuple[str, ...]
    wrong: tuple[str, ...]
    then: tuple[str, ...]
    instead: tuple[str, ...]
    changes: tuple[str, ...]
    to_words: tuple[str, ...]
    is_words: tuple[str, ...]
    articles: tuple[str, ...]
    answers: tuple[str, ...]
    last: tuple[str, ...]
    consents: tuple[str, ...]
    revokes: tuple[str, ...]
    revoked: tuple[str, ...]
    denials: tuple[str, ...]
    conditions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Correction:
    """What a message says of an answer that was given before.

    Attributes:
        what: The words that name the answer; "" if none do.
        nth: Its number among the answers, from 1; -1 for the last one; 0 if none is said.
        old: The value that was wrong, as it was said; "" if it was not.
        new: The value that is right, as it was said; "" if it was not.
        is_sure: Whether the words can be nothing but a correction.
        is_bare: Whether it is no more than a value behind a "no": of what was said last.
    """

    what: str = ""
    nth: int = 0
    old: str = ""
    new: str = ""
    is_sure: bool = False
    is_bare: bool = False


@lru_cache(maxsize=1_000)
def correction_in(text: str) -> Correction | None:
    """Return the correction that the whole of `text` is, or may be; None if it is none."""
    words = " ".join(text.replace("’", "'").replace("'", "").split()).rstrip(".!")
    if not words or len(words) > LONGEST_CHARS or "?" in words:
        return None
    for form in _forms():
        if (found := form.fullmatch(words)) is not None:
            return _read(found.groupdict())
    return None


def revokes_consent(text: str) -> bool:
    """Whether `text` takes a consent back now: no question, no condition, no denial of it."""
    words = words_of(text)
    if "?" in text or len(text) > LONGEST_CHARS:
        return False
    return any(
        (place_of(words, one.revoked) is not None or _revokes(words, one))
        and place_of(words, one.conditions) is None
        for one in _all()
    )


def _revokes(words: Sequence[str], lists: CorrectionWords) -> bool:
    at = place_of(words, lists.revokes)
    denied = at is not None and any(one in lists.denials for one in words[max(0, at - 3) : at])
    return at is not None and not denied and place_of(words, lists.consents) is not None


def names_consent(label: str) -> bool:
    """Whether `label`, of a field that is true or false, is a consent's."""
    words = words_of(label)
    return any(place_of(words, each.consents) is not None for each in _all())


def _read(found: dict[str, str | None]) -> Correction:
    what, old = ((found.get(one) or "").strip(" ,;:") for one in ("what", "old"))
    if what[:1].isdecimal() and not old:
        what, old = "", what  # "2.5 is wrong, it was 5"
    nth, is_answer = _place(what)
    return Correction(
        what="" if is_answer else what,
        nth=nth,
        old=old,
        new=(found.get("new") or found.get("bare") or "").strip(" ,;:"),
        is_bare=bool(found.get("bare")),
        is_sure="sure" in found and found["sure"] is not None,
    )


def _place(what: str) -> tuple[int, bool]:
    """Return the number of the answer that `what` counts, and whether it says "answer" at all."""
    words = words_of(what)
    if all(place_of(words, each.answers) is None for each in _all()):
        return 0, False
    if any(place_of(words, each.last) is not None for each in _all()):
        return -1, True
    counted = [each for language in LANGUAGES for each in replies(language).ordinals.items()]
    nth = next((n for word, n in counted if place_of(words, [word]) is not None), 0)
    named = (one for each in _all() for one in (*each.answers, *each.articles))
    left = set(words).difference(*map(folded, named))
    return nth, bool(nth) or not left


def place_of(words: Sequence[str], phrases: Iterable[str]) -> int | None:
    """Return where the first of `phrases` that `words` hold stands."""
    for phrase in filter(None, map(folded, phrases)):
        for at in range(len(words) - len(phrase) + 1):
            if tuple(words[at : at + len(phrase)]) == phrase:
                return at
    return None


@cache
def _lists(language: str) -> CorrectionWords:
    return read_words(language, "corrections", CorrectionWords)


def _all() -> list[CorrectionWords]:
    return [_lists(language) for language in LANGUAGES]


@cache
def _forms() -> tuple[re.Pattern[str], ...]:
    return tuple(form for language in LANGUAGES for form in _forms_of(_lists(language)))


def _forms_of(words: CorrectionWords) -> Iterable[re.Pattern[str]]:
    lead, article = rf"(?:{_any(words.leads)}[\s,.;:–-]+)*", rf"(?:{_any(words.articles)}\s+)?"
    gap, then = r"[\s,.;:–-]+", rf"(?:{_any(words.then)}\s+)?"
    nots, wrong, is_word = _any(words.not_words), _any(words.wrong), _any(words.is_words)
    named = rf"{article}(?P<what>{_PART})"
    forms = (
        rf"{lead}{named}\s+(?P<sure>{wrong})(?:{gap}{then}(?P<new>{_PART}))?",
        rf"{lead}(?:{_any(words.changes)})\s+{named}(?:\s+(?:{_any(words.to_words)})|:)\s+"
        rf"(?P<new>{_PART})",
        rf"{lead}(?:{nots})\s+(?P<old>{_PART})(?:{gap}|\s+)(?:{_any(words.but_words)})\s+"
        rf"(?P<new>{_PART})",
        rf"{lead}(?:{nots})\s+(?P<old>\d\S*),\s+(?P<new>\d\S*)",
        rf"{lead}(?:{named}\s+(?:{is_word})\s+)?(?P<new>{_PART}),?\s+(?:{nots})\s+(?P<old>{_PART})",
        rf"(?:{lead})(?P<sure>{_any(words.instead)})[\s,.;:–-]+(?P<new>{_PART})",
        rf"{lead}{named}(?:\s+(?:{is_word})\s+|\s*[:=]\s*)(?:{_any(words.leads)}\s+)?"
        rf"(?P<new>{_PART})",
        rf"(?:{_any(words.takes_back)}{gap})+(?P<bare>{_PART})",
    )
    return (re.compile(form, re.IGNORECASE) for form in forms)


def _any(phrases: Iterable[str]) -> str:
    """Return an expression for any of the phrases, the longest first, as whole words."""
    ordered = sorted(
        {" ".join(one.replace("'", "").split()) for one in phrases}, key=len, reverse=True
    )
    return (
        "(?:" + "|".join(rf"\b{re.escape(one)}\b".replace(r"\ ", r"\s+") for one in ordered) + ")"
    )
