"""Guidelines of every format are quoted with document, section and version, or not at all."""

import asyncio
import io
from datetime import date
from pathlib import Path

import docx
import pytest

from data_models.chart_view import ChartView
from data_models.identifiers import PatientId
from services.evidence.guidelines.library import (
    NO_ANSWER,
    GuidelineFolder,
    Library,
    library_of,
    passages_view,
)
from services.evidence.trials.facts import facts_of
from services.statements.rows.known import KnownRows
from tests.fakes import FixedClock
from tests.services.records.charts import records_in
from tests.tables import with_cases

TODAY = date(2026, 11, 23)
SAMPLES = Path(__file__).parents[4] / "samples" / "guidelines"


def word_file() -> bytes:
    document = docx.Document()
    document.add_heading("Neutropenic fever", 0)
    document.add_paragraph("Version: 4.2")
    document.add_paragraph("Date: 2026-01-05")
    document.add_heading("First hour", 1)
    document.add_paragraph("Blood cultures and piperacillin-tazobactam within 60 minutes.")
    table = document.add_table(rows=1, cols=2)
    table.cell(0, 0).text, table.cell(0, 1).text = "Penicillin allergy", "meropenem"
    sink = io.BytesIO()
    document.save(sink)
    return sink.getvalue()


def pdf_file(*lines: str) -> bytes:
    """Return a PDF of one page that shows the lines."""
    shown = b" ".join(b"(" + line.encode() + b") Tj T*" for line in lines)
    content = b"BT /F1 12 Tf 14 TL 40 800 Td " + shown + b" ET"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    data, places = b"%PDF-1.4\n", list[int]()
    for number, each in enumerate(objects, start=1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    end = b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (
        len(objects) + 1,
        len(data),
    )
    return data + head + table + end


def samples(*more: tuple[str, bytes]) -> Library:
    files = [(one.name, one.read_bytes()) for one in sorted(SAMPLES.iterdir())]
    pdf = pdf_file("Blood transfusion", "Version: 1.3", "Date: 2026-03-01", "1 Threshold",
                   "Transfuse red cells below 7 g/dL of haemoglobin.")  # fmt: skip
    return library_of([*files, ("fever.docx", word_file()), ("blood.pdf", pdf), *more])


def quoted(question: str) -> list[tuple[str, str, str]]:
    view = passages_view(samples(), question, facts=None, today=TODAY)
    return [(row.name, row.status, row.detail) for row in view.rows]


def test_a_markdown_passage_is_quoted_from_the_newest_version_and_the_older_is_named() -> None:
    new, old = quoted("what does our guideline say about potassium replacement?")[:2]
    assert new[0] == "Low potassium on the wards (invented sample), Replacement"
    assert new[1] == "version 2.1"
    assert "at most 10 mmol an hour" in new[2]
    assert old[1] == "version 1.0, OUTDATED: version 2.1 is here too"


def test_a_word_document_is_quoted_with_its_heading() -> None:
    (name, status, text), *_ = quoted("guideline for neutropenic fever: blood cultures?")
    assert (name, status) == ("Neutropenic fever, First hour", "version 4.2, no review date")
    assert "Penicillin allergy | meropenem" in text


def test_a_pdf_is_quoted_with_its_page() -> None:
    (name, status, text), = quoted("what does the guideline say: transfuse red cells?")  # fmt: skip
    assert name == "Blood transfusion, 1 Threshold, page 1"
    assert status.startswith("version 1.3")
    assert "below 7 g/dL" in text


def test_a_page_whose_review_date_has_passed_says_so() -> None:
    (name, status, _), *_ = quoted("How often MRI after radiosurgery by our guideline?")
    assert name == "Brain metastases of lung cancer (invented sample), Imaging"
    assert status == "version 3.0, OUTDATED: to be reviewed by 2025-05-04"


@with_cases("question")
@pytest.mark.slow
def test_what_no_guideline_answers_gets_one_sentence_and_no_passage(question: str) -> None:
    view = passages_view(samples(), question, facts=None, today=TODAY)
    assert (view.rows, view.nothing) == ((), NO_ANSWER)


def test_a_file_that_cannot_be_read_is_named_and_costs_itself_alone() -> None:
    broken = [("scan.pdf", b"%PDF-1.4 nothing"), ("a.docx", b"PK no archive"), ("e.md", b"  ")]
    library = samples(*broken)
    assert len(library.problems) == 3
    view = passages_view(library, "guideline: potassium replacement", facts=None, today=TODAY)
    assert view.rows
    assert [note.split(":")[1].strip() for note in view.notes] == ["scan.pdf", "a.docx", "e.md"]


async def test_a_new_file_is_read_within_seconds(tmp_path: Path) -> None:
    clock = FixedClock()
    folder = GuidelineFolder(folder=tmp_path, clock=clock)
    assert (await folder.library()).passages == ()
    (tmp_path / "new.md").write_text("# Gout\n\nVersion: 1\n\nColchicine 0.5 mg twice daily.\n")
    clock.advance(6)
    (found,) = (await folder.library()).search("gout colchicine")
    assert found.guideline.version == "1"


async def test_who_asks_while_the_folder_is_read_finds_what_it_holds() -> None:
    folder = GuidelineFolder(folder=SAMPLES, clock=FixedClock())
    read = await asyncio.gather(folder.library(), folder.library())
    assert all(one.passages for one in read)


def test_a_guideline_supports_no_statement_on_the_patient() -> None:
    known = KnownRows()
    known.add_view(
        passages_view(samples(), "guideline potassium replacement", facts=None, today=TODAY)
    )
    assert known.rows == []
    assert any(ref.startswith("Guideline/") for ref in known.sources)


async def for_patient(patient_id: str, question: str) -> ChartView:
    record = await records_in(SAMPLES.parent / "patients", FixedClock()).load(PatientId(patient_id))
    return passages_view(samples(), question, facts=facts_of(record, today=TODAY), today=TODAY)


@pytest.mark.parametrize(
    "question",
    [
        "what does our guideline say for this patient?",
        "which guideline applies to her?",
        "Was sagt unsere Leitlinie für diese Patientin?",
    ],
)
async def test_for_the_patient_what_they_have_is_laid_beside_what_is_advised(question: str) -> None:
    view = await for_patient("patient_4", question)
    titles = {row.name.partition(",")[0] for row in view.rows if row.kind == "guideline"}
    assert titles == {"Brain metastases of lung cancer (invented sample)"}
    laid = [row.name for row in view.rows[1:] if row.kind != "guideline"]
    assert set(laid) >= {"Dexamethasone", "Pantoprazole", "Metastasis to brain"}
    assert len(laid) == len(set(laid))


async def test_a_guideline_for_another_illness_is_not_for_the_patient() -> None:
    view = await for_patient("patient_7", "what does our guideline say for him?")
    assert view.rows == ()
    assert view.nothing.startswith("No guideline here is for what this chart holds now. There are:")


async def test_a_topic_is_found_by_its_other_names_with_the_charts_rows() -> None:
    view = await for_patient("patient_4", "Leitlinie Kalium")
    assert view.rows[0].name.startswith("Low potassium on the wards")
    assert [row.name for row in view.rows if row.kind == "laboratory"] == ["Creatinine"]


@pytest.mark.parametrize(
    "question", ["which guidelines do we have?", "welche Leitlinien gibt es?", "what does it say?"]
)
async def test_a_question_without_a_topic_gets_the_titles(question: str) -> None:
    view = await for_patient("patient_4", question)
    assert view.rows == ()
    assert view.nothing.startswith("Name a topic")
    assert "Low potassium on the wards (invented sample)" in view.nothing


async def test_abbreviations_and_other_forms_of_a_word_are_found() -> None:
    for question in (
        "how long to taper dex after srs?",
        "SOP: K replacement",
        "Leitlinie Hirnmetastasen",
        "sop hypokalemia",
        "guideline hypokalaemia",
        "Leitlinie Hypokaliämie",
    ):
        assert samples().search(question), question


def test_what_is_for_a_high_value_is_not_for_a_low_one() -> None:
    assert not samples().search("sop hyperkalemia")


async def test_what_is_not_shown_is_counted() -> None:
    view = await for_patient("patient_4", "guideline potassium")
    assert len([row for row in view.rows if row.kind == "guideline"]) == 4
    assert view.notes == ("further passages, not shown: 2; name a topic",)
