"""Who speaks after an agent's message, and a plan as the user's change makes it. Pure rules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from data_models.chat_context import AgentMessage
from data_models.conversations.plan import PLAN_LIMIT_STEPS, STEP_LIMIT_CHARS, Plan, PlanStep
from group_chat.speakers import gate
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
from services.group_chat_port import GroupChatRequest
from services.language.model_output.hand_over import (
    Addresses,
    AsksUser,
    HandOver,
    HandsBack,
    read_hand_over,
)
from services.language.replies.plan_change import Moved, PlanChange, Target
from services.language.words.own_texts import ends_with_own


def next_move(speakers: SpeakerState, said: Said, *, now: datetime) -> tuple[SpeakerState, Move]:
    """Return the speakers after `said` and who speaks next.

    The gate comes before everything else; the plan's own lines are followed by the plan's
    state, not by their text.
    """
    speakers = speakers.heard(said)
    if speakers.gate_is_closed:
        return speakers, End("gate")
    if said.rendered:
        return _after_rendered(speakers)
    if said.again and not speakers.plan_runs:
        return speakers, answered(speakers)
    if said.failed and speakers.step is not None and said.agent != speakers.facilitator:
        return speakers.step_failed(), Ask(speakers.facilitator, "failed")
    hand_over = read_hand_over(said.text, speaker=said.agent, names=speakers.agents)
    if said.agent == speakers.facilitator:
        return _after_facilitator(speakers, hand_over, now)
    return _after_specialist(speakers, hand_over, now)


def taken_up(
    speakers: SpeakerState, said: Sequence[AgentMessage], *, now: datetime
) -> tuple[SpeakerState, Move]:
    """Return the speakers and who speaks next in a turn that was cut off behind `said`.

    A plan that was being worked on says it by its steps: those that are not done are called again.
    """
    plan = speakers.plan
    heard = _all_heard(speakers, said)
    works = [
        one for one in said if plan and (one.plan_id == plan.plan_id or _is_called(plan, one.text))
    ]
    if plan is not None and plan.status == "running" and works:
        heard = replace(heard, is_on_plan=True)
        return _called_again(heard, said[-1].text, now=now)
    if plan is not None and plan.status == "done" and any(_is_called(plan, m.text) for m in said):
        return heard, Ask(speakers.facilitator, "close")
    last = said[-1]
    return next_move(_all_heard(speakers, said[:-1]), Said(last.agent, last.text), now=now)


def _all_heard(speakers: SpeakerState, said: Sequence[AgentMessage]) -> SpeakerState:
    for message in said:
        speakers = speakers.heard(Said(message.agent, message.text))
    return speakers


def _called_again(speakers: SpeakerState, last: str, *, now: datetime) -> tuple[SpeakerState, Move]:
    """Return what comes next in the plan; a line that was said already is not said again."""
    call = _call(speakers)
    match call:
        case Announce(text=text, step=step) if step is not None and ends_with_own(last, text):
            return _after_rendered(speakers.starting(step, now=now))
        case Work(text=text) if ends_with_own(last, text):
            return speakers, replace(call, text="")
        case _:
            return speakers, call or Ask(speakers.facilitator, "close")


def _is_called(plan: Plan, text: str) -> bool:
    """Tell whether `text` begins with the line that calls one of the plan's steps."""
    first = text.partition("\n")[0]
    return any(ends_with_own(first, gate.step_line(plan, step.number)) for step in plan.steps)


def to_facilitator(speakers: SpeakerState, *, now: datetime) -> tuple[SpeakerState, Move]:
    """Return the speakers and the move when control goes back to the facilitator.

    While a plan runs that is the line of its next step, rendered from its state; the close
    and everything else is the facilitator's own.
    """
    ran = speakers.step is not None
    speakers = speakers.ended_step("done", now=now) if ran else speakers
    return speakers, _call(speakers) or Ask(speakers.facilitator, "close" if ran else "none")


def after_work(speakers: SpeakerState) -> tuple[SpeakerState, Move]:
    """Return the speakers and the move when steps that ran side by side are over."""
    return speakers, _call(speakers) or Ask(speakers.facilitator, "close")


def _call(speakers: SpeakerState) -> Move | None:
    """Return the line that calls what is next in the plan; None if nothing is."""
    steps, plan = speakers.next_steps(), speakers.plan
    if not steps or plan is None:
        return None
    lines = [gate.step_line(plan, step.number) for step in steps]
    if len(steps) == 1:
        return Announce(lines[0], steps[0].number)
    return Work("\n".join(lines), tuple(step.number for step in steps))


