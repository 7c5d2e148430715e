"""A guideline and its sections, as they are quoted. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date

from services.records.resources.dates import first_day, last_day

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
        if text := "\n".join(rest).strip():
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
