"""What who speaks says to have done: "I called the ward", "I am booking it". Pure.

Nobody could list all that may be claimed. So it goes by the form: after "I" or "we" each verb of
the past, or of what goes on, is a deed, but for those of looking, reading and talking, by which
every answer is made.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from services.language.words.statement_tables import FOLDER, all_of, read_table, saying
from services.language.words.vocabulary import LANGUAGES

_ADVERB = "ly"
_OBJECT_WORDS, _NOTE_WORDS = 4, 5
_SIGNS_BEFORE = re.compile(r"^[^\w]+")
_ASKED, _NOTED = "asked", "noted"
_SIGNS = frozenset({",", ";", "–", "—", "(", ")"})
_JOINED = frozenset({"and", "then", ","})
_PARTICIPLE = re.compile(
    r"(?:\w{0,12}?ge\w{2,}(?:t|en)|\w{3,}iert|(?:\w{2,5})?(?:be|ver|ent|er|zer|über|unter)\w{3,}(?:t|en))\Z"
)
_PRETERITE = ("te", "ten")


@lru_cache(maxsize=1)
def _words() -> dict[str, frozenset[str]]:
    files = [read_table(FOLDER / one / "statements.yaml").get("own", {}) for one in LANGUAGES]
    return {key: all_of(files, key) for key in {key for one in files for key in one}}


def own_deeds_in(words: Sequence[str], lower: Sequence[str]) -> frozenset[int]:
    """Return the places of verbs by which who speaks claims a deed, among a sentence's words.

    Args:
        lower: The same words in small letters, with straight apostrophes.
    """
    known = _words()
    if known["speakers"].isdisjoint(lower):
        return frozenset()
    return frozenset(_english(words, lower)) | frozenset(_german(lower))


def begins_with_deed(text: str) -> bool:
    """Whether a note says what was done, and nobody who did it: "Called the ward"."""
    return _is_noted(_SIGNS_BEFORE.sub("", text).partition(" ")[0].lower())


def notes_deed(text: str) -> bool:
    """Whether a few words say so of anything: "Team paged", "⏰ set for 17:00"."""
    words = [_SIGNS_BEFORE.sub("", one).rstrip(".!") for one in text.lower().split()]
    before, ends = words[:_NOTE_WORDS], {*saying("behind_a_deed"), ""}
    return any(
        _is_noted(word) and behind in ends
        for word, behind in zip(before, [*words[1:], ""], strict=False)
    )


def _is_noted(word: str) -> bool:
    return _is_past(word) and word not in _words()["answering"] | _words()["checking"]


def is_done(lower: Sequence[str]) -> bool:
    """Whether words say that something was done by now: "has been alerted", "is now paid"."""
    known = _words()
    return any(
        word in known["been"]
        and (verb := _verb(lower, at + 1)) is not None
        and _is_past(lower[verb])
        for at, word in enumerate(lower)
    )


def _english(words: Sequence[str], lower: Sequence[str]) -> Iterator[int]:
    known = _words()
    is_told = False
    for at, word in enumerate(lower):
        if word in known["speakers"]:
            is_told = not (at and lower[at - 1] in known["conditions"])
        elif word not in _JOINED:
            continue
        verb = _verb(lower, at + 1)
        if is_told and verb is not None and _is_deed(words, lower, verb, lower[verb]):
            yield verb
        goes_on = _going_on(lower, at) if is_told and word in known["speakers"] else None
        past = f"{lower[goes_on].removesuffix('ing')}ed" if goes_on is not None else ""
        if goes_on is not None and _is_deed(words, lower, goes_on, past):
            yield goes_on


def _going_on(lower: Sequence[str], at: int) -> int | None:
    """Return the place of what who speaks, at a place, says to be doing: "I am now booking"."""
    known = _words()
    being = at if lower[at] in known["being"] else _verb(lower, at + 1)
    if being is None or lower[being] not in known["being"]:
        return None
    verb = _verb(lower, being + 1)
    is_doing = verb is not None and lower[verb].endswith("ing")
    return verb if is_doing and lower[verb or 0] not in known["no_doing"] else None


def _verb(lower: Sequence[str], at: int) -> int | None:
    """Return the place of the verb behind what may stand before it."""
    beside = _words()["beside"]
    for place in range(at, min(at + 6, len(lower))):
        if lower[place] not in beside and not lower[place].endswith(_ADVERB):
            return place
    return None


def _is_past(word: str) -> bool:
    known = _words()
    is_regular = len(word) > 4 and word.endswith("ed") and word not in known["no_past"]
    return is_regular or word in known["past"]


def _is_deed(words: Sequence[str], lower: Sequence[str], at: int, word: str) -> bool:
    known = _words()
    if not _is_past(word):
        return False
    behind = lower[at + 1 :]
    end = next((place for place, one in enumerate(behind) if one in _SIGNS), len(behind))
    said, is_by_hand = behind[:end], not known["self"].isdisjoint(lower)
    if not known["answers"].isdisjoint(said[:_OBJECT_WORDS]):
        return False
    if word in known["asking"] and said:
        # A colleague of the team has a name.
        is_agent = word == _ASKED and words[at + 1][0].isupper() and said[0] not in known["titles"]
        return not (is_agent or said[0] in known["users"])
    if word in known["checking"]:
        return is_by_hand or not saying("by_whom").isdisjoint(said)
    is_written = word == _NOTED and not saying("charts").isdisjoint(said)
    return is_by_hand or is_written or word not in known["answering"]


def _german(lower: Sequence[str]) -> Iterator[int]:
    known = _words()
    for at, word in enumerate(lower):
        near = set(lower[max(0, at - 1) : at + 2])
        is_perfect = word in known["have"] and (at == 0 or bool(near & known["persons"]))
        is_past = word in known["persons"] and any(map(_is_preterite, lower[at + 1 : at + 2]))
        if not (is_perfect or is_past) or not known["conditions"].isdisjoint(lower[:at]):
            continue
        end = next((p for p in range(at, len(lower)) if lower[p] in _SIGNS), len(lower))
        said = lower[at:end]
        if not (known["denying"].isdisjoint(said) and known["answers"].isdisjoint(said)):
            continue
        verb = at + 1 if is_past else end - 1
        if lower[verb] not in known["answering"] and (is_past or _PARTICIPLE.match(lower[verb])):
            yield verb


def _is_preterite(word: str) -> bool:
    known = _words()
    is_past = word.endswith(_PRETERITE) or word in known["past"] | known["now"]
    return is_past and word not in known["answering"]
