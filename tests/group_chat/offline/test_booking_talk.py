"""What the offline rules of appointments make of names nobody has, times no day has, and a no."""

from typing import Any

import pytest

from group_chat.offline.booking import answer_as_booking
from group_chat.offline.prompt import Prompt, Spoken, ToolAnswer, ToolOffer
from services.language.talk_texts import talk_text

WHICH_DOCTOR = talk_text("en", "which_doctor")
WHICH_DAY = talk_text("en", "which_day")
WHICH_TIME = talk_text("en", "which_time")

NO_PATEL = {"error": "no doctor has that name; ask the user, or use find_doctor"}
DOCTORS = {"doctors": [{"name": "Dr. Anna Smith"}, {"name": "Dr. Peter Jones"}]}
WISHES = {
    "doctor_preference": "Dr. Patel",
    "date_preference": "2030-01-07",
    "time_preference": "09:00",
}


def prompt_of(
    asked: str,
    *,
    last: str = "",
    wishes: dict[str, Any] | None = None,
    answers: list[ToolAnswer] | None = None,
) -> Prompt:
    names = ("available_slots", "find_doctor", "update_entities", "list_appointments")
    return Prompt(
        tools=[ToolOffer(name) for name in names],
        entities={"entities": WISHES if wishes is None else wishes},
        asked=asked,
        earlier=[Spoken("AppointmentManager", last)] if last else [],
        answers=answers or [],
    )


def test_a_doctor_nobody_is_called_leads_to_those_there_are() -> None:
    tried = [ToolAnswer("available_slots", NO_PATEL)]
    reply = answer_as_booking(prompt_of("I want to see Dr. Patel", answers=tried))
    dropped, looked = reply.calls
    assert dropped.arguments == {"entities_to_remove": ["doctor_preference"]}, "it asks no more"
    assert looked.wire_name == "find_doctor"
    tried.append(ToolAnswer("find_doctor", DOCTORS))
    text = answer_as_booking(prompt_of("I want to see Dr. Patel", answers=tried)).text
    assert text.startswith("No doctor here is called Dr. Patel.")
    assert "- Dr. Peter Jones" in text
    assert text.endswith(WHICH_DOCTOR)
    assert "find_doctor" not in text, "that is a word between programs"


def test_the_doctor_picked_instead_takes_the_place_of_the_one_named_before() -> None:
    found = [ToolAnswer("find_doctor", {"doctors": DOCTORS["doctors"][:1]})]
    reply = answer_as_booking(prompt_of("Smith, please", last=WHICH_DOCTOR, answers=found))
    noted, looked = reply.calls
    assert noted.arguments == {
        "entities_to_update": {"doctor_preference": "Dr. Anna Smith"},
        "entities_to_remove": ["doctor_preference"],
    }
    assert looked.arguments["doctor"] == "Dr. Anna Smith"


@pytest.mark.parametrize("asked", ["yes", "next tuesday", "tomorrow at 10"])
def test_what_is_no_name_is_not_looked_for_as_one(asked: str) -> None:
    reply = answer_as_booking(prompt_of(asked, last=WHICH_DOCTOR, wishes={}))
    assert [(call.wire_name, call.arguments) for call in reply.calls] == [
        ("find_doctor", {"name": ""})
    ]


@pytest.mark.parametrize(
    "asked", ["never mind", "no, thanks", "forget it", "don't book anything", "bitte buche nichts"]
)
def test_who_wants_no_appointment_any_more_is_let_go(asked: str) -> None:
    reply = answer_as_booking(prompt_of(asked, last=WHICH_DOCTOR, wishes={}))
    assert reply.text == "All right, no appointment was arranged or changed."
    assert not reply.calls


@pytest.mark.parametrize("asked", ["tomorrow at 25:00", "at 9:75", "at 30"])
def test_a_time_no_day_has_is_not_replaced_by_an_earlier_wish(asked: str) -> None:
    call = answer_as_booking(prompt_of(asked, last=WHICH_TIME)).calls[-1]
    assert "time" not in call.arguments


