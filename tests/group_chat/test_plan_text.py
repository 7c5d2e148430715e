from datetime import UTC, datetime

import pytest

from data_models.plan import Plan, PlanStep
from group_chat.hand_over import is_question, last_line
from group_chat.plan_text import StepText, plan_message, read_plan, step_line

TEAM = ("Orchestrator", "PatientHistory", "Radiology", "Pathology")
NOW = datetime(2030, 1, 1, tzinfo=UTC)


def read(text: str) -> tuple[StepText, ...]:
    return read_plan(text, names=TEAM, facilitator="Orchestrator")


def plan_of(*steps: PlanStep) -> Plan:
    return Plan(plan_id="p", run_id="r", steps=list(steps), created_at=NOW, updated_at=NOW)


def test_numbered_lines_that_name_two_agents_are_a_plan() -> None:
    assert read("I suggest:\n1. *PatientHistory*: load timeline\n2) Radiology - review CT") == (
        StepText("PatientHistory", "load timeline"),
        StepText("Radiology", "review CT"),
    )


def test_under_a_heading_one_step_is_enough_and_a_nameless_one_is_the_facilitators() -> None:
    text = "Plan:\n1. *Radiology*: review imaging\n2. I'll compile recommendations\n\nOK?"
    assert read(text) == (
        StepText("Radiology", "review imaging"),
        StepText("Orchestrator", "I'll compile recommendations"),
    )
    assert read("**Plan**\n- Radiology: review") == (StepText("Radiology", "review"),)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The plan is good.",
        "1. *Radiology*: review imaging",
        "- the liver\n- the lung",
        "Radiology and Pathology agree.\nRadiology said so.",
        "Planning is hard.\n\nNo list here.",
    ],
)
def test_other_text_is_no_plan(text: str) -> None:
    assert read(text) == ()


def test_a_plan_holds_at_most_twenty_steps() -> None:
    assert len(read("Plan:\n" + "- Radiology: look\n" * 50)) == 20


def test_the_rendered_plan_reads_back_as_itself_and_ends_with_a_question() -> None:
    plan = plan_of(
        PlanStep(number=1, agent="Radiology", text="review imaging"),
        PlanStep(number=2, agent="Pathology", text="read the slides"),
    )
    written = plan_message(plan)
    assert [(step.agent, step.text) for step in read(written)] == [
        ("Radiology", "review imaging"),
        ("Pathology", "read the slides"),
    ]
    assert is_question(last_line(written))


def test_a_step_is_counted_among_those_that_run() -> None:
    plan = plan_of(
        PlanStep(number=3, agent="Pathology", text="CT-guided biopsy"),
        PlanStep(number=1, agent="Radiology", text="Review imaging"),
        PlanStep(number=2, agent="PatientHistory", text="x", status="skipped"),
    )
    assert step_line(plan, 3) == "Step 1 of 2: *Pathology*, CT-guided biopsy"
    assert step_line(plan, 1) == "Step 2 of 2: *Radiology*, review imaging"
