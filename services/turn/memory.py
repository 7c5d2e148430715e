"""Reads each message in its conversation, and keeps the memory blocks up to date with the turn.

A model is asked at most once, beside whatever else the turn does, and only if the message can be
about nobody but the active patient. The turn waits for it only where the answer depends on it;
where it fails, is late or may not be asked, rules read the message.
"""

import asyncio
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Protocol

import structlog

from data_models.chat_context import Turn
from data_models.clock import Clock
from data_models.errors import ModelError, ToolInputError
from data_models.identifiers import hashed
from services.entities.session import EntitySession
from services.group_chat_port import MessageMeaning
from services.language.yes_no import yes_no_in
from services.memory_blocks.blocks import MemoryRules
from services.memory_blocks.extraction import (
    PURPOSE,
    ContextExtraction,
    instructions,
    question,
    understood,
)
from services.memory_blocks.figures import SURE
from services.memory_blocks.held import held_lines
from services.memory_blocks.phrases import FIRST_PERSON
from services.memory_blocks.plain_reading import understand
from services.memory_blocks.remembering import conclude, greet, note_call, take_in
from services.memory_blocks.rotation import RotationRules
from services.memory_blocks.summary import shown_summary
from services.memory_blocks.understanding import Intent, Understanding
from services.memory_blocks.validator import validate
from services.model_port import StructuredModel
from services.patient_context.verdict import PatientVerdict
from services.turn.draft import TurnDraft
from services.turn.entities import tell_evicted
from settings import Settings

logger = structlog.get_logger()


class TurnMemory:
    """Holds what all turns share of memory, and no state of any turn."""

    def __init__(
        self,
        *,
        clock: Clock,
        model: StructuredModel | None = None,
        intents: Sequence[Intent] = (),
        agents: Collection[str] = (),
        rules: MemoryRules | None = None,
        seconds: float = 3.0,
        window_chars: int = 12_000,
    ) -> None:
        """Without a `model` rules read every message; without `agents` no name is checked."""
        self._clock = clock
        self._model = model
        self._intents = tuple(intents)
        self._agents = frozenset(agents)
        self._seconds = seconds
        self._window_chars = window_chars
        self._instructions = instructions(self._intents)
        self._speakers = {one.name: one.agent for one in self._intents if one.agent}
        names = "|".join(re.escape(name) for name in sorted(agents)) or r"(?!)"
        self._addressed = re.compile(rf"\s*(?:@|\*{{0,2}}(?:{names})\*{{0,2}}\s*:)", re.IGNORECASE)
        self.rules = rules or MemoryRules()

    async def read(self, turn: TurnDraft, verdict: PatientVerdict) -> None:
        """Find out what the message means; agents may be told, and the blocks will say it."""
        plain = self._begun(turn)
        if self._model is not None and _may_be_sent(turn, verdict):
            turn.extraction = asyncio.create_task(self._extracted(turn, plain, self._model))
            if not self._is_awaited(turn, plain):
                return
            await turn.extraction
        self._taken(turn)

    def meaning(self, turn: TurnDraft) -> MessageMeaning:
        """Return what agents are shown of memory, and whom the message is for by its intent."""
        document, found = turn.document(), turn.understanding or turn.plain
        first = _first_shown(document.chat_history[:-1], self._window_chars)
        summary = shown_summary(document, before=first) if first > 1 else held_lines(document)
        if found is None:
            return MessageMeaning(summary=summary)
        text = found.enrichment.enriched_message if found.interprets else ""
        is_sure = found.intent.confidence >= SURE
        agent = self._speakers.get(found.intent.intent) if is_sure else None
        return MessageMeaning(summary=summary, interpretation=text, intended_agent=agent)

    def heard(self, turn: TurnDraft, session: EntitySession | None) -> EntitySession | None:
        """Store what the user wants, where nobody has read or noted it yet; return `session`.

        Called before the team speaks, and again at the turn's end for a reading that came late.
        The session is the one of this turn's document, so nothing can reach another patient's.
        """
        wishes = {} if turn.understanding is None else turn.understanding.entities
        if session is not None and wishes:
            with suppress(ToolInputError):  # a model's delta that does not fit is no loss
                session.heard(wishes)
            tell_evicted(turn.run, session)
        return session

    async def keep(self, turn: TurnDraft) -> None:
        """Bring the blocks up to date with the turn, whose end is known; the caller stores them."""
        if turn.turn is None:
            return
        if turn.is_call_for_help:
            self.check(turn)
            note_call(turn.document(), turn.turn, user_id=turn.claim.message.sender.principal_id)
            return
        if turn.understanding is None:
            if turn.plain is None:
                self._begun(turn)
            await _settled(turn.extraction)
            self._taken(turn)
            self.heard(turn, turn.entities)
        conclude(turn.document(), turn.turn, turn.understanding)

    def _begun(self, turn: TurnDraft) -> Understanding:
        """Check what was loaded, and read the message by rules."""
        began, document = self._clock.monotonic(), turn.document()
        self.check(turn)
        if turn.turn is not None:
            greet(document, turn.turn, user_id=turn.claim.message.sender.principal_id)
        plain = understand(
            turn.text,
            earlier=document.chat_history[:-1],
            memory=document.memory,
            intents=self._intents,
        )
        turn.plain = replace(plain, seconds=self._clock.monotonic() - began)
        return turn.plain

    def _taken(self, turn: TurnDraft) -> None:
        """Use what the model found if it is there, else what the rules did."""
        task, plain = turn.extraction, turn.plain
        if plain is None or turn.turn is None:
            return
        if task is None:
            found = plain
        elif task.done() and not task.cancelled():
            found = task.result()
        else:
            found = replace(plain, failed=True)
        turn.understanding = found
        take_in(turn.document(), turn.turn, found)

    async def _extracted(
        self, turn: TurnDraft, plain: Understanding, model: StructuredModel
    ) -> Understanding:
        """Ask the model; what the rules found if it fails."""
        began, document = self._clock.monotonic(), turn.document()
        try:
            async with asyncio.timeout(self._seconds):
                answer = await model.ask(
                    purpose=PURPOSE,
                    instructions=self._instructions,
                    text=question(document, turn.text),
                    answer=ContextExtraction,
                )
        except (ModelError, TimeoutError) as error:
            code = error.code if isinstance(error, ModelError) else "timeout"
            logger.warning("context_extractor_failed", run_id=turn.run.run_id, code=code)
            return replace(plain, failed=True, seconds=self._clock.monotonic() - began)
        found = understood(
            answer,
            plain,
            turn_id=document.next_turn_id - 1,
            text=turn.text,
            intents=self._intents,
        )
        return replace(found, seconds=self._clock.monotonic() - began)

    def _is_awaited(self, turn: TurnDraft, plain: Understanding) -> bool:
        """Whether the answer depends on what the message means: its sense, or who answers it."""
        if plain.interprets:
            return True
        if not self._speakers or not self._is_open_to_all(turn):
            return False
        asks_for_one = plain.intent.intent in self._speakers
        is_sure = asks_for_one and plain.intent.confidence >= SURE
        return not is_sure and (asks_for_one or FIRST_PERSON.search(turn.text) is not None)

    def _is_open_to_all(self, turn: TurnDraft) -> bool:
        """Whether nothing that comes before the intent says who answers (spec page 1.7)."""
        message, document = turn.claim.message, turn.document()
        addressed = message.addressed_agent or message.mentions or self._addressed.match(turn.text)
        plan_waits = document.plan is not None and document.plan.is_open
        return not addressed and not plan_waits and document.continuation is None

    def check(self, turn: TurnDraft) -> None:
        """Mend what is broken in the document, and log what cannot be mended."""
        if not self.rules.validation:
            return
        findings = validate(turn.document(), agents=self._agents, running=turn.run.run_id)
        if findings.repaired or findings.reported:
            logger.warning(
                "memory_checked",
                run_id=turn.run.run_id,
                conversation=hashed(turn.conversation_id),
                repaired_rules=findings.repaired,
                broken_rules=findings.reported,
            )


