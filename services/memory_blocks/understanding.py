"""What a message means in its conversation, whoever found it out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from data_models.memory_blocks import ContextEnrichment, IntentClassification
from services.language.held_statements import HeldStatement


@dataclass(frozen=True)
class Intent:
    """Something that users may want, as the team's file lists it.

    Attributes:
        name: Such as `GENERAL_HEALTH`.
        agent: Who speaks first for it; None for the facilitator.
        words: Words and phrases that speak for it, lower case; a plural counts.
        phase: What the conversation is in while it is about that; "" for nothing in particular.
    """

    name: str
    description: str
    agent: str | None = None
    words: tuple[str, ...] = ()
    phase: str = ""


@dataclass(frozen=True, slots=True)
class Understanding:
    """A message read in context.

    Attributes:
        interprets: Whether the enriched message says more than the user's own words.
        trigger: What led to the topic.
        statements: What the user states about the patient, each with its quote.
        entities: What the user wants, by key; stored as extracted.
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
    next_topics: Sequence[str] = ()
    entities: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    failed: bool = False
