"""Files as blocks of headings and text: Markdown, HTML, Word and PDF (its text layer)."""

import io
from collections.abc import Iterator
from zipfile import BadZipFile

import docx
from docx.opc.exceptions import PackageNotFoundError
from docx.table import Table
from docx.text.paragraph import Paragraph
from lxml import etree, html
from markdown_it import MarkdownIt

from data_models.errors import RecordsUnreadableError
from services.evidence.guidelines.document import Block
from services.records.readers.pdf import pages_of_pdf

FILE_LIMIT_BYTES = 20_000_000
_HEADING_LIMIT_CHARS = 90
_TEXT_TAGS = ("p", "li", "td", "th", "pre", "blockquote", "dd", "dt")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


def blocks_of(name: str, data: bytes) -> list[Block]:
    """Return what a file says, by the ending of its name.

    Raises:
        RecordsUnreadableError: it is too large, damaged, or holds no text; the text says which.
    """
    if len(data) > FILE_LIMIT_BYTES:
        raise RecordsUnreadableError(f"larger than {FILE_LIMIT_BYTES:,} bytes")
    ending = f".{name.rpartition('.')[2].casefold()}"
    try:
        found = list(_READERS[ending](data))
    except (BadZipFile, PackageNotFoundError, KeyError, ValueError, etree.LxmlError) as error:
        raise RecordsUnreadableError(f"cannot be read as {ending[1:]}") from error
    if not any(block.text.strip() for block in found):
        raise RecordsUnreadableError("holds no text; a scan needs a text layer")
    return found


def _of_markdown(data: bytes) -> Iterator[Block]:
    text = data.decode("utf-8-sig", errors="replace")
    if text.startswith("---"):
        head, _, text = text[3:].partition("\n---")
        yield from (Block(line) for line in head.splitlines() if line.strip())
    tokens = MarkdownIt().enable("table").parse(text)
    level = 0
    for token in tokens:
        if token.type == "heading_open":
            level = int(token.tag[1])
        elif token.type == "inline":
            said = "".join(
                "\n" if child.type in ("softbreak", "hardbreak") else child.content
                for child in token.children or ()
            )
            yield Block(said, level)
            level = 0


def _of_html(data: bytes) -> Iterator[Block]:
    root = html.fromstring(data, parser=html.HTMLParser(encoding="utf-8", no_network=True))
    for element in root.iter(*_HEADINGS, *_TEXT_TAGS):
        is_inner = any(parent.tag in _TEXT_TAGS for parent in element.iterancestors())
        said = " ".join("".join(element.itertext()).split())
        if said and not is_inner:
            level = int(element.tag[1]) if element.tag in _HEADINGS else 0
            yield Block(said, level)


def _of_word(data: bytes) -> Iterator[Block]:
    for part in docx.Document(io.BytesIO(data)).iter_inner_content():
        if isinstance(part, Table):
            for row in part.rows:
                yield Block(" | ".join(cell.text.strip() for cell in row.cells))
        elif part.text.strip():
            yield Block(part.text.strip(), _level_in_word(part))


def _level_in_word(paragraph: Paragraph) -> int:
    style = (paragraph.style.name if paragraph.style is not None else None) or ""
    if style == "Title":
        return 1
    number = style.removeprefix("Heading ")
    return int(number) + 1 if style.startswith("Heading ") and number.isdigit() else 0


def _of_pdf(data: bytes) -> Iterator[Block]:
    pages, _ = pages_of_pdf(data)
    for number, page in enumerate(pages, start=1):
        for line in filter(None, (line.strip() for line in page.splitlines())):
            yield Block(line, _level_in_pdf(line), number)


def _level_in_pdf(line: str) -> int:
    """Return the level of a numbered heading, "3.2 Imaging"; a PDF knows no headings."""
    number, _, said = line.partition(" ")
    figures = number.rstrip(".").split(".")
    is_numbered = all(figure.isdigit() and len(figure) < 3 for figure in figures)
    is_heading = said[:1].isupper() and not said.endswith((".", ";", ",", ":"))
    is_short = len(line) <= _HEADING_LIMIT_CHARS
    return 1 + len(figures) if is_numbered and is_heading and is_short else 0


def _of_text(data: bytes) -> Iterator[Block]:
    for part in data.decode("utf-8-sig", errors="replace").split("\n\n"):
        if part.strip():
            yield Block(part.strip())


_READERS = {
    ".md": _of_markdown, ".markdown": _of_markdown, ".html": _of_html, ".htm": _of_html,
    ".docx": _of_word, ".pdf": _of_pdf, ".txt": _of_text,
}  # fmt: skip