def _after_rendered(speakers: SpeakerState) -> tuple[SpeakerState, Move]:
    steps = speakers.plan.steps if speakers.plan is not None else []
    step = next((step for step in steps if step.number == speakers.step), None)
    if step is None:
        return speakers, End("answered")
    if step.agent not in speakers.agents:  # the team changed since the plan was made
        return speakers.step_failed(), Ask(speakers.facilitator, "failed")
    return speakers, Ask(step.agent, "step")


def _after_specialist(
    speakers: SpeakerState, hand_over: HandOver, now: datetime
) -> tuple[SpeakerState, Move]:
    if isinstance(hand_over, AsksUser):
        return speakers, End("question")
    if isinstance(hand_over, HandsBack):
        return _pass_to((hand_over.agent,), speakers, now)
    if isinstance(hand_over, Addresses):
        return _pass_to(hand_over.agents, speakers, now)
    return (
        to_facilitator(speakers, now=now) if speakers.plan_runs else (speakers, answered(speakers))
    )


def answered(speakers: SpeakerState) -> Move:
    """Return the end of an answer; a plan or a form that waits beside it says so in one line."""
    if speakers.waits_beside and speakers.plan is not None:
        return Announce(gate.still_open_line(speakers.plan))
    if speakers.form is not None and not speakers.is_asked:
        return Announce(gate.form_open_line(speakers.form.agent))
    return End("answered")


def shown(plan: Plan) -> Move:
    """Return the line that shows a plan and asks about it."""
    return Announce(gate.plan_message(plan))


def _after_facilitator(
    speakers: SpeakerState, hand_over: HandOver, now: datetime
) -> tuple[SpeakerState, Move]:
    if isinstance(hand_over, AsksUser):
        # A step that failed waits for the user's answer and is called again.
        return speakers.ended_step("pending" if speakers.step is None else "done", now=now), End(
            "question"
        )
    if isinstance(hand_over, Addresses):
        return _retry(speakers, hand_over.agents[0], now), _ask(hand_over.agents)
    if isinstance(hand_over, HandsBack):
        return _retry(speakers, hand_over.agent, now), Ask(hand_over.agent)
    # A step of the facilitator's own is done with this message; a failed one is passed over.
    worked = speakers.step is not None or speakers.failed_step is not None
    speakers = speakers.ended_step("done" if speakers.step is not None else "skipped", now=now)
    if worked and speakers.next_steps():
        return to_facilitator(speakers, now=now)
    return speakers, answered(speakers)


def handed_over(
    speakers: SpeakerState, agent: str, task: str, *, now: datetime
) -> tuple[SpeakerState, Move]:
    """Return the speakers and the move when the facilitator handed over by its tool."""
    speakers = speakers.heard(Said(speakers.facilitator, ""))
    return _retry(speakers, agent, now), Ask(agent, task=task)


def _retry(speakers: SpeakerState, agent: str, now: datetime) -> SpeakerState:
    """Return the speakers with the failed step running again if `agent` is the step's own."""
    steps = speakers.plan.steps if speakers.plan is not None else []
    failed = next((step for step in steps if step.number == speakers.failed_step), None)
    if failed is None:
        return speakers
    return speakers.starting(failed.number, now=now) if failed.agent == agent else speakers


def _pass_to(
    agents: tuple[str, ...], speakers: SpeakerState, now: datetime
) -> tuple[SpeakerState, Move]:
    if speakers.facilitator in agents:
        return to_facilitator(speakers, now=now)
    # Each agent speaks at most once between two messages of the facilitator.
    free = tuple(agent for agent in agents if agent not in speakers.spoken)
    return (speakers, _ask(free)) if free else to_facilitator(speakers, now=now)


def _ask(agents: tuple[str, ...]) -> Move:
    return Ask(agents[0]) if len(agents) == 1 else AskOneOf(agents)


PAUSED = (
    "The plan is paused for your message. It goes on after the answer; if you switch or stop, "
    "say “continue” to go on with it."
)


def is_interruption(request: GroupChatRequest) -> bool:
    """Tell whether the message came in while the plan ran that was paused for it."""
    last = request.history[-1].agent_responses[-1:] if request.history else []
    is_paused = gate.is_running(request.plan) and bool(last) and ends_with_own(last[0].text, PAUSED)
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
