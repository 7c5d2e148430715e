from datetime import UTC, datetime
from typing import Any

import pytest

from data_models.chat_context import Continuation
from data_models.conversations.incoming_message import Press
from data_models.conversations.plan import Plan, PlanStatus, PlanStep, StepEdit
from group_chat.speakers import gate
from group_chat.speakers.gate import others_plan_line
from group_chat.speakers.selection import changed_plan
from services.group_chat_port import PlanChanged
from services.language.replies.plan_change import Moved, PlanChange, agents_wanted, plan_change_in
from tests.group_chat.team_world import earlier_turn, team_world

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


@pytest.mark.parametrize("word", ["yes", "Yes, proceed!", "ok please", "GO AHEAD", "continue."])
def test_a_confirmation_runs_the_proposed_plan(word: str) -> None:
    assert opened(word, plan=plan("proposed")) == gate.RunPlan()


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


@pytest.mark.parametrize(
    "word",
    ["no", "Cancel.", "no please", "drop the board", "call it off", "absagen", "vergiss den plan"],
)
def test_no_cancels_it(word: str) -> None:
    assert opened(word, plan=plan("proposed")) == gate.CancelPlan()


@pytest.mark.parametrize("word", ["ok thx", "alles klar danke", "great thanks"])
@pytest.mark.parametrize("status", ["proposed", "running"])
def test_thanks_start_no_plan(word: str, status: PlanStatus) -> None:
    assert opened(word, plan=plan(status)) == FACILITATOR


def test_cancel_that_behind_a_deed_is_of_the_deed() -> None:
    assert gate.of_last_deed(gate.CancelPlan(), "cancel that", "Secretary") == gate.Answer(
        "Secretary"
    )
    assert gate.of_last_deed(gate.CancelPlan(), "cancel that", None) == gate.CancelPlan()
    for word in ("no", "cancel", "cancel the plan"):
        assert gate.of_last_deed(gate.CancelPlan(), word, "Secretary") == gate.CancelPlan()
    assert gate.of_last_deed(FACILITATOR, "cancel that", "Secretary") == FACILITATOR


@pytest.mark.parametrize("word", ["why?", "what would you do first", "which CT is it"])
@pytest.mark.parametrize("status", ["proposed", "running"])
def test_a_question_beside_a_plan_goes_to_whose_work_it_is(word: str, status: PlanStatus) -> None:
    assert opened(word, plan=plan(status)) == FACILITATOR
    assert opened(word, plan=plan(status), intended="Pathology") == gate.Answer("Pathology")


@pytest.mark.parametrize(
    ("word", "change"),
    [
        ("no wait, only radiology", PlanChange(only=("Radiology",))),
        ("hold on, only radiology please", PlanChange(only=("Radiology",))),
        ("only do step 1", PlanChange(only=(1,))),
        ("yes, but skip radiology", PlanChange(skipped=("Radiology",))),
        ("skip pathology, rest ok", PlanChange(skipped=("Pathology",))),
        ("ohne radiologie, sonst passt", PlanChange(skipped=("Radiology",))),
        ("leave out path, everything else as is", PlanChange(skipped=("Pathology",))),
        ("Pathologie brauchen wir nicht, der Rest passt", PlanChange(skipped=("Pathology",))),
        ("all but radiology", PlanChange(skipped=("Radiology",))),
        ("without step 1", PlanChange(skipped=(1,))),
        ("ohne Schritt 1", PlanChange(skipped=(1,))),
        ("schritt 1 weglassen, rest passt", PlanChange(skipped=(1,))),
        ("erst radiologie", PlanChange(moved=(Moved("Radiology", "first"),))),
        (
            "statt pathologie erst die radiologie",
            PlanChange(skipped=("Pathology",), moved=(Moved("Radiology", "first"),)),
        ),
        ("die radiologie kann raus", PlanChange(skipped=("Radiology",))),
        (
            "erst radiologie, dann pathologie",
            PlanChange(moved=(Moved("Pathology", "first"), Moved("Radiology", "first"))),
        ),
        ("mach die radiologie als erstes", PlanChange(moved=(Moved("Radiology", "first"),))),
        ("fang mit der radiologie an", PlanChange(moved=(Moved("Radiology", "first"),))),
        ("radiologie ans ende bitte", PlanChange(moved=(Moved("Radiology", "last"),))),
        (
            "verschiebe radiologie nach schritt 1",
            PlanChange(moved=(Moved("Radiology", "after", 1),)),
        ),
        ("no, without radiology", PlanChange(skipped=("Radiology",))),
        ("no radiology please", PlanChange(skipped=("Radiology",))),
        ("yes but not radiology", PlanChange(skipped=("Radiology",))),
        ("we don't need radiology", PlanChange(skipped=("Radiology",))),
        ("nein, ohne Radiologie", PlanChange(skipped=("Radiology",))),
        ("just the timeline", PlanChange(only=(1,))),
        ("just the pathology please", PlanChange(only=("Pathology",))),
        ("add pathology first", PlanChange(moved=(Moved("Pathology", "first", is_new=True),))),
        ("move radiology first", PlanChange(moved=(Moved("Radiology", "first"),))),
        ("change step 1 to look at the brain", PlanChange(texts={1: "look at the brain"})),
    ],
)
def test_a_change_understood_whole_changes_and_runs_the_plan(word: str, change: PlanChange) -> None:
    assert opened(word, plan=plan("proposed")) == gate.RunPlan(change=change)


