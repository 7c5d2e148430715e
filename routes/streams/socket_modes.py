"""The two ways in which a socket is told of runs: whole messages, or AG-UI events."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias

from data_models.chart_view import ChartView
from data_models.chat_context import AgentMessage
from data_models.clock import Clock
from data_models.conversations import turn_events
from routes.streams import ag_ui_frames
from services.language.model_output.inert import inert
from services.runs.hub import Run
from services.statements.shown import not_supported, pipe_table, repeats
from services.turn.reading import footer_of

Frame: TypeAlias = dict[str, Any]
DONE: Frame = {"type": "done"}


@dataclass(slots=True, kw_only=True)
class PlainFrames:
    """Renders one run. Most events have no frame; the last one has two where it failed."""

    facilitator: str
    client_message_id: str | None
    clock: Clock
    _state: turn_events.SharedState | None = field(default=None, init=False)
    _views: list[ChartView] = field(default_factory=list, init=False)

    def frames(
        self, seq: int, event: turn_events.TurnEvent, *, is_known: bool = False
    ) -> list[Frame]:
        """Return what the client is sent for `event`, the run's `seq`-th, unless it was told."""
        if is_known:
            return []
        match event:
            case turn_events.StateChanged(state=state):
                self._state = state
                return []
            case turn_events.ViewShown(view=view):
                self._views.append(view)
                return []
            case turn_events.AgentMessageFinished(message=message):
                return [self._message(message)]
            case turn_events.Notice(text=text, kind=kind):
                harmless = inert(text, hosts=())
                at = self.clock.now()
                frame = self._frame(f"notice-{seq}", harmless, self.facilitator, at)
                return [{**frame, "notice": kind}]
            case turn_events.RunFailed(code=code, text=text, ref=ref):
                known = self.client_message_id
                return refusal(code, text, ref=ref, client_message_id=known)
            case turn_events.RunFinished():
                return [DONE]
            case _:
                return []

    def queued(self, notice: turn_events.Notice) -> Frame:
        """Return the frame that says, amid another run's, that this one waits."""
        return self.frames(1, notice)[0]

    def _message(self, message: AgentMessage) -> Frame:
        views, self._views = self._views, []
        tables = [pipe_table(view) for view in views if not repeats(message.text, view)]
        footer = footer_of(self._state) if self._state else ""
        parts = (message.text.rstrip(), *tables, not_supported(message), footer)
        text = "\n\n".join(part for part in parts if part)
        return self._frame(message.message_id, text, message.agent, message.timestamp)

    def _frame(self, frame_id: str, text: str, sender: str, at: datetime) -> Frame:
        return {
            "id": frame_id,
            "content": text,
            "sender": sender,
            "timestamp": at.isoformat(),
            "isBot": True,
            "mentions": None,
            "client_message_id": self.client_message_id,
        }


def refusal(code: str, text: str, *, ref: str, client_message_id: str | None) -> list[Frame]:
    """Return the frames for what was refused or failed; `ref` finds it in the log."""
    known: Frame = {} if client_message_id is None else {"client_message_id": client_message_id}
    return [{"error": text, "code": code, "ref": ref, **known}, DONE]


@dataclass(frozen=True, slots=True)
class Watch:
    """A run that a socket shows.

    Attributes:
        client_message_id: The client's own id of what it asked.
        after: Place of the last event that the client already has.
        echo: Say also what was asked, to a watcher who may not have asked it.
    """

    run: Run
    client_message_id: str | None = None
    after: int = 0
    echo: bool = False


RunView: TypeAlias = ag_ui_frames.AgUiFrames | PlainFrames
