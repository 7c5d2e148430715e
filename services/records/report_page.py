"""Drawing on a Word page: clean text, tables, and numbered sources."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from io import BytesIO

from docx import Document
from docx.document import Document as DocumentObject
from docx.enum.section import WD_ORIENT
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Cm, Pt, RGBColor
from docx.table import _Row

from services.records.facts import Source

TEXT_LIMIT_CHARS = 4_000
_GREY = RGBColor(0x55, 0x55, 0x55)
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Direction overrides would let a text show itself in another order than it is written.
_UNSEEN = re.compile("[\u202a-\u202e\u2066-\u2069\ufeff]")


def clean(text: str) -> str:
    """Return `text` without what XML cannot hold and what hides the order of characters."""
    cleaned = _UNSEEN.sub("", _NOT_XML.sub("", text)).replace("\r\n", "\n").replace("\r", "\n")
    if len(cleaned) <= TEXT_LIMIT_CHARS:
        return cleaned
    return f"{cleaned[:TEXT_LIMIT_CHARS]} … ({len(cleaned) - TEXT_LIMIT_CHARS} characters more)"


class ReportPage:
    """A Word document under construction; every text passes `clean`."""

    def __init__(self, *, title: str, generated_at: datetime) -> None:
        self._document: DocumentObject = Document()
        self._sources: dict[str, tuple[int, Source]] = {}
        self.sections: list[str] = []
        self._set_up(title, generated_at)

    @property
    def sources(self) -> tuple[Source, ...]:
        """The sources cited so far, in order of their numbers."""
        return tuple(source for _, source in self._sources.values())

    def heading(self, text: str) -> None:
        """Begin a section."""
        self.sections.append(text)
        self._document.add_heading(clean(text), level=1)

    def subheading(self, text: str) -> None:
        """Begin a part of a section."""
        self._document.add_heading(clean(text), level=2)

    def paragraph(self, text: str, *, sources: Iterable[Source] | None = None) -> None:
        """Add a paragraph; with `sources`, its citation or "no source given" follows."""
        paragraph = self._document.add_paragraph(clean(text))
        if sources is not None:
            run = paragraph.add_run(f" {self.cite(sources)}")
            run.font.size = Pt(8)
            run.font.color.rgb = _GREY

    def bullet(self, text: str) -> None:
        """Add a line of a list."""
        self._document.add_paragraph(clean(text), style="List Bullet")

    def notice(self, text: str) -> None:
        """Add a paragraph that must not be overlooked."""
        self._document.add_paragraph().add_run(clean(text)).bold = True

    def small(self, text: str) -> None:
        """Add a side remark."""
        run = self._document.add_paragraph().add_run(clean(text))
        run.font.size = Pt(8)
        run.font.color.rgb = _GREY

    def table(
        self, header: Sequence[str], rows: Iterable[Sequence[str]], widths_cm: Sequence[float]
    ) -> None:
        """Add a table whose header repeats on every page."""
        table = self._document.add_table(rows=1, cols=len(header), style="Light Grid Accent 1")
        table.autofit = False
        for column, width in zip(table.columns, widths_cm, strict=True):
            column.width = Cm(width)
        self._fill(table.rows[0], header, widths_cm)
        repeat = OxmlElement("w:tblHeader")
        repeat.set(qn("w:val"), "true")
        # python-docx has no public call for a repeated header.
        table.rows[0]._tr.get_or_add_trPr().append(repeat)
        for row in rows:
            self._fill(table.add_row(), row, widths_cm)
        self._document.add_paragraph()

    def cite(self, sources: Iterable[Source]) -> str:
        """Return the numbers of `sources`, adding new ones to the source list."""
        numbers = [self._number(source) for source in sources]
        if not numbers:
            return "[no source given]"
        return "".join(f"[{number}]" for number in dict.fromkeys(numbers))

    def write(self, into: BytesIO) -> None:
        """Write the document."""
        self._document.save(into)

    def _number(self, source: Source) -> int:
        return self._sources.setdefault(source.ref, (len(self._sources) + 1, source))[0]

    def _fill(self, row: _Row, texts: Sequence[str], widths_cm: Sequence[float]) -> None:
        for cell, text, width in zip(row.cells, texts, widths_cm, strict=True):
            cell.width = Cm(width)
            run = cell.paragraphs[0].add_run(clean(text))
            run.font.size = Pt(9)

    def _set_up(self, title: str, generated_at: datetime) -> None:
        section = self._document.sections[0]
        section.orientation = WD_ORIENT.PORTRAIT
        section.page_width, section.page_height = Cm(21.0), Cm(29.7)
        section.left_margin = section.right_margin = Cm(2.0)
        self._document.styles["Normal"].font.size = Pt(10)
        properties = self._document.core_properties
        properties.title, properties.author = clean(title), "Rounds"
        properties.comments = ""
        properties.created = properties.modified = generated_at.replace(tzinfo=None)
        self._document.add_heading(clean(title), level=0)
