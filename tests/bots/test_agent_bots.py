"""Agents with a bot of their own: who gets in where, and which bot every reply is sent by."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bots.config import PerBot, Registration
from data_models.clock import SystemClock
from data_models.conversations.incoming_message import IncomingMessage
from services.basis import Replica
from services.own_sign_in import IssuedToken, Tokens, TokenSource
from services.runs.hub import Run
from tests.bots.conftest import Bot, KeptAnswers, Start, WatchedTurns, registered
from tests.bots.directory import APP_ID, TENANT, USER, ChannelDirectory
from tests.bots.scripts import Talk, telling
from tests.bots.test_door import WRONG_TOKENS
from tests.bots.test_owed import DeadLater, never, until_owed
from tests.fakes_connector import FakeConnector, Posted
from tests.given import present
from tests.routes.fakes import answer, tell
from tests.tables import with_cases

RADIOLOGY_ID = "77777777-8888-7777-6666-555555555555"
TEAM_PATH, AGENT_PATH = "/api/messages", "/api/Radiology/messages"
TEAM_TOKEN, AGENT_TOKEN = f"Bearer token of {APP_ID}", f"Bearer token of {RADIOLOGY_ID}"


def two_bots(directory: ChannelDirectory, **changes: Any) -> dict[str, Any]:
    """The configuration of the team's bot and Radiology's, which reply to this machine."""
    directory.passwords = {APP_ID: "team-password", RADIOLOGY_ID: "agent-password"}

    def tokens(bot: Registration) -> TokenSource:
        async def sign_in() -> IssuedToken:
            return IssuedToken(directory.grant(bot.app_id or "", bot.app_password), 3_600)

        return Tokens(sign_in=sign_in, clock=SystemClock())

    team = Registration(app_id=APP_ID, app_password="team-password", tenants=(TENANT,))
    own = replace(team, app_id=RADIOLOGY_ID, app_password="agent-password")
    bots = PerBot(team, {"radiology": own})
    return registered(directory) | {"bots": bots, "loopback": True, "tokens": tokens} | changes


async def say(
    bot: Bot,
    teams: FakeConnector,
    directory: ChannelDirectory,
    path: str,
    *,
    audience: str | None = None,
    token: str | None = None,
    **fields: Any,
) -> Posted:
    usual: dict[str, Any] = {
        "text": "hello",
        "from": {"id": "29:1", "aadObjectId": USER},
        "channelData": {"tenant": {"id": TENANT}},
    }
    meant = audience or (APP_ID if path == TEAM_PATH else RADIOLOGY_ID)
    token = token or directory.token(aud=meant, serviceurl=teams.service_url)
    activity = teams.activity(**{**usual, **fields})
    headers = {"Authorization": f"Bearer {token}"}
    return await teams.post(bot.url, activity, path=path, headers=headers)


Say = Callable[..., Awaitable[Posted]]


@pytest.fixture
def speak(teams: FakeConnector, directory: ChannelDirectory) -> Say:
    """Says something to a bot at a path, with the right token unless told."""

    async def spoken(bot: Bot, path: str, **fields: Any) -> Posted:
        return await say(bot, teams, directory, path, **fields)

    return spoken


async def warmed(bot: Bot, speak: Say) -> Bot:
    """Return `bot` once it has its keys."""
    async with asyncio.timeout(60):
        while (await speak(bot, TEAM_PATH, type="typing")).status != 202:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    return bot


@pytest.fixture
async def bots(start: Start, directory: ChannelDirectory, speak: Say) -> Bot:
    """The team's bot and Radiology's, in one process."""
    return await warmed(await start(**two_bots(directory)), speak)


def tokens_of(teams: FakeConnector, part: str) -> set[str | None]:
    """Return the tokens of all that was sent with `part` in its text."""
    found = {token for token, one in teams.signed if part in (one.get("text") or "")}
    assert found, f"nothing said {part!r}"
    return found


# -- the doors ------------------------------------------------------------------------------------


@pytest.mark.slow
@with_cases("path", "audience", "status")
async def test_each_bot_lets_in_what_is_meant_for_it_and_nothing_else(
    path: str, audience: str, status: int, bots: Bot, speak: Say, directory: ChannelDirectory
) -> None:
    asked = directory.downloads
    posted = await speak(bots, path, audience=audience, type="typing")
    assert posted.status == status
    assert directory.downloads == asked


@pytest.mark.slow
@pytest.mark.parametrize("audience", [[APP_ID, RADIOLOGY_ID], [RADIOLOGY_ID], [APP_ID], 5, {}])
@pytest.mark.parametrize("path", [TEAM_PATH, AGENT_PATH])
async def test_a_token_is_for_one_bot(
    audience: Any, path: str, bots: Bot, speak: Say, teams: FakeConnector,
    directory: ChannelDirectory,
) -> None:  # fmt: skip
    crowded = directory.token(aud=audience, serviceurl=teams.service_url)
    posted = await speak(bots, path, token=crowded)
    assert posted.status == 401


@pytest.mark.slow
async def test_an_agents_door_refuses_wrong_tokens_as_the_teams_does(
    bots: Bot, speak: Say, directory: ChannelDirectory
) -> None:
    directory.audience = RADIOLOGY_ID
    for name, token in WRONG_TOKENS.items():
        posted = await speak(bots, AGENT_PATH, token=token(directory))
        assert posted.status in (401, 403), name
    assert bots.scheduler.messages == []


async def test_users_of_an_agents_directory_get_no_further_than_its_bot(
    start: Start, directory: ChannelDirectory, speak: Say
) -> None:
    config = two_bots(directory)
    bots = config["bots"]
    own = replace(bots.agents["radiology"], tenants=("elsewhere",))
    bot = await start(**config | {"bots": PerBot(bots.team, {"radiology": own})})
    await warmed(bot, speak)
    elsewhere = {"channelData": {"tenant": {"id": "elsewhere"}}, "type": "typing"}
    assert (await speak(bot, AGENT_PATH, **elsewhere)).status == 202
    assert (await speak(bot, TEAM_PATH, **elsewhere)).status == 403
    assert (await speak(bot, AGENT_PATH, type="typing")).status == 403


# -- the replies ----------------------------------------------------------------------------------


@pytest.mark.slow
async def test_every_reply_is_sent_by_the_bot_that_was_spoken_to(
    bots: Bot, speak: Say, teams: FakeConnector, directory: ChannelDirectory
) -> None:
    for path, mine in ((AGENT_PATH, AGENT_TOKEN), (TEAM_PATH, TEAM_TOKEN)):
        before = len(teams.signed)
        assert (await speak(bots, path, conversation=path, text=f"to {path}")).status == 202
        await teams.until_said(f"to {path}", conversation=path)
        await teams.until_quiet(path)
        # Typing, the parts of a stream and the answer alike.
        assert {token for token, _ in teams.signed[before:]} == {mine}
    assert [one.addressed_agent for one in bots.scheduler.messages] == ["Radiology", None]
    assert sorted(directory.granted) == sorted([APP_ID, RADIOLOGY_ID])


@pytest.mark.slow
async def test_two_bots_in_one_group_answer_each_what_it_was_asked(
    bots: Bot, speak: Say, teams: FakeConnector
) -> None:
    teams.groups.add("conversation-1")
    for turn in range(2):
        await speak(bots, AGENT_PATH, text=f"for Radiology {turn}")
        await speak(bots, TEAM_PATH, text=f"for the team {turn}")
        await teams.until_said(f"for the team {turn}")
    assert tokens_of(teams, "for Radiology") == {AGENT_TOKEN}
    assert tokens_of(teams, "for the team") == {TEAM_TOKEN}


async def test_an_agents_bot_welcomes_by_itself(
    bots: Bot, speak: Say, teams: FakeConnector
) -> None:
    added = {"type": "conversationUpdate", "membersAdded": [{"id": "bot-1"}], "text": None}
    await speak(bots, AGENT_PATH, **added)
    await teams.until(lambda one: bool(one.get("attachments")))
    assert set(teams.tokens) == {AGENT_TOKEN}


async def test_a_refusal_is_told_by_the_bot_that_was_spoken_to(
    start: Start, directory: ChannelDirectory, speak: Say, teams: FakeConnector
) -> None:
    bot = await warmed(await start(per_minute=1, **two_bots(directory)), speak)
    await speak(bot, AGENT_PATH, text="first")
    await speak(bot, AGENT_PATH, text="second", conversation="other")
    await teams.until(lambda one: "text" in one, conversation="other")
    assert set(teams.tokens) == {AGENT_TOKEN}


@pytest.mark.slow
async def test_what_is_owed_is_paid_by_the_bot_that_owes_it(
    start: Start, directory: ChannelDirectory, speak: Say, teams: FakeConnector
) -> None:
    async def lost(talk: Talk) -> None:
        await talk.say("Lost at first.")

    teams.groups.add("conversation-1")
    first = await warmed(await start(**two_bots(directory)), speak)
    first.scheduler.script = telling(lost)
    teams.fail_next(403, kind="message")
    await speak(first, AGENT_PATH)
    await teams.until_quiet()
    await first.server.close()
    second = await warmed(await start(**two_bots(directory)), speak)
    await speak(second, TEAM_PATH, text="hello again")
    await teams.until_said("You said: hello again")
    assert tokens_of(teams, "Lost at first.") == {AGENT_TOKEN}
    assert tokens_of(teams, "hello again") == {TEAM_TOKEN}


@pytest.mark.slow
async def test_what_a_dead_process_owed_is_paid_by_the_same_bot_elsewhere(
    start: Start,
    directory: ChannelDirectory,
    speak: Say,
    teams: FakeConnector,
    answers: KeptAnswers,
    hand_over: WatchedTurns,
    tmp_path: Path,
) -> None:
    dying, living = DeadLater(), DeadLater()
    first = await warmed(await start(replica=dying, **two_bots(directory)), speak)
    first.scheduler.script = never
    await speak(first, AGENT_PATH)
    await until_owed(tmp_path, 1)
    message = first.scheduler.messages[0]
    answers.texts[message.message_hash] = ["Stored before the crash."]
    living.dead = frozenset({dying.name})
    await start(replica=living, **two_bots(directory))
    await present(hand_over.settle)(message)
    assert tokens_of(teams, "Stored before the crash.") == {AGENT_TOKEN}


async def test_a_message_of_another_replica_is_answered_by_its_bot(
    start: Start, directory: ChannelDirectory, bots: Bot, speak: Say, teams: FakeConnector
) -> None:
    await speak(bots, AGENT_PATH)
    await teams.until_said("You said")
    stored = IncomingMessage.model_validate_json(bots.scheduler.messages[0].model_dump_json())
    second = await start(replica=Replica(), **two_bots(directory))
    run = Run(run_id="run_of_another", message=stored)
    await present(second.scheduler.deliver)(run)
    tell(run, answer(run, "From here."))
    await teams.until_said("From here.")
    assert tokens_of(teams, "From here.") == {AGENT_TOKEN}


async def test_a_bot_whose_password_is_wrong_stops_no_other(
    bots: Bot, speak: Say, teams: FakeConnector, directory: ChannelDirectory
) -> None:
    directory.passwords[RADIOLOGY_ID] = "changed"
    await speak(bots, AGENT_PATH, conversation="broken")
    await speak(bots, TEAM_PATH, text="still there?")
    await teams.until_said("still there?")
    assert teams.activities("broken") == []
    assert set(teams.tokens) == {TEAM_TOKEN}


async def test_without_bots_of_their_own_one_bot_serves_all_agents(
    start: Start, directory: ChannelDirectory, speak: Say, teams: FakeConnector
) -> None:
    config = two_bots(directory)
    bot = await start(**config | {"bots": PerBot(config["bots"].team)})
    await warmed(bot, speak)
    assert (await speak(bot, AGENT_PATH, audience=RADIOLOGY_ID)).status == 401
    assert (await speak(bot, AGENT_PATH, audience=APP_ID, text="all in one")).status == 202
    await teams.until_said("all in one")
    assert bot.scheduler.messages[-1].addressed_agent == "Radiology"
    assert set(teams.tokens) == {TEAM_TOKEN}
