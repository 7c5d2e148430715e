"""The public AG-UI client against the real server, and its verifier over what sockets were told."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import pytest

from tests.e2e.conftest import WORLDS, World
from tests.e2e.server import ROOT, Server, running_server
from tests.e2e.talks import StreamTalk, new_chat, socket_to
from tests.peers import node_module, node_program
from tests.tables import tables_beside

pytestmark = pytest.mark.slow

AGENTS = ["PatientHistory", "PatientStatus", "Radiology", "Pathology", "ReportCreation"]
LINES: tuple[str, ...] = tuple(tables_beside(Path(__file__))["lines"])


async def recorded_runs(url: str, conversation: str) -> list[list[dict[str, Any]]]:
    """Return the frames of many kinds of turns, as a streaming client gets them."""
    async with (
        aiohttp.ClientSession() as client,
        socket_to(client, url, conversation, "?stream=1") as socket,
    ):
        talk = StreamTalk(conversation, socket)
        for line in LINES:
            await talk.say(line)
        # Two at once: one waits, and says so within the other's run.
        await socket.send_json({"content": "switch to patient_4"})
        await socket.send_json({"content": "switch to patient_15"})
        both: list[dict[str, Any]] = []
        while sum(frame["type"] == "RUN_FINISHED" for frame in both) < 2:
            both.append(orjson.loads(await socket.receive_str(timeout=60)))
        return [*talk.runs, both]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_server(tmp_path_factory.mktemp("flows"), LLM_PROVIDER="offline") as running:
        yield running


@pytest.mark.parametrize(
    ("client", "module"), [("ag-ui", "@ag-ui/client"), ("copilotkit", "@copilotkit/core")]
)
async def test_stock_clients_finish_every_flow(server: Server, client: str, module: str) -> None:
    folder = node_module(module, "ag-ui-client").parent.parent
    async with aiohttp.ClientSession() as http:
        threads = [await new_chat(http, server.url) for _ in range(2)]
    told = await told_by("ag_ui_flows.mjs", str(folder), client, server.url, *threads)
    errors = {name: one["error"] for name, one in told.items() if one["error"]}
    assert set(errors) - {"stopped"} == {"refused", "wrong", "nothing"}
    # Plain words: no interrupt, and whatever is asked can be answered.
    plainly = ("proposed", "streamed", "plain", "closed", "no", "afterStop", "afterRefusal")
    assert [told[name]["outcome"] for name in plainly] == ["success"] * 7
    assert [told[name]["plan"] for name in ("proposed", "streamed")] == ["proposed", "done"]
    assert told["streamed"]["deltas"] > 20
    assert "IVB" in told["plain"]["text"]
    assert [told[name]["question"] for name in ("closed", "no")] == ["clear", None]
    # A client that stops sees its run end; what it asks next is answered.
    assert told["stopped"]["outcome"] is None
    assert "ECOG" in told["afterStop"]["text"]
    # Interrupts: a wrong payload answers nothing, so the right one still does.
    assert told["interrupted"]["outcome"] == "interrupt"
    assert told["interrupted"]["interrupts"][0]["responseSchema"]["required"] == ["answer"]
    assert (told["right"]["outcome"], told["right"]["plan"]) == ("success", "done")


async def told_by(script: str, *arguments: str) -> dict[str, Any]:
    process = await asyncio.create_subprocess_exec(
        *(str(node_program()), str(ROOT / "tests" / "tools" / script), *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={"PATH": os.environ["PATH"]},
    )
    output, errors = await asyncio.wait_for(process.communicate(), 120)
    assert process.returncode == 0, errors.decode()
    told: dict[str, Any] = orjson.loads(output.splitlines()[-1])
    return told


async def walked(url: str, conversation: str, recorded: Path) -> dict[str, Any]:
    folder = node_module("@ag-ui/client", "ag-ui-client").parent.parent
    return await told_by("ag_ui_walk.mjs", str(folder), url, conversation, str(recorded))


# The rules' answers are read by the stock clients above, and what is stored by test_walk_through.
@pytest.mark.parametrize("world", WORLDS[:1], indirect=True, ids="-".join)
async def test_the_public_client_does_the_main_job_and_finds_no_fault(
    world: World, tmp_path: Path
) -> None:
    async with aiohttp.ClientSession() as client:
        conversation = await new_chat(client, world.server.url)
        other = await new_chat(client, world.server.url)
    runs = await recorded_runs(world.server.url, other)
    recorded = tmp_path / "runs.json"
    recorded.write_bytes(orjson.dumps(runs))
    told = await walked(world.server.url, conversation, recorded)
    assert told["verified"] == len(runs)
    proposed, done, switched, back, cleared = told["turns"]
    assert (proposed["outcome"], proposed["plan"]) == ("interrupt", "proposed")
    assert proposed["names"] == ["Orchestrator"]
    assert (done["outcome"], done["plan"]) == ("success", "done")
    spoke = [name for name in done["names"] if name != "Orchestrator"]
    # Steps that need nothing of each other run side by side: whoever is ready speaks first.
    assert (sorted(spoke[:-1]), spoke[-1]) == (sorted(AGENTS[:-1]), AGENTS[-1])
    assert (switched["patient"], switched["plan"]) == ("patient_15", None)
    assert switched["text"].startswith("Switched to patient_15. Opened the chart of Zoë")
    assert (back["patient"], back["plan"]) == ("patient_4", "done")
    assert back["patients"] == ["patient_15", "patient_4"]
    assert (cleared["patient"], cleared["patients"]) == (None, [])
    # Without interrupts the question is in the state, and plain words go on after it.
    assert {one["outcome"] for one in told["plainly"]} == {"success"}
    questions = [one["question"] for one in told["plainly"]]
    assert questions == [None, None, None, "clear", None, "clear", None, None]
    plans = [one["plan"] for one in told["plainly"]]
    assert plans[:3] == ["proposed", "proposed", "done"], told["plainly"][:3]
    assert told["notices"].count("not_read") == len(told["plainly"])
