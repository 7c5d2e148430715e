"""An appointment in ten turns, over a WebSocket, with a restart and two detours in the middle."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import pytest

from data_models.identifiers import storage_folder
from tests.e2e.server import Server, running_server
from tests.e2e.talks import Answer, StreamTalk, new_chat, socket_to

pytestmark = pytest.mark.slow
AGENT = "AppointmentManager"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with running_server(tmp_path, LLM_PROVIDER="offline") as running:
        yield running


def entities(server: Server, conversation: str, patient: str = "patient_4") -> dict[str, Any]:
    """What the patient's document holds now."""
    folder = server.data / "chat-sessions" / storage_folder(conversation)
    document = orjson.loads((folder / f"patient_{patient}_context.json").read_bytes())
    held: dict[str, Any] = document["entities"]
    return held


def wishes(server: Server, conversation: str, patient: str = "patient_4") -> dict[str, Any]:
    held = entities(server, conversation, patient)["conversation"]["entities"]
    return {key: row["value"] for key, row in held.items()}


def found(server: Server, conversation: str) -> dict[str, Any]:
    held = entities(server, conversation)["derived"]["agent_entities"].get(AGENT, {})
    return {key: row["value"] for key, row in held.items()}


class Booking:
    """One conversation that outlives its sockets and its server."""

    def __init__(self, server: Server, client: aiohttp.ClientSession, conversation: str) -> None:
        self.server, self.client, self.conversation = server, client, conversation

    async def say(self, text: str) -> Answer:
        address = (self.client, self.server.url, self.conversation, "?stream=1")
        async with socket_to(*address) as socket:
            return await StreamTalk(self.conversation, socket).say(text)

    def wishes(self, patient: str = "patient_4") -> dict[str, Any]:
        return wishes(self.server, self.conversation, patient)

    def found(self) -> dict[str, Any]:
        return found(self.server, self.conversation)

    def restart(self) -> None:
        assert self.server.stop() == 0
        self.server.start()


async def test_ten_turns_book_one_appointment(server: Server) -> None:
    async with aiohttp.ClientSession() as client:
        booking = Booking(server, client, await new_chat(client, server.url))
        await asks_for_a_time(booking)
        await makes_detours(booking)
        done = await booking.say(f"@{AGENT} book it")
        assert "Booked" in done.text
        assert booking.found()["appointment_id"].startswith("appointment-")
        listed = await booking.say(f"@{AGENT} show my appointments")
        assert "16:00" in listed.text
        assert listed.text.count("- 20") == 1, "one yes books once"


async def asks_for_a_time(booking: Booking) -> None:
    await booking.say("patient_4")
    first = await booking.say(f"@{AGENT} I want Dr. Smith")
    assert booking.wishes() == {"doctor_preference": "Dr. Smith"}
    assert first.said[-1].text.endswith("?")
    second = await booking.say("tomorrow at 3")
    assert second.agents == [AGENT], "the agent that asked goes on"
    expected = {"date_preference": "tomorrow", "time_preference": "15:00"}
    assert booking.wishes() == {"doctor_preference": "Dr. Smith", **expected}
    proposed = booking.found()["appointment_proposal"]["slot_id"]
    booking.restart()
    third = await booking.say("actually 4")
    assert third.agents == [AGENT], "a restart changes nothing"
    assert booking.wishes()["time_preference"] == "16:00"
    assert booking.found()["appointment_proposal"]["slot_id"] != proposed


async def makes_detours(booking: Booking) -> None:
    desk = await booking.say("Registration: is the insurance eligible?")
    assert desk.agents == ["Registration"]
    queues = entities(booking.server, booking.conversation)["derived"]["agent_entities"]
    assert "eligibility_checked" in queues["Registration"]
    assert "available_slots" not in queues["Registration"]
    await booking.say("switch to patient_15")
    assert booking.wishes("patient_15") == {}
    await booking.say("switch to patient_4")
    assert booking.wishes()["time_preference"] == "16:00"
