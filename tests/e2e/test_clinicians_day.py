"""Two hundred turns about one patient, then "what do you know about her?": true and quoted."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.e2e.a_clinicians_talk import LAST, MESSAGES, NEVER_HELD, STATED, TURNS
from tests.e2e.server import ROOT, Server, running_server
from tests.e2e.talks import StreamTalk, new_chat, socket_to

pytestmark = pytest.mark.slow
CHART = "patient_patient_4_context.json"


async def test_after_200_turns_what_is_known_is_true_quoted_and_current(tmp_path: Path) -> None:
    with running_server(tmp_path, LLM_PROVIDER="offline") as server:
        async with aiohttp.ClientSession() as client:
            chat = await new_chat(client, server.url)
            async with socket_to(client, server.url, chat, "?stream=1") as socket:
                talk = StreamTalk(chat, socket)
                for text in MESSAGES:
                    await talk.say(text)
                told = (await talk.say(LAST)).text
            panel = await shown(client, f"{server.url}/api/chats/{chat}/memory")
            exported = await downloaded(client, f"{server.url}/api/chats/{chat}/export")
        assert_told(told)
        assert_same_in_panel(told, panel)
        assert [said for said in STATED if said not in exported] == []
        assert server.stop() == 0
        await forget("patient_4", server)
    files = [path for path in (tmp_path / "data").rglob("*") if path.is_file()]
    assert not any(path.name == CHART for path in files)
    kept = "\n".join(path.read_bytes().decode(errors="replace") for path in files)
    assert [said for said in STATED if said in kept] == []


async def shown(client: aiohttp.ClientSession, url: str) -> Any:
    async with client.get(url, params={"patient_id": "patient_4"}) as reply:
        assert reply.status == 200
        return await reply.json()


async def downloaded(client: aiohttp.ClientSession, url: str) -> str:
    query = {"patient_id": "patient_4", "format": "json"}
    async with client.get(url, params=query) as reply:
        assert reply.status == 200
        return await reply.text()


async def forget(patient: str, server: Server) -> None:
    """Erase `patient` as an operator does."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "services.operations", "forget", patient,
        cwd=ROOT, env={"PATH": "", "DATA_DIR": str(server.data), "LLM_PROVIDER": "offline"},
    )  # fmt: skip
    assert await process.wait() == 0


def assert_told(told: str) -> None:
    """Every line is one that was stated and still holds, with its turn and its words."""
    lines = [line for line in told.splitlines() if line.startswith("- ")]
    numbered = {text: number for number, text in enumerate(MESSAGES, 1)}
    assert len(MESSAGES) == TURNS - 1
    for line in lines:
        quote = line[line.index("“") + 1 : line.rindex("”")]
        assert f"turn {numbered[quote]}:" in line
    missing = [held for held in STATED.values() if not any(held in line for line in lines)]
    assert missing == []
    beside = told.replace("Not allergic to: penicillin", "").replace(
        "she is not allergic to penicillin, ", ""
    )
    assert [word for word in NEVER_HELD if word in beside] == []


def assert_same_in_panel(told: str, panel: Any) -> None:
    """The panel's held statements are those of the answer, no more and no fewer."""
    held = [one for one in panel["understood"] if one["status"] == "active"]
    lines = [line for line in told.splitlines() if line.startswith("- ")]
    assert sorted(line.partition(" (Dr. Ada")[0][2:] for line in lines) == sorted(
        one["value"] for one in held
    )
    assert all(one["quote"] and f"“{one['quote']}”" in told for one in held)
