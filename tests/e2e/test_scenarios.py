"""Scenarios over real sockets and the bot's endpoint; operators publish by the command line."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import pytest

from data_models.identifiers import storage_folder
from data_models.storage.local_blob_store import LocalBlobStore
from services.scenarios.definition.definition_reader import read_definition
from services.scenarios.migration.scenario_store import ActivePointer, ScenarioStore
from services.scenarios.scenario_settings import CONTAINER
from tests.e2e.server import ROOT, Server, running_server
from tests.e2e.storage import Stored, StoredBlobs, StoredFiles, StoredInAzure
from tests.e2e.talks import PlainTalk, new_chat, socket_to, streaming

pytestmark = pytest.mark.slow
SAMPLES = ROOT / "samples" / "scenarios"
PLAIN = ROOT / "tests" / "services" / "scenarios"
"""The booking whose steps all ask and run nothing."""
POINTER_SECONDS = 5.2
"""After so long a server has looked at the active pointer again."""


def operate(server: Server, *arguments: str | Path, **more: str) -> dict[str, Any]:
    """Run a command as an operator does, on the server's own data."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-m", "services.scenarios", *map(str, arguments)],
        cwd=ROOT,
        env={**kept, "DATA_DIR": str(server.data), **more},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


async def publish_samples(data: Path) -> None:
    """Make the samples active in the server's data; commands of their own take three seconds."""
    stored_blobs = LocalBlobStore(root=data / CONTAINER)
    store = ScenarioStore(blobs=stored_blobs)
    for name in ("oncology_intake", "tumor_board_preparation", "appointment_booking"):
        folder = PLAIN if name == "appointment_booking" else SAMPLES
        graph = read_definition((folder / f"{name}.yaml").read_text("utf-8"))
        await store.add_version(graph)
        pointer = ActivePointer(
            scenario_id=graph.scenario.id, versions=(1,), checksum=graph.checksum
        )
        await store.save_active(pointer, etag=None)
    await stored_blobs.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("scenarios")
    asyncio.run(publish_samples(folder / "data"))
    with running_server(folder, LLM_PROVIDER="offline", ALLOW_UNKNOWN_PATIENTS="true") as running:
        yield running


class Patient:
    """One patient's conversation, which outlives sockets and servers."""

    def __init__(self, server: Server, conversation: str, *, patient: str = "patient_77") -> None:
        self.server, self.conversation, self.patient = server, conversation, patient

    @classmethod
    async def new(cls, server: Server, *, patient: str = "patient_77") -> "Patient":
        async with aiohttp.ClientSession() as client:
            found = cls(server, await new_chat(client, server.url), patient=patient)
        await found.say(f"hello {patient}")
        return found

    async def say(self, *texts: str) -> str:
        """Say one thing after the other; return the last answer."""
        answer = ""
        async with (
            aiohttp.ClientSession() as client,
            socket_to(client, self.server.url, self.conversation) as socket,
        ):
            for text in texts:
                told = await PlainTalk(self.conversation, socket).say(text)
                assert told.failure is None
                answer = told.text
        return answer

    def document(self, stored_blobs: StoredBlobs | None = None) -> dict[str, Any]:
        stored = Stored(stored_blobs or StoredFiles(self.server.data), self.conversation)
        return stored.document(f"patient_{self.patient}_context.json")

    def session(self, stored_blobs: StoredBlobs | None = None) -> dict[str, Any]:
        found: dict[str, Any] = self.document(stored_blobs)["scenario"]
        return found


async def test_the_oncology_intake_runs_over_a_socket_through_a_restart(server: Server) -> None:
    patient = await Patient.new(server, patient="patient_4")
    assert "Welcome" in await patient.say("start oncology intake")
    assert "Phone number?" in await patient.say("fine", "yes")
    assert server.stop() == 0
    server.start()
    told = await patient.say("where are we?")
    assert told == (
        "Oncology intake: Identity and contact (3 of 13 steps done). Still needed: phone number."
    )
    assert "Urgent review" in await patient.say("555 0100", "a shadow on the lung", "3 and no")
    told = await patient.say("ok", "yes", "four cycles, and yes", "that is right")
    assert "Intake complete" in told
    session = patient.session()
    assert session["step"] is None
    passed = [one["description"] for one in session["completed_checkpoints"]]
    assert passed == ["Consent recorded"]


async def test_a_wish_is_no_answer_to_a_free_text(server: Server) -> None:
    patient = await Patient.new(server, patient="patient_4")
    await patient.say("start oncology intake", "fine", "yes", "555 0100")
    for wish, done in (
        ("book an appointment for her", "Which doctor"),
        ("add a task: call the lab", "call the lab"),
        ("Erinnere mich morgen an das Labor", "Labor"),
    ):
        assert done in await patient.say(wish)
    assert "referral_reason" not in patient.session()["variables"]
    assert "Left Oncology intake" in await patient.say("cancel the intake")
    assert "Reason for referral" in await patient.say("continue the intake")
    assert "Reason for referral" in await patient.say("go on with the intake")
    await patient.say("a shadow on the lung")
    assert patient.session()["variables"]["referral_reason"] == "a shadow on the lung"


