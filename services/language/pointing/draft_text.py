"""A message while it is being read: what was understood is taken out of it."""

import re
from collections.abc import Iterator

_PHRASE_BASE = 0xE100
_PHRASE_LAST = 0xE1FF


class DraftText:
    """The rest of a message. Phrases that are names stand in it as one private character each.

    Attributes:
        quoted: Those of the phrases that the user marked as a name: in quotes, or as called so.
    """

    def __init__(
        self, *, text: str, phrases: list[str] | None = None, quoted: set[str] | None = None
    ) -> None:
        self.rest = text
        self.phrases = phrases if phrases is not None else []
        self.quoted = quoted if quoted is not None else set()

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Remove the first match and return it."""
        if (match := pattern.search(self.rest)) is not None:
            self.rest = f"{self.rest[: match.start()]} \x1f {self.rest[match.end() :]}"
        return match

    def take_all(self, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
        """Remove every match, one after the other."""
        while (match := self.take(pattern)) is not None:
            yield match

    def hide(self, start: int, end: int, phrase: str, *, is_quoted: bool) -> None:
        """Put a mark in the place of a name, so that nothing reads its words as a request."""
        if len(self.phrases) > _PHRASE_LAST - _PHRASE_BASE:
            return
        self.phrases.append(phrase)
        if is_quoted:
            self.quoted.add(phrase)
        mark = chr(_PHRASE_BASE + len(self.phrases) - 1)
        self.rest = f"{self.rest[:start]} {mark} {self.rest[end:]}"

    def phrase(self, character: str) -> str | None:
        """Return the name that a mark stands for, or None for another character."""
        index = ord(character) - _PHRASE_BASE if len(character) == 1 else -1
        return self.phrases[index] if 0 <= index < len(self.phrases) else None

    def cut(self, start: int) -> None:
        """Remove everything from `start`."""
        self.rest = self.rest[:start]

    def part(self, text: str) -> "DraftText":
        """Return a piece of this message, with the same names."""
        return DraftText(text=text, phrases=self.phrases, quoted=self.quoted)


def without_marks(text: str) -> str:
    """Return `text` without private characters, which a user cannot mean."""
    return "".join(
        " " if _PHRASE_BASE <= ord(one) <= _PHRASE_LAST or one == "\x1f" else one for one in text
    )
