"""Cuts Markdown text into sentences while it arrives; the pieces joined are the text."""

import re

from services.language.words.statement_tables import saying
from services.language.words.statement_words import statement_words

_END = re.compile(r"(?<![.!?…])[.!?…]+[)\"'”’*_\]]*(?=\s)")
_ITEM = re.compile(r"\s*(?:[-*•+]|\d{1,3}[.)])(?:\s|$)")
_WORD_BEFORE = re.compile(r"[\w./\-]*$")
_NEXT_WORD = re.compile(r"\s+(\S*)(\s?)")


LIMIT_CHARS = 400
"""What goes on longer is shown as if it ended."""


class SentenceStream:
    """One message, piece by piece.

    A line ends a sentence: a list item, a row of a table and a heading are each one of their own.
    Else it is complete once the first word behind it shows that it does not go on.
    """

    def __init__(self) -> None:
        self._pending = ""

    def feed(self, text: str) -> list[str]:
        """Return the sentences that are complete now, each with the white space behind it."""
        self._pending += text
        found = []
        while (end := self._end()) is not None:
            found.append(self._pending[:end])
            self._pending = self._pending[end:]
        return found

    def finish(self) -> list[str]:
        """Return what is left at the end of the message."""
        found = self.feed("\n")
        if found and not self._pending:
            found[-1] = found[-1][:-1]  # the line break that only ended it
            return [one for one in found if one]
        rest, self._pending = self._pending[:-1], ""
        return [*found, rest] if rest else found

    def _end(self) -> int | None:
        """Return where the first sentence of what is pending ends, if that is known."""
        text = self._pending
        start = len(text) - len(text.lstrip())
        line_end = text.find("\n", start)
        within = text if line_end < 0 else text[:line_end]
        for found in _END.finditer(within, start):
            ends = _is_end(within, start, found.start(), found.end())
            if ends is None and line_end < 0:
                return None
            if ends:
                behind = within[found.end() :]
                return len(within) - len(behind.lstrip(" \t"))
        if line_end < 0 and len(within) > LIMIT_CHARS:
            return max(within.rfind(" ", start), LIMIT_CHARS - 1) + 1
        return None if line_end < 0 else line_end + 1


def _is_end(text: str, start: int, at: int, end: int) -> bool | None:
    """Whether the mark at `at` ends a sentence; None while the next word is not there yet."""
    if (following := _NEXT_WORD.match(text, end)) is None:
        return True
    before = _WORD_BEFORE.search(text, start, at)
    word = before.group() if before else ""
    if text[at] != ".":
        return True
    if _ITEM.fullmatch(text[start : end + 1]):
        return False
    ahead = text[start : at - len(word)].lower().split()[-1:]
    is_name = len(word) == 1 and saying("before_a_letter").isdisjoint(ahead)  # not "hepatitis A."
    return _ends_before(following, word, is_name=is_name) if following[1] else None


def _ends_before(following: re.Match[str], word: str, *, is_name: bool) -> bool | None:
    """Whether a point behind `word` ends a sentence, by the word that follows."""
    next_word, behind = following.groups()
    words = statement_words()
    is_reply = word.lower() in saying("denying_alone") and not next_word[0].isdigit()  # "No. 4"
    is_short = word.lower() in words.abbreviations and not is_reply
    if is_short or (is_name and word.isalpha()):
        return False
    if word.isdigit():
        is_whole = bool(behind) or len(next_word) >= 12
        if not is_whole and len(word) <= 2:
            return None
        if len(word) <= 2 and next_word.lower().rstrip(".,;") in words.months:
            return False
    # Small letters go on with a sentence; "eGFR", "pH" and "pT2" begin one as capitals do.
    return not next_word[0].islower() or not next_word.islower()


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a whole text; joined they are the text."""
    stream = SentenceStream()
    return [*stream.feed(text), *stream.finish()]
