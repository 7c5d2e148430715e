"""An agent's message while it is being written."""

from datetime import datetime

from data_models.chat_context import AgentMessage
from data_models.turn_events import AgentMessageFinished, AgentMessageStarted, AgentTextDelta
from data_models.written_order import in_written_order
from group_chat.citations import citations_in
from group_chat.turn_context import TurnContext
from services.patient_context.line_filter import LineFilter


class OutputMeter:
    """Counts what all agents of one turn wrote, in UTF-8 bytes."""

    def __init__(self, *, limit_bytes: int) -> None:
        self._left_bytes = limit_bytes

    @property
    def is_empty(self) -> bool:
        """Whether nothing more may be written."""
        return self._left_bytes <= 0

    def take(self, text: str) -> str:
        """Return as much of `text` as may still be written, whole characters."""
        raw = text.encode()
        if len(raw) <= self._left_bytes:
            self._left_bytes -= len(raw)
            return text
        cut = raw[: self._left_bytes].decode(errors="ignore")
        self._left_bytes = 0
        return cut


class Draft:
    """Filters and sends one message piece by piece; `AgentMessage.text` is the sum of what it sent.

    The message begins with its first visible text, so a failure before it leaves nothing behind.

    Args:
        step: The plan's id and the number of the step that the message carries out.
    """

    def __init__(
        self,
        *,
        turn: TurnContext,
        agent: str,
        message_id: str,
        meter: OutputMeter,
        step: tuple[str, int] | None = None,
    ) -> None:
        self.agent = agent
        self._step = step
        self._turn = turn
        self._message_id = message_id
        self._meter = meter
        self._filter = LineFilter()
        self._sent: list[str] = []
        self._tools_at_last_text = 0

    @property
    def text(self) -> str:
        """What was sent so far."""
        return "".join(self._sent)

    @property
    def is_blank(self) -> bool:
        """Whether nothing visible was sent."""
        return not any(piece.strip() for piece in self._sent)

    def write(self, text: str) -> str:
        """Send `text` as far as the filter and the cap let it through; return that."""
        if not text:
            return ""
        # A model may write half a character; nothing that stores or sends text takes it.
        text = in_written_order(text.encode(errors="replace").decode())
        tools = self._turn.tools_ok + self._turn.tools_failed
        if tools != self._tools_at_last_text and not self.is_blank:
            # What a model says before and after a tool call are two paragraphs.
            text = f"\n\n{text.lstrip()}"
        self._tools_at_last_text = tools
        return self._send(self._filter.feed(text))

    def finish(self, *, now: datetime) -> AgentMessage | None:
        """End the message and return it, or None if it never began."""
        self._send(self._filter.finish())
        text = self.text
        if not text:
            return None
        message = AgentMessage(
            message_id=self._message_id,
            agent=self.agent,
            text=text,
            timestamp=now,
            citations=citations_in(text, self._turn.sources),
            plan_id=self._step[0] if self._step is not None else None,
            plan_step=self._step[1] if self._step is not None else None,
        )
        self._turn.emit(AgentMessageFinished(message))
        return message

    def _send(self, text: str) -> str:
        if not self._sent:
            text = text.lstrip()
        text = self._meter.take(text) if text else ""
        if not text:
            return ""
        if not self._sent:
            self._turn.emit(AgentMessageStarted(self._message_id, self.agent))
        self._sent.append(text)
        self._turn.emit(AgentTextDelta(self._message_id, text))
        return text
