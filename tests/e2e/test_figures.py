"""What the running server tells of itself, and the limits that an operator sets."""

import re
from pathlib import Path

import aiohttp
import pytest

from tests.e2e.models import running_model
from tests.e2e.server import running_server
from tests.e2e.talks import PlainTalk, StreamTalk, new_chat, next_frame, socket_to
from tests.fakes_openai_brain import brain

pytestmark = pytest.mark.slow
STARTS = "start tumor board for patient_4"


async def figure(client: aiohttp.ClientSession, url: str, name: str) -> float:
    """Return the value of a figure, labels included in `name`; 0 where it is not there yet."""
    async with client.get(f"{url}/metrics") as answer:
        text = await answer.text()
    found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
    return 0.0 if found is None else float(found[1])


async def test_a_turn_counts_its_sockets_storage_and_model_calls(tmp_path: Path) -> None:
    with running_model(brain) as model, running_server(tmp_path, **model.settings()) as server:
        async with aiohttp.ClientSession() as client:
            chat = await new_chat(client, server.url)
            async with socket_to(client, server.url, chat, "?stream=1") as socket:
                talk = StreamTalk(chat, socket)
                await talk.say(STARTS)
                assert await figure(client, server.url, "rounds_sockets_open") == 1
            timing = talk.runs[0][-1]["result"]["timing"]
            assert 0 < timing["storage_ms"] < timing["total_ms"]
            calls = 'rounds_model_call_seconds_count{outcome="success",purpose="%s"}'
            made = [await figure(client, server.url, calls % one) for one in ("reader", "agent")]
            assert made == [1, 1]
            assert sum(made) == len(model.requests)
            assert await figure(client, server.url, "rounds_model_prompt_chars_total") > 0
            replaced = 'rounds_storage_operations_total{kind="replace"}'
            # The release is counted too, though the turn is over by then.
            assert await figure(client, server.url, replaced) >= 1


async def test_what_a_user_got_is_counted_by_the_agent_who_answered(tmp_path: Path) -> None:
    with running_server(tmp_path, LLM_PROVIDER="offline") as server:
        async with aiohttp.ClientSession() as client:
            chat = await new_chat(client, server.url)
            async with socket_to(client, server.url, chat, "?stream=1") as socket:
                talk = StreamTalk(chat, socket)
                await talk.say("switch to patient_4")
                await talk.say("@Radiology summarise the newest imaging")
            labels = 'agent="Radiology",model="offline"'
            answered = f'rounds_answers_total{{{labels},outcome="answered"}}'
            supported = f'rounds_statements_total{{{labels},state="supported"}}'
            assert await figure(client, server.url, answered) == 1
            assert await figure(client, server.url, supported) >= 1


async def test_the_limits_of_the_settings_hold_and_are_named(tmp_path: Path) -> None:
    limits = {"MESSAGE_LIMIT_CHARS": "100", "SOCKETS_PER_USER": "1"}
    async with aiohttp.ClientSession() as client:
        with running_server(tmp_path, LLM_PROVIDER="offline", **limits) as server:
            chat = await new_chat(client, server.url)
            async with socket_to(client, server.url, chat) as socket:
                await socket.send_json({"content": "x" * 101})
                refusal = await next_frame(socket)
                assert (refusal["code"], "than 100 " in refusal["error"]) == (
                    "message_too_long",
                    True,
                )
                assert (await PlainTalk(chat, socket).say("hello " * 16)).failure is None
                upgrade = f"{server.url}/api/ws/chats/{chat}/messages"
                with pytest.raises(aiohttp.WSServerHandshakeError) as closed:
                    await client.ws_connect(upgrade)
                assert closed.value.status == 429
