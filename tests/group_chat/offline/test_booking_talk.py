"""What the offline rules put into the form of free times, and what they say of its answer."""

from dataclasses import replace
from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from group_chat.offline.prompt import Prompt, ToolAnswer
from group_chat.offline.specialist import answer_as_booking
from group_chat.tools.clinic.free_times import TimesArguments, told_times
from group_chat.window import Line
from services.language.reading import read
from services.language.requests.appointment_slots import field_in, is_of_field
from services.language.requests.clock import shift_in
from services.language.utterance import Situation
from services.language.words.talk_texts import talk_text
from tests.tables import with_cases

WHICH_DOCTOR = talk_text("en", "which_doctor")
WHICH_DAY = talk_text("en", "which_day")
WHICH_TIME = talk_text("en", "which_time")

DOCTORS = [
    {"name": "Dr. Anna Smith", "specialty": ""},
    {"name": "Dr. Peter Jones", "specialty": "Oncology"},
]
WISHES = {
    "doctor_preference": "Dr. Smith",
    "date_preference": "2030-01-07",
    "time_preference": "09:00",
}
TOOLS = ("available_slots", "update_entities", "list_appointments", "book_appointment",
         "move_appointment", "cancel_appointment")  # fmt: skip


def prompt_of(
    asked: str,
    *,
    last: str = "",
    wishes: dict[str, Any] | None = None,
    answers: list[ToolAnswer] | None = None,
) -> Prompt:
    return Prompt(
        tools=dict.fromkeys(TOOLS, ()),
        entities={"entities": WISHES if wishes is None else wishes},
        asked=asked,
        earlier=[Line("AppointmentManager", last)] if last else [],
        answers=answers or [],
    )


def looked(prompt: Prompt) -> Any:
    """Return what the form is filled in with."""
    call = answer_as_booking(prompt).calls[-1]
    assert call.name == "available_slots"
    return call.arguments


def told(**data: Any) -> str:
    """Return what the tool says of what it found."""
    return told_times(data, "en")


def test_a_doctor_nobody_is_called_leads_to_those_there_are() -> None:
    text = told(missing="doctor", doctors=DOCTORS, unknown="Dr. Patel")
    assert text.startswith("No doctor here is called Dr. Patel.")
    assert "- Dr. Peter Jones" in text
    assert text.endswith(WHICH_DOCTOR)


def test_a_field_that_nobody_works_in_is_said_and_whoever_is_here_stands_with_theirs() -> None:
    text = told(missing="doctor", doctors=DOCTORS, unknown="cardiology")
    assert text.startswith("Nobody here is listed for “cardiology”.")
    assert "- Dr. Peter Jones: Oncology" in text


@pytest.mark.parametrize("said", ["oncology", "an oncologist", "beim Onkologen"])
def test_who_is_asked_for_by_a_field_is_found_by_it(said: str) -> None:
    assert [is_of_field(one, field_in(said)) for one in ("Oncology", "Radiology")] == [True, False]


@with_cases("asked")
@pytest.mark.parametrize("before", [[], [("move it", f"- 2030\n\n{WHICH_DAY}")]])
def test_who_wants_no_appointment_any_more_is_let_go(
    asked: str, before: list[tuple[str, str]]
) -> None:
    prompt = prompt_of(asked, last=before[0][1] if before else WHICH_DOCTOR, wishes={})
    prompt.past = before
    reply = answer_as_booking(prompt)
    assert reply.text in {talk_text(language, "nothing_arranged") for language in ("en", "de")}
    assert not reply.calls


@pytest.mark.parametrize("asked", ["cancel that", "drop it", "brich das ab"])
def test_what_is_cancelled_beside_a_new_form_is_the_form(asked: str) -> None:
    reply = answer_as_booking(prompt_of(asked, last=WHICH_DOCTOR, wishes={}))
    assert reply.text in {talk_text(language, "nothing_arranged") for language in ("en", "de")}


