"""The tumor-board document: what the record says and what the agents said, each with its source."""

import re
from collections.abc import Iterable, Sequence
from io import BytesIO

from docx import Document
from docx.document import Document as DocumentObject
from docx.enum.section import WD_ORIENT
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Cm, Pt, RGBColor
from docx.table import _Row

from data_models.chart_view import ChartView, ViewRow, ViewSource
from services.language.charts.answer_words import answer_words
from services.language.words.own_texts import in_own_language
from services.records.report_models import Report, ReportContent, ReportManifest, Statement
from services.records.resources.documents import ClinicalDocument
from services.records.resources.facts import Fact
from services.records.resources.values import with_unit
from services.records.views.course import EARLIER

# Drawing on a Word page: clean text, tables, and numbered sources.

TEXT_LIMIT_CHARS = 4_000
_OF_REPORTS = "report: "
"""Before each text of ours where its translations stand: "Imaging" may be somebody's event."""
_GREY = RGBColor(0x55, 0x55, 0x55)
NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Direction overrides would let a text show itself in another order than it is written.
_UNSEEN = re.compile("[\u202a-\u202e\u2066-\u2069\ufeff]")


def clean(text: str) -> str:
    """Return `text` without what XML cannot hold and what hides the order of characters."""
    cleaned = _UNSEEN.sub("", NOT_XML.sub("", text)).replace("\r\n", "\n").replace("\r", "\n")
    if len(cleaned) <= TEXT_LIMIT_CHARS:
        return cleaned
    return f"{cleaned[:TEXT_LIMIT_CHARS]} … ({len(cleaned) - TEXT_LIMIT_CHARS} characters more)"


class ReportPage:
    """A Word document under construction; every text passes `clean`.

    What is of ours, as `told` gives a row's, is in the content's language; the record's words stay.
    """

    def __init__(self, *, content: ReportContent) -> None:
        self._document: DocumentObject = Document()
        self._language = content.language
        self.told = answer_words(content.language).in_words
        self._sources: dict[str, tuple[int, ViewSource]] = {}
        self.sections: list[str] = []
        section = self._document.sections[0]
        section.orientation = WD_ORIENT.PORTRAIT
        section.page_width, section.page_height = Cm(21.0), Cm(29.7)
        section.left_margin = section.right_margin = Cm(2.0)
        self._document.styles["Normal"].font.size = Pt(10)
        properties = self._document.core_properties
        title = properties.title = self.own(content.title)
        properties.author = "Rounds"
        properties.comments = ""
        properties.created = properties.modified = content.generated_at.replace(tzinfo=None)
        self._document.add_heading(title, level=0)

    def own(self, text: str) -> str:
        """Return a text of ours, clean, in the language of the document."""
        return in_own_language(f"{_OF_REPORTS}{clean(text)}", self._language).removeprefix(
            _OF_REPORTS
        )

    @property
    def sources(self) -> tuple[ViewSource, ...]:
        """The sources cited so far, in order of their numbers."""
        return tuple(source for _, source in self._sources.values())

    def heading(self, text: str) -> None:
        """Begin a section."""
        self.sections.append(self.own(text))
        self._document.add_heading(self.own(text), level=1)

    def subheading(self, text: str) -> None:
        """Begin a part of a section."""
        self._document.add_heading(clean(text), level=2)

    def paragraph(self, text: str, *, sources: Iterable[ViewSource] | None = None) -> None:
        """Add a paragraph; with `sources`, its citation or "no source given" follows."""
        text = self.own(text) if sources is None else clean(text)
        paragraph = self._document.add_paragraph(text)
        if sources is not None:
            run = paragraph.add_run(f" {self.cite(sources)}")
            run.font.size = Pt(8)
            run.font.color.rgb = _GREY

    def bullet(self, text: str) -> None:
        """Add a line of a list."""
        self._document.add_paragraph(clean(text), style="List Bullet")

    def notice(self, text: str) -> None:
        """Add a paragraph that must not be overlooked."""
        self._document.add_paragraph().add_run(self.own(text)).bold = True

    def small(self, text: str) -> None:
        """Add a side remark."""
        run = self._document.add_paragraph().add_run(self.own(text))
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
        self._fill(table.rows[0], [*map(self.own, header)], widths_cm)
        repeat = OxmlElement("w:tblHeader")
        repeat.set(qn("w:val"), "true")
        # python-docx has no public call for a repeated header.
        table.rows[0]._tr.get_or_add_trPr().append(repeat)
        for row in rows:
            self._fill(table.add_row(), row, widths_cm)
        self._document.add_paragraph()

    def cite(self, sources: Iterable[ViewSource]) -> str:
        """Return the numbers of `sources`, adding new ones to the source list."""
        numbers = [self._number(source) for source in sources]
        if not numbers:
            return self.own("[no source given]")
        return "".join(f"[{number}]" for number in dict.fromkeys(numbers))

    def write(self, into: BytesIO) -> None:
        """Write the document."""
        self._document.save(into)

    def _number(self, source: ViewSource) -> int:
        return self._sources.setdefault(source.ref, (len(self._sources) + 1, source))[0]

    def _fill(self, row: _Row, texts: Sequence[str], widths_cm: Sequence[float]) -> None:
        for cell, text, width in zip(row.cells, texts, widths_cm, strict=True):
            cell.width = Cm(width)
            run = cell.paragraphs[0].add_run(clean(text))
            run.font.size = Pt(9)


MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
STATEMENT_LIMIT = 200
TREATMENT_LIMIT = 40
REPORT_LIMIT = 12
SOURCES_OF_ROW = 3
DISCLAIMER = (
    "Generated by Rounds from the patient's records and the answers of software agents. It is not "
    "a medical device and not a diagnosis: a qualified clinician must check every statement "
    "against its source before use."
)
OFFLINE_NOTICE = (
    "The statements in this report were made by the offline model, which only repeats tool "
    "results. No language model has weighed them."
)
ABSENT = "not in the record"


def tumor_board_report(content: ReportContent) -> Report:
    """Return the Word document; takes about 0.1 s of CPU, so call it off the event loop."""
    page = ReportPage(content=content)
    _banner(page, content)
    _summary(page, content)
    _timeline(page, content)
    _documents(page, "Imaging", content.imaging)
    _documents(page, "Pathology", content.pathology)
    page.heading("Biomarkers")
    if content.status.biomarkers:
        _fact_table(page, content.status.biomarkers)
    else:
        page.paragraph(f"Biomarkers: {ABSENT}.")
    _treatments(page, content.treatments)
    _open_questions(page, content)
    _statements(page, content.statements)
    _sources(page)
    data = BytesIO()
    page.write(data)
    return Report(data=data.getvalue(), manifest=_manifest(content, page, len(data.getvalue())))


def _banner(page: ReportPage, content: ReportContent) -> None:
    patient = content.patient
    rows = [
        ("Patient", patient.name or ABSENT),
        ("Rounds id", patient.patient_id),
        ("Birth date", patient.birth_date or ABSENT),
        ("Age", patient.age or ABSENT),
        ("Sex", page.told(patient.sex or ABSENT)),
        *([("Vital status", page.told(patient.deceased))] if patient.deceased else []),
        ("Record numbers", "; ".join(patient.numbers) or ABSENT),
        ("Generated", f"{content.generated_at:%Y-%m-%d %H:%M} UTC"),
    ]
    page.table(("Item", "Value"), [(page.own(one), value) for one, value in rows], (4.0, 13.0))
    page.notice(DISCLAIMER)
    if content.offline_model:
        page.notice(OFFLINE_NOTICE)
    if content.status.incomplete:
        page.notice(content.status.incomplete)


def _summary(page: ReportPage, content: ReportContent) -> None:
    status = content.status
    page.heading("Clinical summary")
    facts = (status.diagnosis, status.primary_site, status.histology, *status.staging, status.ecog,
             status.allergies, status.vital_status)  # fmt: skip
    _fact_table(page, facts)


def _fact_table(page: ReportPage, facts: tuple[Fact, ...]) -> None:
    said_by = ([*one.sources, *(by for old in one.earlier for by in old.sources)] for one in facts)
    rows = [
        (page.told(one.name), page.told(_value(one)), page.cite(sources) if one.value else "")
        for one, sources in zip(facts, said_by, strict=True)
    ]
    page.table(("Fact", "Value", "Source"), rows, (4.5, 10.0, 2.5))
    for fact in facts:
        if fact.disagreement:
            page.notice(f"Sources differ on {fact.name}:")
            for reading in fact.disagreement:
                when = reading.date or page.told("undated")
                page.bullet(f"{reading.value} ({when}) {page.cite(reading.sources)}")


def _value(fact: Fact) -> str:
    if fact.value is None:
        return ABSENT
    dated = f"{fact.value} ({fact.sources[0].date})" if fact.sources[0].date else fact.value
    older = ", ".join(f"{reading.value} ({reading.date or 'undated'})" for reading in fact.earlier)
    differ = "sources differ, see below" if fact.disagreement else ""
    return "; ".join(filter(None, (dated, differ, older and f"earlier: {older}")))


def _timeline(page: ReportPage, content: ReportContent) -> None:
    page.heading("Timeline")
    rows = [row for row in content.timeline.rows if row.kind != "note"]
    table = [
        (page.told(_when(r)), page.told(r.kind), _told(page, r), _cited(page, content.timeline, r))
        for r in rows
    ]
    page.table(("Date", "Kind", "Event", "Source"), table, (3.2, 2.5, 9.5, 1.8))
    if content.timeline.left_out:
        said = ", ".join(f"{one.count} {page.told(one.what)}" for one in content.timeline.left_out)
        page.small(f"Not in this table: {said}.")