@pytest.mark.parametrize(
    "word",
    [
        "yes but only after the new CT came",
        "skip the boring bits",
        "without the oncologist",
    ],
)
def test_a_change_that_is_not_understood_whole_is_shown_again(word: str) -> None:
    assert opened(word, plan=plan("proposed")) == gate.ShowPlan("Orchestrator")


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


@pytest.mark.parametrize("status", ["done", "cancelled", "replaced"])
def test_a_plan_that_ended_answers_to_nothing(status: PlanStatus) -> None:
    assert opened("yes", plan=plan(status)) == FACILITATOR


def test_a_running_plan_goes_on_with_yes_but_the_one_who_waits_comes_first() -> None:
    assert opened("continue", plan=plan("running")) == gate.RunPlan()
    assert opened("yes", plan=plan("running"), continuation=WAITS) == gate.Resume("Radiology", 2)


@pytest.mark.parametrize("text", ["@Radiology what is new", "radiology: what is new", "@radiology"])
def test_an_addressed_agent_answers_whatever_waits(text: str) -> None:
    for waiting in (None, WAITS):
        assert opened(text, plan=plan("proposed"), continuation=waiting) == gate.Answer("Radiology")


def test_confirming_words_to_the_facilitator_count() -> None:
    assert opened("@Orchestrator yes proceed", plan=plan("proposed")) == gate.RunPlan()


def test_mentioning_the_facilitators_bot_addresses_nobody() -> None:
    assert opened("42", addressed="Orchestrator", continuation=WAITS) == gate.Resume("Radiology", 2)
    assert opened("42", addressed="Pathology", continuation=WAITS) == gate.Answer("Pathology")


@pytest.mark.parametrize("text", ["@Nobody hello", "Plan: hello", "hello", "", "@", ":", "@ @"])
def test_strangers_are_not_addressed(text: str) -> None:
    assert opened(text) == FACILITATOR


def test_a_waiting_agent_that_left_the_team_does_not_answer() -> None:
    gone = Continuation(agent="Genetics", asked_at=NOW)
    assert opened("42", continuation=gone) == FACILITATOR


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


async def test_a_bare_yes_of_another_member_starts_no_plan_and_says_whose_it_is() -> None:
    async with team_world() as world:
        asked = earlier_turn(1, "start the board", ("Orchestrator", "Plan: 1. Radiology"))
        waits = plan("proposed").model_copy(update={"run_id": asked.run_id})
        given = {"history": [asked], "plan": waits, "is_group": True, "user": "Dr. B"}
        heard = await world.say("yes", **given)
    assert "Dr. A asked for this plan" in heard.said[-1][1]
    assert heard.of(PlanChanged) == []
    assert world.prompts() == []
