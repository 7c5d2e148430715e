"""`POST /api/ag-ui`: a turn as a stream of server-sent events, for any AG-UI client."""

import asyncio
from collections.abc import AsyncIterator
from typing import TypeVar

import orjson
import structlog
from aiohttp import web

from data_models.identifiers import is_web_name
from data_models.incoming_message import IncomingMessage, Sender
from routes.ag_ui_frames import AgUiFrames
from routes.auth import principal_of
from routes.context import CONTEXT, RouteContext
from routes.ports import Run
from routes.run_agent_input import Asked, RunInput, asked, parse_run_input
from services.access.bodies import body_of
from services.access.principal import Principal

KEEP_ALIVE_SECONDS = 20.0
_COMMENT = b": waiting\n\n"
logger = structlog.get_logger()
Item = TypeVar("Item")


async def ag_ui(request: web.Request) -> web.StreamResponse:
    """Run a turn and stream it; a client that goes away does not stop it."""
    context, principal = request.app[CONTEXT], principal_of(request)
    run_input = parse_run_input(await body_of(request))
    question = asked(run_input)
    owner = principal.id
    thread_id = run_input.thread_id
    await context.reader.access(thread_id, owner=owner, unclaimed_ok=is_web_name(thread_id))
    context.rate.take(owner)
    run = await context.scheduler.submit(_message(context, principal, run_input, question))
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
    # The client knows the run by its own names.
    frames = AgUiFrames(thread_id=run_input.thread_id, run_id=run_input.run_id)
    async for item in or_pause(run.events(), seconds=KEEP_ALIVE_SECONDS):
        if item is None:
            await response.write(_COMMENT)
            continue
        await response.write(b"data: " + orjson.dumps(frames.frame(*item)) + b"\n\n")


async def or_pause(items: AsyncIterator[Item], *, seconds: float) -> AsyncIterator[Item | None]:
    """Yield the items, and None whenever none came for `seconds`, so that proxies stay patient."""
    while True:
        waiting = asyncio.ensure_future(anext(items, _END))
        try:
            while not (await asyncio.wait([waiting], timeout=seconds))[0]:
                yield None
        finally:
            waiting.cancel()
        item = waiting.result()
        if isinstance(item, _End):
            return
        yield item


class _End:
    """Marks the end of an iterator."""


_END = _End()


def _message(
    context: RouteContext, principal: Principal, run_input: RunInput, question: Asked
) -> IncomingMessage:
    return IncomingMessage(
        conversation_id=run_input.thread_id,
        channel="web",
        channel_id="ag-ui",
        owner=principal.id,
        sender=Sender(
            principal_id=principal.id,
            display_name=principal.name,
            tenant_id=principal.tenant or "",
        ),
        message_id=question.message_id,
        text=question.text,
        received_at=context.clock.now(),
        press=question.press,
    )
