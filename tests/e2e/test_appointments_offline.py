"""Appointments with the offline rules, from listing to cancelling, in one conversation."""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest

from tests.e2e.server import Server, running_server
from tests.e2e.talks import streaming

pytestmark = pytest.mark.slow


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with running_server(tmp_path, LLM_PROVIDER="offline") as running:
        yield running


async def test_the_listed_appointment_is_meant_and_of_two_the_user_asked(server: Server) -> None:
    async with streaming(server.url) as talk:
        for text in ("patient_4", "I want to see Dr. Smith", "next week", "tuesday"):
            await talk.say(text)
        said = await talk.say("9")
        assert said.text.endswith("09:00? yes / no")
        await talk.say("yes")
        listed = await talk.say("which appointments are there?")
        assert "Dr. Anna Smith" in listed.text
        asked = await talk.say("cancel it")
        assert "Cancel *Dr. Anna Smith*" in asked.text
        await talk.say("no")
        await talk.say("book Dr. Smith wednesday 10:00")
        await talk.say("yes")
        which = await talk.say("cancel my appointments")
        assert "Which appointment do you mean?" in which.text
        # Which is the first of the two depends on the day of the week.
        tenth = re.search(r"(\d)\. [^\n]* 10:00", which.text)
        assert tenth is not None
        picked = await talk.say(tenth[1])
        assert "10:00? yes / no" in picked.text
        assert "Cancelled" in (await talk.say("yes")).text
        left = await talk.say("which appointments are there?")
        assert "09:00" in left.text
        assert "10:00" not in left.text


async def test_cancel_it_means_what_was_just_booked_and_no_plan_beside_it(server: Server) -> None:
    async with streaming(server.url) as talk:
        for text in ("patient_4", "start tumor board", "dr smith next tuesday at 10"):
            await talk.say(text)
        assert "Booked" in (await talk.say("yes")).text
        assert "Cancel *Dr. Anna Smith*" in (await talk.say("cancel it")).text
        assert "Cancelled: *Dr. Anna Smith*" in (await talk.say("yes")).text
        assert "The plan is cancelled" in (await talk.say("drop the plan")).text


async def test_a_question_beside_the_form_ends_neither_it_nor_an_open_yes(server: Server) -> None:
    async with streaming(server.url) as talk:
        for text in ("patient_4", "book an appointment", "any allergies?"):
            await talk.say(text)
        named = await talk.say("Dr. Smith")
        assert named.text.endswith("Which day suits?")
        await talk.say("any allergies?")
        assert "no appointment was arranged" in (await talk.say("cancel it")).text
        await talk.say("book an appointment with Dr. Smith on tuesday at 9")
        beside = await talk.say("any allergies?")
        assert "Penicillin" in beside.text
        assert beside.text.endswith("09:00? yes / no")
        assert "Booked" in (await talk.say("yes")).text
        assert "Dr. Anna Smith" in (await talk.say("what have I booked")).text


async def test_another_doctor_hour_or_day_is_of_what_was_proposed_or_booked(server: Server) -> None:
    async with streaming(server.url) as talk:
        for text in ("start with patient_4", "dr jones in 2 weeks"):
            await talk.say(text)
        first = re.search(r"\d{4}-\d\d-\d\d", (await talk.say("make it a tuesday")).text)
        later = re.search(r"\d{4}-\d\d-\d\d", (await talk.say("the week after")).text)
        assert first is not None
        assert later is not None
        assert date.fromisoformat(later[0]) - date.fromisoformat(first[0]) == timedelta(days=7)
        assert "10:30? yes / no" in (await talk.say("half past 10")).text
        kept = await talk.say("11 rather")
        assert "11:00? yes / no" in kept.text
        assert later[0] in kept.text
        assert "10:30? yes / no" in (await talk.say("half an hour earlier")).text
        assert later[0] in (await talk.say("morning if poss")).text
        assert "11:00? yes / no" in (await talk.say("11")).text
        assert "Book *Dr. Anna Smith*" in (await talk.say("with dr smith instead")).text
        assert "Booked" in (await talk.say("yes")).text
        moved = await talk.say("with dr jones instead")
        assert "→ *Dr. Peter Jones*" in moved.text
        assert "11:00? yes / no" in moved.text
        assert "Moved" in (await talk.say("yes")).text
        assert "13:30? yes / no" in (await talk.say("half past 1 rather")).text
        await talk.say("stop")
        assert "Which doctor" in (await talk.say("and friday 10 too")).text


async def test_a_time_behind_a_no_moves_what_was_booked(server: Server) -> None:
    async with streaming(server.url) as talk:
        for text in ("start with patient_4", "book Dr. Smith next tuesday at 10", "yes"):
            await talk.say(text)
        assert "Which time suits?" in (await talk.say("no, thursday")).text
        assert "Move *Dr. Anna Smith*" in (await talk.say("no, at 12")).text
        assert "Moved" in (await talk.say("yes")).text


async def test_a_part_of_the_day_is_kept_and_changed_and_a_move_keeps_the_time(
    server: Server,
) -> None:
    async with streaming(server.url) as talk:
        await talk.say("patient_4")
        await talk.say("Termin bei Smith Dienstag, nur vormittags")
        assert "13:00" in (await talk.say("lieber nachmittags")).text
        await talk.say("den letzten")
        assert "Gebucht" in (await talk.say("ja")).text
        moved = await talk.say("move her appt to the same time on thursday")
        assert "16:30? yes / no" in moved.text
