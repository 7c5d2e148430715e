"""An appointment in ten turns, over a WebSocket, with a restart and two detours in the middle."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import pytest

from data_models.identifiers import storage_folder
from tests.e2e.booking_brain import booking_brain, shown_entities
from tests.e2e.models import ModelServer, running_model
from tests.e2e.server import Server, running_server
from tests.e2e.talks import Answer, StreamTalk, new_chat, socket_to

pytestmark = pytest.mark.slow
AGENT, SCHEDULER = "AppointmentManager", "Registration"


class Booking:
    """One conversation that outlives its sockets and its server.

    Attributes:
        model: The scripted model's server; None with the offline rules.
    """

    def __init__(self, server: Server, model: ModelServer | None) -> None:
        self.server, self.model, self.conversation = server, model, ""

    async def begin(self) -> None:
        async with aiohttp.ClientSession() as client:
            self.conversation = await new_chat(client, self.server.url)

    async def say(self, text: str) -> Answer:
        async with aiohttp.ClientSession() as client:
            address = (client, self.server.url, self.conversation, "?stream=1")
            async with socket_to(*address) as socket:
                return await StreamTalk(self.conversation, socket).say(text)

    def document(self, patient: str) -> dict[str, Any]:
        folder = self.server.data / "chat-sessions" / storage_folder(self.conversation)
        file = folder / f"patient_{patient}_context.json"
        found: dict[str, Any] = orjson.loads(file.read_bytes())
        return found

    def wishes(self, patient: str = "patient_4") -> dict[str, Any]:
        """What the patient's document holds of what the user wants."""
        held = self.document(patient)["entities"]["conversation"]["entities"]
        rows = sorted(held.items(), key=lambda row: row[1]["seq"])
        return {key: row["value"] for key, row in rows}

    def found(self, agent: str = AGENT, patient: str = "patient_4") -> dict[str, Any]:
        """What the patient's document holds of what tools found for `agent`."""
        held = self.document(patient)["entities"]["derived"]["agent_entities"].get(agent, {})
        return {key: row["value"] for key, row in held.items() if not row["is_outdated"]}

    def restart(self) -> None:
        assert self.server.stop() == 0
        self.server.start()


@pytest.fixture(params=["offline", "openai"])
def booking(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Booking]:
    with ExitStack() as stack:
        is_scripted = request.param == "openai"
        model = stack.enter_context(running_model(booking_brain)) if is_scripted else None
        settings = model.settings() if model else {"LLM_PROVIDER": "offline"}
        server = stack.enter_context(running_server(tmp_path, **settings))
        yield Booking(server, model)


async def test_ten_turns_book_one_appointment(booking: Booking) -> None:
    await booking.begin()
    await booking.say("patient_4")
    await asks_for_a_time(booking)
    await changes_the_time_after_a_restart(booking)
    await makes_detours(booking)
    await books(booking)
    await registers(booking)


async def asks_for_a_time(booking: Booking) -> None:
    first = await booking.say(f"@{AGENT} I want Dr. Smith")
    assert booking.wishes() == {"doctor_preference": "Dr. Smith"}
    assert first.said[-1].text.endswith("?")
    second = await booking.say("tomorrow at 3")
    assert second.agents[0] == AGENT, "the agent that asked goes on"
    assert booking.wishes() == {
        "doctor_preference": "Dr. Smith",
        "date_preference": "tomorrow",
        "time_preference": "15:00",
    }
    assert second.text.endswith("15:00? yes / no")
    assert "T1500" in booking.found()["appointment_proposal"]["slot_id"]
    assert {"doctor_uuid", "available_slots"} <= set(booking.found())
    assert "appointment_id" not in booking.found(), "nothing is booked before a yes"


async def changes_the_time_after_a_restart(booking: Booking) -> None:
    booking.restart()
    third = await booking.say("actually 4")
    assert third.agents[0] == AGENT, "a restart changes nothing"
    assert booking.wishes()["time_preference"] == "16:00"
    assert booking.wishes()["date_preference"] == "tomorrow"
    assert third.text.endswith("16:00? yes / no")
    assert "T1600" in booking.found()["appointment_proposal"]["slot_id"]
    if booking.model is not None:
        await booking.say("it is about my knee")
        assert booking.wishes()["reason_visit"] == "knee", "the model's own delta"


async def makes_detours(booking: Booking) -> None:
    wishes = booking.wishes()
    scheduler = await booking.say(f"{SCHEDULER}: is the insurance eligible?")
    assert scheduler.agents == [SCHEDULER]
    assert set(booking.found(SCHEDULER)) == {"eligibility_checked", "insurance_verified"}
    if booking.model is not None:
        asked = [one for one in booking.model.requests if "insurance" in "".join(one.tool_names)]
        shown = shown_entities(asked[0])
        assert shown["entities"] == wishes, "the preferences are everybody's"
        assert shown["derived_entities"] == {}, "the slots are not"
    await booking.say("switch to patient_15")
    assert booking.wishes("patient_15") == {}
    await booking.say("switch to patient_4")
    assert booking.wishes() == wishes
    assert set(booking.found()) >= {"available_slots", "appointment_proposal"}


async def books(booking: Booking) -> None:
    asked = await booking.say(f"@{AGENT} book it")
    assert asked.text.endswith("16:00? yes / no"), "the question was over with the switch"
    done = await booking.say("book it")
    assert "Booked: *Dr. Anna Smith*" in done.text
    assert booking.found()["appointment_id"].startswith("appointment-")
    assert "appointment_proposal" not in booking.found()
    listed = await booking.say(f"@{AGENT} show my appointments")
    assert "16:00" in listed.text
    assert listed.text.count("16:00") == 1, "one yes books once"


async def registers(booking: Booking) -> None:
    wanted = f"@{SCHEDULER} register Ada Leeward, born 1980-02-29"
    asked = await booking.say(wanted)
    assert asked.text.endswith("Register *Ada Leeward*, born 29 Feb 1980? yes / no")
    refused = await booking.say("no")
    assert "Nobody was registered" in refused.text
    assert "patient_id_retrieved" not in booking.found(SCHEDULER), (
        "nothing is written without a yes"
    )
    await booking.say(wanted)
    assert "Registered: *Ada Leeward*" in (await booking.say("yes")).text
    assert booking.found(SCHEDULER)["patient_id_retrieved"]


async def test_that_event_is_the_appointment_that_was_just_booked(tmp_path: Path) -> None:
    with running_server(tmp_path, LLM_PROVIDER="offline") as server:
        booking = Booking(server, None)
        await booking.begin()
        await booking.say("patient_4")
        await booking.say("book Dr. Smith tomorrow at 3")
        assert "Booked" in (await booking.say("yes")).text
        asked = await booking.say("cancel that event")
        assert asked.text.endswith("? yes / no")
        assert "Dr. Anna Smith" in asked.text
