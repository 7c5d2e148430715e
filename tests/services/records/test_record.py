from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_models.errors import (
    RecordAmbiguousError,
    RecordNotFoundError,
    RecordsError,
    RecordsUnreadableError,
)
from services.records.resources.record import record_from_resources
from services.records.views.course import course
from services.records.views.oncology.status import current_status
from tests.services.records.charts import PATIENT_ID, ecog, entries, note, patient, record, resource


def test_what_names_another_patient_is_left_out_and_said() -> None:
    other = {**ecog("theirs", "2024-01-01", "4"), "subject": {"reference": "Patient/p10"}}

    chart = record(ecog("mine", "2024-01-01", "1"), other)

    assert [one.ref for one in chart.entries_of("Observation")] == ["Observation/mine"]
    assert "do not name this patient" in (chart.left_out.sentence() or "")


def test_what_names_nobody_is_left_out() -> None:
    nobody = ecog("whose", "2024-01-01", "4")
    del nobody["subject"]

    assert record(nobody).left_out.other_patient == 1


@pytest.mark.parametrize(
    "reference", ["Patient/p9", "Patient/p9/_history/3", "https://a.example/Patient/p9"]
)
def test_all_spellings_of_this_patient_count(reference: str) -> None:
    rows = entries(patient(), {**ecog("e", "2024-01-01", "1"), "subject": {"reference": reference}})
    rows[0]["fullUrl"] = "https://a.example/Patient/p9"

    assert len(record_from_resources(PATIENT_ID, rows).entries) == 1


def test_a_patient_of_another_server_with_the_same_id_is_another_patient() -> None:
    stranger = {"reference": "https://b.example/Patient/p9"}

    assert not record({**ecog("e", "2024-01-01", "1"), "subject": stranger}).entries


@pytest.mark.parametrize("status", ["entered-in-error", "cancelled"])
def test_withdrawn_entries_are_not_facts(status: str) -> None:
    chart = record({**ecog("wrong", "2024-01-01", "4"), "status": status})

    assert not chart.entries
    assert chart.left_out.withdrawn == 1


def test_a_refuted_diagnosis_is_not_a_fact() -> None:
    refuted = {"coding": [{"code": "refuted"}]}

    assert not record(resource("Condition", "c", verificationStatus=refuted)).entries


def test_an_unreadable_entry_is_named_and_the_others_are_kept() -> None:
    chart = record(resource("Observation", "odd", code="not an object"), ecog("e", "2024", "1"))

    assert chart.left_out.unreadable == ("Observation/odd: code: is not as R4 has it",)
    assert "1 entry could not be read" in course(chart, today=date(2025, 1, 1)).notes[-1]
    assert list(chart.entries) == ["Observation/e"]


def test_an_entry_without_an_id_gets_a_name_of_its_own() -> None:
    first, second = ecog("a", "2024", "1"), ecog("b", "2025", "2")
    del first["id"], second["id"]

    assert list(record(first, second).entries) == ["Observation/entry-1", "Observation/entry-2"]


def test_no_patient_is_not_found() -> None:
    with pytest.raises(RecordNotFoundError):
        record_from_resources(PATIENT_ID, entries(ecog("e", "2024", "1")))


def test_two_patients_are_ambiguous_unless_one_is_asked_for() -> None:
    rows = entries(patient(), patient(id="p10"))
    with pytest.raises(RecordAmbiguousError):
        record_from_resources(PATIENT_ID, rows)

    assert record_from_resources(PATIENT_ID, rows, patient_ref="Patient/p10").patient.id == "p10"


def test_a_damaged_element_of_the_patient_costs_that_element_and_its_text_is_not_quoted() -> None:
    chart = record_from_resources(PATIENT_ID, entries(patient(name="Ada Secret")))

    assert chart.patient.id == "p9"
    assert chart.left_out.unreadable == ("Patient/p9: name: is not as R4 has it",)


def test_a_patient_without_a_usable_id_is_not_an_absent_one() -> None:
    with pytest.raises(RecordsUnreadableError) as caught:
        record_from_resources(PATIENT_ID, entries(patient(id=["Secret"])))

    assert "Secret" not in repr(caught.value)
    assert caught.value.__cause__ is None


