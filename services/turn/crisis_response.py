"""Answers a call for help whose turn cannot begin or go on: nothing is read, nothing is stored.

The turn itself answers one first of all (`services/turn/safety.py`). But a claim may be refused, by
damage or a full queue, and a turn that is queued may never come: the answer waits for neither.
"""

import structlog

from data_models.chat_context import AgentMessage
from data_models.clock import Clock, IdSource
from data_models.incoming_message import IncomingMessage
from data_models.turn_events import (
    AgentMessageFinished,
    AgentMessageStarted,
    AgentTextDelta,
    Notice,
    RunStarted,
)
from services.runs.hub import Run
from services.turn.safety import SafetyAnswers

logger = structlog.get_logger()

IS_ANSWER = {"is_answer": True}
"""Tells clients that have words of their own for waiting to show these."""
_WAITS = "Your message waits until the one before it is answered."


class CrisisResponse:
    """Gives the fixed answer at the door. Holds nothing of any message.

    Args:
        answers: None where nobody is answered so.
        facilitator: Who speaks.
    """

    def __init__(
        self, *, answers: SafetyAnswers | None, facilitator: str, clock: Clock, ids: IdSource
    ) -> None:
        self._answers = answers
        self._facilitator = facilitator
        self._clock = clock
        self._ids = ids

    def is_due(self, message: IncomingMessage) -> bool:
        """Whether `message` is a call for help."""
        return self._told(message) is not None

    def while_waiting(self, message: IncomingMessage) -> Notice:
        """Return what the sender of a queued message is told at once."""
        told = self._told(message)
        return Notice("queued", _WAITS) if told is None else Notice("queued", told, IS_ANSWER)

    def give(self, run: Run) -> bool:
        """Say the answer in `run` if its message calls for help; whether it has been said.

        What its turn has said already is not said again.
        """
        told = self._told(run.message)
        if told is None:
            return False
        shown = run.past()
        if any(isinstance(event, AgentMessageFinished) for event in shown):
            return True
        if not any(isinstance(event, RunStarted) for event in shown):
            run.emit(RunStarted(run.run_id, run.conversation_id))
        logger.info("crisis_response", run_id=run.run_id)
        message = AgentMessage(
            message_id=self._ids.new_id("msg"),
            agent=self._facilitator,
            text=told,
            timestamp=self._clock.now(),
            made_by="rules",
        )
        run.emit(AgentMessageStarted(message.message_id, message.agent))
        run.emit(AgentTextDelta(message.message_id, told))
        run.emit(AgentMessageFinished(message))
        return True

    def _told(self, message: IncomingMessage) -> str | None:
        return None if self._answers is None else self._answers.told(message)
