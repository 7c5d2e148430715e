from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import TypeAdapter

from data_models.chat_context import Continuation
from data_models.conversations.incoming_message import Press
from data_models.conversations.plan import Plan, PlanStatus, PlanStep, StepEdit
from group_chat.speakers import gate
from group_chat.speakers.gate import others_plan_line
from group_chat.speakers.selection import changed_plan
from services.group_chat_port import PlanChanged
from services.language.replies.plan_change import Moved, PlanChange, agents_wanted, plan_change_in
from tests.group_chat.team_world import earlier_turn, team_world
from tests.tables import with_cases

TEAM = ("Orchestrator", "Radiology", "Pathology")
ANNAS = gate.ShowPlan("", others_plan_line("Anna"))
NOW = datetime(2030, 1, 1, tzinfo=UTC)
FACILITATOR = gate.Answer("Orchestrator")
WAITS = Continuation(agent="Radiology", plan_step=2, asked_at=NOW)


def plan(status: PlanStatus) -> Plan:
    steps = [PlanStep(number=1, agent="Radiology", text="a timeline")]
    return Plan(plan_id="p", run_id="r", status=status, steps=steps, created_at=NOW, updated_at=NOW)


def opened(text: str, **changes: Any) -> gate.Opening:
    given: dict[str, Any] = {
        "press": None,
        "addressed": None,
        "plan": None,
        "continuation": None,
        "facilitator": "Orchestrator",
        "names": TEAM,
    }
    return gate.opening(text=text, **{**given, **changes})


def test_a_step_that_is_added_comes_before_the_last_that_waits_for_all() -> None:
    steps = [
        PlanStep(number=1, agent="Radiology", text="a timeline"),
        PlanStep(number=2, agent="Pathology", text="the reports"),
        PlanStep(number=3, agent="Report", text="the document", after=[1, 2]),
    ]
    before = plan("proposed").model_copy(update={"steps": steps})
    change = PlanChange(moved=(Moved("Trials", "before_close", is_new=True),))
    after = changed_plan(before, change, tasks={"Trials": "trials"}, now=NOW)
    assert after is not None
    assert [one.agent for one in after.steps] == ["Radiology", "Pathology", "Trials", "Report"]
    assert after.steps[-1].after == [1, 2, 4]


def test_a_step_is_added_in_the_users_own_words() -> None:
    tasks = {1: "a timeline", 2: "the reports"}
    change = plan_change_in("add a step: check the trials", names=[*TEAM, "Trials"], tasks=tasks)
    assert change == PlanChange(
        moved=(Moved("Trials", "before_close", is_new=True, text="check the trials"),)
    )
    after = changed_plan(plan("proposed"), change, tasks={"Trials": "trials"}, now=NOW)
    assert after is not None
    assert ("Trials", "check the trials") in [(one.agent, one.text) for one in after.steps]
    assert plan_change_in("add a step: call the wife", names=[*TEAM, "Trials"], tasks=tasks) is None


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("bereite das board vor, aber nur pathologie und verlauf", ["Pathology", "PatientHistory"]),
        ("neuer plan: erst histologie, dann studien", ["Pathology", "ClinicalTrials"]),
        ("new plan: first imaging, then the report", ["Radiology", "ReportCreation"]),
        ("bereite das board vor", []),
        ("tumor board for her first", []),
    ],
)
def test_a_wish_for_a_plan_may_name_whom_alone_it_wants(said: str, wanted: list[str]) -> None:
    names = [*TEAM[1:], "PatientHistory", "PatientStatus", "ClinicalTrials", "ReportCreation"]
    assert agents_wanted(said, names) == wanted


@pytest.mark.parametrize(
    "said", ["move pathology up to first", "put pathology to the top", "make pathology first"]
)
def test_a_step_is_moved_to_the_top(said: str) -> None:
    moved = PlanChange(moved=(Moved("Pathology", "first"),))
    assert plan_change_in(said, names=["Radiology", "Pathology"], tasks={}) == moved


@pytest.mark.parametrize(
    ("word", "status", "first"),
    [
        ("yes", "proposed", ANNAS),
        ("👍", "proposed", ANNAS),
        ("go ahead with the plan", "proposed", gate.RunPlan()),
        ("ja, starte den Plan", "proposed", gate.RunPlan()),
        ("continue", "running", gate.RunPlan()),
        ("no", "proposed", gate.CancelPlan()),
    ],
)
def test_who_did_not_ask_for_a_plan_starts_it_by_naming_it(
    word: str, status: PlanStatus, first: gate.Opening
) -> None:
    own = opened(word, plan=plan(status))
    assert gate.named_by_others(own, word, plan(status), "Anna") == first
    assert gate.named_by_others(own, word, plan(status), "") == own


