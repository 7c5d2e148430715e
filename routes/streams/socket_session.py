"""One open socket: reads frames, hands messages to the scheduler, shows runs in order."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

import orjson
import structlog
from aiohttp import WSCloseCode, WSMsgType, web
from pydantic import BaseModel, Discriminator, Field, Tag, TypeAdapter, ValidationError

from data_models.conversations import turn_events
from data_models.conversations.incoming_message import WEB, IncomingMessage, Press
from data_models.conversations.plan import PLAN_LIMIT_STEPS, STEP_LIMIT_CHARS, StepEdit
from data_models.errors import BadFrameError, ForbiddenError, RoundsError, UnauthenticatedError
from data_models.identifiers import PATIENT_ID_LIMIT_CHARS
from routes.requests.context import RouteContext, sender_of
from routes.requests.json_input import parse_json
from routes.streams import ag_ui_frames
from routes.streams.ag_ui_frames import Frame, PlainFrames, RunView, Watch, refusal
from services.access.principal import Principal, log_off_at
from services.language.words.own_texts import told_to
from services.runs.hub import Run

# What a client may send over a socket (spec page 6.1).

Id: TypeAlias = Annotated[str, Field(min_length=1, max_length=200)]
AgentName: TypeAlias = Annotated[str, Field(min_length=1, max_length=100)]


class _Frame(BaseModel, frozen=True, strict=True, extra="ignore"):
    """Strict in the fields we know; others are ignored, as clients of later versions may send."""


class EditFrame(_Frame):
    """A step of the plan in the user's own words."""

    number: int
    text: Annotated[str, Field(min_length=1, max_length=STEP_LIMIT_CHARS)]

    def to_edit(self) -> StepEdit | None:
        """Return it as one line, as steps are; None where nothing is left."""
        text = " ".join(self.text.split())
        return StepEdit(number=self.number, text=text) if text else None


class PressFrame(_Frame):
    """A button; see `data_models.conversations.incoming_message.Press`."""

    target_id: Id
    answer: Annotated[str, Field(max_length=500)]
    steps: Annotated[list[int], Field(max_length=100)] | None = None
    edits: Annotated[list[EditFrame], Field(max_length=PLAN_LIMIT_STEPS)] | None = None

    def to_press(self) -> Press:
        """Return it as the pipeline knows it."""
        steps = None if self.steps is None else tuple(self.steps)
        edits = tuple(edit for each in self.edits or () if (edit := each.to_edit()) is not None)
        return Press(target_id=self.target_id, answer=self.answer, steps=steps, edits=edits)


class MessageFrame(_Frame):
    """One message. `sender` is a display name; who it is was verified at the handshake."""

    type: Literal["message"] = "message"
    content: str
    sender: Annotated[str, Field(max_length=200)] | None = None
    client_message_id: Id | None = None
    mentions: Annotated[list[AgentName], Field(max_length=20)] | None = None
    time_zone: Annotated[str, Field(max_length=64)] | None = None
    press: PressFrame | None = None
    seen_patient_id: Annotated[str, Field(max_length=PATIENT_ID_LIMIT_CHARS)] | None = None


class StopFrame(_Frame):
    """Cancels the running turn, or only `run_id`: what runs, or what waits behind it."""

    type: Literal["stop"]
    run_id: Id | None = None


def _kind(value: object) -> object:
    return value.get("type", "message") if isinstance(value, dict) else None


ClientFrame: TypeAlias = MessageFrame | StopFrame
_FRAME: TypeAdapter[ClientFrame] = TypeAdapter(
    Annotated[
        Annotated[MessageFrame, Tag("message")] | Annotated[StopFrame, Tag("stop")],
        Discriminator(_kind),
    ]
)


def parse_client_frame(data: bytes | str) -> ClientFrame:
    """Return the frame in `data`.

    Raises:
        BadFrameError: not JSON, nested too deeply, or not of a known shape.
    """
    value = parse_json(data)
    if not isinstance(value, dict):
        raise BadFrameError('a frame is JSON such as {"content": "…"}')
    try:
        return _FRAME.validate_python(value)
    except ValidationError:
        # Not `from error`: it quotes what the clinician wrote.
        raise BadFrameError('a frame is JSON such as {"content": "…"}') from None


LOGGED_OFF = 4401
_ENDS = (turn_events.RunFinished, turn_events.RunFailed)
LONGEST_WAIT_SECONDS = 3_600.0
# Reading a hostile frame costs more than sending it; a flood of them waits in the sender's buffer.
BAD_FRAME_PAUSE_SECONDS = 0.05
BAD_FRAMES_LIMIT = 50
"""Frames in a row that nobody could read; then nobody means us, and the socket is closed."""
logger = structlog.get_logger()

