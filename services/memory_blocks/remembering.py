"""Brings a document's memory up to date with a turn that has ended. Pure but for the document."""

from collections.abc import Sequence

from data_models.chat_context import ChatContext, Turn
from data_models.memory_blocks import FlowEntry, KeyPoint, TopicTransition
from services.memory_blocks.figures import SURE
from services.memory_blocks.limits import LINE_CHARS
from services.memory_blocks.phrases import ASPECTS
from services.memory_blocks.understanding import Understanding
from services.memory_blocks.wording import first_sentence, last_question, one_line


def greet(context: ChatContext, turn: Turn, *, user_id: str) -> None:
    """Note that a message came: the session is ACTIVE."""
    memory = context.memory
    first = context.chat_history[0].timestamp if context.chat_history else turn.timestamp
    memory.started_at = memory.started_at or first
    memory.last_activity, memory.user_id = turn.timestamp, user_id


def take_in(context: ChatContext, turn: Turn, found: Understanding) -> None:
    """Note how the message was understood, before anybody answers it."""
    turn.context_enrichment, turn.intent_classification = found.enrichment, found.intent
    memory = context.memory
    memory.last_intent = found.intent.model_copy()
    memory.conversation_phase = found.phase
    memory.counts.updates += 1
    memory.counts.failed_updates += found.failed
    memory.counts.generation_seconds.append(round(found.seconds, 4))
    if found.topic and found.topic != memory.active_topic:
        memory.active_topic = found.topic
        memory.topic_transitions.append(
            TopicTransition(turn=turn.turn_id, topic=found.topic, trigger=found.trigger)
        )
    for text in found.key_points:
        remember(context, text, turn_id=turn.turn_id, source=found.enrichment.source)


def note_call(context: ChatContext, turn: Turn, *, user_id: str) -> None:
    """Note that somebody called for help and was answered, and nothing of their words.

    They are in the history; as a topic, a key point or a line of the summary they would follow
    this person through every later answer.
    """
    greet(context, turn, user_id=user_id)
    memory = context.memory
    memory.last_updated = turn.timestamp
    memory.flow.append(
        FlowEntry(
            turn_id=turn.turn_id,
            at=turn.timestamp,
            said="Call for help",
            answered="The fixed safety answer was given",
            topic=memory.active_topic,
        )
    )


def conclude(context: ChatContext, turn: Turn, found: Understanding | None) -> None:
    """Note how the turn went: its line in the summary, who spoke, what may come next."""
    memory = context.memory
    memory.last_updated = (
        turn.agent_responses[-1].timestamp if turn.agent_responses else turn.timestamp
    )
    before = memory.routing_history[-1] if memory.routing_history else None
    memory.flow.append(flow_entry(turn, before=before, topic=memory.active_topic))
    if turn.agent_responses:
        memory.routing_history.append(turn.agent_responses[-1].agent)
        memory.counts.exchanges += turn.turn_status == "COMPLETED"
    memory.next_topics = _next_topics(context, turn, () if found is None else found.next_topics)


def remember(context: ChatContext, text: str, *, turn_id: int, source: str) -> KeyPoint | None:
    """Note a key point; one of the same label gives way. None if it is known, or was retired."""
    memory = context.memory
    text = one_line(text, LINE_CHARS)
    folded, label = text.casefold(), _label(text)
    if not text or any(one.text.casefold() == folded for one in memory.key_points):
        return None
    if label:
        memory.key_points = [
            one
            for one in memory.key_points
            if one.source == "person" or one.status == "retired" or _label(one.text) != label
        ]
    point = KeyPoint(
        point_id=f"point_{memory.next_points}",
        text=text,
        turn_id=turn_id,
        source="model" if source == "model" else "rules",
    )
    memory.next_points += 1
    memory.key_points.append(point)
    memory.counts.items_written += 1
    return point


def flow_entry(turn: Turn, *, before: str | None, topic: str) -> FlowEntry:
    """Return a turn as the summary tells it."""
    enriched, answers = turn.context_enrichment, turn.agent_responses
    said = enriched.enriched_message if enriched is not None else ""
    answered = _answered(answers[-1].text) if answers else _unanswered(turn)
    return FlowEntry(
        turn_id=turn.turn_id,
        at=turn.timestamp,
        said=one_line(said or f"User says: {turn.user_message}", LINE_CHARS),
        routed=one_line(_routed(turn, before), LINE_CHARS) if answers else "",
        answered=one_line(answered, LINE_CHARS),
        topic=topic,
    )


def _routed(turn: Turn, before: str | None) -> str:
    first, *others = dict.fromkeys(answer.agent for answer in turn.agent_responses)
    verb, intent = "Continued with" if first == before else "Routed to", turn.intent_classification
    sure = intent is not None and intent.confidence >= SURE
    confidence = f" (confidence: {intent.confidence:g})" if intent is not None and sure else ""
    return f"{verb} {first}{confidence}" + "".join(f", then {agent}" for agent in others)


def _answered(text: str) -> str:
    question = last_question(text)
    return f"Agent asked: {question}" if question else f"Agent said: {first_sentence(text)}"


def _unanswered(turn: Turn) -> str:
    return {"FAILED": "The turn failed", "STOPPED": "The user stopped it"}.get(turn.turn_status, "")


def _label(text: str) -> str:
    """Return `headache severity` for `Headache severity: 8 of 10`; notes and facts add up."""
    label, colon, _ = text.partition(":")
    adds_up = label.casefold() in ("noted", "allergy", "medication")
    return label.casefold() if colon and not adds_up else ""


def _next_topics(context: ChatContext, turn: Turn, found: Sequence[str]) -> list[str]:
    plan = context.plan
    question = last_question(turn.agent_responses[-1].text) if turn.agent_responses else ""
    topics = [f"Answer to: {question}"] if question else []
    if plan is not None and plan.is_open:
        topics += [f"{one.agent}: {one.text}" for one in plan.steps if one.status == "pending"]
    if found:
        topics += found
    elif context.memory.conversation_phase == "symptom_evaluation":
        told = " ".join(one.text.casefold() for one in context.memory.key_points)
        topics += [text for aspect, text in ASPECTS.items() if aspect not in told]
    return [one_line(topic, LINE_CHARS) for topic in topics[:5]]
