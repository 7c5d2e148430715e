"""What models say wrongly of a record, through the real client, team and tools (page 11.3)."""

from contextlib import suppress
from typing import Any

import pytest

from data_models.chat_context import AgentMessage, CheckedStatement
from data_models.conversations import turn_events
from data_models.errors import ModelError
from services.group_chat_port import GroupChatEvent
from tests.fakes_openai import Reply
from tests.group_chat.team_world import Heard, TeamWorld, call, earlier_turn, text


def answer(heard: Heard) -> AgentMessage:
    return heard.of(turn_events.AgentMessageFinished)[-1].message


def states(message: AgentMessage) -> list[str]:
    return [one.state for one in message.statements]


async def ask(world: TeamWorld, *replies: Reply) -> AgentMessage:
    """Have PatientStatus look and say what `replies` say."""
    heard = await world.say(
        "@PatientStatus how is she?", call("current_status"), *replies, mentions=("PatientStatus",)
    )
    shown = "".join(event.text for event in heard.of(turn_events.AgentTextDelta))
    assert shown.endswith(answer(heard).text)
    return answer(heard)


async def test_a_right_value_is_supported_and_says_by_what(world: TeamWorld) -> None:
    said = await ask(world, text("The stage is IVB [DocumentReference/note-7]."))
    assert states(said) == ["supported"]
    assert said.text == "The stage is IVB [DocumentReference/note-7]."


async def test_a_wrong_value_with_a_right_source_is_said_again(world: TeamWorld) -> None:
    said = await ask(
        world,
        text("Carcinoembryonic antigen is 97 ng/mL [Observation/cea-3]. Ask me for more."),
        text("Carcinoembryonic antigen (CEA) is 9.7 ng/mL [Observation/cea-3]."),
    )
    assert "97 ng" not in said.text
    assert "9.7 ng/mL" in said.text
    assert states(said) == ["supported"]
    correction = world.prompts()[-1]
    assert "The record says: " in str(correction)


async def test_what_is_wrong_again_is_listed_with_what_the_record_says(world: TeamWorld) -> None:
    wrong = "Carcinoembryonic antigen is 97 ng/mL [Observation/cea-3]."
    said = await ask(world, text(f"She is here. {wrong}"), text(wrong))
    assert "97" not in said.text
    assert states(said) == ["contradicted"]
    assert "9.7" in said.statements[0].record_says


@pytest.mark.slow
async def test_an_invented_source_is_taken_out_and_the_sentence_marked(world: TeamWorld) -> None:
    said = await ask(world, text("The stage is IVB [DocumentReference/note-99]."))
    assert "note-99" not in said.text
    assert states(said) == ["unsupported"]
    one = said.statements[0]
    assert said.text[one.start : one.end] == "The stage is IVB."


async def test_drugs_that_no_row_names_are_marked(world: TeamWorld) -> None:
    said = await ask(world, text("He takes Metformin, Glucophage and Lisinopril."))
    assert states(said) == ["unsupported"]


@pytest.mark.slow
async def test_no_allergies_is_not_said_of_who_has_one(world: TeamWorld) -> None:
    said = await ask(world, text("No allergies."), text("Nothing more to say."))
    assert "No allergies" not in said.text
    assert states(said) == ["contradicted"]


@pytest.mark.slow
async def test_a_sentence_of_another_patient_is_withheld_whole(world: TeamWorld) -> None:
    said = await ask(world, text("For patient_15 the stage is IIIA. She is well."))
    assert said.text == "She is well."
    assert "IIIA" not in said.model_dump_json()


@pytest.mark.slow
async def test_a_sentence_with_another_patients_name_is_withheld_whole(world: TeamWorld) -> None:
    def named(text: str) -> frozenset[str]:
        return frozenset({"tunde", "adeyemi"}) if "Tunde Adeyemi" in text else frozenset()

    heard = await world.say(
        "@PatientStatus how is she?",
        call("current_status"),
        text("The stage of Tunde Adeyemi is IVA. She is well."),
        mentions=("PatientStatus",),
        others_named=named,
    )
    assert answer(heard).text == "She is well."
    assert "Adeyemi" not in answer(heard).model_dump_json()


async def test_a_claimed_deed_needs_a_tool_that_did_it(world: TeamWorld) -> None:
    heard = await world.say(
        "@AppointmentManager book it",
        text("Your appointment with Dr. Smith is booked."),
        mentions=("AppointmentManager",),
    )
    assert "booked" not in answer(heard).text
    assert answer(heard).statements[0].record_says == "Nothing was booked in this conversation."


async def test_who_speaks_without_a_look_is_made_to_look_first(world: TeamWorld) -> None:
    heard = await world.say(
        "@PatientStatus the stage?",
        text("The current stage is stage 1."),
        call("current_status"),
        text("The stage is IVB [DocumentReference/note-7]."),
        mentions=("PatientStatus",),
    )
    assert answer(heard).text == "The stage is IVB [DocumentReference/note-7]."
    forced = world.model.requests[-2].body
    assert forced["tool_choice"] == "required"


