"""Text of HTML and of XML trees: blocks on lines of their own, cells of tables side by side."""

from html.parser import HTMLParser
from typing import Final

_BLOCK_TEXT: Final = """
    p div br li tr h1 h2 h3 h4 h5 h6 table ul ol section article header footer title paragraph
    item list thead tbody caption pre blockquote dt dd hr
"""
BLOCKS: Final = frozenset(_BLOCK_TEXT.split())
CELLS: Final = frozenset({"td", "th"})
_UNSEEN: Final = frozenset({"script", "style", "head", "template"})


def text_of_html(markup: str) -> str:
    """Return what a browser would show of `markup`; links and scripts are dropped."""
    reader = _Html()
    reader.feed(markup)
    reader.close()
    return tidied("".join(reader.parts))


def tidied(text: str) -> str:
    """Return `text` with plain line ends, no spaces at them, and no more than one empty line."""
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    kept = [line for at, line in enumerate(lines) if line or (at and lines[at - 1])]
    return "\n".join(kept).strip()


class _Html(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden = 0
        self._kept = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._hidden += tag in _UNSEEN
        self._kept += tag == "pre"
        self._mark(tag)

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in _UNSEEN and self._hidden > 0
        self._kept -= tag == "pre" and self._kept > 0
        if tag in BLOCKS:
            self.parts.append("\n")
        elif tag in CELLS:
            self.parts.append(" | ")

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        self._mark(tag)

    def handle_data(self, data: str) -> None:
        if self._hidden:
            return
        if self._kept:
            self.parts.append(data)
            return
        words = " ".join(data.split())
        is_inside = bool(self.parts) and not self.parts[-1].endswith((" ", "\n"))
        before = " " if data[:1].isspace() and is_inside else ""
        self.parts.append(f"{before}{words}{' ' if words and data[-1:].isspace() else ''}")

    def _mark(self, tag: str) -> None:
        if tag in BLOCKS:
            self.parts.append("\n")
