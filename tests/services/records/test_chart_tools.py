"""What the general chart tools find and refuse to find."""

from datetime import date

import pytest

from services.records.resources.record import record_from_resources
from services.records.resources.sorting import CLINICAL
from services.records.views import lists
from services.records.views.lines import told
from services.records.views.lists import problems, procedures
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


@pytest.mark.parametrize(
    ("asked", "recorded"),
    [("delivery", "Transurethral resection of prostate"), ("x-ray", "Radiosurgery"),
     ("cholecystectomy", "Endoscopic retrograde cholangiopancreatography")],
)  # fmt: skip
def test_part_of_a_word_is_no_other_name(asked: str, recorded: str) -> None:
    done = resource("Procedure", "p", status="completed", code={"text": recorded})
    assert not procedures(record(done), name=asked).rows


@pytest.mark.parametrize("asked", ["blood pressure", "hypertension", "high blood pressure"])
def test_drugs_are_found_by_what_they_are_taken_for(asked: str) -> None:
    chart = record(
        drug("h", "Hydrochlorothiazide 25 MG", reasonCode=[{"text": "Hypertension"}]),
        drug("m", "Metformin 500 mg", reasonCode=[{"text": "Diabetes"}]),
    )

    view = medications(chart, today=TODAY, status="all", name=asked)
    assert [row.name for row in view.rows] == ["Hydrochlorothiazide 25 MG"]


def test_that_no_drug_was_stopped_is_not_that_none_is_taken() -> None:
    chart = record(drug("a", "Apixaban 5 mg"), drug("m", "Metformin 500 mg"))

    stopped = medications(chart, today=TODAY, status="stopped")
    assert (stopped.rows, stopped.nothing) == ((), "No drug is recorded as stopped.")

    named = medications(chart, today=TODAY, status="stopped", name="apixaban")
    assert [row.name for row in named.rows] == ["Apixaban 5 mg"]
    assert named.notes == ("none of “apixaban” is recorded as stopped; these are taken now",)


@pytest.mark.parametrize(
    "name", ["K", "Kalium", "kalium", "potassium", "serum potassium", "potasium"]
)
def test_the_names_of_potassium_find_its_code(name: str) -> None:
    chart = record(
        lab("k", "2823-3", "Potassium [Moles/volume] in Serum", 4.1), lab("n", "2951-2", "Na", 140)
    )

    assert [row.sources for row in results(chart, names=[name]).rows] == [("Observation/k",)]


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


def test_a_blood_pressure_is_one_value_and_its_halves_can_be_asked_for() -> None:
    def half(code: str, value: float) -> Json:
        coding = {"coding": [{"system": "http://loinc.org", "code": code}]}
        return {"code": coding, "valueQuantity": {"value": value, "unit": "mm[Hg]"}}

    pressure = resource(
        "Observation", "bp", status="final", effectiveDateTime="2024-01-01",
        code={"coding": [{"system": "http://loinc.org", "code": "85354-9"}], "text": "BP"},
        component=[half("8462-4", 76), half("8480-6", 128)],
    )  # fmt: skip
    chart = record(pressure)

    assert [row.value for row in results(chart, names=["Blutdruck"]).rows] == ["128/76"]
    assert [row.value for row in results(chart, names=["systolic"]).rows] == ["128"]


@pytest.mark.slow
def test_what_is_entered_in_error_is_in_no_tool() -> None:
    chart = record({**lab("k", "2823-3", "Potassium", 9), "status": "entered-in-error"})

    assert results(chart, names=["K"]).rows == ()
    assert search_record(chart, "potassium").rows == ()


