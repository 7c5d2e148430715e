"""Who may speak to the bot: every line of R3 and R16 over real HTTP, fast and without network."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer
from structlog.testing import capture_logs

from bots.config import ServiceUrls
from tests.bots.conftest import Bot, Start, registered
from tests.bots.directory import SERVICE_URL, TENANT, USER, ChannelDirectory
from tests.fakes_connector import FakeConnector, Posted
from tests.tables import tables_beside, with_cases

Token = Callable[[ChannelDirectory], str]


def from_teams(channel: FakeConnector, **fields: Any) -> dict[str, Any]:
    usual: dict[str, Any] = {
        "channelId": "msteams",
        "serviceUrl": SERVICE_URL,
        "text": "hello",
        "deliveryMode": "expectReplies",
        "from": {"id": "29:1", "aadObjectId": USER},
        "channelData": {"tenant": {"id": TENANT}},
    }
    place = fields.pop("place", {})
    activity = channel.activity(**{**usual, **fields})
    return {**activity, "conversation": {**activity["conversation"], **place}}


async def knock(bot: Bot, channel: FakeConnector, token: str | None, **fields: Any) -> Posted:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    return await channel.post(bot.url, from_teams(channel, **fields), headers=headers)


@pytest.fixture
async def warm(teams_bot: Bot, channel: FakeConnector, directory: ChannelDirectory) -> Bot:
    """A bot that has its keys, and has taken a message."""
    await until_keys_are_there(teams_bot, channel, directory)
    return teams_bot


async def until_keys_are_there(
    bot: Bot, channel: FakeConnector, directory: ChannelDirectory
) -> None:
    """Knock with a good token until the bot knows it."""
    async with asyncio.timeout(60):
        while (await knock(bot, channel, directory.token())).status == 401:  # noqa: ASYNC110
            await asyncio.sleep(0.05)


@pytest.mark.slow
async def test_a_message_of_the_channel_is_taken(
    warm: Bot, channel: FakeConnector, directory: ChannelDirectory
) -> None:
    posted = await knock(warm, channel, directory.token())
    assert posted.status == 200
    (message,) = warm.scheduler.messages[-1:]
    assert message.sender.principal_id == f"entra:{TENANT}:{USER}"
    assert message.owner == f"bot:msteams:{TENANT}"


WRONG_TOKENS: dict[str, Token] = {
    "garbage": lambda _: "garbage",
    "two dots": lambda _: "a.b.c",
    "three dots": lambda _: "a.b.c.d",
    "very long": lambda _: "a" * 8_000,
    "unsigned": lambda directory: directory.token(alg="none"),
    "signed with a shared secret": lambda directory: directory.token(alg="HS256"),
    "expired": lambda directory: directory.token(exp=1_600_000_000),
    "without an expiry": lambda directory: directory.token(exp=None),
    "with a text for an expiry": lambda directory: directory.token(exp="tomorrow"),
    "not yet valid": lambda directory: directory.token(nbf=99_999_999_999 - 1, exp=99_999_999_999),
    "for another bot": lambda directory: directory.token(aud="another"),
    "for nobody": lambda directory: directory.token(aud=None),
    "of another issuer": lambda directory: directory.token(iss="https://evil.example"),
    "of no issuer": lambda directory: directory.token(iss=None),
    "of the emulator's issuer": lambda directory: directory.token(
        iss="https://sts.windows.net/d6d49420-f39b-4df7-a1dc-d59a935871db/"
    ),
    "without a service URL": lambda directory: directory.token(serviceurl=None),
    "for another service URL": lambda directory: directory.token(serviceurl="https://x.example"),
    "with an unknown key": lambda directory: directory.token(key="two"),
    "with a forged signature": lambda directory: directory.forged(),
    "of a key for another channel": lambda directory: directory.token(key="webchat"),
    "of a key for no channel": lambda directory: directory.token(key="plain"),
}


@pytest.mark.slow
async def test_a_wrong_token_is_refused(
    warm: Bot, channel: FakeConnector, directory: ChannelDirectory
) -> None:
    for name, token in WRONG_TOKENS.items():
        assert (await knock(warm, channel, token(directory))).status in (401, 403), name
    assert len(warm.scheduler.messages) == 1


async def test_no_token_is_refused(warm: Bot, channel: FakeConnector) -> None:
    assert (await knock(warm, channel, None)).status == 401


async def test_another_scheme_than_bearer_is_refused(
    warm: Bot, channel: FakeConnector, directory: ChannelDirectory
) -> None:
    headers = {"Authorization": f"Basic {directory.token()}"}
    posted = await channel.post(warm.url, from_teams(channel), headers=headers)
    assert posted.status == 401


WRONG_FIELDS: dict[str, dict[str, Any]] = tables_beside(Path(__file__))["wrong_fields"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["message", "conversationUpdate", "invoke", "typing"])
async def test_a_good_token_does_not_excuse(
    kind: str, warm: Bot, channel: FakeConnector, directory: ChannelDirectory
) -> None:
    for name, fields in WRONG_FIELDS.items():
        token = directory.token(serviceurl=fields.get("serviceUrl") or SERVICE_URL)
        posted = await knock(warm, channel, token, type=kind, **fields)
        assert posted.status in (401, 403), name
    assert len(warm.scheduler.messages) == 1


async def test_everybody_is_allowed_only_in_writing(
    start: Start, channel: FakeConnector, directory: ChannelDirectory
) -> None:
    bot = await start(**registered(directory, tenants=("*",), users=("*",)))
    await until_keys_are_there(bot, channel, directory)
    unknown = {"from": {"id": "29:2"}, "channelData": None, "conversation": "conversation-2"}
    posted = await knock(bot, channel, directory.token(), **unknown)
    assert posted.status == 200


async def test_nobody_is_allowed_by_default(
    start: Start, channel: FakeConnector, directory: ChannelDirectory
) -> None:
    bot = await start(**registered(directory, tenants=(), users=()))
    await until_keys_are_there(bot, channel, directory)
    assert (await knock(bot, channel, directory.token())).status == 403


@pytest.mark.parametrize(
    ("tenants", "users", "said"),
    [
        (("*",), (USER,), [("bot_open_to_everybody", "ADDITIONAL_ALLOWED_TENANT_IDS")]),
        ((TENANT,), ("*",), [("bot_open_to_everybody", "ADDITIONAL_ALLOWED_USER_IDS")]),
        ((TENANT,), (), [("bot_open_to_nobody", "ADDITIONAL_ALLOWED_USER_IDS")]),
        ((TENANT,), (USER,), []),
    ],
)
async def test_lists_that_allow_everybody_or_nobody_are_warned_of_at_start(
    start: Start,
    directory: ChannelDirectory,
    tenants: tuple[str, ...],
    users: tuple[str, ...],
    said: list[tuple[str, str]],
) -> None:
    with capture_logs() as logs:
        await start(**registered(directory, tenants=tenants, users=users))
    found = [(row["event"], row["setting"]) for row in logs if row["event"].startswith("bot_")]
    assert found == said


async def test_without_an_app_id_the_start_says_whom_the_bot_serves(start: Start) -> None:
    with capture_logs() as logs:
        await start()
    assert "bot_serves_this_machine_only" in [row["event"] for row in logs]


async def test_keys_that_cannot_be_had_refuse_without_waiting(
    start: Start, channel: FakeConnector, directory: ChannelDirectory
) -> None:
    directory.delay_seconds = 3_600.0  # who waited for them would never answer
    bot = await start(**registered(directory))
    await knock(bot, channel, "garbage")  # loads the SDK
    posted = await knock(bot, channel, directory.token())
    assert posted.status == 401
    directory.hurry.set()


@pytest.mark.slow
async def test_a_flood_of_tokens_that_nobody_signed_costs_no_download(
    warm: Bot, channel: FakeConnector, directory: ChannelDirectory
) -> None:
    asked = directory.downloads
    tokens = [directory.token(alg="none"), directory.token(key="two"), "garbage"] * 30
    posted = await asyncio.gather(*(knock(warm, channel, token) for token in tokens))
    assert {one.status for one in posted} == {401}
    assert directory.downloads == asked


@pytest.mark.slow
async def test_keys_of_another_server_are_not_fetched(
    start: Start, channel: FakeConnector, directory: ChannelDirectory
) -> None:
    directory.keys_url = "https://evil.example/keys"
    bot = await start(**registered(directory))
    await knock(bot, channel, directory.token())
    await asyncio.sleep(0.2)
    assert (await knock(bot, channel, directory.token())).status == 401


# -- without an app id ----------------------------------------------------------------------------


@pytest.mark.slow
@with_cases("fields")
async def test_without_an_app_id_replies_stay_on_this_machine(
    fields: dict[str, Any], bot: Bot, channel: FakeConnector
) -> None:
    posted = await channel.say(bot.url, "hello", **fields)
    assert posted.status == 403
    assert bot.scheduler.messages == []


@with_cases("headers")
async def test_without_an_app_id_pages_and_proxies_are_turned_away(
    headers: dict[str, str], bot: Bot, channel: FakeConnector
) -> None:
    posted = await channel.post(bot.url, channel.activity(text="hello"), headers=headers)
    assert posted.status == 403
    assert bot.scheduler.messages == []


async def test_a_page_cannot_post_without_asking_first(bot: Bot, channel: FakeConnector) -> None:
    headers = {"Content-Type": "text/plain"}
    posted = await channel.post(bot.url, channel.activity(text="hello"), headers=headers)
    assert posted.status == 415


async def test_only_posts_are_served(bot: Bot) -> None:
    server = bot.server
    assert isinstance(server, TestServer)
    async with TestClient(server) as client:
        assert (await client.get("/api/messages")).status == 405


@with_cases("url", "allowed")
def test_service_urls_are_compared_whole(url: str, allowed: bool) -> None:
    urls = ServiceUrls(hosts=("smba.trafficmanager.net", "*.botframework.com"), loopback=False)
    assert urls.allows(url) is allowed
