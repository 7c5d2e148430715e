"""The folder of guidelines: read again when a file changes, searched by section (BM25)."""

import asyncio
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import docx
import structlog
from docx.opc.exceptions import PackageNotFoundError
from docx.table import Table
from docx.text.paragraph import Paragraph
from lxml import etree, html
from markdown_it import MarkdownIt

from data_models.chart_view import ChartView, ViewRow, ViewSource
from data_models.clock import Clock
from data_models.errors import RecordsUnreadableError
from services.evidence.guidelines.document import Block, Guideline, Section, guideline_of
from services.language.evidence_questions import GUIDELINES, telling_words
from services.records.concepts.words import words_of
from services.records.ranking import ranking_of
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


KIND = "guideline"
NO_ANSWER = "The guidelines here do not answer that."
LOOK_AGAIN_SECONDS = 5.0
FORMATS = (".md", ".markdown", ".html", ".htm", ".docx", ".pdf", ".txt")
_PASSAGES = 4
_MAY_LACK_FROM = 4
"""Of so many telling words one may be missing, if it stands elsewhere in the guidelines."""
_log = structlog.get_logger()
_State = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class Passage:
    """A section that answers.

    Attributes:
        place: Number of the section within its guideline, from 1.
        newer: The version of the same title that replaces this one.
    """

    guideline: Guideline
    place: int
    section: Section
    newer: Guideline | None

    @property
    def ref(self) -> str:
        """Source id."""
        return f"Guideline/{self.guideline.key}.{self.place}"


@dataclass(frozen=True)
class Library:
    """All guidelines of a folder.

    Attributes:
        problems: Files that could not be read, and why.
    """

    passages: tuple[Passage, ...] = ()
    problems: tuple[str, ...] = ()
    ranking: Any = None
    words: tuple[frozenset[str], ...] = field(default=(), repr=False)

    def search(self, question: str) -> list[Passage]:
        """Return the sections that hold what is asked, the best first; none if none does.

        A word that no guideline has is what is asked about: then nothing answers.
        """
        asked = list(dict.fromkeys(words_of(telling_words(question))))
        known = [word for word in asked if any(word in words for words in self.words)]
        if not asked or len(known) < len(asked) or self.ranking is None:
            return []
        scores = self.ranking.get_scores(known)
        may_lack = 1 if len(asked) >= _MAY_LACK_FROM else 0
        fitting = [
            at
            for at, words in enumerate(self.words)
            if sum(word not in words for word in asked) <= may_lack
        ]
        fitting.sort(key=lambda at: (self.passages[at].newer is not None, -float(scores[at])))
        return [self.passages[at] for at in fitting[:_PASSAGES]]


class GuidelineFolder:
    """Gives the library of a folder, as its files are now."""

    def __init__(self, *, folder: Path | None, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock
        self._library, self._state = Library(), ()  # type: tuple[Library, _State]
        self._looked_at: float | None = None

    async def library(self) -> Library:
        """Return all guidelines; at most every five seconds the folder is looked at again."""
        now = self._clock.monotonic()
        is_fresh = self._looked_at is not None and now - self._looked_at < LOOK_AGAIN_SECONDS
        if self._folder is not None and not is_fresh:
            self._looked_at = now
            self._library, self._state = await asyncio.to_thread(
                _read_again, self._folder, self._library, self._state
            )
        return self._library


def _read_again(folder: Path, library: Library, state: _State) -> tuple[Library, _State]:
    files = sorted(one for one in folder.rglob("*") if one.suffix.casefold() in FORMATS)
    found = tuple((str(one), one.stat().st_mtime_ns, one.stat().st_size) for one in files)
    if found == state:
        return library, state
    read = library_of([(str(one.relative_to(folder)), one.read_bytes()) for one in files])
    _log.info("guidelines_read", files=len(files), problems=list(read.problems))
    return read, found


def library_of(files: Sequence[tuple[str, bytes]]) -> Library:
    """Return the library of files by name; one that cannot be read is named and costs itself."""
    # Loads the libraries of Word and PDF.
    from services.evidence.guidelines.library import blocks_of

    guidelines, problems = list[Guideline](), list[str]()
    for name, data in files:
        try:
            guidelines.append(guideline_of(name, blocks_of(name, data)))
        except RecordsUnreadableError as error:
            problems.append(f"{name}: {error}")
    passages = tuple(
        Passage(one, place, section, _newer_than(one, guidelines))
        for one in guidelines
        for place, section in enumerate(one.sections, start=1)
    )
    texts = [
        words_of(f"{one.guideline.title} {one.section.heading} {one.section.text}")
        for one in passages
    ]
    ranking = ranking_of(texts) if passages else None
    return Library(passages, tuple(problems), ranking, tuple(map(frozenset, texts)))


def _newer_than(one: Guideline, every: Sequence[Guideline]) -> Guideline | None:
    same = [each for each in every if words_of(each.title) == words_of(one.title)]
    newest = max(same, key=lambda each: each.order)
    return newest if newest.order > one.order else None


def passages_view(library: Library, question: str, *, patient_id: str, today: date) -> ChartView:
    """Return the passages that answer, each with document, section and version."""
    found = library.search(question)
    return ChartView(
        tool=GUIDELINES,
        patient_id=patient_id,
        kind="table",
        title="Guidelines",
        columns=("name", "status", "date", "detail"),
        labels=("Document and section", "Version", "Date", "Passage"),
        rows=tuple(row_of_passage(one, today) for one in found),
        sources=tuple(
            ViewSource(ref=one.ref, date=one.guideline.issued or None, title=one.guideline.title)
            for one in found
        ),
        nothing="" if found else NO_ANSWER,
        notes=tuple(f"could not be read: {problem}" for problem in library.problems),
    )


def row_of_passage(one: Passage, today: date) -> ViewRow:
    """Return a passage as it is quoted; what is out of date says so."""
    page = f", page {one.section.page}" if one.section.page else ""
    return ViewRow(
        kind=KIND,
        name=f"{one.guideline.title}, {one.section.heading}{page}",
        status=standing_of(one, today),
        date=one.guideline.issued,
        detail=one.section.text,
        sources=(one.ref,),
    )


def standing_of(one: Passage, today: date) -> str:
    """Return the version of a passage, and why it may no longer hold."""
    version = f"version {one.guideline.version}" if one.guideline.version else "no version given"
    if one.newer is not None:
        return f"{version}, OUTDATED: version {one.newer.version or 'newer'} is here too"
    review = one.guideline.review_by
    if review is not None and review < today:
        return f"{version}, OUTDATED: to be reviewed by {review}"
    return version if review is not None else f"{version}, no review date"
