import pytest

from data_models.chart_view import ChartView, ViewKind, ViewRow, ViewSource
from services.statements.check import MessageCheck
from services.statements.deeds import found_by, proven_by
from services.statements.grounds import Grounds, Speaker
from services.statements.known import KnownRows
from services.statements.verdict import Verdict
from services.statements.view_rows import rows_of_row
from tests.tables import with_cases


def row(kind: str, name: str, ref: str, **fields: object) -> ViewRow:
    return ViewRow.model_validate({"kind": kind, "name": name, "sources": (ref,), **fields})


def view(tool: str, *rows: ViewRow, kind: ViewKind = "table", nothing: str = "") -> ChartView:
    sources = tuple(ViewSource(ref=ref, date=one.date) for one in rows for ref in one.sources)
    return ChartView(
        tool=tool, kind=kind, title=tool.title(), rows=rows, sources=sources, nothing=nothing
    )


def lab(name: str, number: float, unit: str, date: str, ref: str, **fields: object) -> ViewRow:
    return row(
        "laboratory", name, ref, value=f"{number:g}", number=number, unit=unit, date=date, **fields
    )


VIEWS = (
    view(
        "results",
        lab("Potassium", 4.1, "mmol/L", "2026-03-02", "Observation/k-2", range="3.5-5.1"),
        lab("Potassium", 4.5, "mmol/L", "2025-11-05", "Observation/k-1", range="3.5-5.1"),
        lab("Hemoglobin A1c/Hemoglobin.total in Blood", 6.2, "%", "2026-01-02", "Observation/a1c"),
        row(
            "vital sign",
            "Blood Pressure",
            "Observation/bp",
            value="128/76",
            unit="mmHg",
            date="2026-01-02",
        ),
        row("social history", "Tobacco smoking status", "Observation/s", value="Never smoker"),
        kind="series",
    ),
    view(
        "medications",
        row(
            "medication",
            "apixaban 5 MG Oral Tablet",
            "MedicationRequest/m1",
            detail="5 mg twice daily",
            status="active",
            date="2025-03-01",
        ),
        row(
            "medication",
            "prednisolone",
            "MedicationRequest/m2",
            detail="10 mg daily",
            status="active",
            date="2025-06-01",
        ),
        row(
            "medication",
            "metformin",
            "MedicationRequest/m3",
            detail="500 mg",
            status="stopped",
            date="2019-06-01",
            end="2021-02-03",
        ),
    ),
    view(
        "problems",
        row(
            "problem",
            "Essential hypertension (disorder)",
            "Condition/c1",
            status="active",
            date="2015-05-04",
        ),
        row(
            "problem",
            "Adenocarcinoma of lung",
            "Condition/c2",
            detail="stage IVB, cT2a N1 M1b",
            status="active",
            date="2025-04-02",
        ),
    ),
    view(
        "allergies",
        row("allergy", "Penicillin", "AllergyIntolerance/a1", detail="rash", status="active"),
    ),
    view("immunizations", nothing="No immunizations are in the record."),
)


def grounds(**changes: object) -> Grounds:
    rows = KnownRows()
    for one in VIEWS:
        rows.add_view(one)
    return Grounds(rows=rows, **changes)  # type: ignore[arg-type]


def verdict(*sentences: str, speaker: Speaker | None = None, on: Grounds | None = None) -> Verdict:
    """Return the verdict over the last of `sentences`, said in one message."""
    check = MessageCheck(grounds=on or grounds(), speaker=speaker or Speaker())
    return [check.check(one) for one in sentences][-1]


def state(*sentences: str) -> str:
    return verdict(*sentences).state


def test_a_value_with_its_unit_and_date_is_supported() -> None:
    assert state("Potassium was 4.1 mmol/L on 2 March 2026 [Observation/k-2].") == "supported"
    assert state("K was fine. ", "Potassium: 4.1 mmol/L (03/02/2026)") == "supported"
    assert state("Kalium war 4,1 mmol/l am 02.03.2026.") == "supported"


def test_another_value_is_contradicted_by_what_the_record_says() -> None:
    found = verdict("Potassium was 4.9 mmol/L [Observation/k-2].")
    assert found.state == "contradicted"
    assert "4.1 mmol/L" in found.record_says