def test_what_happened_in_a_span_of_days_has_its_visits_and_vaccinations() -> None:
    given = {"status": "completed", "vaccineCode": {"text": "Influenza"}}
    visit = {"status": "finished", "type": [{"text": "Check up"}], "class": {"code": "AMB"}}
    chart = record(
        resource("Encounter", "then", **visit, period={"start": "2019-05-02"}),
        resource("Encounter", "before", **visit, period={"start": "2012-05-02"}),
        resource("Immunization", "shot", **given, occurrenceDateTime="2019-05-02",
                 patient={"reference": "Patient/p9"}),
    )  # fmt: skip
    today = date(2025, 1, 1)

    of_span = course(chart, today=today, since=date(2019, 1, 1))
    assert {row.name for row in of_span.rows} == {"Check up", "Influenza"}
    assert not of_span.left_out
    of_life = course(chart, today=today)
    assert not of_life.rows
    assert sum(left.count for left in of_life.left_out) == 3


def test_what_the_record_lacks_is_said_by_every_view() -> None:
    chart = record_from_resources(
        PATIENT_ID, entries(patient()), truncated=True, not_offered=("ImagingStudy",)
    )

    said = course(chart, today=date(2025, 1, 1)).notes[-1]
    assert "more than was read" in said
    assert "does not offer ImagingStudy" in said


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=8,
)
_FIELDS = st.dictionaries(
    st.sampled_from(["id", "code", "subject", "status", "effectiveDateTime", "valueQuantity",
                     "component", "content", "date", "stage", "onsetDateTime"]),
    _JSON,
)  # fmt: skip
_KINDS = st.sampled_from(["Observation", "Condition", "DocumentReference", "Unknown", "Patient"])


@pytest.mark.slow
@given(st.lists(st.tuples(_KINDS, _FIELDS), max_size=4))
def test_no_json_breaks_the_reading_of_a_record(rows: list[tuple[str, dict[str, Any]]]) -> None:
    mine = {"subject": {"reference": "Patient/p9"}}
    received = entries(patient(), *({**mine, **row, "resourceType": kind} for kind, row in rows))
    try:
        chart = record_from_resources(PATIENT_ID, received, patient_ref="Patient/p9")
    except RecordsError:
        return
    assert course(chart, today=date(2025, 1, 1)).model_dump_json()
    assert chart.documents is not None


def test_a_note_of_any_damage_is_a_document_that_says_why() -> None:
    chart = record(
        note("bad", "2024-01-01", "x", data="%%%"),
        note("pdf", "2024-01-02", "x", contentType="application/pdf"),
        resource("DocumentReference", "none", content=[]),
        note("away", "2024-01-03", "x", data=None, url="Binary/1"),
    )

    problems = {document.ref.partition("/")[2]: document.problem for document in chart.documents}
    assert problems == {
        "bad": "the text is damaged",
        "pdf": "attached in a format that is not text",
        "none": "no text in the record",
        "away": "the text is kept elsewhere and was not fetched",
    }


def test_a_web_page_is_read_as_its_text() -> None:
    page = "<p>Fine &amp; well</p><script>x</script><br/>Second"
    chart = record(note("web", "2024-01-01", page, contentType="text/html; charset=utf-8"))

    assert chart.documents[0].text == "Fine & well\nx\nSecond"


@pytest.mark.parametrize("piece", ["<", "<p ", "&", " ", "stage ", "ECOG", ".", "A;", "-"])
@pytest.mark.slow
def test_a_hostile_note_is_read_in_one_pass(piece: str) -> None:
    text = piece * (400_000 // len(piece))  # one that looks from each place anew would never end
    chart = record(note("n", "2024-01-01", text, contentType="text/html"))
    current_status(chart.prepared(), today=date(2025, 1, 1))
    assert [one.problem for one in chart.documents] == [None]


@pytest.mark.slow
def test_open_brackets_without_end_are_read_in_one_pass() -> None:
    chart = record(note("n", "2024-01-01", "<p" * 4_000_000, contentType="text/html"))
    assert len(chart.prepared().documents) == 1
