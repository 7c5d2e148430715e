import asyncio
import io
import zipfile
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import docx
import pytest
from docx.document import Document
from hypothesis import given, settings
from hypothesis import strategies as st

from data_models.chart_view import ViewSource
from data_models.errors import RecordAmbiguousError
from data_models.identifiers import PatientId
from services.records.report import (
    DISCLAIMER,
    OFFLINE_NOTICE,
    STATEMENT_LIMIT,
    TEXT_LIMIT_CHARS,
    clean,
    tumor_board_report,
)
from services.records.report_models import ReportContent, Statement, reports_of
from services.records.resources.record import PatientRecord
from services.records.views.course import course
from services.records.views.demographics import demographics
from services.records.views.oncology.oncology import treatments_view
from services.records.views.oncology.status import current_status
from tests.fakes import FixedClock
from tests.services.records.charts import ecog, patient, record, records_in, resource
from tests.services.records.charts import report as one_report

SAMPLES = Path(__file__).parents[3] / "samples" / "patients"
NOW = datetime(2025, 7, 1, 9, 30, tzinfo=UTC)
CT = ViewSource(ref="DiagnosticReport/ct-2025-05-report", date="2025-05-16", title="CT")


def content(chart: PatientRecord, **more: Any) -> ReportContent:
    today = date(2025, 7, 1)
    parts: dict[str, Any] = {
        "patient": demographics(chart, today=today),
        "status": current_status(chart, today=today),
        "timeline": course(chart, today=today, limit=100),
        "imaging": reports_of(chart, "imaging report"),
        "pathology": reports_of(chart, "pathology report"),
        "treatments": treatments_view(chart, today=today),
        "generated_at": NOW,
    }
    return ReportContent(**{**parts, **more})


def sample(name: str) -> PatientRecord:
    records = records_in(SAMPLES, FixedClock())
    return asyncio.run(records.load(PatientId(name)))


def opened(data: bytes) -> Document:
    return docx.Document(io.BytesIO(data))


def text_of(data: bytes) -> str:
    document = opened(data)
    cells = [cell.text for table in document.tables for row in table.rows for cell in row.cells]
    return "\n".join([*(paragraph.text for paragraph in document.paragraphs), *cells])


@pytest.mark.slow
def test_the_document_has_every_section_and_the_patient_at_its_top() -> None:
    report = tumor_board_report(content(sample("patient_4")))

    assert report.manifest.sections == (
        "Clinical summary", "Timeline", "Imaging", "Pathology", "Biomarkers", "Treatment history",
        "Open questions and missing data", "What the agents said", "Sources",
    )  # fmt: skip
    banner = [cell.text for cell in opened(report.data).tables[0].columns[1].cells]
    assert banner[1:6] == ["Margaret Anne Whitfield", "patient_4", "1957-03-14", "68", "female"]
    assert DISCLAIMER in text_of(report.data)
    german = tumor_board_report(content(sample("patient_4"), language="de", offline_model=True))
    assert german.manifest.sections[:3] == (
        "Klinische Zusammenfassung",
        "Zeitlicher Verlauf",
        "Bildgebung",
    )
    told = text_of(german.data)
    ours = [
        *(
            "Sources differ on",
            "Clinical summary",
            "Birth date",
            "earlier: ",
            "see below",
            "female",
        ),
        *("; active", "said to take", "problem\n", "imaging study\n", "of kind", " to 20"),
    ]
    for text in (DISCLAIMER, OFFLINE_NOTICE, *ours):
        assert text not in told
    assert "IVB (2025-05-23); früher: IVA (2024-03-06)" in told


@pytest.mark.slow
def test_every_statement_carries_its_source_or_says_that_it_has_none() -> None:
    said = (
        Statement(agent="Radiology", text="The lesion grew to 24 mm.", sources=(CT,)),
        Statement(agent="PatientStatus", text="Fit for treatment."),
    )
    report = tumor_board_report(content(sample("patient_4"), statements=said))

    number = report.manifest.sources.index(CT.ref) + 1
    text = text_of(report.data)
    assert f"Radiology: The lesion grew to 24 mm. [{number}]" in text
    assert "PatientStatus: Fit for treatment. [no source given]" in text
    assert (report.manifest.statements, report.manifest.unsourced) == (2, 1)


@pytest.mark.slow
def test_every_number_in_the_text_leads_to_the_source_list() -> None:
    report = tumor_board_report(content(sample("patient_7")))
    rows = [[cell.text for cell in row.cells] for row in opened(report.data).tables[-1].rows][1:]

    assert [row[0] for row in rows] == [f"[{n + 1}]" for n in range(len(rows))]
    assert tuple(row[1] for row in rows) == report.manifest.sources
    assert len(set(report.manifest.sources)) == len(report.manifest.sources)


@pytest.mark.slow
def test_sources_that_differ_are_both_printed() -> None:
    text = text_of(tumor_board_report(content(sample("patient_4"))).data)
    assert "Sources differ on ECOG:" in text
    assert "2 (2025-05-21)" in text
    assert "1 (2025-05-20)" in text
    assert "2 (2025-05-21); sources differ, see below; earlier: 0 (2024-09-18)" in text