@pytest.mark.parametrize("asked", ["make it half past", "no wait make it half 9", "make it 9:30"])
def test_a_wish_changes_while_a_doctor_is_asked_for(asked: str) -> None:
    prompt = prompt_of(asked, last=WHICH_DOCTOR, wishes={"time_preference": "09:00"})
    prompt.past = [("book her tomorrow at 9", f"- Dr. Anna Smith\n\n{WHICH_DOCTOR}")]
    noted, looks = answer_as_booking(prompt).calls
    assert noted.arguments["entities_to_update"] == {"time_preference": "09:30"}
    assert looks.arguments["time"] == "09:30"
    prompt.past.append((asked, WHICH_DOCTOR))
    dropped = answer_as_booking(replace(prompt, asked="cancel that"))
    assert dropped.calls[0].arguments["entities_to_remove"] == ["time_preference"]


def test_free_times_are_told_with_the_question_for_what_is_missing() -> None:
    slots = [{"slot_id": one, "start": f"2030-01-07 {one}"} for one in ("09:00", "14:30")]
    of_day = {"doctor": "Dr. Smith", "day": "2030-01-07", "missing": "time", "slots": slots}
    assert told(**of_day) == f"Dr. Smith, 2030-01-07: free are 09:00, 14:30.\n{WHICH_TIME}"
    assert "not free; free are 09:00" in told(**of_day, wanted_time_is_free=False)
    full = told(doctor="Dr. Smith", day="2030-01-07", missing="day")
    assert full == f"Dr. Smith, 2030-01-07: nothing is free that day.\n{WHICH_DAY}"
    next_day = [{"day": "2030-01-08", "times": ["09:00"]}]
    later = told(doctor="Dr. Smith", day="2030-01-07", days=next_day, missing="day")
    assert later.splitlines()[1:] == ["Next free:", "- Tue 8 Jan 2030: 09:00", WHICH_DAY]
    days = [{"day": "2030-01-15", "times": [f"{hour}:00" for hour in range(10, 18)]}]
    week = told(doctor="Dr. Smith", days=days, missing="day").splitlines()
    assert week[:2] == [
        "Dr. Smith is free on:",
        "- Tue 15 Jan 2030: 10:00, 11:00, 12:00, 13:00, 14:00, 15:00 and 2 more",
    ]
    assert week[-1] == WHICH_DAY


def moving(asked: str, *past: tuple[str, str]) -> Prompt:
    prompt = prompt_of(asked, last=past[-1][1] if past else "")
    prompt.past = list(past)
    return prompt


def test_a_free_time_is_proposed_and_not_again_after_that() -> None:
    prompt = moving("move the one on wednesday to friday at 11:00")
    free = {"wanted_time_is_free": True, "slots": [{"slot_id": "s1", "start": "2030-01-11 11:00"}],
            "moved": {"appointment_id": "a2"}}  # fmt: skip
    prompt.answers.append(ToolAnswer("available_slots", free))
    (call,) = answer_as_booking(prompt).calls
    assert (call.name, call.arguments) == (
        "move_appointment", {"appointment_id": "a2", "slot_id": "s1"},
    )  # fmt: skip
    prompt.answers.append(ToolAnswer("move_appointment", {"told": "I propose this."}))
    reply = answer_as_booking(prompt)
    assert (reply.calls, reply.text) == ((), "I propose this.")


def test_a_whole_message_that_says_when_fits_into_the_form() -> None:
    asked = "book him an appointment with cardiology next tuesday afternoon, please, " * 3
    given = looked(prompt_of(asked, wishes={}))
    TimesArguments.model_validate(given)


@pytest.mark.parametrize(
    ("asked", "days"),
    [
        ("move it to the week after", 7),
        ("the day after tomorrow", None),
        ("a day earlier", -1),
        ("bring it forward two days", -2),
        ("verschieb das um zwei Tage nach vorne", -2),
        ("eine Woche nach hinten", 7),
    ],
)
def test_a_move_may_be_told_by_how_much(asked: str, days: int | None) -> None:
    shift = shift_in(asked)
    assert (None if shift is None else shift.days) == days


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shown", "text"),
    [(WHICH_DOCTOR, "she vomited twice"), (WHICH_DAY, "she has crushing chest pain")],
)
def test_what_is_told_of_the_patient_is_said_not_to_be_held(shown: str, text: str) -> None:
    prompt = prompt_of(text, last=shown, wishes={})
    prompt.read = read(text, Situation(now=datetime(2026, 11, 22, 12, tzinfo=UTC)))

    reply = answer_as_booking(prompt)

    assert f"“{text}”" in reply.text
    assert reply.text.endswith(shown)
    assert not reply.calls


