"""Drafts of orders in the whole server: what leaves, for whom, once, and only with the setting."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from tests.e2e.beside import running_beside
from tests.e2e.order_server import OrderServer
from tests.e2e.server import Server, running_server
from tests.e2e.talks import PlainTalk, new_chat, socket_to

pytestmark = pytest.mark.slow
ORDER = "order a potassium for tomorrow 8 am"
SECONDS = 30.0


@pytest.fixture
def fhir() -> Iterator[OrderServer]:
    records = OrderServer()
    with running_beside(records):
        yield records


@pytest.fixture
def server(fhir: OrderServer, tmp_path: Path) -> Iterator[Server]:
    settings = {"LLM_PROVIDER": "offline", "ORDER_DRAFTS": "true"}
    with running_server(tmp_path, FHIR_BASE_URL=fhir.base_url, **settings) as running:
        yield running


@asynccontextmanager
async def talking_to(server: Server, chat: str = "") -> AsyncIterator[PlainTalk]:
    async with aiohttp.ClientSession() as client:
        chat = chat or await new_chat(client, server.url)
        async with socket_to(client, server.url, chat) as socket:
            yield PlainTalk(chat, socket)


async def test_the_local_users_yes_makes_one_valid_draft(fhir: OrderServer, server: Server) -> None:
    async with talking_to(server) as talk:
        await talk.say("patient_4")
        asked = await talk.say(ORDER)
        assert "Margaret Anne Whitfield, born 1957-03-14 · `patient_4`" in asked.text
        assert asked.text.endswith("Make this draft? yes / no")
        assert fhir.made == {}
        assert "Made a draft for Margaret" in (await talk.say("yes")).text
        (made,) = fhir.made.values()
        assert made["subject"] == {"reference": "Patient/patient-4"}
        assert made["code"] == {"text": "potassium"}
        back = await talk.say("withdraw the potassium order")
        assert back.text.endswith("(patient_4)? yes / no")
        assert "took back the draft of potassium" in (await talk.say("yes")).text
        assert [one["status"] for one in fhir.made.values()] == ["revoked"]
    assert fhir.faults == []


@pytest.mark.parametrize(
    ("wish", "left", "tests"),
    [
        ("order a cbc and a bmp", "just the cbc", ["cbc"]),
        ("order a cbc, a tsh and a bmp", "not the tsh", ["cbc", "bmp"]),
        ("Blutbild und CRP anfordern", "nur das CRP", ["CRP"]),
        ("Blutbild und CRP anfordern", "das CRP doch nicht", ["Blutbild"]),
    ],
)
async def test_of_several_drafts_those_that_are_left_are_made(
    fhir: OrderServer, server: Server, wish: str, left: str, tests: list[str]
) -> None:
    async with talking_to(server) as talk:
        for said in ("patient_4", wish, left, "ja"):
            await talk.say(said)
        assert [one["code"] for one in fhir.made.values()] == [{"text": one} for one in tests]
        told = await talk.say("what did i do so far")
        assert all(f": {one}. " in told.text for one in tests), told.text
        booked = await talk.say("book her with Dr. Jones on Monday at 10")
        assert "Which test is it?" not in booked.text


@pytest.mark.parametrize("asked", ["what orders are open?", "welche Anordnungen sind offen?"])
async def test_open_orders_are_told_with_the_drafts_of_the_patient(
    server: Server, asked: str
) -> None:
    async with talking_to(server) as talk:
        for said in ("patient_4", ORDER, "yes"):
            await talk.say(said)
        assert "(patient_4)" in (told := (await talk.say(asked)).text)
        assert "potassium" in told
        await talk.say("patient_7")
        assert "potassium" not in (await talk.say(asked)).text


async def test_a_yes_after_the_question_is_over_asks_for_no_test(
    fhir: OrderServer, server: Server
) -> None:
    async with talking_to(server) as talk:
        for said in ("patient_4", ORDER, "open patient_4"):
            await talk.say(said)
        assert "Which test is it?" not in (await talk.say("yes")).text
    assert fhir.made == {}


async def test_a_yes_that_a_server_died_over_makes_one(fhir: OrderServer, server: Server) -> None:
    async with talking_to(server) as talk:
        await talk.say("patient_4")
        await talk.say(ORDER)
        fhir.kill = server.kill
        await talk.socket.send_json({"content": "yes"})
        await asyncio.to_thread(fhir.killed.wait, SECONDS)
    await asyncio.to_thread(server.start)
    async with talking_to(server, talk.conversation) as again:
        said = await again.say("yes")
        assert said.notices[0] == "interrupted"
    assert len(fhir.made) == 1
    assert fhir.faults == []


async def test_without_the_setting_nothing_leaves(fhir: OrderServer, tmp_path: Path) -> None:
    settings = {"LLM_PROVIDER": "offline", "FHIR_BASE_URL": fhir.base_url}
    with running_server(tmp_path, **settings) as server:
        async with talking_to(server) as talk:
            await talk.say("patient_4")
            said = await talk.say(ORDER)
            assert "yes / no" not in said.text
            await talk.say("yes")
    assert fhir.tries == 0
