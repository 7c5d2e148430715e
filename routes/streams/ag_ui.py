"""`POST /api/ag-ui`: a turn as a stream of server-sent events, for any AG-UI client."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import orjson
import structlog
from aiohttp import web
from pydantic import BaseModel, Field, ValidationError

from data_models.conversations.incoming_message import WEB, IncomingMessage, Press
from data_models.errors import BadFrameError, WrongAnswerError
from data_models.identifiers import is_web_name
from routes.requests.context import CONTEXT, principal_of, sender_of
from routes.requests.endpoint import OBJECT, Endpoint
from routes.requests.json_input import language_asked, parse_json
from routes.streams.ag_ui_frames import AgUiFrames, Frame, not_read, not_seen
from services.access.limits import body_of
from services.runs.hub import Run
from services.views.conversation_reader import OwnedChat

# What an AG-UI client sends: who, which run, and the user's newest words.

PLAN_ANSWERS = ("confirm", "change", "cancel")


class _Input(BaseModel, frozen=True, extra="ignore", strict=True):
    """Lenient in what it ignores: only the fields named here are read."""


class InputPart(_Input):
    """A piece of a message; only text is read."""

    type: str
    text: str = ""


class InputMessage(_Input):
    """One message of the client's history; all but the last user message are the client's own."""

    id: Annotated[str, Field(max_length=200)] = ""
    role: str
    content: str | list[InputPart] | Any = None

    @property
    def has_files(self) -> bool:
        """Whether something is in it that is no text."""
        parts = self.content if isinstance(self.content, list) else []
        return any(not isinstance(part, InputPart) or part.type != "text" for part in parts)

    @property
    def text(self) -> str:
        """The message's text, without pictures and files."""
        if isinstance(self.content, str):
            return self.content
        parts = self.content if isinstance(self.content, list) else []
        return "\n".join(part.text for part in parts if isinstance(part, InputPart) and part.text)


class ResumeAnswer(_Input):
    """The answer to an interrupt of an earlier run."""

    interrupt_id: Annotated[str, Field(alias="interruptId", max_length=300)]
    status: Literal["resolved", "cancelled"]
    payload: Any = None


class RunInput(_Input):
    """A request to run."""

    thread_id: Annotated[str, Field(alias="threadId", min_length=1, max_length=4_000)]
    run_id: Annotated[str, Field(alias="runId", min_length=1, max_length=200)]
    messages: list[InputMessage]
    resume: list[ResumeAnswer] | None = None
    forwarded_props: Annotated[Any, Field(alias="forwardedProps")] = None
    tools: Any = None
    context: Any = None

    @property
    def last_words(self) -> InputMessage | None:
        """The user's newest message."""
        return next((one for one in reversed(self.messages) if one.role == "user"), None)


class Asked(NamedTuple):
    """What the user said, as the pipeline takes it."""

    message_id: str
    text: str
    press: Press | None


def parse_run_input(data: bytes) -> RunInput:
    """Return the request in `data`.

    Raises:
        BadFrameError: not JSON, nested too deeply, or not a RunAgentInput.
    """
    try:
        return RunInput.model_validate(parse_json(data))
    except ValidationError:
        # Not `from error`: it quotes what the clinician wrote.
        raise BadFrameError("not a RunAgentInput") from None


def asked(run: RunInput) -> Asked:
    """Return what the user says: the answer to an interrupt, else the last user message.

    Raises:
        BadFrameError: neither is there, or the answer is of no known form.
    """
    last = run.last_words
    answers = run.resume or []
    if answers:
        # One question is open at a time, so one answer counts.
        text, press = _answer(answers[-1], said=last.text if last else "")
        return Asked(f"{run.run_id}/resume", text, press)
    if last is None:
        raise BadFrameError("no user message")
    # A client may number its messages anew in each run, so the run is part of the name.
    return Asked(f"{run.run_id}/{last.id}", last.text, None)


def _answer(answer: ResumeAnswer, *, said: str) -> tuple[str, Press | None]:
    kind, _, target = answer.interrupt_id.partition(":")
    words, steps = _words(answer, said=said)
    if kind == "plan" and words in PLAN_ANSWERS:
        return words, Press(target_id=target, answer=words, steps=steps)
    if kind == "question":
        return words, Press(target_id=target, answer=words)
    return words, None