@pytest.mark.parametrize("asked", ["when is her next visit?", "any upcoming appointments"])
def test_who_asks_for_the_next_visit_is_shown_the_appointments(asked: str) -> None:
    assert answer_as_booking(prompt_of(asked)).calls[0].wire_name == "list_appointments"


LISTED = f"Doctors here:\n- Dr. Anna Smith\n- Dr. Peter Jones\n\n{WHICH_DOCTOR}"
WEEK = f"Dr. Jones is free on:\n- Mon 7 Jan 2030: 08:00\n- Tue 8 Jan 2030: 09:00\n\n{WHICH_DAY}"
TIMES = f"Dr. Jones, 2030-01-07: free are 08:00, 08:30, 15:00.\n{WHICH_TIME}"


@pytest.mark.parametrize(
    ("said", "name"), [("the second one", "Dr. Peter Jones"), ("the first", "Dr. Anna Smith")]
)
def test_a_place_of_the_list_is_the_doctor_there(said: str, name: str) -> None:
    calls = answer_as_booking(prompt_of(said, last=LISTED, wishes={})).calls
    assert [call.arguments for call in calls] == [{"name": name}]


@pytest.mark.parametrize(
    ("said", "day"), [("the second one", "2030-01-08"), ("the last one", "2030-01-08")]
)
def test_a_place_of_the_list_is_the_day_there(said: str, day: str) -> None:
    noted, looked = answer_as_booking(prompt_of(said, last=WEEK)).calls
    assert noted.arguments["entities_to_update"] == {"date_preference": day}
    assert looked.arguments["day"] == day


@pytest.mark.parametrize(
    ("said", "time"), [("the first one", "08:00"), ("the last one", "15:00"), ("8", "08:00")]
)
def test_a_place_of_the_list_is_the_time_there(said: str, time: str) -> None:
    (looked,) = answer_as_booking(prompt_of(said, last=TIMES)).calls
    assert looked.arguments["time"] == time


def test_a_place_that_the_list_does_not_have_is_asked_for_again() -> None:
    reply = answer_as_booking(prompt_of("the fourth one", last=LISTED, wishes={}))
    assert [call.arguments for call in reply.calls] == [{"name": ""}]


def test_when_it_is_asks_for_what_is_booked() -> None:
    reply = answer_as_booking(prompt_of("when is it now?"))
    assert [call.wire_name for call in reply.calls] == ["list_appointments"]


def test_a_yes_to_a_question_for_the_day_is_no_yes_to_what_was_booked_before() -> None:
    prompt = prompt_of("yes", last=WHICH_DAY, wishes={"doctor_preference": "Dr. Jones"})
    proposal = {"action": "book_appointment", "slot_id": "s1"}
    prompt.entities = {**prompt.entities, "derived_entities": {"appointment_proposal": proposal}}
    assert answer_as_booking(prompt).text == WHICH_DAY


FREE = {
    "doctor": "Dr. Anna Smith",
    "day": "2030-01-07",
    "wanted_time_is_free": None,
    "slots": [{"slot_id": each, "start": f"2030-01-07 {each}"} for each in ("09:00", "14:30")],
}


@pytest.mark.parametrize(
    ("asked", "times"),
    [
        ("book her with Dr Smith on Monday morning", "free are 09:00."),
        ("Montag Nachmittag, bitte", "free are 14:30."),
        ("book her with Dr Smith on Monday", "free are 09:00, 14:30."),
        ("Monday evening then", "that time is not free; free are 09:00, 14:30."),
    ],
)
def test_a_part_of_the_day_is_heard(asked: str, times: str) -> None:
    wishes = {**WISHES, "doctor_preference": "Dr. Smith"}
    answer = ToolAnswer("available_slots", FREE)
    said = answer_as_booking(prompt_of(asked, wishes=wishes, answers=[answer])).text
    assert times in said or times.replace("free are", "frei sind") in said
