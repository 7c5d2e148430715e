"""The verdicts on sentences: what supports them, whose they are and who may say them."""

import gc
import weakref

import pytest

from data_models.chart_view import ChartView, ViewKind, ViewRow, ViewSource
from services.language.sentences.statements import read_sentence
from services.statements.check import MessageCheck
from services.statements.deeds import found_by, proven_by
from services.statements.grounds import Grounds, Speaker
from services.statements.rows.known import KnownRows
from services.statements.rows.verdict import Verdict
from services.statements.rows.view_rows import rows_of_row
from tests.services.statements.charted import views_of
from tests.tables import with_cases


def row(kind: str, name: str, ref: str, **fields: object) -> ViewRow:
    return ViewRow.model_validate({"kind": kind, "name": name, "sources": (ref,), **fields})


def view(tool: str, *rows: ViewRow, kind: ViewKind = "table", nothing: str = "") -> ChartView:
    sources = tuple(ViewSource(ref=ref, date=one.date) for one in rows for ref in one.sources)
    return ChartView(
        tool=tool, kind=kind, title=tool.title(), rows=rows, sources=sources, nothing=nothing
    )


VIEWS = views_of("lists")


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


@pytest.mark.slow
def test_another_value_is_contradicted_by_what_the_record_says() -> None:
    found = verdict("Potassium was 4.9 mmol/L [Observation/k-2].")
    assert found.state == "contradicted"
    assert "4.1 mmol/L" in found.record_says


def test_no_allergies_is_contradicted_by_an_allergy() -> None:
    found = verdict("No allergies.")
    assert (found.state, found.sources) == ("contradicted", ("AllergyIntolerance/a1",))
    assert state("She has no known allergies.") == "contradicted"


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


@pytest.mark.parametrize(
    "said",
    ["You have patient_15 open.", "We are in the chart of patient_15.", "patient_15 ist offen."],
)
def test_nobody_says_that_another_chart_is_open(said: str) -> None:
    others = grounds(is_other_patient=lambda text: "patient_15" in text)
    lead = Speaker(reads_records=False, leads=True)
    assert MessageCheck(grounds=others, speaker=lead).check(said).is_withheld_whole
    denied = said.replace("open", "not open").replace("offen", "nicht offen")
    if denied != said:
        assert not MessageCheck(grounds=others, speaker=lead).check(denied).is_withheld_whole


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
    for lead in ("As you said, ", "You noted that ", "According to your note, "):
        assert verdict(f"{lead}she takes ibuprofen 400 mg.", on=on).state == "supported"
        assert verdict(f"{lead}she takes ibuprofen 800 mg.", on=on).state == "unsupported"
    assert verdict("She takes ibuprofen 400 mg.", on=on).state == "unsupported"


@with_cases("text", "is_so")
def test_each_word_that_a_user_is_said_to_have_said_was_said(text: str, is_so: bool) -> None:
    held = KnownRows()
    for told in ("Noted: he wants no chemo", "wife is called Jana", "lives alone with two dogs"):
        held.add_text(told, date=None, sources=())
    for speaker in (Speaker(), Speaker(reads_records=False)):
        found = verdict(text, on=grounds(held=held), speaker=speaker)
        assert (found.state in ("supported", "unchecked")) == is_so


@pytest.mark.parametrize("thing", ["troponin", "potassium", "apixaban", "stroke"])
@pytest.mark.parametrize("count", ["0 times", "0 results", "zero times", "0 visits"])
def test_a_count_of_none_is_never_more_than_unsupported(thing: str, count: str) -> None:
    assert state(f"{thing.capitalize()}: {count}.") != "supported"
    assert state(f"Her {thing} was measured {count}.") != "supported"


def test_the_rows_of_a_message_are_freed_with_its_check() -> None:
    on = grounds()
    rows = weakref.ref(on.rows)
    gc.disable()  # else it may free them meanwhile
    try:
        verdict("Potassium was 4.1 mmol/L [Observation/k-2].", on=on)
        del on
        assert rows() is None
    finally:
        gc.enable()


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
    written = grounds(deeds=set(proven_by("create_report")))
    assert verdict("The report was filed.", on=written).state == "unchecked"
    for one in (
        "The report was filed and sent to the GP.",
        "I filed it and mailed it to the GP.",
        "Der Bericht wurde gespeichert und an alle gemailt.",
    ):
        assert verdict(one, on=written).state == "contradicted", one
    done = Grounds(deeds=set(proven_by("book_appointment")))
    assert verdict("Your appointment is confirmed.", speaker=clerk, on=done).state == "unchecked"


@with_cases("text", "state")
def test_what_was_found_done_is_no_deed_of_who_speaks(text: str, state: str) -> None:
    clerk = Speaker(reads_records=False)
    listed = Grounds(found_done=set(found_by("list_events")))
    assert verdict(text, speaker=clerk, on=listed).state == state


@with_cases("said", "text", "told")
def test_what_the_user_said_is_not_left_out_or_turned(said: str, text: str, told: str) -> None:
    held = KnownRows()
    held.add_text(said, date=None, sources=())
    text = f"As you said, {text}"
    assert verdict(text, on=Grounds(held=held)).state == told


def test_a_judgement_that_a_report_makes_is_not_marked() -> None:
    on = grounds()
    detail = "Impression: no evidence of disease progression. The liver is normal."
    report = row("imaging report", "CT chest", "DiagnosticReport/ct", detail=detail)
    on.rows.add_view(view("imaging_reports", report, kind="passages"))
    assert verdict("There is no disease progression.", on=on).state != "unsupported"
    assert verdict("The liver is normal.", on=on).state != "unsupported"
    assert verdict("The biopsy was benign.", on=on).state == "unsupported"


def test_the_name_of_a_test_is_no_source() -> None:
    on, name = Grounds(), "Hemoglobin [Mass/volume] in Blood"
    value: dict[str, object] = {"value": "15.1", "number": 15.1, "unit": "g/dL"}
    found = row("laboratory", name, "Observation/hb", date="2024-11-28", **value)
    on.rows.add_view(view("results", found))
    said = f"**{name}**: 15.1 g/dL, 2024-11-28 [Observation/hb]"
    assert verdict(said, on=on).state == "supported"
    assert read_sentence(f"{name} [Observation/hb]").refs == ("Observation/hb",)


def test_the_removal_of_an_implant_is_no_deed_of_this_conversation() -> None:
    found = verdict("The implant was removed in December 2014.", on=Grounds())
    assert "deleted" not in found.record_says
