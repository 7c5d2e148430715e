"""Brings a document's memory up to date with a turn that has ended. Pure but for the document."""

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from data_models.chat_context import ChatContext, Turn
from data_models.memory_blocks import NOTE, FlowEntry, KeyPoint, MemoryBlocks, TopicTransition
from services.language.figures.quantities import with_figure
from services.language.replies.commands import is_retracted
from services.language.told.held_forms import StatementKind, grammars
from services.language.told.held_statements import HeldStatement
from services.language.words.folding import words_of
from services.language.words.talk_texts import behind_text
from services.language.words.text_words import telling_words
from services.memory_blocks import limits
from services.memory_blocks.history import routing_of
from services.memory_blocks.plain_reading import SURE, Understanding

_SAME_WORDS = 2
"""A subject and its verb: "she lives"."""


def corrected_note(
    points: Sequence[KeyPoint], statement: HeldStatement, *, turn_id: int
) -> KeyPoint | None:
    """Return the newest held note that `statement` corrects; None if it corrects none.

    A bare figure, "no, 200 m", speaks of the turn before it alone, unless it says of what; so do
    other words, where only one thing was stated there.
    """
    held = [one for one in points if one.quote and one.status == "active"]
    just = [one for one in held if one.turn_id == turn_id - 1]
    if counted := with_such_a_figure(points, statement):
        said = {*words_of(" ".join(telling_words(statement.quote.partition(statement.value)[0])))}
        named = (one for one in reversed(counted) if said & {*words_of(one.text)})
        return next((one for one in reversed(counted) if one in just), next(named, None))
    notes = (one for one in reversed(held) if one.kind == NOTE and _is_about(one, statement))
    return next(notes, just[0] if len(just) == 1 and _is_part(statement) else None)


def _is_part(statement: HeldStatement) -> bool:
    """Whether it puts a word right, "no, valerian": no figure, and no sentence of its own."""
    is_figure = bool(statement.instead_of) or statement.value[:1].isdecimal()
    is_sentence = any(one["of_patient"].match(statement.value) for one in grammars())
    return not (is_figure or is_sentence or is_retracted(statement.quote))


def with_such_a_figure(points: Sequence[KeyPoint], statement: HeldStatement) -> list[KeyPoint]:
    """Return what is held with a figure of the kind that `statement` puts right."""
    held = [one for one in points if one.quote and one.status == "active"]
    return [one for one in held if _recounted(one, statement) is not None]


def in_place_of(old: KeyPoint, statement: HeldStatement) -> HeldStatement:
    """Return what is held instead: a bare figure stands where the old one stood.

    Other words that put right what nobody can tell stand behind what they put right.
    """
    if (recounted := _recounted(old, statement)) is not None or _is_about(old, statement):
        return recounted or statement
    said = old.text.partition(": ")[2] if old.kind == NOTE else old.quote.strip(" .!;")
    value = f"{said}; {statement.quote.strip(' .!;')}"
    return replace(statement, value=value, about=value.casefold())


def _is_about(point: KeyPoint, statement: HeldStatement) -> bool:
    words, held = words_of(statement.value)[:_SAME_WORDS], words_of(point.about)
    if len(words) < _SAME_WORDS:
        return False
    # German puts the verb last: "dass sie allein lebt", "sie lebt bei ihrer Tochter".
    return words in (held[:_SAME_WORDS], (*held[:1], *held[-1:]))


def _recounted(point: KeyPoint, statement: HeldStatement) -> HeldStatement | None:
    """Return a point with another number before the same words: "10 a day" of "smokes 5 a day"."""
    said = point.text.partition(": ")[2]  # behind its label
    value = with_figure(said, statement.value, instead_of=statement.instead_of)
    is_figure = statement.value[:1].isdecimal()
    if value is None or not (is_figure or point.kind == NOTE):
        return None
    return replace(
        statement,
        kind=cast(StatementKind, point.kind),
        polarity=point.polarity,
        value=value,
        about=value.casefold() if point.kind == NOTE else point.about,
    )


def greet(context: ChatContext, turn: Turn, *, user_id: str) -> None:
    """Note that a message came: the session is ACTIVE."""
    memory = context.memory
    first = context.chat_history[0].timestamp if context.chat_history else turn.timestamp
    memory.started_at = memory.started_at or first
    memory.user_id = limits.one_line(user_id, limits.ID_CHARS)


def take_in(context: ChatContext, turn: Turn, found: Understanding) -> None:
    """Note how the message was understood, before anybody answers it."""
    turn.context_enrichment, turn.intent_classification = found.enrichment, found.intent
    memory = context.memory
    memory.conversation_phase = found.phase
    memory.counts.updates += 1
    memory.counts.failed_updates += found.failed
    memory.counts.generation_seconds.append(round(found.seconds, 4))
    topic = limits.one_line(found.topic, limits.TOPIC_CHARS)
    if topic and topic != memory.active_topic:
        memory.active_topic = topic
        memory.topic_transitions.append(
            TopicTransition(turn=turn.turn_id, topic=topic, trigger=found.trigger)
        )
    for statement in found.statements:
        hold(context, statement, turn=turn)