def test_another_unit_is_another_value() -> None:
    assert state("Potassium was 4.1 mg/dL.") == "contradicted"


def test_the_same_value_in_another_unit_is_supported() -> None:
    assert state("The potassium was 4100 umol/L on 2 March 2026.") == "supported"


def test_the_latest_value_is_the_newest_one() -> None:
    assert state("The latest potassium is 4.5 mmol/L.") == "contradicted"
    assert state("The latest potassium is 4.1 mmol/L.") == "supported"


def test_hemoglobin_is_not_hemoglobin_a1c() -> None:
    assert state("Hemoglobin is 6.2 %.") == "unsupported"
    assert state("HbA1c is 6.2 %.") == "supported"


def test_another_drugs_dose_does_not_fit() -> None:
    assert state("She takes apixaban 10 mg.") == "contradicted"
    assert state("She takes apixaban 5 mg twice daily and prednisolone 10 mg daily.") == "supported"
    assert state("She takes apixaban 5 mg and prednisolone 5 mg.") == "contradicted"
    assert state("Apixaban 5 mg three times daily.") == "contradicted"


def test_a_stopped_drug_is_not_taken_now() -> None:
    assert state("She takes metformin 500 mg.") == "contradicted"
    assert state("Metformin was stopped in February 2021.") == "supported"
    assert state("Metformin was stopped in 2019.") == "contradicted"


def test_drugs_that_nobody_takes_are_not_supported() -> None:
    assert state("He takes Lisinopril and Amlodipine.") == "unsupported"
    assert state("He takes Glucophage.") == "contradicted"  # metformin, which was stopped
    assert state("He takes Glumetza.") == "unsupported"


def test_no_allergies_is_contradicted_by_an_allergy() -> None:
    found = verdict("No allergies.")
    assert (found.state, found.sources) == ("contradicted", ("AllergyIntolerance/a1",))
    assert state("She has no known allergies.") == "contradicted"


def test_absence_needs_a_row_that_says_so() -> None:
    assert state("She has no metastases.") == "unsupported"
    assert state("She never had any vaccinations.") == "unsupported"
    assert state("No vaccinations are recorded.") == "supported"
    assert state("No mutations are recorded.") == "unsupported"


def test_stages_are_compared_whatever_numerals_they_are_written_in() -> None:
    assert state("The current stage is stage 1.") == "contradicted"
    assert state("Stage 4B adenocarcinoma of the lung, T2a N1 M1b.") == "supported"
    assert state("Stage IV.") == "supported"
    assert state("Stage IVA.") == "contradicted"


def test_smoking_is_compared() -> None:
    assert state("She has never smoked.") == "supported"
    assert state("He is a current smoker.") == "contradicted"


def test_an_invented_source_does_not_support_anything() -> None:
    assert state("Potassium was 4.1 mmol/L [DocumentReference/note-99].") == "unsupported"
    assert state("All is well [DocumentReference/note-99].") == "unsupported"


def test_a_sentence_goes_on_with_what_the_one_before_was_about() -> None:
    assert state("Her potassium is known.", "It was 4.5 mmol/L on 5 Nov 2025.") == "supported"
    assert state("Her potassium is known.", "It was 6.2 on 5 Nov 2025.") == "contradicted"
    assert state("Potassium:\n", "- 2026-03-02: 4.1 mmol/L\n") == "supported"
    assert state("Potassium:\n", "- 2026-03-02: 4.5 mmol/L\n") == "contradicted"


def test_a_trend_is_compared() -> None:
    assert state("Potassium fell from 4.5 to 4.1 mmol/L.") == "supported"
    assert state("Potassium rose from 4.1 to 4.5 mmol/L.") == "contradicted"
    assert state("Potassium is rising.") == "contradicted"


def test_flags_follow_the_reference_range() -> None:
    assert state("Potassium of 4.1 mmol/L is elevated.") == "contradicted"
    assert state("Potassium of 4.1 mmol/L is normal.") == "supported"


@with_cases("sentence", "expected")
def test_a_side_of_the_range_is_read_in_its_words(sentence: str, expected: str) -> None:
    assert state(sentence) == expected


