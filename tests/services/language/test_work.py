"""Whose work a message is where its words alone would mislead."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from services.language.reading import read
from services.language.replies.yes_no import yes_no_in
from services.language.requests.requests import asks_number_of, is_of_own_things
from services.language.requests.tool_requests import OF_OWN_THINGS
from services.language.requests.work import (
    doer_of,
    impossible_wish,
    leaves_question,
    own_kind_in,
    work_in,
)
from services.language.utterance import Situation, TeamMember
from tests.tables import with_cases

_NOW = Situation(now=datetime(2026, 11, 22, tzinfo=UTC))


@pytest.mark.slow
@with_cases("text", "work")
def test_a_request_is_nobodys_but_whose_work_it_is(text: str, work: str | None) -> None:
    assert work_in(text) == work
    if work is not None:
        assert read(text, _NOW).about == ()


@with_cases("text", "tool")
def test_what_a_procedure_found_is_asked_of_its_report(text: str, tool: str) -> None:
    assert read(text, _NOW).about[0].tool == tool


@pytest.mark.parametrize("text", ["discard that", "we do not need this", "wir brauchen das nicht"])
def test_what_is_not_needed_is_a_no(text: str) -> None:
    assert yes_no_in(text) == "no"


@with_cases("text", "doer")
def test_what_somebody_is_by_profession_arranges_nothing(text: str, doer: str | None) -> None:
    clinic = TeamMember("Clinic", ("available_slots",))
    assert doer_of(text, [clinic], is_of_chart=False) == doer


@with_cases("text")
def test_an_order_of_a_test_is_no_question_for_its_last_result(text: str) -> None:
    assert read(text, _NOW).about == ()
    assert impossible_wish(text) == "only_read"


@pytest.mark.parametrize(
    "text",
    ["mark her as DNR", "set him to DNR", "change her code status to DNR", "setze ihn auf DNR"],
)
def test_what_is_to_be_written_of_a_patient_is_only_read(text: str) -> None:
    assert impossible_wish(text) == "only_read"


@pytest.mark.parametrize("text", ["start candesartan 4 mg", "begin letrozole", "gib ihm ibuprofen"])
def test_what_is_to_be_given_is_no_scenario_and_not_done(text: str) -> None:
    assert impossible_wish(text) == "only_read"


@pytest.mark.parametrize("text", ["give me her candesartan dose", "gib mir die ramipril dosis"])
def test_what_is_to_be_told_of_a_drug_is_told(text: str) -> None:
    assert impossible_wish(text) is None


@pytest.mark.parametrize("text", ["at 3pm", "at 3 pm", "no, at 4 pm", "at 15:00"])
def test_an_hour_alone_leaves_no_question_of_when(text: str) -> None:
    team = (TeamMember("Chart", ("search_record",)), TeamMember("Clinic", ("available_slots",)))
    assert not leaves_question(read(text, replace(_NOW, team=team)), "Clinic")


@pytest.mark.parametrize("text", ["update the report", "refresh my board document"])
def test_the_report_is_written_anew_beside_a_question_of_when(text: str) -> None:
    team = (TeamMember("Report", ("create_report",)), TeamMember("Clinic", ("available_slots",)))
    assert leaves_question(read(text, replace(_NOW, team=team)), "Clinic")


@pytest.mark.parametrize("text", ["Erinnere mich morgen an das Labor", "add a task: call the lab"])
def test_a_task_of_ones_own_is_no_answer_to_when(text: str) -> None:
    team = (TeamMember("Office", ("list_events",)), TeamMember("Clinic", ("available_slots",)))
    assert leaves_question(read(text, replace(_NOW, team=team)), "Clinic")


@pytest.mark.parametrize("text", ["hpv impfung?", "tetanus vaccination?"])
def test_a_vaccination_asked_for_is_no_answer_to_which_doctor(text: str) -> None:
    team = (TeamMember("Chart", ("immunizations",)), TeamMember("Clinic", ("available_slots",)))
    assert leaves_question(read(text, replace(_NOW, team=team)), "Clinic")


@with_cases("text", "is_own")
def test_what_a_patient_wants_is_nothing_of_ones_own(text: str, is_own: bool) -> None:
    assert is_of_own_things(text) is is_own


@with_cases("text", "tool")
def test_ones_own_things_are_looked_for_as_people_type(text: str, tool: str) -> None:
    team = (TeamMember("Office", ("list_events",)), TeamMember("Clinic", ("available_slots",)))
    assert read(text, replace(_NOW, team=team)).agent == "Office"
    kind = own_kind_in(text)
    assert kind is not None
    assert next(one.tool for one in OF_OWN_THINGS[kind] if one.fits(text)) == tool


@pytest.mark.parametrize(
    "text",
    [
        "phone number of her daughter",
        "phone number of the GP",
        "number of positive nodes",
        "gp tel?",
    ],
)
def test_who_is_of_the_chart_is_in_no_address_book(text: str) -> None:
    assert not asks_number_of(text)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Please write to lee@example.org about the visit: he was seen on Monday.", "email"),
        ("schreib an a@b.de wegen Besuch: ja", "email"),
        ("add a contact Ann, ann@example.org", "contact"),
        ("lee@example.org is his address", None),
    ],
)
def test_what_is_written_to_an_address_is_a_mail(text: str, kind: str | None) -> None:
    assert own_kind_in(text) == kind
