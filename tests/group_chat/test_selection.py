from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_models.chat_context import AgentMessage
from data_models.conversations.plan import Plan, PlanStatus, PlanStep
from group_chat.speakers.gate import step_line
from group_chat.speakers.selection import next_move, taken_up, to_facilitator
from group_chat.speakers.speaker_state import (
    Announce,
    Ask,
    AskOneOf,
    End,
    Move,
    Said,
    SpeakerState,
    Work,
)
from tests.given import present

TEAM = ("Orchestrator", "History", "Radiology", "Pathology")
NOW = datetime(2030, 1, 1, tzinfo=UTC)
QUIET = SpeakerState(facilitator="Orchestrator", agents=TEAM)


def plan(status: PlanStatus = "running", *agents: str) -> Plan:
    names = agents or ("History", "Radiology")
    steps = [PlanStep(number=n, agent=agent, text="work") for n, agent in enumerate(names, 1)]
    return Plan(plan_id="p", run_id="r", status=status, steps=steps, created_at=NOW, updated_at=NOW)


def on_step(number: int, *agents: str) -> SpeakerState:
    speakers = replace(
        QUIET.with_plan(plan("running", *agents)), is_on_plan=True, alone=frozenset(TEAM)
    )
    for earlier in range(1, number):
        speakers = speakers.starting(earlier, now=NOW).ended_step("done", now=NOW)
    return speakers.starting(number, now=NOW)


def after(speakers: SpeakerState, agent: str, text: str, **said: bool) -> tuple[SpeakerState, Move]:
    return next_move(speakers, Said(agent, text, **said), now=NOW)


def test_the_gate_comes_before_any_hand_over() -> None:
    speakers = replace(QUIET.with_plan(plan("proposed")), is_new_plan=True)
    for last in ("*Radiology*, go.", "Back to you *Radiology*.", "Sure.", "OK?"):
        assert after(speakers, "Orchestrator", last)[1] == End("gate")
        assert after(speakers, "History", last)[1] == End("gate")


def test_the_facilitator_hands_to_whom_it_addresses() -> None:
    assert after(QUIET, "Orchestrator", "*Radiology*, go.")[1] == Ask("Radiology")


def test_without_a_plan_a_specialist_that_hands_to_nobody_ends_the_turn() -> None:
    assert after(QUIET, "Radiology", "It is stable.")[1] == End("answered")
    assert after(QUIET, "Orchestrator", "It is stable.")[1] == End("answered")


def test_a_question_to_the_user_ends_the_turn() -> None:
    assert after(QUIET, "Radiology", "Which scan?")[1] == End("question")
    assert after(on_step(1), "History", "Which scan?")[1] == End("question")


def test_a_hand_back_goes_to_the_facilitator() -> None:
    speakers, move = after(QUIET, "Radiology", "Back to you *Orchestrator*.")
    assert move == Ask("Orchestrator")
    assert speakers.spoken == {"Radiology"}


def test_each_agent_speaks_once_between_two_messages_of_the_facilitator() -> None:
    speakers, move = after(QUIET, "History", "*Radiology*, go.")
    assert move == Ask("Radiology")
    speakers, move = after(speakers, "Radiology", "*History*, go.")
    assert move == Ask("Orchestrator")
    speakers, move = after(speakers, "Orchestrator", "*History*, again.")
    assert move == Ask("History")


def test_several_addressed_agents_need_a_verdict_and_those_who_spoke_are_out() -> None:
    speakers, move = after(QUIET, "Orchestrator", "*History* and *Radiology*, go.")
    assert move == AskOneOf(("History", "Radiology"))
    speakers, _ = after(speakers, "History", "Done.")
    assert after(speakers, "Radiology", "*History* and *Pathology*, go.")[1] == Ask("Pathology")


def test_addressing_the_facilitator_among_others_is_a_hand_back() -> None:
    _, move = after(QUIET, "Radiology", "*Orchestrator* and *History*, please go on.")
    assert move == Ask("Orchestrator")


def test_a_finished_step_is_followed_by_the_next_ones_line_and_the_last_by_the_close() -> None:
    speakers, move = after(on_step(1), "History", "Done. Back to you *Orchestrator*.")
    assert move == Announce("Step 2 of 2: *Radiology*, work", 2)
    assert speakers.plan is not None
    assert [step.status for step in speakers.plan.steps] == ["done", "pending"]
    speakers, move = after(on_step(2), "Radiology", "Stable.")
    assert move == Ask("Orchestrator", "close")
    assert present(speakers.plan).status == "done"


def test_the_line_of_a_step_is_followed_by_its_agent_whatever_its_words() -> None:
    _, move = after(on_step(2), "Orchestrator", "*History*, or is it?", rendered=True)
    assert move == Ask("Radiology", "step")


def test_a_step_whose_agent_left_the_team_is_the_facilitators_to_handle() -> None:
    speakers, move = after(on_step(1, "Genetics"), "Orchestrator", "Step 1", rendered=True)
    assert move == Ask("Orchestrator", "failed")
    assert speakers.failed_step == 1


def test_a_failed_step_is_the_facilitators_to_handle() -> None:
    speakers, move = after(on_step(1), "History", "Back to you *Orchestrator*.", failed=True)
    assert move == Ask("Orchestrator", "failed")
    passed_over, move = after(speakers, "Orchestrator", "There is no history.")
    assert move == Announce("Step 2 of 2: *Radiology*, work", 2)
    assert present(passed_over.plan).steps[0].status == "skipped"
    waiting, move = after(speakers, "Orchestrator", "Shall we try again?")
    assert move == End("question")
    assert waiting.plan is not None
    assert waiting.plan.next_step() == waiting.plan.steps[0]
    again, move = after(speakers, "Orchestrator", "*History*, please try again.")
    assert (again.step, move) == (1, Ask("History"))


