"""Whether a message is somebody's letter, pasted. Pure."""

from collections.abc import Sequence
from functools import lru_cache

from services.language.charts.tools_named import SEARCH
from services.language.requests.work import work_in
from services.language.utterance import ChartQuestion
from services.language.words.folding import words_of
from services.language.words.phrases import says

_OF_TEXTS = frozenset({SEARCH, "documents", "read_document", "care"})
_LETTER_WORDS, _CLOSE_CHARS = 12, 120


@lru_cache(maxsize=1_000)
def is_letter(text: str) -> bool:
    """Whether `text` is somebody's letter, pasted: it tells, whatever it asks its reader for."""
    head, colon, behind = text.partition(":")
    if colon and says(head, "heads_letter") and work_in(head) is None and "?" not in text:
        return len(words_of(behind)) >= _LETTER_WORDS
    is_whole = says(text, "opens_letter") and says(text[-_CLOSE_CHARS:], "closes_letter")
    return is_whole and len(words_of(text)) >= _LETTER_WORDS


def asks_of_letter(text: str, about: Sequence[ChartQuestion], before: Sequence[str]) -> bool:
    """Whether no value but a letter is asked for that was pasted `before`: what says the fax?"""
    is_asked = says(text, "asks_of_letter") and all(one.tool in _OF_TEXTS for one in about)
    return is_asked and any(map(is_letter, before))
