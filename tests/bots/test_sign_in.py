"""Teams' single sign-on: asked for by a card in the user's own chat, and taken once."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from bots.sign_in import CARD
from data_models.clock import SystemClock
from data_models.errors import SignInNeededError
from services.access.on_behalf import OnBehalf
from services.runs.hub import Run
from tests.bots.conftest import Bot, Start
from tests.bots.scripts import Talk, telling
from tests.bots.user_directory import ADA, APP_ID, CONNECTION, CONSENT, GRAPH, UserDirectory
from tests.fakes_connector import Activity, FakeConnector, Posted
from tests.services.access.directory import TENANT, USER
from tests.tables import with_cases

OTHER = "bbbbbbbb-bbbb-cccc-dddd-eeeeeeeeeeee"
WHO: Activity = {"id": "29:ada", "name": "Dr. Ada", "aadObjectId": USER}
WHERE: dict[str, Any] = {"channelData": {"tenant": {"id": TENANT}}, "user": WHO}


@pytest.fixture
async def directory() -> AsyncIterator[UserDirectory]:
    found = UserDirectory(SystemClock())
    async with found.server:
        yield found


@pytest.fixture
async def on_behalf(directory: UserDirectory) -> AsyncIterator[OnBehalf]:
    async with aiohttp.ClientSession() as session:
        yield directory.on_behalf(session=session, clock=SystemClock())


@pytest.fixture
async def bot(start: Start, directory: UserDirectory, on_behalf: OnBehalf) -> Bot:
    """A bot whose turns read Ada's calendar with her own rights."""
    found = await start(on_behalf=on_behalf, sign_in=directory.config)

    async def reads(talk: Talk) -> None:
        try:
            token = await on_behalf.token(ADA, GRAPH)
        except SignInNeededError as error:
            await talk.say(error.user_message)
        else:
            await talk.say(f"Read with {token}.")

    found.scheduler.script = telling(reads)
    return found


def cards(teams: FakeConnector, conversation: str = "conversation-1") -> list[Activity]:
    return [
        attached["content"]
        for message in teams.messages(conversation)
        for attached in message.get("attachments", [])
        if attached["contentType"] == CARD
    ]


async def asked(bot: Bot, teams: FakeConnector) -> Activity:
    """Ask for the calendar; return the card."""
    await teams.say(bot.url, "what is in my calendar?", **WHERE)
    await teams.until(lambda one: CARD in str(one.get("attachments")))
    return cards(teams)[-1]


async def exchange(
    bot: Bot, teams: FakeConnector, token: str, *, exchange_id: str = "exchange-1", **more: Any
) -> Posted:
    value = {"id": exchange_id, "connectionName": CONNECTION, "token": token}
    activity = teams.activity(
        type="invoke", name="signin/tokenExchange", **{**WHERE, "value": value, **more}
    )
    return await teams.post(bot.url, activity)


async def verify(bot: Bot, teams: FakeConnector, code: str) -> Posted:
    activity = teams.activity(
        type="invoke", name="signin/verifyState", value={"state": code}, **WHERE
    )
    return await teams.post(bot.url, activity)


async def test_who_has_not_signed_in_is_asked_by_a_card_that_teams_can_answer_in_silence(
    bot: Bot, teams: FakeConnector, directory: UserDirectory
) -> None:
    card = await asked(bot, teams)
    assert card["connectionName"] == CONNECTION
    assert card["tokenExchangeResource"] == {
        "id": "exchange-1",
        "uri": f"api://botid-{APP_ID}",
        "providerId": "p",
    }
    (button,) = card["buttons"]
    assert (button["type"], button["value"]) == ("signin", f"{directory.origin}/signin")
    path, state = directory.asked[-1]
    assert path == "/api/botsignin/GetSignInResource"
    assert (state["connectionName"], state["msAppId"]) == (CONNECTION, APP_ID)
    assert state["conversation"]["conversation"]["id"] == "conversation-1"
    assert state["conversation"]["user"]["id"] == "29:ada"


@pytest.mark.slow
async def test_the_token_service_is_asked_before_the_user_is(
    bot: Bot, teams: FakeConnector, directory: UserDirectory
) -> None:
    directory.signed_in = directory.proof()
    await teams.say(bot.url, "what is in my calendar?", **WHERE)
    await teams.until_said("Read with ada-1.")
    await teams.until_quiet()
    assert cards(teams) == []
    assert directory.asked == [
        (
            "/api/usertoken/GetToken",
            {"userId": "29:ada", "connectionName": CONNECTION, "channelId": "msteams"},
        )
    ]


async def test_the_token_that_teams_exchanged_is_used_for_the_next_question(
    bot: Bot, teams: FakeConnector, directory: UserDirectory
) -> None:
    await asked(bot, teams)
    proof = directory.proof()
    posted = await exchange(bot, teams, proof)
    assert (posted.status, posted.body) == (200, {"id": "exchange-1", "connectionName": CONNECTION})
    await teams.until_said("You are signed in.")
    assert directory.exchanges[0]["assertion"] == proof
    await teams.say(bot.url, "what is in my calendar?", **WHERE)
    await teams.until_said("Read with ada-1.")