def test_the_facilitators_own_last_step_is_the_close() -> None:
    speakers, move = after(on_step(1, "Orchestrator"), "Orchestrator", "In short: stable.")
    assert move == End("answered")
    assert present(speakers.plan).status == "done"


def test_a_question_beside_a_plan_is_answered_and_the_plan_says_that_it_is_open() -> None:
    for status, says in (("running", "The plan is paused"), ("proposed", "The plan is still open")):
        speakers = QUIET.with_plan(plan(status))  # type: ignore[arg-type]
        _, move = after(speakers, "Pathology", "It is EGFR+.")
        assert isinstance(move, Announce)
        assert move.step is None
        assert move.text.startswith(says)
        assert after(speakers, "Orchestrator", move.text, rendered=True)[1] == End("answered")


def test_steps_that_nothing_holds_back_are_called_together() -> None:
    speakers = replace(QUIET.with_plan(plan("running")), is_on_plan=True)
    assert to_facilitator(speakers, now=NOW)[1] == Work(
        "Step 1 of 2: *History*, work\nStep 2 of 2: *Radiology*, work", (1, 2)
    )


def test_who_works_alone_comes_after_all_before_it_and_before_all_behind_it() -> None:
    names = ("History", "Radiology", "Pathology", "History")
    speakers = QUIET.with_plan(plan("running", *names))
    speakers = replace(speakers, is_on_plan=True, alone=frozenset({"Pathology"}))
    assert [step.number for step in speakers.next_steps()] == [1, 2]
    for number in (1, 2):
        speakers = speakers.starting(number, now=NOW).ended_step("done", now=NOW)
    assert [step.number for step in speakers.next_steps()] == [3]
    speakers = speakers.starting(3, now=NOW).ended_step("done", now=NOW)
    assert [step.number for step in speakers.next_steps()] == [4]


def test_without_a_plan_control_goes_to_the_facilitators_model() -> None:
    assert to_facilitator(QUIET, now=NOW)[1] == Ask("Orchestrator")


def test_a_cap_ends_the_turn_but_not_one_that_is_over() -> None:
    full = replace(QUIET, messages=30)
    assert full.within(Ask("Radiology"), messages=30) == End("limit")
    assert full.within(End("question"), messages=30) == End("question")
    assert QUIET.within(Ask("Radiology"), messages=30) == Ask("Radiology")


LINES = st.sampled_from(
    ["*History*, go.", "*Radiology* and *Pathology*, go.", "Back to you *Orchestrator*.", "Done."]
)


@pytest.mark.slow
@given(st.lists(LINES, min_size=60, max_size=60), st.booleans())
def test_whatever_agents_say_a_specialist_never_speaks_twice_in_a_row_of_its_own(
    lines: list[str], with_plan: bool
) -> None:
    speakers: SpeakerState = on_step(1) if with_plan else QUIET
    move: Move = Ask("History")
    heard: list[str] = []
    for line in lines:
        if isinstance(move, End):
            break
        speaker = move.agent if isinstance(move, Ask) else "Orchestrator"
        if isinstance(move, AskOneOf):
            speaker = move.agents[0]
        if isinstance(move, Announce) and move.step is not None:
            speakers = speakers.starting(move.step, now=NOW)
        if speaker == "Orchestrator":
            heard.clear()
        assert speaker not in heard
        heard.append(speaker)
        rendered = isinstance(move, Announce)
        speakers, move = next_move(speakers, Said(speaker, line, rendered=rendered), now=NOW)


def message(agent: str, text: str) -> AgentMessage:
    return AgentMessage(message_id="m", agent=agent, text=text, timestamp=NOW)


def goes_on(speakers: SpeakerState, *said: tuple[str, str]) -> tuple[SpeakerState, Move]:
    return taken_up(speakers, [message(*one) for one in said], now=NOW)


def test_a_turn_goes_on_with_whom_the_last_stored_message_addresses() -> None:
    speakers, move = goes_on(QUIET, ("Orchestrator", "*Radiology*, compare."))
    assert (move, speakers.messages) == (Ask("Radiology"), 1)
    said = [("Orchestrator", "*Radiology*, compare."), ("Radiology", "*Pathology*, and you?")]
    speakers, move = goes_on(QUIET, *said)
    assert (move, speakers.spoken) == (Ask("Pathology"), frozenset({"Radiology"}))


def test_a_plan_goes_on_with_the_step_that_was_about_to_be_called() -> None:
    speakers = on_step(2)
    first, second = (step_line(present(speakers.plan), number) for number in (1, 2))
    said = [("Orchestrator", first), ("History", "Done. Back to you *Orchestrator*.")]
    assert goes_on(speakers, *said)[1] == Announce(second, 2)
    going, move = goes_on(speakers, *said, ("Orchestrator", second))
    assert (move, going.step) == (Ask("Radiology", "step"), 2)


def test_a_plan_whose_last_step_is_done_goes_on_with_its_close() -> None:
    speakers = on_step(2).ended_step("done", now=NOW)
    said = [("Orchestrator", step_line(present(speakers.plan), 2)), ("Radiology", "It is stable.")]
    assert goes_on(speakers, *said)[1] == Ask("Orchestrator", "close")


def test_messages_that_hand_to_nobody_say_nothing_of_who_is_next() -> None:
    assert isinstance(goes_on(QUIET, ("Orchestrator", "It is noted."))[1], End)
