"""The first words of each thing that a sentence lists. Pure."""

import re

from services.language.statement_parts import WORD
from services.language.statement_phrases import named_by
from services.language.statement_tables import stem
from services.language.statement_words import statement_words

_BRACKETS = re.compile(r"\([^)]*\)")
_HEAD_WORDS = 5
_LISTED_WORDS = 3


def listed_in(body: str, *, is_item: bool) -> tuple[tuple[str, ...], ...]:
    """Return what a list item begins with, or each thing behind `Medications:`."""
    head, colon, rest = body.partition(":")
    if is_item:
        parts = [head]
    elif colon and len(head.split()) <= _HEAD_WORDS and rest.strip():
        parts = re.split(r"[,;]\s", _BRACKETS.sub("", rest))
    else:
        return ()
    return tuple(found for part in parts if (found := _first_words(part)))


def _first_words(text: str) -> tuple[str, ...]:
    vocabulary = statement_words()
    found: list[str] = []
    for word in WORD.findall(text):
        lower = word.lower()
        is_cue = lower in vocabulary.fillers or lower in vocabulary.phrases
        if lower in vocabulary.numbers:
            break  # "two doses" is none of the things
        if is_cue and not found and word[0].isalpha():
            continue
        is_end = not word[0].isalpha() or lower in vocabulary.months
        if is_cue or is_end or len(found) == _LISTED_WORDS:
            if is_cue and any(map(named_by, vocabulary.phrases.get(lower, ()))):
                found.append(stem(lower))  # "persistent atrial fibrillation"
            break
        found.append(stem(lower))
    return tuple(found)
