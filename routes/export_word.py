"""One patient's conversation as a Word document."""

import io
import re
from collections.abc import Mapping, Sequence

from docx import Document
from docx.document import Document as DocumentObject
from docx.oxml.ns import qn
from lxml import etree

from data_models.chart_view import ChartView
from data_models.chat_context import AgentMessage
from routes.export import History
from services.attachments.papers import PAPERS_HEAD, paper_line
from services.records.report import NOT_XML
from services.statements.shown import cells, maker_label, not_supported, views_of

_BOLD = re.compile(r"\*\*(.+?)\*\*")
_BULLET = re.compile(r"^\s*[-*•]\s+")
_HEADING = re.compile(r"^#{1,6}\s+")
_SPACE = {"{http://www.w3.org/XML/1998/namespace}space": "preserve"}
# Names are resolved once: a long talk has tens of thousands of elements.
_P, _PPR, _PSTYLE, _R, _RPR, _B, _I, _T, _BR, _VAL = map(
    qn, ("w:p", "w:pPr", "w:pStyle", "w:r", "w:rPr", "w:b", "w:i", "w:t", "w:br", "w:val")
)
_RULE = re.compile(r"^[\s|:-]+$")


def as_word(found: History) -> bytes:
    """Return the turns as a `.docx` for people; model text is text, never fields or links.

    Who the patient is stands in the header of each page.
    """
    patient_id, patient = found.patient_id, found.patient
    document = Document()
    title = f"Conversation about {patient_id}" if patient_id else "Conversation"
    document.core_properties.title = title
    document.core_properties.author = "Rounds"
    document.add_heading(title, level=0)
    if patient is not None:
        who = NOT_XML.sub("", f"{patient.label} ({patient_id})")
        document.sections[0].header.paragraphs[0].text = who
        document.add_paragraph().add_run(who).bold = True
    pages = _Pages(document)
    if found.papers:
        pages.paragraph(f"{PAPERS_HEAD}:")
    for one in found.papers:
        pages.paragraph(paper_line(one), style="List Bullet")
    for turn in found.turns:
        asked = f"{turn.timestamp:%Y-%m-%d %H:%M} UTC · {turn.user or 'User'}"
        pages.paragraph(asked, style="Heading 1")
        pages.paragraph(turn.user_message, style="Intense Quote")
        for message in turn.agent_responses:
            _add_answer(pages, message, found.views)
        if turn.turn_status in ("FAILED", "STOPPED"):
            text = f"This turn ended early: {turn.turn_status.lower()}."
            pages.paragraph(text, italic=True)
    saved = io.BytesIO()
    document.save(saved)
    return saved.getvalue()


class _Pages:
    """Appends to a document in a time that grows with what is appended alone.

    `add_paragraph(style=…)` looks its style and its place up in all that stands there: a talk of
    three thousand turns took hours. Elements are lxml's own for the same reason: those of
    python-docx cost three times as much.
    """

    def __init__(self, document: DocumentObject) -> None:
        self._end = document.element.body.sectPr
        self._ids = {style.name: style.style_id for style in document.styles}

    def paragraph(
        self, text: str = "", *, style: str | None = None, bold: bool = False, italic: bool = False
    ) -> etree._Element:
        """Add a paragraph of a style of the template, with one run if there is text."""
        paragraph = etree.Element(_P)
        self._end.addprevious(paragraph)
        if style is not None:
            properties = etree.SubElement(paragraph, _PPR)
            etree.SubElement(properties, _PSTYLE, {_VAL: self._ids[style]})
        if text:
            _add_run(paragraph, text, bold=bold, italic=italic)
        return paragraph

    def table(self, rows: Sequence[Sequence[str]]) -> None:
        """Add a table with a grid; rows are as wide as the first."""
        width = max(map(len, rows), default=1)
        table = etree.Element(qn("w:tbl"))
        style = etree.SubElement(etree.SubElement(table, qn("w:tblPr")), qn("w:tblStyle"))
        style.set(_VAL, self._ids["Table Grid"])
        grid = etree.SubElement(table, qn("w:tblGrid"))
        for _ in range(width):
            etree.SubElement(grid, qn("w:gridCol"))
        for texts in rows:
            # A cell for each text, and empty ones as the table is wide.
            row = etree.SubElement(table, qn("w:tr"))
            for text in (*texts, *[""] * (width - len(texts))):
                cell = etree.SubElement(row, qn("w:tc"))
                _add_run(etree.SubElement(cell, _P), " ".join(text.split()))
        self._end.addprevious(table)


def _add_run(
    paragraph: etree._Element, text: str, *, bold: bool = False, italic: bool = False
) -> None:
    """Add a run of what XML can hold of a text: no field and no link; its lines stay lines."""
    run = etree.SubElement(paragraph, _R)
    if bold or italic:
        properties = etree.SubElement(run, _RPR)
        for is_set, name in ((bold, _B), (italic, _I)):
            if is_set:
                etree.SubElement(properties, name)
    for number, line in enumerate(NOT_XML.sub("", text).split("\n")):
        if number:
            etree.SubElement(run, _BR)
        etree.SubElement(run, _T, _SPACE).text = line


def _add_answer(pages: _Pages, message: AgentMessage, views: Mapping[str, ChartView]) -> None:
    pages.paragraph(message.agent, style="Heading 2")
    if label := maker_label(message):
        pages.paragraph(label, italic=True)
    for line in NOT_XML.sub("", message.text).splitlines():
        if line.strip() and not _RULE.match(line):
            _add_line(pages, line)
    for view in views_of(message, views):
        _add_view(pages, view)
    for line in not_supported(message).splitlines():
        _add_line(pages, line)
    for one in message.citations:
        pages.paragraph(f"{one.title or one.ref} ({one.ref})", style="List Bullet 2")


def _add_view(pages: _Pages, view: ChartView) -> None:
    columns, rows = cells(view)
    pages.paragraph(view.title, bold=True)
    pages.table([columns, *rows])
    left = [f"Not shown: {one.count} {one.what}" for one in view.left_out]
    for line in (*left, *view.notes):
        pages.paragraph(line)


def _add_line(pages: _Pages, line: str) -> None:
    if _HEADING.match(line):
        pages.paragraph(_HEADING.sub("", line), bold=True)
    elif _BULLET.match(line):
        _add_words(pages.paragraph(style="List Bullet"), _BULLET.sub("", line))
    else:
        _add_words(pages.paragraph(), line)


def _add_words(paragraph: etree._Element, text: str) -> None:
    for number, part in enumerate(_BOLD.split(text)):
        # The pattern's group stands at every odd place.
        if part:
            _add_run(paragraph, part, bold=number % 2 == 1)