def test_what_is_said_not_to_be_high_is_judged_by_the_newest_value() -> None:
    assert state("Potassium is not elevated.") == "supported"
    assert state("Kalium ist nicht erh\u00f6ht.") == "supported"
    assert state("Potassium is not normal.") == "contradicted"
    assert state("Potassium is not above the normal range.") == "supported"
    assert state("Sodium is not elevated.") == "unsupported"


def test_a_call_needs_a_tool_that_made_it() -> None:
    assert state("Ich habe den Hausarzt angerufen.") == "contradicted"


def test_a_deed_needs_a_tool_that_did_it() -> None:
    assert state("Your appointment is booked.") == "contradicted"
    assert state("I have sent the mail to Dr. Weber.") == "contradicted"
    assert verdict("Your appointment is booked.", on=grounds(deeds={"booked"})).state == "unchecked"
    assert state("Shall I say that the appointment is booked?") == "unchecked"


def test_a_sentence_of_another_patient_is_withheld_whole() -> None:
    others = grounds(is_other_patient=lambda text: "patient_15" in text)
    found = verdict("For patient_15 the stage is IIIA.", on=others)
    assert found.is_withheld_whole
    assert "IIIA" not in found.record_says


def test_a_sentence_that_names_another_patient_is_withheld_whole() -> None:
    named = {"Tunde Adeyemi": frozenset({"tunde", "adeyemi"})}
    others = grounds(
        others_named=lambda text: next((named[one] for one in named if one in text), frozenset())
    )
    found = verdict("Tunde Adeyemi has stage IVA.", on=others)
    assert found.is_withheld_whole
    assert "IVA" not in found.record_says


@with_cases("said")
def test_nobody_may_say_that_another_chart_is_open(said: str) -> None:
    others = grounds(others_named=lambda _: frozenset({"tunde", "adeyemi"}))
    clerk = Speaker(reads_records=False)
    assert verdict(said, speaker=clerk, on=others).is_withheld_whole


def test_whose_chart_is_not_open_may_be_named_by_who_reads_none() -> None:
    others = grounds(others_named=lambda _: frozenset({"tunde", "adeyemi"}))
    clerk = Speaker(reads_records=False)
    for said in ("Shall I open the chart of Tunde Adeyemi?", "Tunde Adeyemi's chart is not open."):
        assert not verdict(said, speaker=clerk, on=others).is_withheld_whole


def test_a_stranger_is_another_patient_where_the_own_name_is_known() -> None:
    known = grounds(has_name=True, own_names=frozenset({"margaret", "whitfield"}))
    assert verdict("John Miller has stage IVB.", on=known).is_withheld_whole
    assert verdict("Current Status is stage IVB.", on=known).is_withheld_whole is False
    assert verdict("Margaret Whitfield has stage IVB.", on=known).is_withheld_whole is False
    assert not verdict("John Miller has stage IVB.").is_withheld_whole


def test_a_name_that_the_record_has_is_its_own() -> None:
    both = grounds(others_named=lambda _: frozenset({"whitfield"}))
    both.rows.add_text("The contact is James Whitfield", date=None, sources=())
    assert not verdict("James Whitfield is her husband, stage IVB.", on=both).is_withheld_whole


def test_questions_and_advice_state_nothing_and_invented_company_does() -> None:
    assert state("Does she take amlodipine?") == "unchecked"
    assert state("Please review the latest CT with radiology.") == "unchecked"
    assert state("Her husband came along to the visit.") == "unsupported"
    assert state("Here are the medications:") == "unchecked"


def test_general_knowledge_needs_its_label_and_a_role_that_allows_it() -> None:
    general = "In general, ibuprofen is taken with 200 mg to 400 mg."
    allowed = Speaker(may_be_general=True)
    assert verdict(general, speaker=allowed).state == "unchecked"
    assert verdict(general).state == "unsupported"
    his = "In general, his ibuprofen is 200 mg."
    assert verdict(his, speaker=allowed).state == "unsupported"