def _when(row: ViewRow) -> str:
    return f"{row.date[:10] or 'undated'}{f' – {row.end[:10]}' if row.end else ''}"


def _told(page: ReportPage, row: ViewRow) -> str:
    value = with_unit(row.value, row.unit)
    named = f"{row.name}: {value}" if value else row.name
    return "; ".join(filter(None, (named, _said(page, row.flag, row.status, row.detail))))


def _said(page: ReportPage, *parts: str) -> str:
    return "; ".join(filter(None, map(page.told, parts)))


def _cited(page: ReportPage, view: ChartView, row: ViewRow) -> str:
    known = {source.ref: source for source in view.sources}
    return page.cite(known[ref] for ref in row.sources[:SOURCES_OF_ROW] if ref in known)


def _documents(page: ReportPage, title: str, documents: Sequence[ClinicalDocument]) -> None:
    page.heading(title)
    if not documents:
        page.paragraph(f"No report: {ABSENT}.")
    for document in documents[:REPORT_LIMIT]:
        page.subheading(f"{document.title} ({document.date or 'undated'})")
        text = document.summary or document.text or f"No text: {document.problem}"
        source = ViewSource(ref=document.ref, date=document.date, title=document.title)
        page.paragraph(text, sources=[source])
    if older := _over_limit(documents):
        page.small(f"{older} older reports are left out.")


def _over_limit(documents: Sequence[ClinicalDocument]) -> int:
    return max(0, len(documents) - REPORT_LIMIT)


def _treatments(page: ReportPage, view: ChartView) -> None:
    page.heading("Treatment history")
    if not view.rows:
        page.paragraph(f"Treatment: {ABSENT}.")
        return
    # Drugs that are taken now come first, so that no limit reaches them.
    now = sum(row.kind == "medication" and row.status == "active" for row in view.rows)
    shown = view.rows[: max(TREATMENT_LIMIT, now)]
    told = (_said(page, one.value, one.status, one.detail) for one in shown)
    table = [
        (page.told(_when(one)), one.name, said, _cited(page, view, one))
        for one, said in zip(shown, told, strict=True)
    ]
    page.table(("Date", "Treatment", "Detail", "Source"), table, (3.2, 4.5, 7.5, 1.8))
    if len(shown) < len(view.rows):
        page.small(f"{len(view.rows) - len(shown)} older treatments are left out.")


def _open_questions(page: ReportPage, content: ReportContent) -> None:
    page.heading("Open questions and missing data")
    for question in content.open_questions:
        page.bullet(question)
    for name in content.status.missing():
        page.bullet(f"{page.told(name)}: {page.told(ABSENT)}")
    if not content.open_questions and not content.status.missing():
        page.paragraph("None noted.")


def _statements(page: ReportPage, statements: tuple[Statement, ...]) -> None:
    page.heading("What the agents said")
    if not statements:
        page.paragraph("Nothing was said for this report.")
    for statement in statements[:STATEMENT_LIMIT]:
        page.paragraph(f"{statement.agent}: {statement.text}", sources=statement.sources)
    if len(statements) > STATEMENT_LIMIT:
        page.small(f"{len(statements) - STATEMENT_LIMIT} statements are left out.")


def _sources(page: ReportPage) -> None:
    page.heading("Sources")
    rows = [
        (f"[{number}]", source.ref, source.date or page.told("undated"), source.title)
        for number, source in enumerate(page.sources, start=1)
    ]
    page.table(("No.", "Source", "Date", "Title"), rows, (1.5, 6.0, 2.5, 7.0))


def _manifest(content: ReportContent, page: ReportPage, size_bytes: int) -> ReportManifest:
    statements = content.statements[:STATEMENT_LIMIT]
    earlier = sum(one.count for one in content.timeline.left_out if one.what == EARLIER)
    left_out = len(content.statements) - len(statements) + earlier
    patient_id = content.patient.patient_id
    return ReportManifest(
        patient_id=patient_id,
        file_name=f"tumor-board-{patient_id}-{content.generated_at:%Y%m%dT%H%M%S}.docx",
        media_type=MEDIA_TYPE,
        size_bytes=size_bytes,
        generated_at=content.generated_at,
        sections=tuple(page.sections),
        statements=len(statements),
        unsourced=sum(not statement.sources for statement in statements),
        sources=tuple(source.ref for source in page.sources),
        missing=content.status.missing(),
        left_out=left_out + _over_limit(content.imaging) + _over_limit(content.pathology),
        offline_model=content.offline_model,
    )
