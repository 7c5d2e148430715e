"""A guideline and its sections, as they are quoted. Pure."""

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from zipfile import BadZipFile

import docx
from docx.opc.exceptions import PackageNotFoundError
from docx.table import Table
from docx.text.paragraph import Paragraph
from lxml import etree, html
from markdown_it import MarkdownIt

from data_models.errors import RecordsUnreadableError
from services.records.dates import first_day, last_day
from services.records.readers.pdf import pages_of_pdf

SECTION_LIMIT_CHARS = 1_200
"""A longer section is quoted in parts, each with its heading."""
_META_LINES = 40
_TITLE_LIMIT_CHARS = 120
_KEYS = {
    **dict.fromkeys(("title", "titel"), "title"),
    **dict.fromkeys(("version", "fassung"), "version"),
    **dict.fromkeys(("date", "datum", "stand", "issued", "published"), "date"),
    **dict.fromkeys(("review", "review by", "review date", "valid until", "gültig bis",
                     "überprüfung"), "review"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a file as its format gives it: a heading of a level, or text (level 0)."""

    text: str
    level: int = 0
    page: int = 0


@dataclass(frozen=True, slots=True)
class Section:
    """What is quoted.

    Attributes:
        heading: With those above it: `Follow-up / Imaging`.
        page: Of a PDF, from 1; else 0.
    """

    heading: str
    text: str
    page: int = 0


@dataclass(frozen=True, slots=True)
class Guideline:
    """One version of one document.

    Attributes:
        key: Stands in source ids.
        file: Its name in the folder.
        version: As the document says, "" where it says none.
        issued: As the document says, likewise.
        review_by: After that day it is no longer checked; None: it names no day.
    """

    key: str
    file: str
    title: str
    version: str
    issued: str
    review_by: date | None
    sections: tuple[Section, ...] = field(repr=False, default=())

    @property
    def order(self) -> tuple[tuple[int, ...], str]:
        """What versions of one title are ordered by: the number, then the date."""
        parts = "".join(char if char.isdigit() else " " for char in self.version).split()
        return tuple(int(part) for part in parts), self.issued


def guideline_of(file: str, blocks: Iterable[Block]) -> Guideline:
    """Return a guideline; what its first lines say of it (`Version: 2.1`) is no section."""
    found = list(blocks)
    meta: dict[str, str] = {}
    kept: list[Block] = []
    for at, block in enumerate(found):
        rest = [line for line in block.text.splitlines() if not _takes(line, meta, at)]
        text = "\n".join(rest).strip()
        if text:
            kept.append(Block(text, block.level, block.page))
    if kept and not kept[0].level and len(kept[0].text) <= _TITLE_LIMIT_CHARS:
        kept[0] = Block(kept[0].text, 1, kept[0].page)  # a PDF's first line is its title
    first = next((block.text for block in kept if block.level), "")
    title = meta.get("title") or first or file.rpartition(".")[0]
    version = meta.get("version", "")
    review = meta.get("review", "")
    words = "".join(char if char.isalnum() else "-" for char in f"{file}".casefold())
    return Guideline(
        key="-".join(filter(None, words.split("-"))),
        file=file,
        title=" ".join(title.split()),
        version=version,
        issued=meta.get("date", ""),
        review_by=last_day(review) if review else None,
        sections=tuple(_sections(kept, title)),
    )


def _takes(line: str, meta: dict[str, str], at: int) -> bool:
    """Whether a line says something of the document itself; it is noted, the first time only."""
    name, colon, value = line.strip().strip("*_ ").partition(":")
    key = _KEYS.get(name.strip(" *_").casefold())
    said = value.strip(" *_")
    if at >= _META_LINES or not colon or key is None or not said or key in meta:
        return False
    if key in ("date", "review") and first_day(said) is None:
        return False
    meta[key] = said
    return True


def _sections(blocks: Iterable[Block], title: str) -> Iterable[Section]:
    path: dict[int, str] = {}
    parts: list[str] = []
    page = 0
    for block in blocks:
        if block.level:
            yield from _cut(path, parts, page, title)
            path = {level: said for level, said in path.items() if level < block.level}
            path[block.level] = block.text
            parts, page = [], block.page
        else:
            page = page or block.page
            parts.append(block.text)
    yield from _cut(path, parts, page, title)


def _cut(path: dict[int, str], parts: list[str], page: int, title: str) -> Iterable[Section]:
    heading = " / ".join(said for said in path.values() if said != title) or title
    text = ""
    for part in parts:
        if text and len(text) + len(part) > SECTION_LIMIT_CHARS:
            yield Section(heading, text, page)
            text = ""
        text = f"{text}\n{part}".strip()
    if text:
        yield Section(heading, text, page)


# Files as blocks of headings and text: Markdown, HTML, Word and PDF (its text layer).

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
