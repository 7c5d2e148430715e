"""The bot endpoint of the running server: cards, repeated deliveries, a restart between."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from itertools import count
from pathlib import Path

import pytest

from data_models.identifiers import storage_folder
from tests.e2e.server import Server, running_server
from tests.e2e.storage import Stored, StoredFiles
from tests.e2e.talks import BotTalk, at_rest
from tests.fakes_connector import FakeConnector
from tests.waiting import until

pytestmark = pytest.mark.slow

DONE = "All steps of the plan are done."
_numbers = count(1)
ASKS = "Shall I go ahead with this plan?"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_server(tmp_path_factory.mktemp("bot"), LLM_PROVIDER="offline") as running:
        yield running


@pytest.fixture
async def talk(server: Server) -> AsyncIterator[BotTalk]:
    async with FakeConnector() as channel:
        yield BotTalk(f"19:cards-{next(_numbers)}@thread.tacv2", channel, server.url)
        assert channel.faults == []


async def test_the_plans_card_starts_it_once(talk: BotTalk) -> None:
    await talk.say("start tumor board for patient_4", last_words=ASKS)
    assert set(talk.channel.buttons(talk.conversation)) == {"Confirm", "Change", "Cancel"}
    done = await talk.press("Confirm", last_words=DONE)
    assert "ReportCreation" in done.agents
    stale = await talk.press("Confirm", last_words="earlier question")
    assert stale.said == ()


async def test_the_tumor_board_is_eight_messages_in_teams(server: Server) -> None:
    async with FakeConnector(channel_id="msteams") as teams:
        talk = BotTalk("a:quiet", teams, server.url)
        await talk.say("start tumor board for patient_4", last_words=ASKS)
        await talk.press("Confirm", last_words=DONE)
        assert (teams.faults, teams.streams.faults) == ([], [])
        assert len(teams.messages("a:quiet")) <= 8
        for text in teams.texts("a:quiet"):
            assert "Margaret Anne Whitfield, born 1957-03-14" in text
            assert "a:quiet" not in text


async def test_a_cancelled_plan_runs_nobody(talk: BotTalk) -> None:
    await talk.say("start tumor board for patient_4", last_words=ASKS)
    cancelled = await talk.press("Cancel", last_words="(active)")
    assert cancelled.agents == ["Orchestrator"]


async def test_an_activity_delivered_again_after_a_restart_starts_no_second_turn(
    server: Server, talk: BotTalk
) -> None:
    channel, conversation = talk.channel, talk.conversation
    stored = Stored(StoredFiles(server.data), conversation)
    words = "start tumor board for patient_4"
    await channel.say(server.url, words, conversation=conversation, activity_id="a-1")
    await talk.answer(0, last_words=ASKS)
    await channel.say(server.url, words, conversation=conversation, activity_id="a-1")
    await at_rest(stored)
    server.kill()
    # Beside the loop, which has to see that its connections are gone.
    await asyncio.to_thread(server.start)
    posted = await channel.say(server.url, words, conversation=conversation, activity_id="a-1")
    assert posted.status == 202
    await channel.until_quiet(conversation, seconds=1.0)
    assert len(stored.document("patient_patient_4_context.json")["chat_history"]) == 1
    assert len([text for text in channel.texts(conversation) if ASKS in text]) == 1
    # The conversation goes on where it was, by the plan's card of before.
    done = await talk.press("Confirm", last_words=DONE)
    assert "ReportCreation" in done.agents


async def test_what_a_killed_server_owes_comes_by_itself(server: Server, talk: BotTalk) -> None:
    channel, conversation = talk.channel, talk.conversation
    stored = Stored(StoredFiles(server.data), conversation)
    channel.fail_next(503, kind="message", times=1_000)
    await channel.say(server.url, "start tumor board for patient_4", conversation=conversation)
    await until(lambda: channel.refused)
    await at_rest(stored)
    server.kill()
    assert channel.texts(conversation) == []
    channel.heal()
    await asyncio.to_thread(server.start)
    await channel.until_said(ASKS, conversation=conversation, seconds=180.0)
    # What comes late comes without its buttons; words answer it.
    done = await talk.say("yes proceed", last_words=DONE)
    assert "ReportCreation" in done.agents


async def test_a_call_for_help_is_answered_though_the_list_of_patients_is_damaged(
    server: Server, talk: BotTalk
) -> None:
    await talk.say("start tumor board for patient_4", last_words=ASKS)
    folder = server.data / "chat-sessions" / storage_folder(talk.conversation)
    await at_rest(Stored(StoredFiles(server.data), talk.conversation))
    server.kill()
    registry = folder / "patient_context_registry.json"
    registry.write_bytes(registry.read_bytes()[:40])
    await asyncio.to_thread(server.start)
    answer = await talk.say("I want to kill myself", last_words="cannot be read")
    assert "112" in "".join(said.text for said in answer.said)


async def test_two_charts_are_compared_after_a_yes_under_both_identities(talk: BotTalk) -> None:
    asked = await talk.say("compare patient_4 and patient_7", last_words="yes / no")
    assert "Margaret Anne Whitfield" in asked.said[-1].text
    done = await talk.say("yes", last_words="Side by side")
    told = "".join(said.text for said in done.said)
    assert "Margaret Anne Whitfield, born 1957-03-14 (patient_4)" in told
    assert "Tunde Adeyemi, born 1968-07-21 (patient_7)" in told


@pytest.fixture
async def closed(tmp_path: Path) -> AsyncIterator[BotTalk]:
    roster = tmp_path / "care.yaml"
    roster.write_text("key:somebody-else: [patient_4]\n")
    rules = {
        "LLM_PROVIDER": "offline",
        "ACCESS_POLICY": "roster",
        "CARE_ROSTER_FILE": str(roster),
        "BREAK_GLASS_MINUTES": "30",
    }
    with running_server(tmp_path / "data", **rules) as server:
        async with FakeConnector() as channel:
            yield BotTalk("19:closed@thread.tacv2", channel, server.url)
            assert channel.faults == []


async def test_an_emergency_opens_a_closed_chart_by_a_typed_reason_only(closed: BotTalk) -> None:
    refused = await closed.say("patient_4", last_words="it is reviewed.")
    without = await closed.say("break glass:", last_words="Nothing was opened.")
    opened = await closed.say("break glass: unconscious on arrival", last_words="(active)")
    answer = await closed.say("any allergies?", last_words="(active)")

    before = "".join(said.text for one in (refused, without) for said in one.said)
    assert "is not open to you" in before
    assert "Whitfield" not in before
    assert "Whitfield" in "".join(said.text for said in opened.said)
    assert "Penicillin" in "".join(said.text for said in answer.said)