def _first_shown(earlier: Sequence[Turn], window_chars: int) -> int:
    """Return the number of the oldest turn that the window of `window_chars` shows."""
    for turn in reversed(earlier):
        window_chars -= len(turn.user_message)
        window_chars -= sum(len(answer.text) for answer in turn.agent_responses)
        if window_chars < 0:
            return turn.turn_id + 1
    return earlier[0].turn_id if earlier else 1


def _may_be_sent(turn: TurnDraft, verdict: PatientVerdict) -> bool:
    """Whether the message may be shown to a model beside this patient's history (page 4.3).

    Bare confirmations, commands and buttons mean what they say.
    """
    if not verdict.concerns_active_only or turn.claim.message.press is not None:
        return False
    return yes_no_in(turn.text) in (None, "yes_with_changes")


async def _settled(task: "asyncio.Task[Understanding] | None") -> None:
    """End what is still under way: a turn waits for nothing that nobody needs."""
    if task is not None and not task.done():
        task.cancel()
        await asyncio.wait({task})


class IntentSpec(Protocol):
    """An intent as the team's file lists it."""

    @property
    def name(self) -> str:
        """Such as `GENERAL_HEALTH`."""
        ...

    @property
    def description(self) -> str:
        """One line for the model."""
        ...

    @property
    def agent(self) -> str:
        """Who speaks first for it."""
        ...

    @property
    def words(self) -> Sequence[str]:
        """What speaks for it."""
        ...

    @property
    def phase(self) -> str:
        """What the conversation is in meanwhile."""
        ...


class IntentTeam(Protocol):
    """A team, as far as its memory depends on it."""

    @property
    def names(self) -> Sequence[str]:
        """All agents."""
        ...

    @property
    def legacy_names(self) -> Mapping[str, str]:
        """Who agents of older deployments are today, by their old name."""
        ...

    @property
    def intents(self) -> Sequence[IntentSpec]:
        """What users may want."""
        ...


def memory_for(
    settings: Settings, *, team: IntentTeam, model: StructuredModel, clock: Clock
) -> TurnMemory:
    """Return the memory as the settings and the team's file ask for it.

    Offline, the rules that would answer in the model's place are asked directly.
    """
    intents = [
        Intent(
            name=one.name,
            description=one.description,
            agent=one.agent,
            words=tuple(one.words),
            phase=one.phase,
        )
        for one in team.intents
    ]
    return TurnMemory(
        clock=clock,
        model=None if settings.model_provider == "offline" else model,
        intents=intents,
        agents={*team.names, *team.legacy_names},
        rules=memory_rules(settings),
        seconds=settings.memory_extraction_seconds,
        window_chars=settings.window_chars,
    )


def memory_rules(settings: Settings) -> MemoryRules:
    """Return what the settings say of idle time, rotation and validation."""
    return MemoryRules(
        idle=timedelta(minutes=settings.memory_idle_minutes),
        rotation=RotationRules(enabled=settings.memory_rotation),
        validation=settings.memory_validation,
    )
