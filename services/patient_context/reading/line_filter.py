"""Removes imitated snapshots and footers from an agent's text while it streams."""

import re

from services.language.words.folding import fold
from services.patient_context.reading import markers


class LineFilter:
    """One agent message, piece by piece; what it emits in all does not depend on the pieces.

    Removed are: from a mark to the end of its line, the line itself if nothing stands before the
    mark, a horizontal rule right above a footer and the footer's items below its mark. Text is
    delayed only while it may still become one of these.
    """

    def __init__(self) -> None:
        self._pending = ""  # of the current line, not emitted yet
        self._rule = ""  # a rule and blank lines, which a footer would take along
        self._has_content = False  # the current line is an ordinary one
        self._is_dropping = False  # the rest of the current line is a mark's
        self._in_footer = False  # lines that look like a footer's items are its items

    def feed(self, text: str) -> str:
        """Return what may be shown now that `text` has arrived."""
        *lines, rest = text.split("\n")
        emitted = [self._line(line) for line in lines]
        emitted.append(self._part(rest))
        return "".join(emitted)

    def finish(self) -> str:
        """Return what was held back at the end of the message."""
        line = self._pending
        self._pending = ""
        return self._ended(line, newline="")

    def _line(self, text: str) -> str:
        emitted = self._part(text)
        line, self._pending = self._pending, ""
        emitted += self._ended(line, newline="\n")
        self._has_content = self._is_dropping = False
        return emitted

    def _part(self, text: str) -> str:
        if self._is_dropping:
            return ""
        self._pending += text
        if self._has_content:
            return self._content()
        folded, _ = fold(self._pending)
        is_item = self._in_footer and markers.FOOTER_ITEM_BEGINNING.match(folded)
        if is_item or markers.LINE_MARK_BEGINNING.match(folded) or self._drops_line(folded):
            return ""
        self._has_content, self._in_footer = True, False
        held, self._rule = self._rule, ""
        return held + self._content()

    def _drops_line(self, folded: str) -> bool:
        """Begin to drop the current line if it is known to be a mark's or a footer's."""
        if (mark := markers.LINE_MARK.match(folded)) is not None:
            self._note(mark)
        elif not (self._in_footer and markers.FOOTER_ITEM.match(folded)):
            return False
        self._pending, self._is_dropping = "", True
        return True

    def _note(self, mark: re.Match[str]) -> None:
        self._in_footer = mark["footer"] is not None
        if self._in_footer:
            self._rule = ""

    def _content(self) -> str:
        """Emit the ordinary line as far as no mark can begin in it."""
        folded, origin = fold(self._pending)
        if (found := markers.MARK.search(folded)) is not None:
            self._note(found)
            self._is_dropping = True
        end = found or markers.MARK_BEGINNING.search(folded)
        place = len(self._pending)
        if end is not None and end.start() < len(folded):
            place = origin[end.start()]
        emitted, self._pending = self._pending[:place], self._pending[place:]
        if found is not None:
            self._pending = ""
        return emitted

    def _ended(self, line: str, *, newline: str) -> str:
        """Settle the current line, of which `line` was held back."""
        if self._has_content:
            return line + newline
        if self._is_dropping or (line and self._drops_line(fold(line)[0])):
            self._pending = ""
            return self._released() if self._rule and not self._in_footer else ""
        if newline and (markers.RULE.fullmatch(line) or (self._rule and not line.strip())):
            return self._held(line + newline)
        self._in_footer &= not line.strip()
        return self._released() + line + newline

    def _held(self, line: str) -> str:
        """Keep a rule, or a blank line below one, until the next line is known."""
        if line.strip():
            released, self._rule, self._in_footer = self._rule, line, False
            return released
        self._rule += line
        return ""

    def _released(self) -> str:
        held, self._rule = self._rule, ""
        return held
