"""Who speaks after an agent's message: pure rules over the plan and the last line."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from data_models.chat_context import AgentMessage
from data_models.plan import Plan
from group_chat.floor import Announce, Ask, AskOneOf, End, Floor, Move, Said, Work
from group_chat.plan_text import step_line, still_open_line
from services.language.hand_over import Addresses, AsksUser, HandOver, HandsBack, read_hand_over


def next_move(floor: Floor, said: Said, *, now: datetime) -> tuple[Floor, Move]:
    """Return the floor after `said` and who speaks next.

    The gate comes before everything else; the plan's own lines are followed by the plan's
    state, not by their text.
    """
    floor = floor.heard(said)
    if floor.gate_is_closed:
        return floor, End("gate")
    if said.rendered:
        return _after_rendered(floor)
    if said.failed and floor.step is not None and said.agent != floor.facilitator:
        return floor.step_failed(), Ask(floor.facilitator, "failed")
    hand_over = read_hand_over(said.text, speaker=said.agent, names=floor.agents)
    if said.agent == floor.facilitator:
        return _after_facilitator(floor, hand_over, now)
    return _after_specialist(floor, hand_over, now)


def taken_up(floor: Floor, said: Sequence[AgentMessage], *, now: datetime) -> tuple[Floor, Move]:
    """Return the floor and who speaks next in a turn that was cut off behind `said`.

    A plan that was being worked on says it by its steps: those that are not done are called again.
    """
    plan = floor.plan
    heard = _all_heard(floor, said)
    if plan is not None and plan.status == "running" and _is_at_work(plan, said):
        heard = replace(heard, is_on_plan=True)
        return _called_again(heard, said[-1].text, now=now)
    if plan is not None and plan.status == "done" and any(_is_called(plan, m.text) for m in said):
        return heard, Ask(floor.facilitator, "close")
    last = said[-1]
    return next_move(_all_heard(floor, said[:-1]), Said(last.agent, last.text), now=now)


def _all_heard(floor: Floor, said: Sequence[AgentMessage]) -> Floor:
    for message in said:
        floor = floor.heard(Said(message.agent, message.text))
    return floor


def _is_at_work(plan: Plan, said: Sequence[AgentMessage]) -> bool:
    return any(one.plan_id == plan.plan_id or _is_called(plan, one.text) for one in said)


def _called_again(floor: Floor, last: str, *, now: datetime) -> tuple[Floor, Move]:
    """Return what comes next in the plan; a line that was said already is not said again."""
    call = _call(floor)
    match call:
        case Announce(text=text, step=step) if text == last and step is not None:
            return _after_rendered(floor.starting(step, now=now))
        case Work(text=text) if text == last:
            return floor, replace(call, text="")
        case _:
            return floor, call or Ask(floor.facilitator, "close")


def _is_called(plan: Plan, text: str) -> bool:
    """Tell whether `text` begins with the line that calls one of the plan's steps."""
    first = text.partition("\n")[0]
    return any(first == step_line(plan, step.number) for step in plan.steps)


def to_facilitator(floor: Floor, *, now: datetime) -> tuple[Floor, Move]:
    """Return the floor and the move when control goes back to the facilitator.

    While a plan runs that is the line of its next step, rendered from its state; the close
    and everything else is the facilitator's own.
    """
    ran = floor.step is not None
    floor = floor.ended_step("done", now=now) if ran else floor
    return floor, _call(floor) or Ask(floor.facilitator, "close" if ran else "none")


def after_work(floor: Floor) -> tuple[Floor, Move]:
    """Return the floor and the move when steps that ran side by side are over."""
    return floor, _call(floor) or Ask(floor.facilitator, "close")


def _call(floor: Floor) -> Move | None:
    """Return the line that calls what is next in the plan; None if nothing is."""
    steps, plan = floor.next_steps(), floor.plan
    if not steps or plan is None:
        return None
    lines = [step_line(plan, step.number) for step in steps]
    if len(steps) == 1:
        return Announce(lines[0], steps[0].number)
    return Work("\n".join(lines), tuple(step.number for step in steps))


def _after_rendered(floor: Floor) -> tuple[Floor, Move]:
    steps = floor.plan.steps if floor.plan is not None else []
    step = next((step for step in steps if step.number == floor.step), None)
    if step is None:
        return floor, End("answered")
    if step.agent not in floor.agents:  # the team changed since the plan was made
        return floor.step_failed(), Ask(floor.facilitator, "failed")
    return floor, Ask(step.agent, "step")


def _after_specialist(floor: Floor, hand_over: HandOver, now: datetime) -> tuple[Floor, Move]:
    if isinstance(hand_over, AsksUser):
        return floor, End("question")
    if isinstance(hand_over, HandsBack):
        return _pass_to((hand_over.agent,), floor, now)
    if isinstance(hand_over, Addresses):
        return _pass_to(hand_over.agents, floor, now)
    return to_facilitator(floor, now=now) if floor.plan_runs else (floor, answered(floor))


def answered(floor: Floor) -> Move:
    """Return the end of an answer; a plan that is open beside it says so in one line."""
    if floor.waits_beside and floor.plan is not None:
        return Announce(still_open_line(floor.plan))
    return End("answered")


def _after_facilitator(floor: Floor, hand_over: HandOver, now: datetime) -> tuple[Floor, Move]:
    if isinstance(hand_over, AsksUser):
        # A step that failed waits for the user's answer and is called again.
        return floor.ended_step("pending" if floor.step is None else "done", now=now), End(
            "question"
        )
    if isinstance(hand_over, Addresses):
        return _retry(floor, hand_over.agents[0], now), _ask(hand_over.agents)
    if isinstance(hand_over, HandsBack):
        return _retry(floor, hand_over.agent, now), Ask(hand_over.agent)
    # A step of the facilitator's own is done with this message; a failed one is passed over.
    worked = floor.step is not None or floor.failed_step is not None
    floor = floor.ended_step("done" if floor.step is not None else "skipped", now=now)
    if worked and floor.next_steps():
        return to_facilitator(floor, now=now)
    return floor, answered(floor)


def handed_over(floor: Floor, agent: str, task: str, *, now: datetime) -> tuple[Floor, Move]:
    """Return the floor and the move when the facilitator handed over by its tool."""
    floor = floor.heard(Said(floor.facilitator, ""))
    return _retry(floor, agent, now), Ask(agent, task=task)


def _retry(floor: Floor, agent: str, now: datetime) -> Floor:
    """Return the floor with the failed step running again if `agent` is the step's own."""
    steps = floor.plan.steps if floor.plan is not None else []
    failed = next((step for step in steps if step.number == floor.failed_step), None)
    if failed is None:
        return floor
    return floor.starting(failed.number, now=now) if failed.agent == agent else floor


def _pass_to(agents: tuple[str, ...], floor: Floor, now: datetime) -> tuple[Floor, Move]:
    if floor.facilitator in agents:
        return to_facilitator(floor, now=now)
    # Each agent speaks at most once between two messages of the facilitator.
    free = tuple(agent for agent in agents if agent not in floor.spoken)
    return (floor, _ask(free)) if free else to_facilitator(floor, now=now)


def _ask(agents: tuple[str, ...]) -> Move:
    return Ask(agents[0]) if len(agents) == 1 else AskOneOf(agents)
