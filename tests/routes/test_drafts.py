"""Drafts: on whichever device, each user's own, for an open chart, for seven days."""

from datetime import timedelta
from typing import Any

import pytest

from data_models.clock import SystemClock
from data_models.identifiers import hashed
from services.views.conversation_reader import OwnedChat
from services.views.owner_changes import KEPT_DAYS, Drafts
from tests.fakes import CountingIds, FixedClock
from tests.fakes_store import _START as BLOBS_BEGIN
from tests.fakes_store import MemoryBlobStore
from tests.routes.conftest import ADA, BEN, Server
from tests.routes.fakes import FakeReader, FakeScheduler

PATH = "/api/chats/chat_1/draft?patient_id=patient_4"


async def ask(
    server: Server, method: str, *, path: str = PATH, body: Any = None, who: Any = ADA
) -> tuple[int, Any]:
    async with server.client.request(method, server.base + path, json=body, headers=who) as reply:
        return reply.status, await reply.json(content_type=None)


async def test_what_was_begun_is_there_on_another_device_until_it_is_sent(used: Server) -> None:
    assert await ask(used, "GET") == (200, {"text": ""})
    assert (await ask(used, "PUT", body={"text": "Is she"}))[0] == 204
    assert (await ask(used, "PUT", body={"text": "Is she on warfarin?"}))[0] == 204
    assert await ask(used, "GET") == (200, {"text": "Is she on warfarin?"})
    assert (await ask(used, "PUT", body={"text": ""}))[0] == 204
    assert await ask(used, "GET") == (200, {"text": ""})


async def test_nobody_else_reads_it_nor_anyone_once_the_chart_is_closed(used: Server) -> None:
    await ask(used, "PUT", body={"text": "mine"})
    assert (await ask(used, "GET", who=BEN))[0] == 404
    assert (await ask(used, "GET", path=PATH.replace("patient_4", "patient_5")))[0] == 404
    reader = used.context.reader
    assert isinstance(reader, FakeReader)
    reader.closed.add("patient_4")
    assert (await ask(used, "GET"))[0] == 403
    assert (await ask(used, "PUT", body={"text": "more"}))[0] == 403
    reader.closed.clear()
    assert await ask(used, "GET") == (200, {"text": "mine"})


@pytest.mark.parametrize(
    ("body", "status"), [({}, 400), ([], 400), ({"text": 4}, 400), ({"text": "x" * 16_001}, 413)]
)
async def test_what_is_no_draft_is_refused_with_why(used: Server, body: Any, status: int) -> None:
    found, problem = await ask(used, "PUT", body=body)
    assert (found, bool(problem["detail"])) == (status, True)
    assert (await ask(used, "GET", path="/api/chats/chat_1/draft"))[0] == 400


async def test_after_seven_days_it_is_gone() -> None:
    scheduler = FakeScheduler(clock=SystemClock(), ids=CountingIds())
    scheduler.owners["chat_1"] = "ada"
    store, clock = MemoryBlobStore(), FixedClock(BLOBS_BEGIN)
    reader = FakeReader(scheduler=scheduler, ids=CountingIds(), clock=clock)
    drafts = Drafts(reader=reader, store=store)
    await drafts.write(OwnedChat("chat_1", "ada", "patient_4"), "Is she")
    assert list(store.contents) == [f"drafts/{hashed('ada')}/patient_4.json"]
    clock.advance(timedelta(days=KEPT_DAYS - 1).total_seconds())
    assert (await drafts.read(OwnedChat("chat_1", "ada", "patient_4"))).text == "Is she"
    clock.advance(timedelta(days=1.1).total_seconds())
    assert (await drafts.read(OwnedChat("chat_1", "ada", "patient_4"))).text == ""
    assert list(store.contents) == []
    await scheduler.close()