@pytest.mark.slow
def test_what_is_missing_is_printed_as_missing() -> None:
    report = tumor_board_report(content(sample("patient_42"), open_questions=("Is tissue there?",)))
    text = text_of(report.data)
    for name in ("stage", "ECOG", "biomarkers"):
        assert f"{name}: not in the record" in text
        assert name in report.manifest.missing
    assert "Is tissue there?" in text


@pytest.mark.parametrize("offline", [True, False])
@pytest.mark.slow
def test_the_offline_model_is_marked_and_only_it(offline: bool) -> None:
    report = tumor_board_report(content(record(), offline_model=offline))
    assert (OFFLINE_NOTICE in text_of(report.data)) == offline
    assert report.manifest.offline_model == offline


def test_two_patients_cannot_be_in_one_report() -> None:
    with pytest.raises(RecordAmbiguousError):
        content(sample("patient_4"), status=current_status(record(), today=date(2025, 7, 1)))


def test_an_incomplete_record_is_told_on_the_first_page() -> None:
    chart = record({**ecog("t", "2024", "1"), "subject": {"reference": "Patient/other"}})
    assert "This record is incomplete" in text_of(tumor_board_report(content(chart)).data)


@pytest.mark.slow
def test_the_manifest_holds_no_clinical_text() -> None:
    report = tumor_board_report(content(sample("patient_4")))
    assert "Whitfield" not in report.manifest.model_dump_json()
    assert report.manifest.file_name == "tumor-board-patient_4-20250701T093000.docx"
    assert report.manifest.size_bytes == len(report.data)


@pytest.mark.slow
def test_the_same_content_gives_the_same_text_and_no_stray_metadata() -> None:
    chart = sample("patient_15")
    first, second = (tumor_board_report(content(chart)) for _ in range(2))
    with (
        zipfile.ZipFile(io.BytesIO(first.data)) as one,
        zipfile.ZipFile(io.BytesIO(second.data)) as two,
    ):
        assert [one.read(name) for name in one.namelist()] == [two.read(n) for n in two.namelist()]
        assert b"python-docx" not in one.read("docProps/core.xml")


@pytest.mark.slow
def test_too_many_statements_are_counted() -> None:
    said = tuple(Statement(agent="A", text=str(n)) for n in range(STATEMENT_LIMIT + 2))
    report = tumor_board_report(content(record(), statements=said))
    assert report.manifest.left_out == 2
    assert "2 statements are left out." in text_of(report.data)


def test_a_long_text_is_cut_and_says_by_how_much() -> None:
    assert clean("x" * (TEXT_LIMIT_CHARS + 5)).endswith("… (5 characters more)")


def test_characters_that_turn_the_order_of_text_are_dropped() -> None:
    assert clean("a\u202eb\u2066c\x00\x0b\ud800") == "abc"


@pytest.mark.slow
@settings(max_examples=10)
@given(st.text(alphabet=st.characters(), max_size=60))
def test_any_text_can_be_printed(text: str) -> None:
    name = [{"text": text}]
    said = (Statement(agent="A", text=text, sources=(CT.model_copy(update={"title": text}),)),)
    chart = record(person=patient(name=name))

    report = tumor_board_report(content(chart, statements=said, open_questions=(text,), title=text))
    assert opened(report.data).tables


@pytest.mark.parametrize("category", ["RAD", "LP29684-5", "NMR"])
def test_imaging_reports_are_known_by_category(category: str) -> None:
    chart = record(one_report("r", "2024-01-01", category, "text"))
    assert [item.ref for item in reports_of(chart, "imaging report")] == ["DiagnosticReport/r"]
    assert not reports_of(chart, "pathology report")


@pytest.mark.parametrize("category", ["PAT", "GE", "SP"])
def test_pathology_and_genetic_reports_are_known_by_category(category: str) -> None:
    chart = record(one_report("r", "2024-01-01", category, "text"))
    assert [item.ref for item in reports_of(chart, "pathology report")] == ["DiagnosticReport/r"]


@pytest.mark.slow
def test_the_newest_reports_are_shown_and_the_rest_counted() -> None:
    several = (one_report(f"r{n}", f"20{n}-01-01", "RAD", f"text {n}") for n in range(10, 24))
    report = tumor_board_report(content(record(*several)))
    text = text_of(report.data)
    assert "text 23" in text
    assert "text 11" not in text
    assert "2 older reports are left out." in text
    assert report.manifest.left_out == 2


def test_a_report_with_only_a_conclusion_has_it_as_its_text_and_one_without_any_says_so() -> None:
    category = [{"coding": [{"code": "RAD"}]}]
    bare = resource("DiagnosticReport", "r", category=category, conclusion="Fine")
    empty = resource("DiagnosticReport", "e", category=category)
    text = text_of(tumor_board_report(content(record(bare, empty))).data)
    assert "Fine [" in text
    assert "No text: no text in the record [" in text
