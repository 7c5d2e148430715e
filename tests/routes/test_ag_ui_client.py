"""The public AG-UI client, and its own validator, against the server."""

import asyncio
import os
from pathlib import Path

import orjson
import pytest

from data_models.turn_events import RunFailed, RunStarted
from services.runs.hub import Run
from tests.peers import node_module, node_program
from tests.routes.conftest import Server
from tests.web.scenes import TumorBoard

pytestmark = pytest.mark.slow
PEER = Path(__file__).parent / "ag_ui_peer.mjs"


async def recorded_over_a_socket(server: Server) -> list[list[dict[str, object]]]:
    """A long run, a queued one, a stopped one and a failed one, as a streaming client got them."""
    socket = await server.socket("recorded", query="?stream=1")
    await socket.say("history of patient_4")
    await socket.say("history of patient_15")
    both = [*await socket.until_finished(), *await socket.until_finished()]

    async def fail(run: Run) -> None:
        run.emit(RunStarted(run_id=run.run_id, conversation_id=run.conversation_id))
        run.emit(RunFailed(code="model", text="Sorry.", ref="ref_1"))

    async def endless(run: Run) -> None:
        run.emit(RunStarted(run_id=run.run_id, conversation_id=run.conversation_id))
        await asyncio.Event().wait()

    server.scheduler.script = fail
    await socket.say("fail")
    failed = await socket.until_finished()
    server.scheduler.script = endless
    await socket.say("stop me")
    first = await socket.next()
    await socket.send({"type": "stop"})
    return [both, failed, [first, *await socket.until_finished()]]


async def test_the_public_client_follows_turns_and_finds_no_fault(
    server: Server, tmp_path: Path
) -> None:
    folder = node_module("@ag-ui/client", "ag-ui-client").parent.parent
    server.scheduler.script = TumorBoard(pause_seconds=0.001)
    runs = await recorded_over_a_socket(server)
    recorded = tmp_path / "runs.json"
    recorded.write_bytes(orjson.dumps(runs))
    server.scheduler.script = TumorBoard(pause_seconds=0.001)
    process = await asyncio.create_subprocess_exec(
        *(str(node_program()), str(PEER), str(folder), server.base, "ada-key", str(recorded)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={"PATH": os.environ["PATH"]},
    )
    output, errors = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0, errors.decode()
    told = orjson.loads(output.splitlines()[-1])
    assert told["outcomes"] == ["interrupt", "success"]
    assert told["interrupt"] == "plan:plan_patient_4"
    assert (told["plan"], told["patient"]) == (["proposed", "done"], "patient_4")
    assert told["names"] == [
        "Orchestrator",
        "PatientHistory",
        "Radiology",
        "Pathology",
        "ReportCreation",
    ]
    assert told["first"].startswith("I propose a tumor board for `patient_4`.")
