from datetime import UTC, datetime

from data_models.conversations.plan import Plan, PlanStep
from group_chat.speakers.gate import plan_message, step_line
from services.language.model_output.hand_over import is_question, last_line

TEAM = ("Orchestrator", "PatientHistory", "Radiology", "Pathology")
NOW = datetime(2030, 1, 1, tzinfo=UTC)


def plan_of(*steps: PlanStep) -> Plan:
    return Plan(plan_id="p", run_id="r", steps=list(steps), created_at=NOW, updated_at=NOW)


def test_the_rendered_plan_names_every_step_and_ends_with_a_question() -> None:
    plan = plan_of(
        PlanStep(number=1, agent="Radiology", text="review imaging"),
        PlanStep(number=2, agent="Pathology", text="read the slides"),
    )
    written = plan_message(plan)
    assert "1. *Radiology*: review imaging\n2. *Pathology*: read the slides" in written
    assert is_question(last_line(written))


def test_a_step_is_counted_among_those_that_run() -> None:
    plan = plan_of(
        PlanStep(number=3, agent="Pathology", text="CT-guided biopsy"),
        PlanStep(number=1, agent="Radiology", text="Review imaging"),
        PlanStep(number=2, agent="PatientHistory", text="x", status="skipped"),
    )
    assert step_line(plan, 3) == "Step 1 of 2: *Pathology*, CT-guided biopsy"
    assert step_line(plan, 1) == "Step 2 of 2: *Radiology*, review imaging"


def test_what_was_skipped_on_the_way_is_still_counted() -> None:
    plan = plan_of(
        PlanStep(number=1, agent="Pathology", text="x", status="skipped"),
        PlanStep(number=2, agent="Radiology", text="Review imaging"),
        PlanStep(number=3, agent="PatientHistory", text="x", status="skipped"),
    )
    assert step_line(plan, 2) == "Step 2 of 2: *Radiology*, review imaging"