def test_a_drug_is_taken_while_active_however_old() -> None:
    chart = record(
        drug("old", "Warfarin", authoredOn="1999-01-01"),
        drug("planned", "Digoxin", intent="plan"),
        drug(
            "over", "Amoxicillin", kind="MedicationStatement", effectivePeriod={"end": "2024-01-05"}
        ),
        drug("running", "Ramipril", kind="MedicationStatement", effectivePeriod={"end": "2027"}),
    )

    view = medications(chart, today=TODAY)

    assert {row.name for row in view.rows} == {"Warfarin", "Ramipril"}
    assert [(row.count, row.argument) for row in view.left_out] == [(2, "status=stopped")]


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


def test_two_strengths_of_a_drug_are_two_lines() -> None:
    code = {"coding": [{"system": "http://www.whocc.no/atc", "code": "B01AF02"}]}
    chart = record(
        drug("a", "x", medicationCodeableConcept={**code, "text": "Apixaban 5 mg"}),
        drug("b", "x", medicationCodeableConcept={**code, "text": "Apixaban 2.5 mg"}),
    )

    assert len(medications(chart, today=TODAY).rows) == 2
    assert len(medications(chart, today=TODAY, name="blood thinner").rows) == 2


@pytest.mark.parametrize(
    "name", ["blood thinner", "anticoagulant", "Eliquis", "DOAC", "Blutverdünner"]
)
def test_a_class_or_a_brand_finds_the_drug(name: str) -> None:
    chart = record(drug("a", "Apixaban 5 MG Oral Tablet"), drug("p", "Prednisolone 5 mg"))

    assert [row.name for row in medications(chart, today=TODAY, name=name).rows] == [
        "Apixaban 5 MG Oral Tablet"
    ]


def test_prednisone_is_not_prednisolone() -> None:
    view = medications(record(drug("p", "Prednisolone")), today=TODAY, name="prednisone")

    assert view.rows == ()
    assert "No drug" in view.nothing


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


def test_nothing_recorded_is_not_no_known_allergy() -> None:
    none_known = {
        "coding": [{"system": "http://snomed.info/sct", "code": "716186003"}],
        "text": "No known allergy",
    }

    assert "not a statement" in lists.allergies(record()).nothing
    stated = lists.allergies(record(resource("AllergyIntolerance", "a", code=none_known)))
    assert [row.kind for row in stated.rows] == ["no known allergy"]


def test_problems_with_one_code_are_one_row_with_all_sources() -> None:
    def condition(key: str, status: str, day: str) -> Json:
        coding = [{"system": "http://snomed.info/sct", "code": "38341003"}]
        return resource(
            "Condition",
            key,
            code={"coding": coding, "text": "Hypertension"},
            clinicalStatus={"coding": [{"code": status}]},
            onsetDateTime=day,
        )

    rows = problems(record(condition("a", "active", "2009"), condition("b", "active", "2015"),
                           condition("c", "resolved", "1999")), status="all").rows  # fmt: skip

    assert [row.sources for row in rows] == [("Condition/b", "Condition/a"), ("Condition/c",)]
    assert rows[0].date == "2009"


def test_what_is_over_is_told_with_the_days_of_its_last_time() -> None:
    def sinusitis(key: str, since: str, until: str) -> Json:
        status = {"coding": [{"code": "resolved"}]}
        named = {"text": "Viral sinusitis"}
        return resource("Condition", key, code=named, clinicalStatus=status, onsetDateTime=since,
                        abatementDateTime=until)  # fmt: skip

    old, new = (
        sinusitis("a", "2013-08-28", "2013-09-04"),
        sinusitis("b", "2019-12-04", "2019-12-18"),
    )
    (row,) = problems(record(old, new), status="all").rows

    assert (row.date, row.end) == ("2019-12-04", "2019-12-18")
    assert row.detail == "recorded 2 times, last 2019-12-04, before 2013-08-28–2013-09-04"


def test_a_search_finds_other_spellings_and_names() -> None:
    chart = record(lab("hb", "718-7", "Haemoglobin", 9), drug("a", "Apixaban"))

    assert search_record(chart, "hemoglobin").rows[0].sources == ("Observation/hb",)
    assert search_record(chart, "anticoagulants").rows[0].name == "Apixaban"
    assert search_record(chart, "dialysis").rows == ()


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


