"""Reads a message in its conversation by rules alone: quick, and never wrong about whose it is."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pydantic import Field

from data_models.chat_context import Turn
from data_models.memory_blocks import ContextEnrichment, IntentClassification, MemoryBlocks
from data_models.values import ClosedValue
from services.language.replies.ratings import rating_in
from services.language.told.held_statements import HeldStatement, held_statements
from services.language.words.phrases import says
from services.language.words.text_words import subject_in, words_of_list
from services.language.words.vocabulary import read_table
from services.memory_blocks.history import last_intent
from services.memory_blocks.limits import last_question, one_line

# What a message means in its conversation, whoever found it out.


class IntentSpec(ClosedValue):
    """Something that users may want, and who speaks first for it.

    Attributes:
        name: Upper case with `_`, such as `GENERAL_HEALTH`.
        description: One line for the model that reads messages in context.
        agent: One of the team.
        words: Words and phrases that speak for it where no model is asked.
        phase: What the conversation is in meanwhile, such as `symptom_evaluation`.
    """

    name: str = Field(pattern=r"^[A-Z][A-Z_]{0,39}$")
    description: str = Field(min_length=1, max_length=200)
    agent: str
    words: tuple[str, ...] = Field(default=(), max_length=200)
    phase: str = Field(default="", max_length=60)


@dataclass(frozen=True, slots=True)
class Understanding:
    """A message read in context.

    Attributes:
        interprets: Whether the enriched message says more than the user's own words.
        trigger: What led to the topic.
        statements: What the user states about the patient, each with its quote.
        seconds: How long it took to find out.
        failed: Whether a model was asked in vain, so that the rules had to do.
    """

    enrichment: ContextEnrichment
    intent: IntentClassification
    topic: str = ""
    phase: str = ""
    trigger: str = ""
    interprets: bool = False
    statements: Sequence[HeldStatement] = ()
    seconds: float = 0.0
    failed: bool = False


SURE = 0.7
"""From this confidence on an intent chooses who answers."""
OTHER = "OTHER"
"""The intent of what no other intent names."""
Kind: TypeAlias = Literal["rating", "duration", "onset", "answer", "reference", "plain"]
_LOOKS_BACK_TURNS = 6
_SHORT_ANSWER_WORDS = 8
_SHORT_REFERENCE_WORDS = 14
_SAID_CHARS = 200
_READ_CHARS = 2_000
_NO_SUBJECT = "it"
_NO_TOPIC = frozenset(read_table("en/small_words")["no_topics"].split())


@dataclass(frozen=True, slots=True)
class Asked:
    """What the last answer asked the user; `question` is "" if it asked nothing."""

    question: str = ""
    text: str = ""
    agent: str = ""
    turn_id: int = 0


@dataclass(frozen=True, slots=True)
class _Reading:
    text: str
    kind: Kind
    asked: Asked
    subject: str
    subject_turn: int | None


def understand(
    text: str,
    *,
    earlier: Sequence[Turn],
    memory: MemoryBlocks,
    intents: Sequence[IntentSpec],
    names: Collection[str] = (),
) -> Understanding:
    """Return what `text` means after the turns `earlier`, oldest first.

    Args:
        names: Names of the open patient, of whom statements may be made by name.
    """
    text = text[:_READ_CHARS].strip()
    asked = what_was_asked(earlier)
    kind = kind_of(text, asked)
    subject, subject_turn = _subject(text, kind, earlier)
    reading = _Reading(text, kind, asked, subject, subject_turn)
    intent = _intent(reading, last_intent(earlier), intents)
    topic, trigger = _topic(reading, memory, is_first=not earlier)
    phase = next((one.phase for one in intents if one.name == intent.intent), "")
    return Understanding(
        enrichment=ContextEnrichment(
            previous_context=_previous(earlier, asked),
            enriched_message=_enriched(reading),
            relevant_history=_relevant(reading),
        ),
        intent=intent,
        topic=topic,
        trigger=trigger,
        phase=phase or ("discussion" if earlier else "opening"),
        interprets=kind != "plain",
        statements=held_statements(text, names),
    )


def what_was_asked(earlier: Sequence[Turn]) -> Asked:
    """Return the question that the last answer ended with."""
    if not earlier or not earlier[-1].agent_responses:
        return Asked()
    last = earlier[-1].agent_responses[-1]
    return Asked(
        last_question(last.text), last.text[-_READ_CHARS:], last.agent, earlier[-1].turn_id
    )


def kind_of(text: str, asked: Asked) -> Kind:
    """Return how `text` hangs on what came before."""
    words = len(text.split())
    if asked.question and not text.endswith("?"):
        if rating_in(text) is not None and says(asked.text, "scale"):
            return "rating"
        if words <= _SHORT_ANSWER_WORDS and not (subject_in(text) and _is_about_self(text)):
            if says(text, "time_words") and says(asked.text, "how_long"):
                return "duration"
            if says(text, "time_words") and says(asked.text, "since_when"):
                return "onset"
            return "answer"
    if asked.turn_id and words <= _SHORT_REFERENCE_WORDS and says(text, "refers_back"):
        return "reference"
    return "plain"


def _subject(text: str, kind: Kind, earlier: Sequence[Turn]) -> tuple[str, int | None]:
    """Return the noun that the message is about, and the earlier turn that named it."""
    if (found := subject_in(text)) is not None:
        return found, None
    if kind == "plain":
        return _NO_SUBJECT, None
    for turn in reversed(earlier[-_LOOKS_BACK_TURNS:]):
        if (found := subject_in(turn.user_message[:_READ_CHARS])) is not None:
            return found, turn.turn_id
    return _NO_SUBJECT, None


def _enriched(reading: _Reading) -> str:
    said = one_line(reading.text, _SAID_CHARS)
    about = _NO_SUBJECT if reading.subject == _NO_SUBJECT else f"the {reading.subject}"
    match reading.kind:
        case "rating":
            number = rating_in(reading.text) or 0
            return f"User rates {about} {number} of 10 ({_grade(number)})"
        case "duration":
            return f"User says how long {about} has lasted: {said}"
        case "onset":
            return f"User says when {about} began: {said}"
        case "answer":
            question = one_line(reading.asked.question, _SAID_CHARS)
            return f'User answers "{question}" with: {said}'
        case "reference":
            if about == _NO_SUBJECT:
                return f"User goes on: {said}"
            return f"User goes on about {about}: {said}"
        case "plain":
            verb = "reports" if _is_about_self(reading.text) else "says"
            return f"User {verb}: {said}"


def _grade(number: int) -> str:
    if number == 0:
        return "none"
    return "mild" if number <= 3 else "moderate" if number <= 6 else "severe"


def _relevant(reading: _Reading) -> list[int]:
    if reading.kind == "plain":
        return []
    turns = {reading.asked.turn_id, reading.subject_turn or reading.asked.turn_id}
    return sorted(turn for turn in turns if turn > 0)


def _previous(earlier: Sequence[Turn], asked: Asked) -> str:
    if not earlier:
        return "No previous context - first message"
    before = earlier[-1].context_enrichment
    said = before.enriched_message if before is not None else ""
    said = said or f"User said: {earlier[-1].user_message}"
    then = f"; {asked.agent} asked: {asked.question}" if asked.question else ""
    return one_line(said, _SAID_CHARS) + one_line(then, _SAID_CHARS)


def _intent(
    reading: _Reading, before: IntentClassification | None, intents: Sequence[IntentSpec]
) -> IntentClassification:
    known = before is not None and any(one.name == before.intent for one in intents)
    if before is not None and known and reading.kind not in ("plain", "reference"):
        confidence = round(min(0.95, before.confidence + 0.05), 2)
        reason = f"Follow-up response to the question of {reading.asked.agent}"
        return IntentClassification(intent=before.intent, confidence=confidence, reasoning=reason)
    best, hits = _best(reading.text, intents)
    if best is None:
        reason = "No words that speak for a particular intent"
        return IntentClassification(intent=OTHER, confidence=0.5, reasoning=reason)
    if _is_about_self(reading.text):
        confidence, reason = (0.9 if hits > 1 else 0.85), "The user speaks of themselves: "
    elif before is not None and before.intent == best.name:
        confidence, reason = 0.8, "The talk was about that before: "
    else:
        # In a clinic most such words are about the patient, and that is the team's business.
        confidence, reason = 0.6, "Words of it, but not about the user: "
    found = words_of_list(reading.text, best.words)
    word = found[0].lower() if found else ""
    return IntentClassification(intent=best.name, confidence=confidence, reasoning=reason + word)


def _is_about_self(text: str) -> bool:
    text = text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    return says(text, "about_self") and not says(text, "about_others")


def _best(text: str, intents: Sequence[IntentSpec]) -> tuple[IntentSpec | None, int]:
    counted = [(len({m.lower() for m in words_of_list(text, one.words)}), one) for one in intents]
    hits = max((count for count, _ in counted), default=0)
    return (next(one for count, one in counted if count == hits), hits) if hits else (None, 0)


def _topic(reading: _Reading, memory: MemoryBlocks, *, is_first: bool) -> tuple[str, str]:
    subject = "" if reading.subject == _NO_SUBJECT else reading.subject
    trigger = "new_session" if is_first else "user_message"
    match reading.kind:
        case "rating":
            return f"{subject or 'symptom'}_severity", "severity_inquiry"
        case "duration" | "onset":
            return f"{subject or 'symptom'}_{reading.kind}", f"{reading.kind}_inquiry"
        case "answer" | "reference":
            return memory.active_topic or subject or _slug(reading.text), trigger
        case "plain":
            if subject and _is_about_self(reading.text):
                return f"{subject}_complaint", trigger
            return subject or _slug(reading.text) or memory.active_topic, trigger


def _slug(text: str) -> str:
    words = re.findall(r"[^\W\d_]{3,}", text[:_SAID_CHARS].lower())
    telling = [word for word in words if word not in _NO_TOPIC]
    return "_".join(telling[:4]) if len(telling) > 1 else ""
