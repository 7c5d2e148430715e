"""Answers a call for help at once, before anything that can fail or wait: no model is asked."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import structlog

from data_models.chat_context import AgentMessage
from data_models.clock import Clock, IdSource
from data_models.conversations.incoming_message import IncomingMessage
from data_models.conversations.turn_events import AgentMessageFinished, Notice, RunStarted
from services.language.crisis.rules import CrisisRules
from services.runs.hub import Run, show_whole
from services.turn.phases import ClaimedTurn, LoadedTurn
from services.turn.turn_step import TurnStep

logger = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class SafetyAnswers:
    """The reviewed texts, with the numbers of this place.

    Attributes:
        others: Of other languages; the first whose rules hear a call answers it.
        emergency_number: Told in every answer.
        crisis_line: Whom to talk to in a crisis; empty if there is nobody to name.
    """

    rules: CrisisRules
    others: tuple[CrisisRules, ...] = ()
    emergency_number: str = "112"
    crisis_line: str = ""

    def find_answer(self, message: IncomingMessage) -> str | None:
        """Return what is said to a call for help; None for every other message and for buttons."""
        if message.press is not None:
            return None
        for rules in (self.rules, *self.others):
            if (kind := rules.crisis_in(message.text)) is not None:
                said = rules.to_talk.format(line=self.crisis_line)
                line = f" {said}" if self.crisis_line else ""
                return rules.answers[kind].format(emergency=self.emergency_number, line=line)
        return None

    def compile(self) -> None:
        """Compile the rules of all languages; safe in a thread.

        Raises:
            ConfigurationError: a rule is not usable.
        """
        for rules in (self.rules, *self.others):
            rules.compile()


@dataclass(kw_only=True, eq=False, repr=False)
class TurnSafety(TurnStep):
    """Says the answer, then stores the turn. Holds no state of any turn."""

    answers: SafetyAnswers

    async def answer_call_for_help(self, turn: LoadedTurn) -> bool:
        """Whether the message was a call for help and has its answer.

        It is said before the document is opened, so that a damaged history or a lost audit trail
        cannot keep it back. The active patient stays. A text that may be about somebody else is
        kept with the session, where no model looks.
        """
        if (answer := self.answers.find_answer(turn.message)) is None:
            return False
        logger.info("safety_answer", run_id=turn.run.run_id)
        registry = turn.registry
        understood = turn.stay()
        turn.record.note_call_for_help()
        self.replies.answer(understood, answer)
        stays = self.patients.names_no_other(turn.text, registry=registry)
        active = turn.active_patient_id if stays else None
        self.replies.show_state(await self.documents.open(understood, active))
        return True

    @asynccontextmanager
    async def answer_at_least(self, turn: ClaimedTurn) -> AsyncIterator[None]:
        """Give the answer also where what is loaded inside cannot be, whatever ends it.

        Nobody knows then which patient is active, so no state is shown and no footer made up.
        """
        is_loaded = False
        try:
            yield
            is_loaded = True
        finally:
            if not is_loaded and (answer := self.answers.find_answer(turn.message)) is not None:
                turn.record.note_call_for_help()
                self.replies.say(turn, answer)


IS_ANSWER = {"is_answer": True}
"""Tells clients that have words of their own for waiting to show these."""
_WAITS = "Your message waits until the one before it is answered."


@dataclass(frozen=True, slots=True, kw_only=True)
class CrisisResponse:
    """Gives the fixed answer before any turn. Holds nothing of any message.

    Attributes:
        facilitator: Who speaks.
    """

    answers: SafetyAnswers
    facilitator: str
    clock: Clock
    ids: IdSource

    def is_due(self, message: IncomingMessage) -> bool:
        """Whether `message` is a call for help."""
        return self.answers.find_answer(message) is not None

    def while_waiting(self, message: IncomingMessage) -> Notice:
        """Return what the sender of a queued message is told at once."""
        answer = self.answers.find_answer(message)
        return Notice("queued", _WAITS) if answer is None else Notice("queued", answer, IS_ANSWER)

    def give(self, run: Run) -> bool:
        """Say the answer in `run` if its message calls for help; whether it has been said.

        What its turn has said already is not said again.
        """
        if (answer := self.answers.find_answer(run.message)) is None:
            return False
        shown = run.past()
        if any(isinstance(event, AgentMessageFinished) for event in shown):
            return True
        if not any(isinstance(event, RunStarted) for event in shown):
            run.emit(RunStarted(run.run_id, run.conversation_id))
        logger.info("crisis_response", run_id=run.run_id)
        message = AgentMessage(
            message_id=self.ids.new_id("msg"),
            agent=self.facilitator,
            text=answer,
            timestamp=self.clock.now(),
            made_by="rules",
        )
        show_whole(run, message)
        return True
