"""What the general chart tools find and refuse to find."""

from datetime import date

import pytest

from services.records.resources.record import record_from_resources
from services.records.resources.sorting import CLINICAL
from services.records.views import lists
from services.records.views.lines import told
from services.records.views.lists import procedures
from services.records.views.medications import medications
from services.records.views.oncology.oncology import imaging_view
from services.records.views.oncology.status import current_status
from services.records.views.papers import documents
from services.records.views.results import results
from services.records.views.search import search_record
from tests.services.records.charts import PATIENT_ID, Json, note, patient, record, report, resource
from tests.tables import with_cases

TODAY = date(2026, 11, 22)


def lab(
    key: str, code: str, text: str, value: object, day: str = "2024-01-01", **more: object
) -> Json:
    coding = [{"system": "http://loinc.org", "code": code}] if code else []
    quantity = value if isinstance(value, dict) else {"value": value, "unit": "mmol/L"}
    return resource(
        "Observation", key, status="final", code={"coding": coding, "text": text},
        category=[{"coding": [{"code": "laboratory"}]}], effectiveDateTime=day,
        valueQuantity=quantity, **more,
    )  # fmt: skip


def drug(
    key: str, name: str, status: str = "active", kind: str = "MedicationRequest", **more: object
) -> Json:
    intent = {"intent": "order"} if kind == "MedicationRequest" else {}
    return resource(
        kind,
        key,
        **{"status": status, "medicationCodeableConcept": {"text": name}, **intent, **more},
    )


@with_cases("asked", "recorded")
def test_a_procedure_is_found_by_another_name_of_it(asked: str, recorded: str) -> None:
    done = resource("Procedure", "p", status="completed", code={"text": recorded})
    other = resource("Procedure", "o", status="completed", code={"text": "Colonoscopy"})

    assert [row.name for row in procedures(record(done, other), name=asked).rows] == [recorded]


@with_cases("asked", "label", "code")
def test_a_name_never_finds_another_thing(asked: str, label: str, code: str) -> None:
    view = results(record(lab("x", code, label, 5.0)), names=[asked])

    assert view.rows == ()
    assert "not in the record" in view.nothing


def test_every_value_of_what_is_named_is_compared_and_older_ones_are_counted() -> None:
    values = [
        lab(f"k{n}", "2823-3", "Potassium", 3 + n / 10, f"20{n + 10}-01-01") for n in range(15)
    ]

    view = results(record(*values), names=["potassium"])

    assert [row.date for row in view.rows][:2] == ["2024-01-01", "2023-01-01"]
    assert [(row.count, row.argument) for row in view.left_out] == [(3, "last=15")]
    said = "15 values, lowest 3.0 mmol/L (2010-01-01), highest 4.4 mmol/L (2024-01-01)"
    assert said in view.notes[0]


def test_the_latest_is_the_latest_moment_whatever_the_offset() -> None:
    chart = record(
        lab("late", "2823-3", "Potassium", 5, "2024-01-01T20:00:00-05:00"),
        lab("early", "2823-3", "Potassium", 4, "2024-01-02T00:30:00Z"),
    )

    assert results(chart, names=["K"], last=1).rows[0].sources == ("Observation/late",)


@pytest.mark.slow
def test_what_is_entered_in_error_is_in_no_tool() -> None:
    chart = record({**lab("k", "2823-3", "Potassium", 9), "status": "entered-in-error"})

    assert results(chart, names=["K"]).rows == ()
    assert search_record(chart, "potassium").rows == ()


def test_renewals_are_one_line() -> None:
    renewals = [
        drug(
            f"r{n}",
            "Ramipril 5 mg",
            "completed" if n < 11 else "active",
            authoredOn=f"{2009 + n}-03-01",
        )
        for n in range(12)
    ]

    rows = medications(record(*renewals), today=TODAY).rows

    assert len(rows) == 1
    assert "12 prescriptions since 2009-03-01, last 2020-03-01" in rows[0].detail
    assert len(rows[0].sources) == 12


def test_who_gave_a_drug_stands_beside_who_ordered_it() -> None:
    def dose(key: str, day: str, who: str, status: str = "completed") -> Json:
        by = [{"actor": {"display": who}}]
        return drug(
            key, "Heparin", status, "MedicationAdministration", effectiveDateTime=day, performer=by
        )

    order = drug(
        "o", "Heparin", "on-hold", authoredOn="2026-11-18", requester={"display": "Dr. Fay"}
    )
    doses = (dose("a", "2026-11-19", "Bo Tran RN"), dose("b", "2026-11-20", "Bo Tran RN"))
    refused = dose("c", "2026-11-21", "Ada Quist RN", "not-done")

    [row] = medications(record(order, *doses, refused), today=TODAY, status="all").rows

    assert "by Dr. Fay" in row.detail
    assert "given by Bo Tran RN (2026-11-19 – 2026-11-20)" in row.detail
    assert "administration of 2026-11-21 is not-done" in row.detail