def test_points_in_another_unit_are_converted_by_ucum_and_both_are_shown() -> None:
    grams = {"value": 132, "unit": "g/L", "code": "g/L"}
    chart = record(
        lab("old", "718-7", "Hemoglobin", grams, "2023-01-01"),
        lab("new", "718-7", "Hemoglobin", {"value": 12.1, "unit": "g/dL"}, "2024-01-01"),
    )
    view = results(chart, names=["hemoglobin"])

    assert [(row.value, row.unit) for row in view.rows] == [("12.1", "g/dL"), ("132", "g/L")]
    assert view.rows[1].detail.startswith("= 13.2 g/dL")
    assert "highest 13.2 g/dL (2023-01-01), change since 2023-01-01 -1.1 g/dL" in view.notes[0]
    assert "converted to g/dL by UCUM" in view.notes[0]


def test_units_without_a_way_between_them_are_not_compared() -> None:
    chart = record(
        lab("old", "2345-7", "Glucose", {"value": 99, "unit": "mg/dL"}, "2023-01-01"),
        lab("new", "2345-7", "Glucose", {"value": 5.5, "unit": "mmol/L"}, "2024-01-01"),
    )
    view = results(chart, names=["glucose"])

    assert [row.detail for row in view.rows] == ["", ""]
    assert view.notes == ("Glucose: units differ (mg/dL, mmol/L); not compared",)


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


def test_procedures_before_the_asked_day_are_counted() -> None:
    chart = record(
        *(
            resource("Procedure", f"p{year}", status="completed", code={"text": "Biopsy"},
                     performedDateTime=f"{year}-02-03")
            for year in (2019, 2020, 2024)
        )
    )  # fmt: skip
    view = lists.procedures(chart, since=date(2024, 1, 1))

    assert [row.date for row in view.rows] == ["2024-02-03"]
    assert [(one.count, one.what) for one in view.left_out] == [(2, "earlier or undated ones")]


def test_a_drug_that_the_record_misspells_by_a_letter_is_found() -> None:
    chart = record(drug("s", "Simvistatin 10 MG"), drug("p", "Prednisolone 5 mg"))
    found = medications(chart, today=TODAY, name="simvastatin").rows
    assert [row.sources for row in found] == [("MedicationRequest/s",)]
    assert medications(chart, today=TODAY, name="prednisone").rows == ()


def test_operations_leave_out_what_is_none_and_say_how_much() -> None:
    names = ("Appendectomy", "Documentation of current medications", "Throat culture (procedure)")
    chart = record(
        *(
            resource("Procedure", f"p{number}", status="completed", code={"text": name},
                     performedDateTime="2019-01-01")
            for number, name in enumerate(names)
        )
    )  # fmt: skip
    view = lists.procedures(chart, name="surgery")
    assert [row.name for row in view.rows] == ["Appendectomy"]
    assert [(left.count, left.what) for left in view.left_out] == [
        (2, "further procedures (no operations)")
    ]


def test_a_panel_says_how_many_results_it_has_in_place_of_a_text() -> None:
    panel = resource(
        "DiagnosticReport", "r", status="final", code={"text": "Lipid panel"},
        result=[{"reference": "Observation/a"}, {"reference": "Observation/b"}],
    )  # fmt: skip
    bare = resource("DiagnosticReport", "s", status="final", code={"text": "CT of the chest"})
    said = {row.name: row.detail for row in documents(record(panel, bare)).rows}

    assert said == {"Lipid panel": "2 results", "CT of the chest": "no text in the record"}


def test_a_search_claims_other_names_only_where_it_knows_some() -> None:
    chart = record(resource("AllergyIntolerance", "a", code={"text": "Latex"}))
    assert "or another name for it" in search_record(chart, "stroke").nothing
    assert "other names for it are not known here" in search_record(chart, "stoma").nothing
