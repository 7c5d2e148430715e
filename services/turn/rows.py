"""The row of a turn in its document: begun, or gone on with."""

from datetime import datetime

from data_models.chat_context import ChatContext, Turn
from data_models.incoming_message import IncomingMessage
from data_models.turn_events import AgentMessageFinished, AgentMessageStarted, AgentTextDelta
from services.runs.hub import Run


def open_row(
    document: ChatContext, *, run: Run, message: IncomingMessage, said: str, now: datetime
) -> Turn:
    """Return the row of this turn, as a replica left it that died over it, else begun."""
    last = document.chat_history[-1] if document.chat_history else None
    if last is not None and last.run_id == run.run_id:
        if last.agent_responses:
            return _left_open(last, run)
        document.chat_history.pop()  # nobody had answered in it
        document.next_turn_id = last.turn_id
    row = Turn(
        turn_id=document.next_turn_id,
        run_id=run.run_id,
        timestamp=now,
        user=message.sender.display_name,
        user_message=said,
        turn_status="IN_PROGRESS",
    )
    document.next_turn_id += 1
    document.chat_history.append(row)
    return row


def _left_open(row: Turn, run: Run) -> Turn:
    """Open a row again; show what was stored in it."""
    row.turn_status, row.error_code = "IN_PROGRESS", None
    for message in row.agent_responses:
        run.emit(AgentMessageStarted(message.message_id, message.agent))
        run.emit(AgentTextDelta(message.message_id, message.text))
        run.emit(AgentMessageFinished(message))
    return row