def test_who_ordered_an_examination_is_told_apart_from_who_read_it() -> None:
    order = resource("ServiceRequest", "s", status="completed", requester={"display": "Dr. Fay"})
    scan = report(
        "r", "2026-11-18", "RAD", "No bleeding.",
        resultsInterpreter=[{"display": "Dr. Eze"}], basedOn=[{"reference": "ServiceRequest/s"}],
    )  # fmt: skip

    for view in (documents(record(order, scan)), imaging_view(record(order, scan))):
        assert view.rows[0].detail.startswith("by Dr. Eze; ordered by Dr. Fay")


def test_a_cut_never_takes_what_is_active() -> None:
    drugs = [
        drug(f"d{n}", f"Drug{n:03d} {'x' * 60}", note=[{"text": "long " * 40}]) for n in range(30)
    ]
    gone = [
        drug(f"g{n}", f"Gone{n:03d}", "stopped", note=[{"text": "long " * 40}]) for n in range(30)
    ]
    view = medications(record(*drugs, *gone), today=TODAY, status="all")

    text = told(view, limit_chars=6_000).text

    assert len(text) <= 6_000
    assert all(f"Drug{n:03d}" in text for n in range(30))
    assert "30 more: medication" in text
    assert (
        "too many to show here; the whole list is shown to the user"
        in told(view, limit_chars=500).text
    )


REFERENCES = ("#m", "Medication/m1", "urn:uuid:m", "Medication/m1/_history/2")


@pytest.mark.parametrize("reference", REFERENCES)
def test_a_drug_is_named_however_it_is_referred_to(reference: str) -> None:

    inner = {"resourceType": "Medication", "id": "m", "code": {"text": "Apixaban"}}
    request = drug("r", "", contained=[inner], medicationReference={"reference": reference})
    del request["medicationCodeableConcept"]
    entries: list[Json] = [
        {"resource": patient()},
        {"resource": request},
        {"fullUrl": "urn:uuid:m", "resource": {**inner, "id": "m1"}},
    ]

    chart = record_from_resources(PATIENT_ID, entries)

    assert [row.name for row in medications(chart, today=TODAY).rows] == ["Apixaban"]


def test_passages_of_a_superseded_document_are_marked_and_state_nothing() -> None:
    old = note("old", "2024-01-01", "ECOG 3. The lesion grew.")
    new = {
        **note("new", "2024-01-02", "ECOG 1. The lesion shrank."),
        "relatesTo": [{"code": "replaces", "target": {"reference": "DocumentReference/old"}}],
    }
    chart = record(old, new, {**note("gone", "2024-01-03", "A lesion."), "status": "superseded"})

    said = {row.sources[0]: row.status for row in search_record(chart, "lesion").rows}
    assert said == {
        "DocumentReference/old": "superseded", "DocumentReference/new": "",
        "DocumentReference/gone": "superseded",
    }  # fmt: skip
    assert "superseded" in told(search_record(chart, "grew"), limit_chars=2_000).text
    assert current_status(chart, today=TODAY).ecog.value == "1"
    assert current_status(chart, today=TODAY).ecog.disagreement == ()


def test_who_insures_stands_in_the_newest_bill_where_no_coverage_is_recorded() -> None:
    def bill(key: str, day: str, insurer: str, kind: str = "Claim", **more: object) -> Json:
        insurance = [{"coverage": {"display": insurer}}]
        return resource(
            kind, key, **{"status": "active", "created": day, "insurance": insurance, **more}
        )

    bills = [bill(f"c{year}", f"{year}-03-01", "Aetna") for year in range(2001, 2021)]
    wrong = bill("w", "2022-01-01", "Humana", status="entered-in-error")
    eob = bill("e", "2021-01-01", "Medicare", kind="ExplanationOfBenefit")
    rows = [row for row in lists.care(record(*bills, wrong, eob)).rows if row.kind == "coverage"]

    assert [(row.name, row.date, row.sources) for row in rows] == [
        ("Medicare", "2021-01-01", ("ExplanationOfBenefit/e",)),
        ("Aetna", "2020-03-01", ("Claim/c2020",)),
    ]
    cover = resource("Coverage", "v", status="active", payor=[{"display": "Aetna"}])
    kept = [row for row in lists.care(record(*bills, cover)).rows if row.kind == "coverage"]
    assert [row.sources for row in kept] == [("Coverage/v",)]


@pytest.mark.parametrize(
    "withdrawn",
    [
        {"status": "entered-in-error"},
        {"docStatus": "entered-in-error"},
        {"verificationStatus": {"coding": [{"code": "entered-in-error"}]}},
    ],
)
@pytest.mark.parametrize("kind", sorted(CLINICAL))
def test_what_was_entered_in_error_is_in_no_tool(kind: str, withdrawn: dict[str, object]) -> None:
    owner = {"beneficiary": {"reference": "Patient/p9"}} if kind == "Coverage" else {}
    chart = record({**resource(kind, "x", code={"text": "Wrong"}), **owner, **withdrawn})

    assert f"{kind}/x" not in chart.entries
    assert chart.left_out.withdrawn == 1
