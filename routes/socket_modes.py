"""The two ways in which a socket is told of runs: whole messages, or AG-UI events."""

from dataclasses import dataclass
from typing import Any, TypeAlias

from data_models.errors import RoundsError
from data_models.turn_events import Notice, TurnEvent
from routes import ag_ui_frames, plain_frames
from routes.context import RouteContext
from services.runs.hub import Run

Frame: TypeAlias = dict[str, Any]


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


class StreamingMode:
    """AG-UI events."""

    def __init__(self, *, chat_id: str) -> None:
        self._chat_id = chat_id

    def view(self, watch: Watch) -> "_Streamed":
        """Begin to show a run."""
        return _Streamed(
            ag_ui_frames.AgUiFrames(
                thread_id=self._chat_id,
                run_id=watch.run.run_id,
                echo=watch.run.message if watch.echo else None,
                client_message_id=watch.client_message_id,
            )
        )

    def refusal(self, error: RoundsError, *, ref: str, client_message_id: str | None) -> Frame:
        """Return the frame for what did not become a run; `ref` finds it in the log."""
        return ag_ui_frames.refusal(
            error.code, error.user_message, ref=ref, client_message_id=client_message_id
        )

    def queued(self, watch: Watch, notice: Notice) -> Frame:
        """Return the frame that says, amid another run's, that this one waits."""
        return ag_ui_frames.queued(
            notice, run_id=watch.run.run_id, client_message_id=watch.client_message_id
        )


class _Streamed:
    def __init__(self, frames: ag_ui_frames.AgUiFrames) -> None:
        self._frames = frames

    def frames(self, seq: int, event: TurnEvent, *, told: bool = False) -> list[Frame]:
        """See `PlainFrames.frames`; here a notice may be told twice."""
        return [self._frames.frame(seq, event)]


class PlainMode:
    """Whole messages."""

    def __init__(self, *, context: RouteContext) -> None:
        self._context = context

    def view(self, watch: Watch) -> plain_frames.PlainFrames:
        """Begin to show a run."""
        return plain_frames.PlainFrames(
            facilitator=self._context.team.facilitator,
            client_message_id=watch.client_message_id,
            clock=self._context.clock,
        )

    def refusal(self, error: RoundsError, *, ref: str, client_message_id: str | None) -> Frame:
        """Return the frame for what did not become a run; `ref` finds it in the log."""
        return plain_frames.refusal(
            error.code, error.user_message, ref=ref, client_message_id=client_message_id
        )

    def queued(self, watch: Watch, notice: Notice) -> Frame:
        """Return the frame that says, amid another run's, that this one waits."""
        return self.view(watch).frames(1, notice)[0]


Mode: TypeAlias = StreamingMode | PlainMode
"""How a client wants to be told."""
RunView: TypeAlias = _Streamed | plain_frames.PlainFrames
