"""Whether a message tells something and asks nothing: "she gets short of breath on stairs". Pure.

What is told is kept as the user's words; it is no question to the record. Only plain sentences of a
subject with its verb behind it count: "her potassium" and "is she dizzy" ask.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from services.language.folding import words_of
from services.language.vocabulary import LANGUAGES, read_words

_Openers: TypeAlias = tuple[tuple[str, ...], ...]
_LONGEST_SUBJECT = 5
_ADVERBS_LIMIT = 2


class TellingWords(BaseModel):
    """The words of one language that a told sentence begins with; the English file explains."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    leads: tuple[str, ...]
    persons: tuple[str, ...]
    owners: tuple[str, ...]
    verbs: tuple[str, ...]
    endings: tuple[str, ...] = Field(description="Of further verbs, right behind a person.")
    own_persons: tuple[str, ...]
    own_verbs: tuple[str, ...]
    adverbs: tuple[str, ...]
    asking: tuple[str, ...]


def is_told(text: str) -> bool:
    """Whether `text` is a sentence that tells something of the patient, in any language."""
    if "?" in text:
        return False
    words = words_of(text)
    return any(_tells(words, _phrases(language)) for language in LANGUAGES)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Phrases:
    """The words of one language, folded."""

    leads: _Openers
    persons: _Openers
    owners: _Openers
    verbs: _Openers
    endings: tuple[str, ...]
    own_persons: _Openers
    own_verbs: _Openers
    adverbs: _Openers
    asking: _Openers


def _folded(phrases: Sequence[str]) -> _Openers:
    return tuple(sorted((tuple(words_of(each)) for each in phrases), key=len, reverse=True))


@cache
def _phrases(language: str) -> _Phrases:
    words = read_words(language, "telling", TellingWords)
    return _Phrases(
        leads=_folded(words.leads),
        persons=_folded(words.persons),
        owners=_folded(words.owners),
        verbs=_folded(words.verbs),
        endings=words.endings,
        own_persons=_folded(words.own_persons),
        own_verbs=_folded(words.own_verbs),
        adverbs=_folded(words.adverbs),
        asking=_folded(words.asking),
    )


def _tells(words: Sequence[str], phrases: _Phrases) -> bool:
    words = _without(words, phrases.leads, most=len(words))
    if not words or (words[0],) in phrases.asking or (words[-1],) in phrases.asking:
        return False
    if (behind := _behind(words, phrases.own_persons)) is not None:
        return _behind(_without(behind, phrases.adverbs), phrases.own_verbs) is not None
    if (behind := _behind(words, phrases.persons)) is not None:
        rest = _without(behind, phrases.adverbs)
        return _behind(rest, phrases.verbs) is not None or _ends_as_verb(rest, phrases)
    owned = _behind(words, phrases.owners)
    return owned is not None and _has_verb(owned, phrases)


def _has_verb(owned: Sequence[str], phrases: _Phrases) -> bool:
    """Whether a verb stands behind a noun of at most five words: "her left leg is swollen"."""
    return any(
        _behind(_without(owned[size:], phrases.adverbs), phrases.verbs) is not None
        for size in range(1, min(_LONGEST_SUBJECT, len(owned)) + 1)
    )


def _ends_as_verb(words: Sequence[str], phrases: _Phrases) -> bool:
    return len(words) > 1 and words[0].endswith(phrases.endings)


def _behind(words: Sequence[str], openers: _Openers) -> Sequence[str] | None:
    """Return what stands behind the first of `openers` that begins `words`, if one does."""
    for opener in openers:
        if tuple(words[: len(opener)]) == opener:
            return words[len(opener) :]
    return None


def _without(
    words: Sequence[str], openers: _Openers, *, most: int = _ADVERBS_LIMIT
) -> Sequence[str]:
    for _ in range(most):
        behind = _behind(words, openers)
        if behind is None:
            break
        words = behind
    return words