def conclude(context: ChatContext, turn: Turn) -> None:
    """Note how the turn went: its line in the summary, and that it was answered."""
    memory = context.memory
    before = routing_of([one for one in context.chat_history if one.turn_id < turn.turn_id])
    memory.flow.append(
        flow_entry(turn, before=before[-1] if before else None, topic=memory.active_topic)
    )
    if turn.agent_responses:
        memory.counts.exchanges += turn.turn_status == "COMPLETED"


def hold(context: ChatContext, statement: HeldStatement, *, turn: Turn) -> KeyPoint | None:
    """Hold what the user states; what it replaces is superseded. None if it is held already.

    What a person retired is not learnt again by the same words, only by newer ones.
    """
    memory = context.memory
    if statement.corrects:
        old = corrected_note(memory.key_points, statement, turn_id=turn.turn_id)
        if old is None:
            return None
        old.status = "superseded"
        return _add(context, in_place_of(old, statement), turn=turn, instead_of=[old])
    text = limits.one_line(_shown(statement), limits.LINE_CHARS)
    same = [one for one in memory.key_points if one.about == statement.about and one.kind]
    same = [one for one in same if one.kind == statement.kind and one.status == "active"]
    if any(one.text.casefold() == text.casefold() for one in same):
        return None
    if statement.only_if_held and not same:
        return None
    for one in same:
        one.status = "superseded"
    return _add(context, statement, turn=turn, instead_of=same)


def _add(
    context: ChatContext, statement: HeldStatement, *, turn: Turn, instead_of: Sequence[KeyPoint]
) -> KeyPoint:
    memory = context.memory
    point = KeyPoint(
        point_id=f"point_{memory.next_points}",
        text=limits.one_line(_shown(statement), limits.LINE_CHARS),
        turn_id=turn.turn_id,
        kind=statement.kind,
        about=limits.one_line(statement.about, limits.LINE_CHARS),
        source=statement.read_by,
        polarity=statement.polarity,
        quote=limits.one_line(statement.quote, limits.QUOTE_CHARS),
        said_by=limits.one_line(turn.user, limits.NAME_CHARS),
        said_on=turn.timestamp.date().isoformat(),
        supersedes=[one.point_id for one in instead_of],
    )
    return _keep(memory, point)


def _keep(memory: MemoryBlocks, point: KeyPoint) -> KeyPoint:
    memory.next_points += 1
    memory.key_points.append(point)
    return point


def note(context: ChatContext, text: str, *, by: str) -> None:
    """Hold what a workflow noted of the user's answers; its newer note supersedes the older one."""
    memory = context.memory
    for one in memory.key_points:
        if (one.kind, one.said_by, one.status) == (NOTE, by, "active"):
            one.status = "superseded"
    point = KeyPoint(
        point_id=f"point_{memory.next_points}",
        text=limits.one_line(text, limits.NOTE_CHARS),
        turn_id=context.chat_history[-1].turn_id if context.chat_history else None,
        kind=NOTE,
        about=limits.one_line(by, limits.LINE_CHARS),
        said_by=limits.one_line(by, limits.NAME_CHARS),
    )
    _keep(memory, point)


_LABELS = {
    ("allergy", "present"): "Allergy",
    ("allergy", "absent"): "Not allergic to",
    ("medication", "present"): "Takes",
    ("medication", "absent"): "Does not take",
    ("code status", "present"): "Code status",
    ("code status", "absent"): "Code status is not",
    ("note", "present"): "Noted",
}


def _shown(statement: HeldStatement) -> str:
    known = _LABELS.get((statement.kind, statement.polarity))
    return f"{known or statement.about.capitalize()}: {statement.value}"


def flow_entry(turn: Turn, *, before: str | None, topic: str) -> FlowEntry:
    """Return a turn as the summary tells it."""
    enriched, answers = turn.context_enrichment, turn.agent_responses
    said = enriched.enriched_message if enriched is not None else ""
    stopped = {"FAILED": "The turn failed", "STOPPED": "The user stopped it"}
    answered = stopped.get(turn.turn_status, "")
    answered = _answered(answers[-1].marked_text) if answers else answered
    return FlowEntry(
        turn_id=turn.turn_id,
        at=turn.timestamp,
        said=limits.one_line(said or f"User says: {turn.user_message}", limits.LINE_CHARS),
        routed=limits.one_line(_routed(turn, before), limits.LINE_CHARS) if answers else "",
        answered=limits.one_line(answered, limits.LINE_CHARS),
        topic=topic,
    )


def _routed(turn: Turn, before: str | None) -> str:
    first, *others = dict.fromkeys(answer.agent for answer in turn.agent_responses)
    verb, intent = "Continued with" if first == before else "Routed to", turn.intent_classification
    sure = intent is not None and intent.confidence >= SURE
    confidence = f" (confidence: {intent.confidence:g})" if intent is not None and sure else ""
    return f"{verb} {first}{confidence}" + "".join(f", then {agent}" for agent in others)


def _answered(text: str) -> str:
    text = behind_text(text, "rows_instead") or text
    question = limits.last_question(text)
    return f"Agent asked: {question}" if question else f"Agent said: {limits.first_sentence(text)}"