Socket = web.WebSocketResponse[bool]


@dataclass(kw_only=True, eq=False, repr=False)
class SocketSession:
    """Serves one socket until either side leaves. A turn never waits for it, nor ends with it.

    Attributes:
        language: Of the page that opened it, ISO 639-1.
        streams: Whether it is told AG-UI events; else whole messages.
        check: Asked before each message whether the sender may still come in.
    """

    socket: Socket
    context: RouteContext
    principal: Principal
    chat_id: str
    language: str
    streams: bool
    check: Callable[[], Awaitable[None]]

    def __post_init__(self) -> None:
        self._active_at = self.context.clock.now()
        self._bad_frames = 0
        self._last: asyncio.Task[None] | None = None
        self._sent_patient_id: str | None = None
        self._watching: set[asyncio.Task[None]] = set()
        self._within_run = asyncio.Event()
        self._places = asyncio.Semaphore(self.context.limits.runs)

    async def serve(self, resumption: tuple[str, int] | None = None) -> None:
        """Answer frames until the socket closes, after showing the rest of a run that is named."""
        try:
            if resumption is not None:
                await self._resume(*resumption)
            while (data := await self._next_frame()) is not None:
                await self._handle(data)
        except ConnectionError:
            logger.debug("socket.lost")
        finally:
            tasks = list(self._watching)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _resume(self, run_id: str, after: int) -> None:
        try:
            run = await self.context.scheduler.watch(self.chat_id, run_id, owner=self.principal.id)
        except RoundsError as error:
            logger.warning("socket.not_resumed", code=error.code)
            run = None
        if run is None or after > len(run.past()):
            # It is not known here, or begun anew: the client asks again, from its first event on.
            await self.send({"type": "CUSTOM", "name": "run_unknown", "value": {"runId": run_id}})
            return
        await self._watch(Watch(run=run, after=after, echo=True))

    async def _next_frame(self) -> bytes | str | None:
        """Return the next text or binary frame, None when the socket is closed."""
        while (wait := self._seconds_left()) > 0:
            try:
                message = await self.socket.receive(min(wait, LONGEST_WAIT_SECONDS))
            except TimeoutError:
                continue
            if message.type in (WSMsgType.TEXT, WSMsgType.BINARY):
                self._active_at = self.context.clock.now()
                # A binary frame is none of ours; an empty text says so in the same way.
                return message.data if message.type is WSMsgType.TEXT else b""
            return None
        await self.socket.close(code=LOGGED_OFF, message=b"signed out")
        return None

    def _seconds_left(self) -> float:
        if self._watching:
            self._active_at = max(self._active_at, self.context.clock.now())
        idle_seconds = self.context.limits.idle_seconds
        ends_at = log_off_at(self.principal, active_at=self._active_at, idle_seconds=idle_seconds)
        return (ends_at - self.context.clock.now()).total_seconds()

    async def _handle(self, data: bytes | str) -> None:
        try:
            frame = parse_client_frame(data)
        except BadFrameError as error:
            await self._refuse(error)
            await self._count_bad_frame()
            return
        self._bad_frames = 0
        try:
            await self.check()
            await (self._stop(frame) if isinstance(frame, StopFrame) else self._submit(frame))
        except (UnauthenticatedError, ForbiddenError):
            # What runs goes on and is stored; who signs in again finds its answer.
            await self.socket.close(code=LOGGED_OFF, message=b"signed out")
        except RoundsError as error:
            await self._refuse(error, frame)

    async def _count_bad_frame(self) -> None:
        self._bad_frames += 1
        if self._bad_frames >= BAD_FRAMES_LIMIT:
            logger.warning("socket.bad_frames", count=self._bad_frames)
            await self.socket.close(code=WSCloseCode.POLICY_VIOLATION, message=b"bad frames")
            return
        await asyncio.sleep(BAD_FRAME_PAUSE_SECONDS)

    async def _refuse(self, error: RoundsError, frame: ClientFrame | None = None) -> None:
        ref = self.context.ids.new_id("ref")
        # A flood of bad frames shall not be one of log lines.
        log = logger.debug if isinstance(error, BadFrameError) else logger.info
        log("socket.refused", code=error.code, ref=ref)
        known, said = None, ""
        if isinstance(frame, MessageFrame):
            known, said = frame.client_message_id, frame.content
        text = told_to(error.user_message, said, language=self.language)
        say = ag_ui_frames.refusals if self.streams else refusal
        for one in say(error.code, text, ref=ref, client_message_id=known):
            await self.send(one)

    async def _stop(self, frame: StopFrame) -> None:
        owner = self.principal.id
        await self.context.scheduler.stop(self.chat_id, owner=owner, run_id=frame.run_id)

    async def _submit(self, frame: MessageFrame) -> None:
        self.context.rate.take(self.principal.id)
        run = await self.context.scheduler.submit(self._message(frame))
        await self._watch(Watch(run=run, client_message_id=frame.client_message_id))

    def _message(self, frame: MessageFrame) -> IncomingMessage:
        principal, press = self.principal, frame.press
        # What a page says of its user counts only where nobody signs in.
        unverified = frame.sender if principal.kind == "dev" else None
        # Who this connection was last told is open, if nothing of its own is under way.
        shown = None if self._watching else self._sent_patient_id
        return IncomingMessage(
            conversation_id=self.chat_id,
            channel=WEB,
            channel_id=WEB,
            owner=principal.id,
            sender=sender_of(principal, called=unverified),
            message_id=frame.client_message_id or self.context.ids.new_id("msg"),
            text=frame.content,
            received_at=self.context.clock.now(),
            mentions=tuple(frame.mentions or ()),
            time_zone=frame.time_zone,
            language=self.language,
            seen_patient_id=frame.seen_patient_id or shown,
            press=press.to_press() if press else None,
        )

    async def _watch(self, watch: Watch) -> None:
        # A client that asks without reading is not read any more; its turns go on.
        await self._places.acquire()
        task = asyncio.create_task(self._show(watch, before=self._last))
        self._last = task
        self._watching.add(task)
        task.add_done_callback(self._end_view)

    def _end_view(self, task: asyncio.Task[None]) -> None:
        self._watching.discard(task)
        self._places.release()
        if not task.cancelled() and task.exception() is not None:
            logger.error("socket.view_failed", error=type(task.exception()).__name__)
        if self._last is task:
            self._last = None

    async def _show(self, watch: Watch, *, before: asyncio.Task[None] | None) -> None:
        """Send a run's frames after those of `before`; only that it waits is said at once."""
        view = self._view_of(watch)
        try:
            async for seq, event in watch.run.events():
                is_known = False
                if before is not None:
                    is_known = await self._say_queued(view, event, before)
                    await asyncio.wait([before])
                    before = None
                # What a dead replica had said is told in fewer words: its end is always news.
                number = max(seq, watch.after + 1) if isinstance(event, _ENDS) else seq
                # Also the events that the client has: the view's state grows from the first on.
                frames = view.frames(number, event, is_known=is_known)
                for frame in frames if number > watch.after else ():
                    await self.send(frame)
                self._note_progress(event)
        except ConnectionError:
            logger.debug("socket.lost")

    def _view_of(self, watch: Watch) -> RunView:
        if not self.streams:
            return PlainFrames(
                facilitator=self.context.team.facilitator,
                client_message_id=watch.client_message_id,
                clock=self.context.clock,
            )
        return ag_ui_frames.AgUiFrames(
            thread_id=self.chat_id,
            run_id=watch.run.run_id,
            echo=watch.run.message if watch.echo else None,
            client_message_id=watch.client_message_id,
        )

    async def _say_queued(
        self, view: RunView, event: turn_events.TurnEvent, before: asyncio.Task[None]
    ) -> bool:
        if not (isinstance(event, turn_events.Notice) and event.kind == "queued"):
            return False
        # A frame of no run may only stand within a run, so the one before must have begun.
        begun = asyncio.create_task(self._within_run.wait())
        await asyncio.wait([begun, before], return_when=asyncio.FIRST_COMPLETED)
        begun.cancel()
        if not self._within_run.is_set():
            return False
        await self.send(view.queued(event))
        return True

    def _note_progress(self, event: turn_events.TurnEvent) -> None:
        match event:
            case turn_events.RunStarted():
                self._within_run.set()
            case turn_events.RunFinished() | turn_events.RunFailed():
                self._within_run.clear()
            case turn_events.StateChanged(state=state):
                self._sent_patient_id = state.patient_id
            case _:
                pass

    async def show(self, run: Run) -> None:
        """Show a run that the client did not ask for."""
        await self._watch(Watch(run=run, echo=True))

    async def send(self, frame: Frame) -> None:
        """Send a frame; nothing where the socket is closed."""
        # Waits while the client reads slowly; the run's own buffer keeps what is to come.
        if not self.socket.closed:
            await self.socket.send_frame(orjson.dumps(frame), WSMsgType.TEXT)