@pytest.mark.slow
async def test_each_of_a_users_apps_may_send_its_token_and_one_is_exchanged(
    bot: Bot, teams: FakeConnector, directory: UserDirectory
) -> None:
    posted = await asyncio.gather(*(exchange(bot, teams, directory.proof()) for _ in range(3)))
    posted.append(await exchange(bot, teams, directory.proof()))
    assert [one.status for one in posted] == [200] * 4
    assert len(directory.exchanges) == 1
    await teams.until_quiet()
    assert sum("signed in" in text for text in teams.texts()) == 1
    await exchange(bot, teams, directory.proof(), exchange_id="exchange-2")
    assert len(directory.exchanges) == 2


@pytest.mark.slow
@with_cases("changes", "status")
async def test_what_is_not_the_senders_own_token_signs_nobody_in(
    bot: Bot, teams: FakeConnector, directory: UserDirectory, changes: dict[str, Any], status: int
) -> None:
    posted = await exchange(bot, teams, directory.proof(**changes))
    assert posted.status == status
    assert directory.exchanges == []
    await teams.until_quiet()
    assert not any("signed in." in text for text in teams.texts())
    await asked(bot, teams)


async def test_a_token_of_another_directory_than_the_conversations_is_refused(
    bot: Bot, teams: FakeConnector, directory: UserDirectory
) -> None:
    elsewhere: dict[str, Any] = {
        "channelData": {"tenant": {"id": "99999999-2222-3333-4444-555555555555"}}
    }
    assert (await exchange(bot, teams, directory.proof(), **elsewhere)).status == 403
    assert directory.exchanges == []


async def test_a_missing_consent_is_asked_for_by_the_cards_button(
    bot: Bot, teams: FakeConnector, directory: UserDirectory
) -> None:
    await asked(bot, teams)
    directory.refusals = [(400, CONSENT)]
    posted = await exchange(bot, teams, directory.proof())
    assert (posted.status, posted.body["failureDetail"]) == (412, "the user has to agree")
    assert not any("signed in." in text for text in teams.texts())

    directory.codes["123456"] = directory.proof()
    assert (await verify(bot, teams, "123456")).status == 200
    assert directory.asked[-1] == (
        "/api/usertoken/GetToken",
        {
            "userId": "29:ada",
            "connectionName": CONNECTION,
            "channelId": "msteams",
            "code": "123456",
        },
    )
    await teams.until_said("You are signed in.")
    assert (await verify(bot, teams, "123456")).status == 404


async def test_a_consent_that_is_taken_back_is_asked_for_by_hand(
    bot: Bot, teams: FakeConnector, directory: UserDirectory
) -> None:
    directory.signed_in = directory.proof()
    directory.refusals = [(400, CONSENT)]
    card = await asked(bot, teams)
    assert "agree" in card["text"]
    assert "tokenExchangeResource" not in card


async def test_another_users_code_signs_nobody_in(
    bot: Bot, teams: FakeConnector, directory: UserDirectory
) -> None:
    directory.codes["123456"] = directory.proof(oid=OTHER)
    assert (await verify(bot, teams, "123456")).status == 403
    assert directory.exchanges == []


async def test_a_directory_that_does_not_answer_is_named_and_tried_again(
    bot: Bot, teams: FakeConnector, directory: UserDirectory
) -> None:
    directory.refusals = [(503, {})]
    proof = directory.proof()
    assert (await exchange(bot, teams, proof)).status == 503
    await teams.until_said("Sign-in cannot be checked right now.")
    assert (await exchange(bot, teams, proof)).status == 200


async def test_an_application_that_is_refused_is_the_operators_to_mend(
    bot: Bot, teams: FakeConnector, directory: UserDirectory
) -> None:
    directory.refusals = [(401, {"error": "invalid_client"})]
    assert (await exchange(bot, teams, directory.proof())).status == 502
    await teams.until_said("Please ask your operator")


async def test_a_token_service_that_is_down_is_named(
    bot: Bot, teams: FakeConnector, directory: UserDirectory, on_behalf: OnBehalf
) -> None:
    async def reads(run: Run) -> None:
        with pytest.raises(SignInNeededError):
            await on_behalf.token(ADA, GRAPH)
        directory.is_down = True
        await telling(lambda talk: talk.say("Not signed in."))(run)

    bot.scheduler.script = reads
    await teams.say(bot.url, "what is in my calendar?", **WHERE)
    await teams.until_said("Sign-in cannot be checked right now.")
    assert cards(teams) == []


@pytest.mark.slow
async def test_nobody_is_asked_or_signed_in_where_others_read_along(
    bot: Bot, teams: FakeConnector, directory: UserDirectory
) -> None:
    teams.groups.add("conversation-9")
    await teams.say(bot.url, "what is in my calendar?", conversation="conversation-9", **WHERE)
    await teams.until(lambda one: "Sign in" in str(one), conversation="conversation-9")
    await teams.until_quiet("conversation-9")
    assert cards(teams, "conversation-9") == []
    posted = await exchange(bot, teams, directory.proof(), conversation="conversation-9")
    assert posted.status == 400
    assert directory.exchanges == []


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        {"id": "exchange-1", "connectionName": "another", "token": "a.b.c"},
        {"id": "exchange-1", "connectionName": CONNECTION},
        {"id": "exchange-1", "connectionName": CONNECTION, "token": "x" * 20_000},
    ],
)
async def test_what_is_no_exchange_is_refused(
    bot: Bot, teams: FakeConnector, directory: UserDirectory, value: Any
) -> None:
    activity = teams.activity(type="invoke", name="signin/tokenExchange", value=value, **WHERE)
    assert (await teams.post(bot.url, activity)).status == 400
    assert directory.exchanges == []