def _words(answer: ResumeAnswer, *, said: str) -> tuple[str, tuple[int, ...] | None]:
    if answer.status == "cancelled":
        return ("cancel" if answer.interrupt_id.startswith("plan:") else "no"), None
    match answer.payload:
        case str(words):
            return words, None
        case {"answer": str(words), "steps": [*steps]} if all(type(one) is int for one in steps):
            return words, tuple(steps)
        case {"answer": str(words)}:
            return words, None
        case {"approved": bool(yes)} | {"confirmed": bool(yes)} | bool(yes):
            return _yes_or_no(answer, yes=yes), None
        case None if answer.interrupt_id.startswith("input:"):
            return said, None
        case _:
            # The last message is the one before the question: it must not be asked again.
            raise WrongAnswerError("the payload answers nothing")


def _yes_or_no(answer: ResumeAnswer, *, yes: bool) -> str:
    if answer.interrupt_id.startswith("plan:"):
        return "confirm" if yes else "cancel"
    return "yes" if yes else "no"


KEEP_ALIVE_SECONDS = 20.0
_COMMENT = b": waiting\n\n"
logger = structlog.get_logger()
Item = TypeVar("Item")


async def ag_ui(request: web.Request) -> web.StreamResponse:
    """`POST /api/ag-ui`: a turn as AG-UI events; a client that goes away does not stop it."""
    context, principal = request.app[CONTEXT], principal_of(request)
    run_input = parse_run_input(await body_of(request))
    question = asked(run_input)
    owner, thread_id = principal.id, run_input.thread_id
    chat = OwnedChat(thread_id, owner)
    await context.reader.access(chat, unclaimed_ok=is_web_name(thread_id))
    context.rate.take(owner)
    message = IncomingMessage(
        conversation_id=thread_id,
        channel=WEB,
        channel_id="ag-ui",
        owner=owner,
        sender=sender_of(principal),
        message_id=question.message_id,
        text=question.text,
        received_at=context.clock.now(),
        language=language_asked(request),
        press=question.press,
    )
    run = await context.scheduler.submit(message)
    response = web.StreamResponse(
        headers={
            "Content-Type": "text/event-stream",
            "Cache-Control": "no-store",
            "X-Accel-Buffering": "no",
        }
    )
    await response.prepare(request)
    try:
        await _stream(response, run, run_input)
        await response.write_eof()
    except ConnectionError:
        logger.debug("ag_ui.lost")
    return response


async def _stream(response: web.StreamResponse, run: Run, run_input: RunInput) -> None:
    # The client knows the run by its own names, and may answer questions by `resume`.
    props = run_input.forwarded_props
    frames = AgUiFrames(
        thread_id=run_input.thread_id,
        run_id=run_input.run_id,
        interrupts=isinstance(props, dict) and props.get("interrupts") is True,
    )
    notes = _notes(run_input)
    async for item in or_pause(run.events(), seconds=KEEP_ALIVE_SECONDS):
        if item is None:
            await response.write(_COMMENT)
            continue
        await response.write(b"data: " + orjson.dumps(frames.frame(*item)) + b"\n\n")
        while notes:
            await response.write(b"data: " + orjson.dumps(notes.pop(0)) + b"\n\n")


def _notes(run_input: RunInput) -> list[Frame]:
    """Return what is said behind the beginning of what came and is not read."""
    last = run_input.last_words
    notes = [not_read(run_input.run_id)] if run_input.tools or run_input.context else []
    has_files = last is not None and last.has_files and not run_input.resume
    return [*notes, *(not_seen(run_input.run_id) if has_files else [])]


async def or_pause(items: AsyncIterator[Item], *, seconds: float) -> AsyncIterator[Item | None]:
    """Yield the items, and None whenever none came for `seconds`, so that proxies stay patient."""
    while True:
        waiting = asyncio.ensure_future(anext(items, None))
        try:
            while not (await asyncio.wait([waiting], timeout=seconds))[0]:
                yield None
        finally:
            waiting.cancel()
        if (item := waiting.result()) is None:
            return
        yield item


def ag_ui_routes() -> list[Endpoint]:
    """Return the route of this file."""
    events = {"text/event-stream": OBJECT}
    return [Endpoint("POST", "/api/ag-ui", ag_ui, media=events, sent=RunInput)]