LASTS = {
    "which doctor": WHICH_DOCTOR,
    "which day": WHICH_DAY,
    "which time": WHICH_TIME,
    "book it?": talk_text(
        "en", "i_propose", proposed=talk_text("en", "proposed_book", start="2030-01-07")
    ),
    "cancel it?": talk_text("en", "i_propose", proposed=talk_text("en", "proposed_cancel")),
    "doctors": f"Doctors here:\n- Dr. Anna Smith\n- Dr. Peter Jones\n\n{WHICH_DOCTOR}",
    "days": (
        "Dr. Jones is free on:\n- Mon 7 Jan 2030: 08:00\n- Tue 15 Jan 2030: 09:00\n\n" + WHICH_DAY
    ),
    "times": f"Dr. Jones, 2030-01-07: free are 08:00, 08:30, 15:00.\n{WHICH_TIME}",
    "another day": f"- 2030-01-08 09:00\n\n{WHICH_DAY}",
    "german days": (
        "- Do 10 Dez 2026: 09:00\n- Fr 11 Dez 2026: 09:00\n\n" + talk_text("de", "which_day")
    ),
}
"""What was said last, by the names that the table has for it."""


class Asked(BaseModel):
    """What is asked behind what was said last, in each wording, and what is made of it.

    Of what is not given nothing is asserted; "{}" stands for what is asked.

    Attributes:
        past: What was asked before, each with its answer; the last one is what was said last.
        proposal: What was proposed; shown: an appointment that was.
        answers: What tools have answered to it.
        notes: What is noted, and handed on to the form too.
        call: The name of the last call, calls: all of them, whole, count: how many there are.
        given: Parts of what the last call is given, whole: all of it.
        gives: Names among it; lacks: names that are not; other_than: values that it has not.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    asked: list[str]
    last: list[str] = []
    past: list[tuple[str, str]] = []
    wishes: dict[str, str] | None = None
    proposal: dict[str, str] = {}
    shown: str = ""
    answers: list[tuple[str, dict[str, Any]]] = []
    notes: dict[str, str] = {}
    call: str = ""
    calls: list[dict[str, Any]] | None = None
    count: int = 0
    given: dict[str, str | None] = {}
    whole: dict[str, str] | None = None
    gives: list[str] = []
    lacks: list[str] = []
    other_than: dict[str, str] = {}
    begins: str = ""

    def prompt(self, asked: str, last: str) -> Prompt:
        answers = [ToolAnswer(name, data) for name, data in self.answers]
        last = LASTS.get(last, last)
        prompt = prompt_of(asked, last=last, wishes=self.wishes, answers=answers)
        prompt.past = [(said, LASTS.get(told, told)) for said, told in self.past]
        if self.proposal:
            derived = {"derived_entities": {"appointment_proposal": self.proposal}}
            prompt.entities = {**prompt.entities, **derived}
        if self.shown:
            prompt.tool_memory = {"recent_entities": [{"type": "calendar_event", "id": self.shown}]}
        return prompt


@pytest.mark.slow
@with_cases("case")
def test_it_is_made_of_it(case: Asked) -> None:
    lasts = case.last or [case.past[-1][1] if case.past else ""]
    for asked, last in product(case.asked, lasts):
        reply = answer_as_booking(case.prompt(asked, last))
        assert reply.text.startswith(case.begins), asked
        if case.begins:
            continue
        call = reply.calls[-1]
        made = {name: call.arguments.get(name) for name in case.given}
        assert case.call in ("", call.name), asked
        assert case.calls in (None, [{one.name: one.arguments} for one in reply.calls]), asked
        assert case.count in (0, len(reply.calls)), asked
        assert made == {name: v and v.replace("{}", asked) for name, v in case.given.items()}, asked
        assert case.whole in (None, call.arguments), asked
        assert {*case.gives} <= {*call.arguments}, asked
        assert not {*case.lacks} & {*call.arguments}, asked
        same = [name for name, v in case.other_than.items() if call.arguments.get(name) == v]
        assert same == [], asked
        if case.notes:
            noted = {"entities_to_update": case.notes, "words": asked}
            assert reply.calls[0].arguments == noted, asked
            assert {*case.notes.values()} <= {*call.arguments.values()}, asked
