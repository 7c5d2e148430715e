"""The facilitator's plan, as state of the patient's document (spec page 1.7)."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, Self

from pydantic import AwareDatetime, Field

from data_models.values import Part

PlanStatus = Literal["proposed", "running", "done", "cancelled", "replaced"]
StepStatus = Literal["pending", "running", "done", "skipped"]
PLAN_LIMIT_STEPS = 20
STEP_LIMIT_CHARS = 500


class PlanStep(Part):
    """One step: who does what.

    Attributes:
        needs: Keys that must be known before it can run.
        after: Numbers of the steps that have to be done before.
    """

    number: int
    agent: str
    text: str = Field(max_length=STEP_LIMIT_CHARS)
    needs: list[str] = Field(default_factory=list)
    after: list[int] = Field(default_factory=list)
    status: StepStatus = "pending"


class StepEdit(Part):
    """The user's own words for a step, given before the plan was confirmed."""

    number: int
    text: str = Field(min_length=1, max_length=STEP_LIMIT_CHARS)


class Plan(Part):
    """A plan. Every change returns a copy; a replaced or cancelled plan is kept as such."""

    plan_id: str
    run_id: str
    status: PlanStatus = "proposed"
    steps: list[PlanStep] = Field(min_length=1, max_length=PLAN_LIMIT_STEPS)
    created_at: AwareDatetime
    updated_at: AwareDatetime

    @property
    def is_open(self) -> bool:
        """Whether the plan still waits for the user or for its steps."""
        return self.status in ("proposed", "running")

    def next_step(self) -> PlanStep | None:
        """Return the step that runs now, else the first that is pending, else None."""
        for status in ("running", "pending"):
            for step in self.steps:
                if step.status == status:
                    return step
        return None

    def ready_steps(self) -> list[PlanStep]:
        """Return the steps that may be worked on now, in the plan's order; none if it is done.

        A step that was begun is among them: whoever was at it is there no more. Steps that wait
        for each other in a circle run one at a time.
        """
        open_steps = [step for step in self.steps if step.status in ("running", "pending")]
        waited_for = {step.number for step in open_steps}
        ready = [step for step in open_steps if not waited_for.intersection(step.after)]
        return ready or open_steps[:1]

    def with_status(self, status: PlanStatus, *, now: datetime) -> Self:
        """Return a copy in `status`."""
        return self.model_copy(update={"status": status, "updated_at": now})

    def with_step(self, number: int, status: StepStatus, *, now: datetime) -> Self:
        """Return a copy in which step `number` is in `status`."""
        steps = [
            step.model_copy(update={"status": status}) if step.number == number else step
            for step in self.steps
        ]
        return self.model_copy(update={"steps": steps, "updated_at": now})

    def confirmed(
        self, order: Sequence[int] | None, *, now: datetime, edits: Sequence[StepEdit] = ()
    ) -> Self:
        """Return a copy that runs all steps, or those of `order` as ordered, the rest skipped.

        Args:
            edits: What steps say from now on; an edit of a step that is not there changes nothing.
        """
        chosen = list(order) if order is not None else [step.number for step in self.steps]
        texts = {edit.number: edit.text for edit in edits}
        edited = [
            step.model_copy(update={"text": texts.get(step.number, step.text)})
            for step in self.steps
        ]
        by_number = {step.number: step for step in edited}
        kept = [by_number[number] for number in dict.fromkeys(chosen) if number in by_number]
        left = [
            step.model_copy(update={"status": "skipped"})
            for step in edited
            if step.number not in chosen
        ]
        update = {"status": "running", "steps": kept + left, "updated_at": now}
        return self.model_copy(update=update)
