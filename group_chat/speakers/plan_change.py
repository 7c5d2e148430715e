"""A plan as the user's change makes it, or paused for a message that came between. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from data_models.conversations.plan import PLAN_LIMIT_STEPS, STEP_LIMIT_CHARS, Plan, PlanStep
from group_chat.speakers.gate import is_running
from group_chat.speakers.selection import answered, to_facilitator
from group_chat.speakers.speaker_state import Announce, Move, SpeakerState, Work
from services.group_chat_port import GroupChatRequest
from services.language.replies.plan_change import Moved, PlanChange, Target
from services.language.words.own_texts import ends_with_own

PAUSED = (
    "The plan is paused for your message. It goes on after the answer; if you switch or stop, "
    "say “continue” to go on with it."
)


def is_interruption(request: GroupChatRequest) -> bool:
    """Tell whether the message came in while the plan ran that was paused for it."""
    last = request.history[-1].agent_responses[-1:] if request.history else []
    is_paused = is_running(request.plan) and bool(last) and ends_with_own(last[0].text, PAUSED)
    came = request.received_at
    return is_paused and came is not None and came <= last[0].timestamp


def calls_step(move: Move) -> bool:
    """Tell whether `move` puts a step of the plan into work."""
    return isinstance(move, Work) or (isinstance(move, Announce) and move.step is not None)


def back_to_plan(
    speakers: SpeakerState, move: Move, *, now: datetime
) -> tuple[SpeakerState, Move] | None:
    """Return how the plan goes on where `move` ends the answer beside it; else None."""
    if not speakers.waits_beside or move != answered(speakers):
        return None
    return to_facilitator(replace(speakers, is_on_plan=True), now=now)


@dataclass(slots=True)
class _Steps:
    """The steps that are not done yet, while they are changed."""

    open: list[PlanStep]
    next_number: int

    def of(self, target: Target) -> list[PlanStep]:
        return [step for step in self.open if target in (step.number, step.agent)]


def changed_plan(
    plan: Plan, change: PlanChange, *, tasks: Mapping[str, str], now: datetime
) -> Plan | None:
    """Return `plan` with `change`, its order as asked; None if the change does not fit it.

    Args:
        tasks: What each agent of the team is asked for where the user names no task.
    """
    # Numbers stay: clients, stored messages and other steps name steps by them.
    steps = _Steps(
        open=[step for step in plan.steps if step.status in ("pending", "running")],
        next_number=max(step.number for step in plan.steps) + 1,
    )
    for moved in change.moved:
        if not _place(steps, moved, tasks):
            return None
    for target in change.only:
        if not steps.of(target) and not _add(steps, target, tasks):
            return None
    if not all(steps.of(target) for target in change.skipped):
        return None
    dropped = {step.number for target in change.skipped for step in steps.of(target)}
    if change.only:
        kept = {step.number for target in change.only for step in steps.of(target)}
        dropped |= {step.number for step in steps.open} - kept
    return _rebuilt(plan, steps, dropped, change.texts, now)


def _rebuilt(
    plan: Plan, steps: _Steps, dropped: set[int], texts: Mapping[int, str], now: datetime
) -> Plan | None:
    kept = [step for step in steps.open if step.number not in dropped]
    numbers = {step.number for step in kept}
    before = [step for step in plan.steps if step.number not in numbers]
    done = [step for step in before if step.status == "done"]
    skipped = [
        step.model_copy(update={"status": "skipped"}) for step in before if step.status != "done"
    ]
    reworded = [
        step.model_copy(update={"text": texts.get(step.number, step.text)[:STEP_LIMIT_CHARS]})
        for step in kept
    ]
    rows = [*done, *reworded, *skipped]
    if not kept or len(rows) > PLAN_LIMIT_STEPS:
        return None
    return plan.model_copy(update={"steps": rows, "updated_at": now})


def _place(steps: _Steps, moved: Moved, tasks: Mapping[str, str]) -> bool:
    found = [] if moved.text else steps.of(moved.target)
    if not found and not _add(steps, moved.target, tasks, text=moved.text):
        return False
    found = found or steps.of(moved.target)[-1:]
    return all(_move(steps, step.number, moved) for step in found)


def _add(steps: _Steps, target: Target, tasks: Mapping[str, str], *, text: str = "") -> bool:
    if isinstance(target, int) or target not in tasks:
        return False
    new = PlanStep(number=steps.next_number, agent=target, text=text or tasks[target])
    steps.next_number += 1
    steps.open.append(new)
    return True


def _move(steps: _Steps, number: int, moved: Moved) -> bool:
    """Put a step elsewhere and have it run there: what was said to be first is done first."""
    beside = [] if moved.beside is None else [s.number for s in steps.of(moved.beside)]
    if moved.beside is not None and (not beside or number in beside):
        return False
    step = next(each for each in steps.open if each.number == number)
    others = [each for each in steps.open if each.number != number]
    numbers = [each.number for each in others]
    match moved.place:
        case "first":
            at, later, earlier = 0, set(numbers), set[int]()
        case "before":
            at, later, earlier = numbers.index(beside[0]), set(beside), set[int]()
        case "after":
            at, later, earlier = numbers.index(beside[-1]) + 1, set[int](), set(beside)
        case "before_close" if numbers[1:] and set(others[-1].after).issuperset(numbers[:-1]):
            at, later, earlier = len(others) - 1, {numbers[-1]}, set[int]()
        case _ if moved.is_new:
            at, later, earlier = len(others), set[int](), set[int]()
        case _:
            at, later, earlier = len(others), set[int](), set(numbers)
    waits = sorted((set(step.after) - later) | earlier)
    step = step.model_copy(update={"after": waits})
    others = [
        each.model_copy(
            update={
                "after": sorted(
                    (set(each.after) | {number})
                    if each.number in later
                    else set(each.after) - ({number} if each.number in earlier else set())
                )
            }
        )
        for each in others
    ]
    steps.open = [*others[:at], step, *others[at:]]
    return True
