"""Reads each message in its conversation, and keeps the memory blocks up to date with the turn.

Rules read first. What they leave open is asked of a model in one closed question, and only if the
message can be about nobody but the active patient; where it fails or is late, rules have to do.
"""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

import structlog

from data_models.chat_context import Turn
from data_models.clock import Clock
from data_models.errors import ModelError
from data_models.identifiers import hashed
from data_models.memory_blocks import ContextEnrichment, FlowEntry, IntentClassification
from services.group_chat_port import MessageMeaning
from services.language import reader
from services.language.told.read_statements import statements_read
from services.language.utterance import TeamMember, Utterance
from services.memory_blocks.blocks import MemoryRules
from services.memory_blocks.history import first_shown, held_lines, shown_summary
from services.memory_blocks.limits import validate
from services.memory_blocks.plain_reading import SURE, IntentSpec, Understanding, understand
from services.memory_blocks.remembering import conclude, greet, take_in
from services.memory_blocks.rotation import RotationRules
from services.model_port import StructuredModel
from services.turn.phases import GroundedTurn
from services.turn.reading import names_of, utterance_of
from settings import Settings

logger = structlog.get_logger()


@dataclass(kw_only=True, eq=False, repr=False)
class TurnMemory:
    """Holds what all turns share of memory, and no state of any turn.

    Without a `model` rules read every message; without `agents` no name is checked.
    """

    clock: Clock
    model: StructuredModel | None = None
    intents: Sequence[IntentSpec] = ()
    agents: Collection[str] = ()
    cards: Sequence[TeamMember] = ()
    rules: MemoryRules = field(default_factory=MemoryRules)
    seconds: float = 3.0
    window_chars: int = 6_000

    def __post_init__(self) -> None:
        self._team = reader.ReaderTeam((*self.cards,))
        self._instructions = reader.instructions(self._team)
        self._speakers = {one.name: one.agent for one in self.intents}

    async def read(self, turn: GroundedTurn) -> None:
        """Find out what the message means; agents may be told, and the blocks will say it."""
        turn.sessions.understanding = found = self._begun(turn)
        utterance = utterance_of(turn, turn.text, self.cards)
        is_open = turn.message.press is None and not self._is_settled(turn, utterance, found)
        if self.model is not None and is_open:
            if turn.verdict.read is not None:
                found = self._take_over(turn, found, utterance, turn.verdict.read)
            else:
                found = await self._read_by_model(turn, found, utterance, self.model)
            turn.sessions.understanding = found
        take_in(turn.document, turn.row, found)

    def read_by_rules(self, turn: GroundedTurn) -> None:
        """Find out what the message means where the server answers it itself; no model is asked."""
        turn.sessions.understanding = found = self._begun(turn)
        take_in(turn.document, turn.row, found)

    def meaning(self, turn: GroundedTurn) -> MessageMeaning:
        """Return what agents are shown of memory, and whom the message is for by its intent."""
        document, found = turn.document, turn.sessions.understanding
        earlier = document.chat_history[:-1]
        place = first_shown(earlier, window_chars=self.window_chars, plan=document.plan)
        first = earlier[place].turn_id if earlier else 1
        summary = shown_summary(document, before=first) if first > 1 else held_lines(document)
        if found is None:
            return MessageMeaning(summary=summary, first_shown=place)
        text = found.enrichment.enriched_message if self._is_shown_in_full(turn, found) else ""
        is_sure = found.intent.confidence >= SURE
        agent = self._speakers.get(found.intent.intent) if is_sure else None
        return MessageMeaning(summary, text, intended_agent=agent, first_shown=place)

    def _is_shown_in_full(self, turn: GroundedTurn, found: Understanding) -> bool:
        """Whether agents are shown the wording in full: models repeat it instead of acting.

        So they see it only where it resolves something: a pronoun, a number, a short reply.
        """
        if not found.interprets or self.model is None or turn.sessions.utterance is None:
            return found.interprets
        read = turn.sessions.utterance
        return bool(read.standalone or read.numbers or read.references or read.yes_no)

    def keep(self, turn: GroundedTurn) -> None:
        """Bring the blocks up to date with the turn, whose end is known; the caller stores them."""
        if turn.record.is_call_for_help:
            self.check(turn)
            # As a topic, a key point or a line of the summary it would follow this person on.
            greet(turn.document, turn.row, user_id=turn.message.sender.principal_id)
            memory = turn.document.memory
            memory.flow.append(
                FlowEntry(
                    turn_id=turn.row.turn_id,
                    at=turn.row.timestamp,
                    said="Call for help",
                    answered="The fixed safety answer was given",
                    topic=memory.active_topic,
                )
            )
            return
        if turn.sessions.understanding is None:
            self.read_by_rules(turn)
        conclude(turn.document, turn.row)

    def _begun(self, turn: GroundedTurn) -> Understanding:
        """Check what was loaded, and read the message by rules."""
        began, document = self.clock.monotonic(), turn.document
        self.check(turn)
        greet(document, turn.row, user_id=turn.message.sender.principal_id)
        plain = understand(
            turn.text,
            earlier=document.chat_history[:-1],
            memory=document.memory,
            intents=self.intents,
            names=names_of(turn),
        )
        if turn.patient_id is None:
            plain = replace(plain, statements=())  # what is said of nobody is held of nobody
        return replace(plain, seconds=self.clock.monotonic() - began)

    def _is_settled(self, turn: GroundedTurn, utterance: Utterance, plain: Understanding) -> bool:
        """Whether nothing of the answer depends on what a model would read (spec page 1.7)."""
        message = turn.message
        if message.addressed_agent or message.mentions or reader.is_settled(utterance):
            return True
        if turn.continuation is not None and plain.interprets:
            return True  # an answer to who waits for it
        agent = self._speakers.get(plain.intent.intent)
        return agent is not None and plain.intent.confidence >= SURE

    async def _read_by_model(
        self, turn: GroundedTurn, plain: Understanding, utterance: Utterance, model: StructuredModel
    ) -> Understanding:
        """Fill in what rules left open; a model that fails or is late leaves them as they are.

        Beside words that may be about somebody else nothing of this patient is shown.
        """
        began, asked, said = self.clock.monotonic(), "", ""
        if turn.verdict.concerns_active_only:
            asked, said = _last_exchange(turn.document.chat_history[:-1])
        try:
            async with asyncio.timeout(self.seconds):
                read = await model.ask(
                    purpose=reader.PURPOSE,
                    instructions=self._instructions,
                    text=reader.question(turn.text, asked=asked, said=said),
                    answer=reader.followed_shape(self._team),
                )
        except (ModelError, TimeoutError) as error:
            code = error.code if isinstance(error, ModelError) else "timeout"
            logger.warning("reader_failed", run_id=turn.run.run_id, code=code)
            return replace(plain, failed=True, seconds=self.clock.monotonic() - began)
        found = self._take_over(turn, plain, utterance, read, before=f"{asked} {said}")
        return replace(found, seconds=self.clock.monotonic() - began)

    def _take_over(
        self,
        turn: GroundedTurn,
        plain: Understanding,
        utterance: Utterance,
        read: reader.MessageReading,
        *,
        before: str = "",
    ) -> Understanding:
        """Take over what a model read where rules left it open."""
        turn.sessions.utterance = reader.folded_in(utterance, read, self._team, before=before)
        found = self._understood(plain, turn.sessions.utterance)
        has_patient = turn.patient_id is not None and reader.is_of_the_open(read)
        if has_patient and not found.statements:
            found = replace(
                found, statements=statements_read(read.stated, turn.text, names_of(turn))
            )
        return found

    def _understood(self, plain: Understanding, utterance: Utterance) -> Understanding:
        """Return what memory keeps of a reading: its wording, and whose matter it is."""
        enrichment, intent = plain.enrichment, plain.intent
        if utterance.standalone:
            enrichment = ContextEnrichment(
                previous_context=plain.enrichment.previous_context,
                enriched_message=utterance.standalone,
                relevant_history=plain.enrichment.relevant_history,
                source="model",
            )
        is_read = utterance.decided_by.get("agent") == "model"
        name = next((n for n, agent in self._speakers.items() if agent == utterance.agent), None)
        if is_read and name is not None:
            intent = IntentClassification(intent=name, confidence=1.0, reasoning="the reader")
        return replace(
            plain,
            enrichment=enrichment,
            intent=intent,
            interprets=plain.interprets or bool(utterance.standalone),
        )

    def check(self, turn: GroundedTurn) -> None:
        """Mend what is broken in the document, and log what cannot be mended."""
        if not self.rules.validation:
            return
        findings = validate(turn.document, agents=self.agents, running=turn.run.run_id)
        if findings.repaired or findings.reported:
            logger.warning(
                "memory_checked",
                run_id=turn.run.run_id,
                conversation=hashed(turn.conversation_id),
                repaired_rules=findings.repaired,
                broken_rules=findings.reported,
            )


def _last_exchange(earlier: Sequence[Turn]) -> tuple[str, str]:
    """Return what the user said last, and the last that was answered to it."""
    if not earlier:
        return "", ""
    answers = earlier[-1].agent_responses
    return earlier[-1].user_message, answers[-1].text if answers else ""


def memory_rules(settings: Settings) -> MemoryRules:
    """Return what the settings say of idle time, rotation and validation."""
    return MemoryRules(
        idle=timedelta(minutes=settings.memory_idle_minutes),
        rotation=RotationRules(enabled=settings.memory_rotation),
        validation=settings.memory_validation,
    )
