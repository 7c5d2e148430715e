"""The same appointment, booked in a FHIR server that knows nothing of Rounds."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiohttp
import pytest

from scripts.test_tools import NODE_HOME
from tests import peers
from tests.e2e.server import Server, running_server
from tests.e2e.talks import StreamTalk, new_chat, socket_to
from tests.services.scheduling.clinics import fill, found

pytestmark = pytest.mark.slow
AGENT = "AppointmentManager"
FHIR_SERVER = Path(__file__).parents[1] / "tools" / "fhir_server.mjs"


@pytest.fixture
def fhir(tmp_path: Path) -> Iterator[str]:
    """An independent FHIR server with a clinic whose next days are free."""
    peers.node_module("@medplum/fhir-router", "fhir-router")
    arguments: list[str | Path] = ["--experimental-websocket", FHIR_SERVER, NODE_HOME]
    with peers.running_node(arguments, folder=tmp_path, ready=r"listening on (\S+)\n") as url:
        today = datetime.now(UTC).date()
        asyncio.run(fill(url, [today + timedelta(days=number) for number in range(3)]))
        yield url


@pytest.fixture
def server(fhir: str, tmp_path: Path) -> Iterator[Server]:
    with running_server(tmp_path, LLM_PROVIDER="offline", FHIR_BASE_URL=fhir) as running:
        yield running


async def test_an_appointment_is_booked_and_cancelled_there(fhir: str, server: Server) -> None:
    async with aiohttp.ClientSession() as client:
        conversation = await new_chat(client, server.url)
        async with socket_to(client, server.url, conversation, "?stream=1") as socket:
            talk = StreamTalk(conversation, socket)
            await talk.say("patient_4")
            asked = await talk.say(f"@{AGENT} I want Dr. Smith tomorrow at 3")
            assert asked.text.endswith("15:00? yes / no")
            assert await found(client, fhir, "Appointment") == []
            assert "Booked" in (await talk.say("yes")).text
            (appointment,) = await found(client, fhir, "Appointment")
            assert appointment["status"] == "booked"
            actors = [each["actor"]["reference"] for each in appointment["participant"]]
            assert actors == ["Patient/patient-4", "Practitioner/dr-smith"]
            taken = appointment["slot"][0]["reference"].removeprefix("Slot/")
            busy = [row["id"] for row in await found(client, fhir, "Slot") if is_busy(row)]
            assert busy == [taken]
            asked = await talk.say(f"@{AGENT} cancel my appointment")
            assert asked.text.startswith("I propose this: cancel the appointment")
            assert "Cancelled" in (await talk.say("yes")).text
            (appointment,) = await found(client, fhir, "Appointment")
            assert appointment["status"] == "cancelled"
            assert [row for row in await found(client, fhir, "Slot") if is_busy(row)] == []


def is_busy(slot: dict[str, object]) -> bool:
    return slot["status"] != "free"