def test_cancel_that_behind_a_deed_is_of_the_deed() -> None:
    assert gate.of_last_deed(gate.CancelPlan(), "cancel that", "Secretary") == gate.Answer(
        "Secretary"
    )
    assert gate.of_last_deed(gate.CancelPlan(), "cancel that", None) == gate.CancelPlan()
    for word in ("no", "cancel", "cancel the plan"):
        assert gate.of_last_deed(gate.CancelPlan(), word, "Secretary") == gate.CancelPlan()
    assert gate.of_last_deed(FACILITATOR, "cancel that", "Secretary") == FACILITATOR


def test_steps_in_the_users_own_words_run_as_they_were_written() -> None:
    edits = (StepEdit(number=1, text="look at the brain only"),)
    confirm = Press(target_id="p", answer="confirm", steps=(1,), edits=edits)
    assert opened("x", press=confirm, plan=plan("proposed")) == gate.RunPlan((1,), edits)
    assert opened("x", press=confirm, plan=plan("running")) == gate.RunPlan()
    confirmed = plan("proposed").confirmed((1,), now=NOW, edits=edits)
    step = confirmed.next_step()
    assert step is not None
    assert (step.number, step.text) == (1, "look at the brain only")


def test_buttons_act_on_an_open_plan_only() -> None:
    confirm = Press(target_id="p", answer="confirm", steps=(2, 1))
    assert opened("x", press=confirm, plan=plan("proposed")) == gate.RunPlan((2, 1))
    assert opened("x", press=confirm, plan=plan("running")) == gate.RunPlan()
    assert opened("x", press=confirm, plan=plan("done")) == FACILITATOR
    cancel = Press(target_id="p", answer="cancel")
    assert opened("x", press=cancel, plan=plan("proposed")) == gate.CancelPlan()
    change = Press(target_id="p", answer="change")
    assert opened("yes", press=change, plan=plan("proposed")) == FACILITATOR


def test_an_agent_is_called_by_the_name_it_had_once() -> None:
    first = gate.opening(
        text="@Assistant any mail?", press=None, addressed=None, plan=None, continuation=None,
        facilitator=TEAM[0], names=(TEAM[0], "Secretary"), former={"Assistant": "Secretary"},
    )  # fmt: skip
    assert first == gate.Answer("Secretary")


OPENINGS: Mapping[str, TypeAdapter[gate.Opening]] = {
    "answers": TypeAdapter(gate.Answer),
    "cancels": TypeAdapter(gate.CancelPlan),
    "resumes": TypeAdapter(gate.Resume),
    "runs": TypeAdapter(gate.RunPlan),
    "shows": TypeAdapter(gate.ShowPlan),
}


@with_cases("words", "status", "more", "opens")
def test_it_opens_so(
    words: list[str], status: PlanStatus | None, more: dict[str, str], opens: dict[str, Any]
) -> None:
    ((kind, fields),) = opens.items()
    given: dict[str, Any] = {"plan": plan(status) if status else None, **more}
    if who := given.pop("waits", ""):
        given["continuation"] = Continuation(agent=who, plan_step=2, asked_at=NOW)
    expected = OPENINGS[kind].validate_python(fields)
    assert [one for one in words if opened(one, **given) != expected] == []


async def test_a_bare_yes_of_another_member_starts_no_plan_and_says_whose_it_is() -> None:
    async with team_world() as world:
        asked = earlier_turn(1, "start the board", ("Orchestrator", "Plan: 1. Radiology"))
        waits = plan("proposed").model_copy(update={"run_id": asked.run_id})
        given = {"history": [asked], "plan": waits, "is_group": True, "user": "Dr. B"}
        heard = await world.say("yes", **given)
    assert "Dr. A asked for this plan" in heard.said[-1][1]
    assert heard.of(PlanChanged) == []
    assert world.prompts() == []


@pytest.mark.parametrize(
    "word",
    [
        "which steps are these",
        "was machst du da genau",
        "how many steps is that",
        "what's the plan again?",
    ],
)
def test_who_asks_for_the_plan_reads_it_and_no_more(word: str) -> None:
    open_plan = plan("proposed")
    assert opened(word, plan=open_plan) == gate.ShowPlan("", gate.plan_message(open_plan))
