"""Thumbs on the page: the caller's own, for an open chart, one for each answer."""

from typing import Any

import orjson
import pytest

from data_models.identifiers import ConversationLayout, hashed
from services.channels.ports import Opinion, PageFeedback
from services.views.conversation_reader import OwnedChat
from tests.fakes_store import MemoryBlobStore
from tests.routes.conftest import BEN, Server, ask, feedback_book
from tests.routes.fakes import FakeReader

ONE = "/api/chats/chat_1/runs/run_5/feedback?patient_id=patient_4"
ALL = "/api/chats/chat_1/messages?patient_id=patient_4"
WRONG = {"verdict": "down", "reason": "wrong_patient", "text": "This is patient_5's CT."}


async def shown(server: Server) -> dict[str, Any]:
    """What the history says the caller thinks, by run."""
    status, page = await ask(server, "GET", ALL)
    assert status == 200
    return {one["run_id"]: one["feedback"] for one in page["turns"] if "feedback" in one}


async def test_the_newest_opinion_is_in_the_history(used: Server) -> None:
    assert await shown(used) == {}
    assert (await ask(used, "PUT", ONE, body=WRONG))[0] == 204
    assert await shown(used) == {"run_5": WRONG}
    assert (await ask(used, "PUT", ONE, body={"verdict": "up"}))[0] == 204
    assert await shown(used) == {"run_5": {"verdict": "up", "reason": None, "text": ""}}
    for _ in range(2):
        assert (await ask(used, "DELETE", ONE))[0] == 204
        assert await shown(used) == {}


@pytest.mark.slow
async def test_nobody_else_gives_or_reads_one_nor_of_a_closed_chart(used: Server) -> None:
    assert (await ask(used, "PUT", ONE, body={"what": "ever"}, who=BEN))[0] == 404
    assert (await ask(used, "PUT", ONE.replace("run_5", "run_99"), body=WRONG))[0] == 404
    assert (await ask(used, "PUT", ONE.replace("run_5", "..%2Fx"), body=WRONG))[0] == 404
    assert (await ask(used, "PUT", ONE.replace("_4", "_5"), body=WRONG))[0] == 404
    for other in (ONE.replace("run_5", "run_99"), ONE.replace("_4", "_5")):
        assert (await ask(used, "DELETE", other))[0] == 404
    assert (await ask(used, "DELETE", ONE, who=BEN))[0] == 404
    reader = used.context.reader
    assert isinstance(reader, FakeReader)
    reader.closed.add("patient_4")
    assert (await ask(used, "PUT", ONE, body=WRONG))[0] == 403
    assert (await ask(used, "DELETE", ONE))[0] == 403
    reader.closed.clear()
    assert await shown(used) == {}


@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        {"verdict": "love"},
        {"verdict": "down", "reason": "ugly"},
        {"verdict": "up", "reason": "wrong"},
        {"verdict": "down", "text": "x" * 4_001},
    ],
)
async def test_what_is_no_opinion_is_refused_with_the_form(used: Server, body: Any) -> None:
    status, problem = await ask(used, "PUT", ONE, body=body)
    assert status == 400
    assert "not_supported" in problem["detail"]


async def test_it_has_the_form_of_other_channels_and_says_whom_it_is_about(used: Server) -> None:
    store = MemoryBlobStore()
    page = PageFeedback(reader=used.context.reader, book=feedback_book(store))
    owner = used.scheduler.owners["chat_1"]
    opinion = Opinion(verdict="down", reason="incomplete")
    await page.give(OwnedChat("chat_1", owner, "patient_4"), "run_5", opinion)
    ((name, data),) = store.contents.items()
    layout = ConversationLayout.of("chat_1")
    assert layout.is_feedback(name)
    assert layout.is_feedback(layout.archived(name, "20300102T030405"))
    kept = orjson.loads(data)
    assert (kept["reaction"], kept["reason"], kept["patient_id"], kept["message_id"]) == (
        "dislike", "incomplete", "patient_4", "m5",
    )  # fmt: skip
    assert kept["person"] == hashed(owner)