async def test_who_asks_for_a_time_beside_it_has_the_answers_first(server: Server) -> None:
    patient = await Patient.new(server, patient="patient_4")
    await patient.say("start oncology intake", "fine", "yes", "555 0100")
    asked = await patient.say("book an appointment for her with dr smith in 2 weeks")
    assert "Reason for referral" not in asked
    assert "Reason for referral" not in await patient.say("the first")
    assert "Reason for referral" in await patient.say("resume")
    assert "referral_reason" not in patient.session()["variables"]


async def test_a_board_is_prepared_with_tools_left_and_resumed(server: Server) -> None:
    patient = await Patient.new(server, patient="patient_4")
    asked = await patient.say("start tumor board preparation", "2030-02-01, Dr. Ito")
    assert "Question for the board" in asked
    assert "Pathology" in await patient.say("surgery or not")
    await patient.say("leave the scenario")
    assert "left for later: Tumor board preparation" in await patient.say("where are we?")
    assert "pathology is final" in await patient.say("resume")
    assert "Close" in await patient.say("yes, yes", "ok", "yes")
    session = patient.session()
    assert [one["description"] for one in session["completed_checkpoints"]] == [
        "Case submitted to the board"
    ]
    ran = [one["step_id"] for one in session["executed"]]
    assert ran == ["load", "timeline"]


async def test_clients_are_shown_the_step_in_the_shared_state(server: Server) -> None:
    async with streaming(server.url) as talk:
        await talk.say("hello patient_77")
        told = await talk.say("start appointment booking")
    assert told.state is not None
    assert told.state["scenario"] == {
        "scenario": "Appointment booking",
        "step": "Choice of service",
        "done": 1,
        "total": 10,
        "needs": ["service"],
    }


async def test_a_new_version_reaches_sessions_that_wait(server: Server) -> None:
    operate(server, "publish", SAMPLES / "age_note.yaml", "--by", "ann")
    adult, minor, paid = [await Patient.new(server) for _ in range(3)]
    await paid.say("start age note", "12", "ok")
    for patient in (adult, minor, paid):
        await patient.say("start appointment booking", "second opinion", "2030-02-03", "yes")
    await paid.say("jo@example.org, no", "yes")
    assert paid.session()["step"] == "confirmation"
    assert paid.document()["profile"]["fields"]["age"]["value"] == 12
    plan = operate(
        server, "propose", PLAIN / "appointment_booking_v2.yaml", "--by", "ann", "--json"
    )
    assert plan["plan"]["status"] == "pending"
    operate(server, "approve", "appointment-booking", "--by", "bob", "--json")
    done = operate(server, "deploy", "appointment-booking", "--by", "bob", "--json")
    assert done["state"] == "deployed"
    await asyncio.sleep(POINTER_SECONDS)
    assert "What is your age?" in await adult.say("hello again")
    assert "Contact" in await adult.say("41")
    assert "What is your age?" in await minor.say("hello again")
    assert server.stop() == 0
    server.start()
    told = await minor.say("12")
    assert "I have new instructions." in told
    assert "Booking by a guardian" in told
    assert "redirect" not in await paid.say("hello again")
    assert [one.session()["version"] for one in (adult, minor, paid)] == [2, 2, 2]
    assert "rejected" not in [visit["step_id"] for visit in paid.session()["step_history"]]
    assert len(server.log_lines("migration_checkpoint_block")) == 1
    assert len(migrations(server)) == 3


def migrations(server: Server) -> list[dict[str, Any]]:
    """What the audit trail holds of jumps between versions."""
    files = sorted((server.data / "audit-trail").rglob("*.jsonl"))
    rows = [orjson.loads(line) for file in files for line in file.read_bytes().splitlines()]
    return [row for row in rows if "scenario_migration" in row["actions"]]


async def test_the_same_on_azure_storage(azure_accounts: Iterator[str], tmp_path: Path) -> None:
    account = next(azure_accounts)
    storage = {"AZURE_STORAGE_CONNECTION_STRING": account}
    stored_blobs = StoredInAzure(account)
    with running_server(
        tmp_path, LLM_PROVIDER="offline", ALLOW_UNKNOWN_PATIENTS="true", **storage
    ) as running:
        graph = (PLAIN / "appointment_booking.yaml").read_text()
        own = f"booking-{storage_folder(tmp_path.name)[-20:]}".replace("_", "-")
        for name, text in (
            ("v1", graph),
            ("v2", PLAIN.joinpath("appointment_booking_v2.yaml").read_text()),
        ):
            (tmp_path / f"{name}.yaml").write_text(
                text.replace("id: appointment-booking", f"id: {own}")
            )
        operate(running, "publish", tmp_path / "v1.yaml", "--by", "ann", **storage)
        patient = await Patient.new(running)
        await patient.say(f"start {own}", "second opinion", "2030-02-03", "yes")
        operate(running, "propose", tmp_path / "v2.yaml", "--by", "ann", **storage)
        operate(running, "approve", own, "--by", "bob", **storage)
        operate(running, "deploy", own, "--by", "bob", **storage)
        await asyncio.sleep(POINTER_SECONDS)
        assert "What is your age?" in await patient.say("hello again")
        assert "Contact" in await patient.say("41")
        assert patient.session(stored_blobs)["version"] == 2
    stored_blobs.close()
