"""Reads the message of a turn, once."""

from collections.abc import Sequence
from dataclasses import replace

from services.group_chat_port import AgentCard
from services.language.reading import read
from services.language.utterance import Situation, TeamMember, Utterance
from services.language.without_names import without_names
from services.turn.draft import TurnDraft
from services.turn.state import identity_of


def utterance_of(turn: TurnDraft, text: str, agents: Sequence[AgentCard]) -> Utterance:
    """Return what `text` says; read anew only where the turn's words have changed since."""
    if turn.utterance is None or turn.utterance.text != text:
        subject = identity_of(turn, turn.patient_id)
        asked = (
            text
            if subject is None
            else without_names(text, (subject.name,), born=subject.birth_date)
        )
        turn.utterance = replace(read(asked, situation_of(turn, agents)), text=text)
    return turn.utterance


def member_of(card: AgentCard) -> TeamMember:
    """Return an agent, as far as a message may be for it."""
    return TeamMember(card.name, card.tools, card.answers, card.is_facilitator)


def situation_of(turn: TurnDraft, agents: Sequence[AgentCard]) -> Situation:
    """Return what the message of `turn` is read in."""
    document = turn.context.document if turn.context is not None else None
    plan = document.plan if document is not None else None
    return Situation(
        now=turn.now,
        team=tuple(map(member_of, agents)),
        plan_is_open=plan is not None and plan.is_open,
    )