def test_an_agent_without_records_may_speak_of_its_own_work_but_not_of_the_patient() -> None:
    clerk = Speaker(reads_records=False)
    assert verdict("Dr. Weber is free on 2026-05-12 at 10:00.", speaker=clerk).state == "unchecked"
    assert verdict("Allergies: none.", speaker=clerk).state != "supported"
    assert verdict("No allergies.", speaker=clerk, on=Grounds()).state == "unsupported"
    assert verdict("The stage is IIB.", speaker=clerk, on=Grounds()).state == "unsupported"


def test_what_a_user_said_counts_only_as_that() -> None:
    held = KnownRows()
    held.add_text("Ibuprofen 400 mg since Monday", date=None, sources=())
    on = grounds(held=held)
    assert verdict("As you said, she takes ibuprofen 400 mg.", on=on).state == "supported"
    assert verdict("She takes ibuprofen 400 mg.", on=on).state == "unsupported"


def test_a_recommended_dose_is_not_called_a_contradiction() -> None:
    assert state("The apixaban dose should be reduced to 2.5 mg.") == "unsupported"


def test_counts_are_those_of_the_rows() -> None:
    assert state("There are two active problems.") == "supported"
    assert state("There are seven active problems.") == "unsupported"


@pytest.mark.parametrize("thing", ["troponin", "potassium", "apixaban", "stroke"])
@pytest.mark.parametrize("count", ["0 times", "0 results", "zero times", "0 visits"])
def test_a_count_of_none_is_never_more_than_unsupported(thing: str, count: str) -> None:
    assert state(f"{thing.capitalize()}: {count}.") != "supported"
    assert state(f"Her {thing} was measured {count}.") != "supported"


@with_cases("sentence", "found")
def test_a_broader_name_says_no_more_than_the_row(sentence: str, found: str) -> None:
    assert state(sentence) in (found, "contradicted" if found == "unsupported" else found)


def test_a_vaccine_is_meant_by_what_people_call_it() -> None:
    shot = ViewRow(kind="immunization", name="Td (adult) preservative free", date="2024-04-21")
    (known,) = rows_of_row(shot, is_text=False)
    assert "tetanus" in known.needs
    assert "influenza" not in known.words


@with_cases("claim")
def test_an_errand_that_no_tool_did_is_no_fact(claim: str) -> None:
    clerk = Speaker(reads_records=False)
    first = claim.partition(". ")[0]
    assert verdict(first, speaker=clerk, on=Grounds()).state in ("contradicted", "unsupported")


@with_cases("text")
def test_what_is_only_spoken_of_is_no_deed(text: str) -> None:
    clerk = Speaker(reads_records=False)
    assert verdict(text, speaker=clerk, on=Grounds()).state == "unchecked"


def test_what_a_tool_did_may_be_told_in_any_words() -> None:
    clerk = Speaker(reads_records=False)
    done = Grounds(deeds=set(proven_by("book_appointment")))
    assert verdict("Your appointment is confirmed.", speaker=clerk, on=done).state == "unchecked"


@with_cases("text", "state")
def test_what_was_found_done_is_no_deed_of_who_speaks(text: str, state: str) -> None:
    clerk = Speaker(reads_records=False)
    listed = Grounds(found_done=set(found_by("list_events")))
    assert verdict(text, speaker=clerk, on=listed).state == state


@pytest.mark.parametrize("text", ["Potassium: 4.5 mmol/L", "Potassium 4.5 mmol/L."])
def test_a_value_alone_is_told_as_of_now(text: str) -> None:
    assert state(text) == "contradicted"


@with_cases("text")
def test_the_newest_value_and_one_of_several_stand(text: str) -> None:
    assert state(text) == "supported"


@pytest.mark.parametrize(
    "text",
    ["The board already recommended hospice.", "Dr. Keller advised palliative care."],
)
def test_what_somebody_is_said_to_have_decided_stands_in_a_row(text: str) -> None:
    assert state(text) == "unsupported"


@with_cases("said", "text", "told")
def test_what_the_user_said_is_neither_left_out_nor_turned_round(
    said: str, text: str, told: str
) -> None:
    held = KnownRows()
    held.add_text(said, date=None, sources=())
    text = f"As you said, {text}"
    assert verdict(text, on=Grounds(held=held)).state == told
