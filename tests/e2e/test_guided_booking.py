"""The booking sample books in the clinic, and the intake's note reaches the tumor board."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from tests.e2e.server import Server, running_server
from tests.e2e.test_scenarios import SAMPLES, Patient, operate

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("booking")
    with running_server(folder, LLM_PROVIDER="offline") as running:
        for name in ("appointment_booking", "oncology_intake"):
            operate(running, "publish", SAMPLES / f"{name}.yaml", "--by", "ann")
        yield running


def next_workday() -> str:
    day = datetime.now(UTC).date() + timedelta(days=1)
    while day.weekday() > 4:
        day += timedelta(days=1)
    return day.isoformat()


async def test_the_booking_ends_with_an_appointment_in_the_clinic(server: Server) -> None:
    patient = await Patient.new(server, patient="patient_4")
    await patient.say("start appointment booking")
    asked = await patient.say("a follow-up, Dr. Smith")
    assert "referred day" in asked
    offered = await patient.say(next_workday())
    assert "is free at" in offered
    await patient.say("yes")
    proposed = await patient.say("jo@example.org, no")
    assert "Book *" in proposed
    booked = await patient.say("yes")
    assert "no money moves" in booked  # the next step, after the booking was told
    session = patient.session()
    assert session["variables"]["is_booked"] is True
    assert session["evidence"]["appointment"]["source"] == "tool"
    done = await patient.say("yes")
    assert "only played" in done
    assert [one["description"] for one in patient.session()["completed_checkpoints"]] == [
        "Appointment booked",
        "Payment played, no money moved",
    ]
    await patient.say("thanks")
    listed = await patient.say("which appointments are there?")
    assert "Smith" in listed


async def test_a_time_that_is_declined_is_not_booked_and_another_day_is_asked(
    server: Server,
) -> None:
    patient = await Patient.new(server, patient="patient_7")
    await patient.say("start appointment booking", "a check-up, Dr. Smith", next_workday(), "yes")
    assert "Book *" in await patient.say("jo@example.org, no")
    told = await patient.say("no")
    assert "referred day" in told
    assert patient.session()["step"] == "day"
    assert patient.session()["completed_checkpoints"] == []


async def test_the_note_of_an_intake_is_in_the_tumor_boards_document(server: Server) -> None:
    patient = await Patient.new(server, patient="patient_4")
    await patient.say("start oncology intake", "fine", "yes", "555 0100")
    await patient.say("a shadow on the lung", "1 and no", "no", "that is right", "thanks")
    assert patient.session()["step"] is None
    points = patient.document()["memory"]["key_points"]
    note = next(one for one in points if one["kind"] == "note")
    assert "a shadow on the lung" in note["text"]
    assert "ECOG 1" in note["text"]
    assert "not said" in note["text"]  # no treatment, so no details were asked for
