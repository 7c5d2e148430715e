"""Who speaks after an agent's message: pure rules over the plan and the last line."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from data_models.chat_context import AgentMessage
from data_models.conversations.plan import Plan
from group_chat.speakers.plan_text import form_open_line, plan_message, step_line, still_open_line
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
from services.language.model_output.hand_over import (
    Addresses,
    AsksUser,
    HandOver,
    HandsBack,
    read_hand_over,
)
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
    if plan is not None and plan.status == "running" and _is_at_work(plan, said):
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


def _is_at_work(plan: Plan, said: Sequence[AgentMessage]) -> bool:
    return any(one.plan_id == plan.plan_id or _is_called(plan, one.text) for one in said)


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
    return any(ends_with_own(first, step_line(plan, step.number)) for step in plan.steps)


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
    lines = [step_line(plan, step.number) for step in steps]
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
        return Announce(still_open_line(speakers.plan))
    if speakers.form is not None and not speakers.is_asked:
        return Announce(form_open_line(speakers.form.agent))
    return End("answered")


def shown(plan: Plan) -> Move:
    """Return the line that shows a plan and asks about it."""
    return Announce(plan_message(plan))


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
