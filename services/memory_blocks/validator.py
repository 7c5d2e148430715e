"""Checks a document's memory by the rules of spec page 4.2; mends what is certain."""

from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal, TypeAlias

from data_models.chat_context import ChatContext, Turn, advance, is_open
from data_models.errors import InterruptedTurnError
from data_models.memory_blocks import RING, ContextEnrichment

Rule: TypeAlias = Literal[
    "turn_twice", "turn_order", "turn_gap", "turn_time", "turn_counter", "turn_left_open",
    "too_many_turns", "reference", "ring", "counts", "key_point_twice",
    "unknown_agent",
]  # fmt: skip
MOST_TURNS = 25


@dataclass(slots=True)
class Findings:
    """What was wrong; neither list holds a word of the conversation.

    Attributes:
        repaired: Rules that were broken and hold again.
        reported: Rules that are broken, because nobody can say what would be right.
    """

    repaired: list[Rule] = field(default_factory=list)
    reported: list[Rule] = field(default_factory=list)


def validate(
    context: ChatContext, *, agents: Collection[str], running: str | None = None
) -> Findings:
    """Check `context` against every rule and mend it in place.

    Sizes, `current_turn` and `session_id` hold by construction: the blocks are made from the
    document, so there is no second value that could differ.

    Args:
        agents: Names in the team, of today and of older deployments; none checks no names.
        running: The run that is under way; every other open turn is one that died.
    """
    findings = Findings()
    _check_order(context, findings)
    _check_turns(context, findings, running)
    _check_memory(context, findings, running)
    if agents:
        said = {one.agent for turn in context.chat_history for one in turn.agent_responses}
        _report(findings, "unknown_agent", not said <= set(agents))
    return findings


def _check_order(context: ChatContext, findings: Findings) -> None:
    turns = context.chat_history
    by_id = {turn.turn_id: turn for turn in turns}
    others = [turn for turn in turns if by_id[turn.turn_id].run_id != turn.run_id]
    if len(by_id) < len(turns) and not others:
        # The same turn twice: the later copy knows more of it.
        turns = context.chat_history = list(by_id.values())
        findings.repaired.append("turn_twice")
    _report(findings, "turn_twice", len(by_id) < len(turns))
    ids = [turn.turn_id for turn in turns]
    if ids != sorted(ids):
        turns = context.chat_history = sorted(turns, key=lambda turn: turn.turn_id)
        findings.repaired.append("turn_order")
    gaps = [two for one, two in pairwise(turns) if two.turn_id > one.turn_id + 1]
    _report(findings, "turn_gap", bool(gaps))
    times = [turn.timestamp for turn in turns]
    _report(findings, "turn_time", times != sorted(times))
    if turns and context.next_turn_id != turns[-1].turn_id + 1:
        context.next_turn_id = turns[-1].turn_id + 1
        findings.repaired.append("turn_counter")


def _check_turns(context: ChatContext, findings: Findings, running: str | None) -> None:
    left_open = [turn for turn in context.chat_history if turn.run_id != running and is_open(turn)]
    for turn in left_open:
        advance(turn, "FAILED", error_code=InterruptedTurnError.code)
    _repair(findings, "turn_left_open", bool(left_open))
    enriched = [(turn, one) for turn in context.chat_history if (one := turn.context_enrichment)]
    lost = [_mended(one, turn) for turn, one in enriched if one.relevant_history]
    _repair(findings, "reference", any(lost))
    stored = [turn for turn in context.chat_history if turn.run_id != running]
    # More than a block holds is no damage: room is made before the next write.
    _repair(findings, "too_many_turns", len(stored) > MOST_TURNS)


def _mended(enriched: ContextEnrichment, turn: Turn) -> bool:
    """Drop references to turns that cannot be: of the future, of itself, before the first."""
    kept = [one for one in enriched.relevant_history if 0 < one < turn.turn_id]
    if kept == enriched.relevant_history:
        return False
    enriched.relevant_history = kept
    return True


def _check_memory(context: ChatContext, findings: Findings, running: str | None) -> None:
    memory = context.memory
    rings: tuple[list[Any], ...] = (
        memory.topic_transitions,
        memory.earlier,
        memory.counts.generation_seconds,
    )
    _repair(findings, "ring", any(len(ring) > RING for ring in rings))
    for ring in rings:
        del ring[:-RING]
    # The turn that is under way is counted when it is concluded.
    ended = [turn for turn in context.chat_history if turn.run_id != running]
    done = len([one for one in ended if one.agent_responses and one.turn_status == "COMPLETED"])
    wrong = memory.started_at is not None and memory.counts.exchanges < done
    wrong = wrong or memory.counts.failed_updates > memory.counts.updates
    if wrong:
        memory.counts.exchanges = max(memory.counts.exchanges, done)
        memory.counts.failed_updates = min(memory.counts.failed_updates, memory.counts.updates)
    _repair(findings, "counts", wrong)
    ids = [one.point_id for one in memory.key_points]
    if len(set(ids)) < len(ids):
        memory.key_points = list({one.point_id: one for one in memory.key_points}.values())
        findings.repaired.append("key_point_twice")


def _repair(findings: Findings, rule: Rule, found: bool) -> None:
    if found:
        findings.repaired.append(rule)


def _report(findings: Findings, rule: Rule, found: bool) -> None:
    if found:
        findings.reported.append(rule)
