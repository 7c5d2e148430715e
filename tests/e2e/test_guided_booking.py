"""The booking sample books in the clinic, and the intake's note reaches the tumor board."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.e2e.server import Server, running_server
from tests.e2e.test_scenarios import POINTER_SECONDS, SAMPLES, Patient, operate

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


async def test_a_declined_time_is_not_booked_and_another_day_is_asked(server: Server) -> None:
    patient = await Patient.new(server, patient="patient_7")
    await patient.say("start appointment booking", "a check-up, Dr. Smith", next_workday(), "yes")
    assert "Book *" in await patient.say("jo@example.org, no")
    told = await patient.say("no")
    assert "referred day" in told
    assert patient.session()["step"] == "day"
    assert patient.session()["completed_checkpoints"] == []


def with_insurance(text: str) -> str:
    """The sample's next version: whoever is not insured sees the cash desk before the day."""
    text = text.replace("version: 1", "version: 2", 1)
    text = text.replace(
        "steps:\n",
        "  - {name: insured, display_name: whether the visit is insured, "
        'question: "Is the visit insured?", value_type: boolean, phi: false}\nsteps:\n',
        1,
    )
    day = "  - id: day\n"
    new = """\
  - id: insurance
    name: Insurance
    collects_profile_fields: [insured]
    transitions:
      - {target: cash, condition: "!insured"}
      - {target: day}
  - id: cash
    name: Cash desk
    collects_profile_fields: [preferred_day]
    instructions: >-
      Say where: "The visit is paid at the cash desk; which day would suit?"
    transitions: [{target: times}]
"""
    text = text.replace("transitions: [{target: day}]", "transitions: [{target: insurance}]", 1)
    return text.replace(day, new + day, 1)


async def test_the_uninsured_at_the_day_are_asked_for_insurance_only_and_go_to_the_cash_desk(
    server: Server, tmp_path: Path
) -> None:
    away, insured = [await Patient.new(server, patient=one) for one in ("patient_15", "patient_21")]
    for patient in (away, insured):
        await patient.say("start appointment booking", "a follow-up, Dr. Smith")
        assert patient.session()["step"] == "day"
    second = tmp_path / "second.yaml"
    second.write_text(with_insurance((SAMPLES / "appointment_booking.yaml").read_text("utf-8")))
    operate(server, "propose", second, "--by", "ann")
    operate(server, "approve", "appointment-booking", "--by", "bob")
    operate(server, "deploy", "appointment-booking", "--by", "bob")
    await asyncio.sleep(POINTER_SECONDS)
    for patient in (away, insured):
        asked = await patient.say("hello")
        assert "insured" in asked
        assert "time suits" not in asked
        assert [*patient.session()["progress"]["attempts"]] == ["insured"]
    told = await away.say("no")
    assert "cash" in [visit["step_id"] for visit in away.session()["step_history"]]
    assert "time suits" not in told
    told = await insured.say("yes")
    assert insured.session()["step"] == "day"
    assert "cash desk" not in told


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