@pytest.mark.slow
async def test_having_been_made_to_look_once_binds_no_later_answer(world: TeamWorld) -> None:
    await test_who_speaks_without_a_look_is_made_to_look_first(world)
    said = await ask(world, text("The stage is IVB [DocumentReference/note-7]."))
    assert said.text == "The stage is IVB [DocumentReference/note-7]."
    assert [one.body.get("tool_choice") for one in list(world.model.requests)[-2:]] == [
        "auto",
        "auto",
    ]


async def test_a_look_is_asked_for_once(world: TeamWorld) -> None:
    heard = await world.say(
        "@PatientStatus the stage?",
        text("The current stage is stage 1."),
        text("The stage is stage 1."),
        text("The stage is IVB [DocumentReference/note-7]."),
        mentions=("PatientStatus",),
    )
    assert answer(heard).text == "The stage is IVB [DocumentReference/note-7]."
    assert states(answer(heard)) == ["supported"]


@pytest.mark.slow
async def test_sentences_are_shown_while_the_model_still_writes(world: TeamWorld) -> None:
    heard = await world.say("hello", text("Good morning. How can I help you today, doctor?"))
    pieces = [event.text for event in heard.of(turn_events.AgentTextDelta)]
    assert "".join(pieces) == "Good morning. How can I help you today, doctor?"


@pytest.mark.slow
async def test_claims_come_before_the_end_of_their_message(world: TeamWorld) -> None:
    heard = await world.say(
        "@PatientStatus how is she?",
        call("current_status"),
        text("The stage is IVB [DocumentReference/note-7]."),
        mentions=("PatientStatus",),
    )
    kinds = [type(event) for event in heard.events]
    assert kinds.index(turn_events.ClaimsChecked) < kinds.index(turn_events.AgentMessageFinished)


@pytest.mark.slow
@pytest.mark.parametrize("cut", [{"finish_reason": "length"}, {"end_stream": False}])
async def test_what_broke_off_is_marked_as_any_other_answer(
    world: TeamWorld, cut: dict[str, Any]
) -> None:
    broken = Reply(
        text="He takes Metformin. Prednisolone is given at 0", tokens_per_second=50, **cut
    )
    world.model.queue(call("current_status"), broken)
    request = world.request("@PatientStatus how is she?", mentions=("PatientStatus",))
    events: list[GroupChatEvent] = []
    with suppress(ModelError):
        async for event in world.chat.run(request):
            events.append(event)  # noqa: PERF401  # what came before the error counts
    said = answer(Heard(events))
    assert said.text.strip() == "He takes Metformin."
    assert states(said) == ["unsupported"]


async def test_what_nothing_supported_before_proves_no_deed(world: TeamWorld) -> None:
    said = "Yes, the GP was informed this morning."
    before = earlier_turn(1, "was the gp informed?", ("PatientStatus", said))
    (told,) = before.agent_responses
    marked = CheckedStatement(start=0, end=len(said), state="unsupported")
    told = told.model_copy(update={"statements": [marked]})
    row = "- **Visit**: MRI is booked, letter sent [DocumentReference/note-7]"
    shown = told.model_copy(update={"message_id": "m2", "text": row, "statements": []})
    history = (before.model_copy(update={"agent_responses": [told, shown]}),)
    asked = {"mentions": ("PatientStatus",), "history": history}
    for claimed in ("Yes, emailed.", "I booked it and informed the team."):
        heard = await world.say("@PatientStatus is it?", text(claimed), **asked)
        assert claimed not in answer(heard).text


async def test_what_nobody_looked_up_is_looked_up_before_it_is_marked(world: TeamWorld) -> None:
    heard = await world.say(
        "@PatientStatus how is she?",
        call("problems"),
        text("Carcinoembryonic antigen is 9.7 ng/mL. She takes warfarin."),
        mentions=("PatientStatus",),
    )
    said = answer(heard)
    assert [(said.text[one.start : one.end], one.state) for one in said.statements] == [
        ("Carcinoembryonic antigen is 9.7 ng/mL.", "supported"),
        ("She takes warfarin.", "unsupported"),
    ]
    assert said.statements[0].sources == ("Observation/cea-3",)
    looked = [one.tool for one in heard.of(turn_events.ToolCallStarted)]
    assert looked == ["problems", "results", "medications"]
    assert len(world.model.requests) == 2  # no call of the model is made for it


async def test_what_is_looked_up_for_a_statement_is_drawn_by_nobody(world: TeamWorld) -> None:
    heard = await world.say(
        "@PatientStatus how is she?",
        call("problems"),
        text("CEA rose from 3.1 to 9.7 ng/mL."),
        mentions=("PatientStatus",),
    )
    assert states(answer(heard)) == ["supported"]
    assert heard.of(turn_events.ViewShown) == []
