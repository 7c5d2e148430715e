"""What a bot does not read is told; whatever a caller posts, it goes on, or refuses everybody."""

import json
import random
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from bots.bot_factory import add_closed_routes
from data_models.errors import StoreUnavailableError
from routes.requests.json_input import problems
from tests.bots.conftest import Bot, Start
from tests.fakes import CountingIds
from tests.fakes_connector import BOT, FakeConnector

HTML = {"contentType": "text/html", "content": "<div><p>and <b>her</b> stage?</p></div>"}
PICTURE = {"contentType": "image/png", "contentUrl": "https://smba.example/v3/attachments/1"}
FILE = {
    "contentType": "application/vnd.microsoft.teams.file.download.info",
    "name": "letter.pdf",
    "content": {"downloadUrl": "https://drive.example/1", "fileType": "pdf"},
}
CARD = {"contentType": "application/vnd.microsoft.card.adaptive", "content": {}}
QUOTE = {
    "type": "quotedReply",
    "quotedReply": {"messageId": "1772050244572", "preview": "patient_42 has stage II"},
}
FILES, QUOTES = "cannot see pictures or read files", "not the message that you quote"


@pytest.mark.parametrize("attached", [PICTURE, FILE, {"contentType": "application/pdf"}, {}])
async def test_what_is_attached_is_said_to_be_unread_before_the_answer(
    attached: dict[str, Any], bot: Bot, teams: FakeConnector
) -> None:
    await teams.say(bot.url, "what does this show?", attachments=[HTML, attached])
    await teams.until_said("You said: what does this show?")
    first, _ = teams.texts()
    assert FILES in first


@pytest.mark.parametrize("attached", [HTML, CARD])
async def test_what_comes_with_every_message_is_not_worth_a_word(
    attached: dict[str, Any], bot: Bot, teams: FakeConnector
) -> None:
    await teams.say(bot.url, "and her stage?", attachments=[attached])
    await teams.until_said("You said: and her stage?")
    assert len(teams.texts()) == 1


async def test_a_file_alone_is_no_question(bot: Bot, teams: FakeConnector) -> None:
    await teams.say(bot.url, "", attachments=[FILE])
    await teams.until_said(FILES)
    assert bot.scheduler.messages == []


@pytest.mark.slow
async def test_many_files_are_not_answered_one_by_one(start: Start, teams: FakeConnector) -> None:
    bot = await start(per_minute=2)
    for _ in range(5):
        assert (await teams.say(bot.url, "", attachments=[FILE])).status == 202
    await teams.until_said(FILES, after=1)
    await teams.until_quiet()
    assert len(teams.texts()) == 2


async def test_what_is_quoted_is_said_to_be_unread_and_its_number_is_no_patients(
    bot: Bot, teams: FakeConnector
) -> None:
    text = '<quoted messageId="1772050244572"/> and her stage?'
    await teams.say(bot.url, text, entities=[QUOTE])
    await teams.until_said("You said: and her stage?")
    assert QUOTES in teams.texts()[0]
    assert bot.scheduler.messages[0].text == "and her stage?"


async def test_an_answer_within_the_request_says_it_too(bot: Bot, channel: FakeConnector) -> None:
    posted = await channel.say(bot.url, "this?", attachments=[FILE], deliveryMode="expectReplies")
    first, second, *_ = (one.get("text", "") for one in posted.body["activities"])
    assert FILES in first
    assert "You said: this?" in second


def changed(channel: FakeConnector, kind: str, event: str, **fields: Any) -> dict[str, Any]:
    return channel.activity(type=kind, channelData={"eventType": event}, **fields)


async def test_a_message_that_was_changed_is_asked_about_and_sent_anew_by_a_button(
    bot: Bot, teams: FakeConnector
) -> None:
    edit = changed(
        teams, "messageUpdate", "editMessage", text="<at>Rounds</at> patient_7, please",
        entities=[{"type": "mention", "text": "<at>Rounds</at>", "mentioned": BOT}],
    )  # fmt: skip
    assert (await teams.post(bot.url, edit)).status == 202
    await teams.until(lambda one: "was changed after" in str(one))
    assert bot.scheduler.messages == []
    (button,) = teams.buttons().values()
    await teams.press(bot.url, button)
    await teams.until_said("You said: patient_7, please")


@pytest.mark.parametrize("text", ["x" * 3_000, ""])
async def test_new_words_that_no_button_can_say_are_asked_for(
    text: str, bot: Bot, teams: FakeConnector
) -> None:
    await teams.post(bot.url, changed(teams, "messageUpdate", "editMessage", text=text))
    await teams.until_said("send them anew")
    assert teams.cards() == []


async def test_a_message_that_was_deleted_is_noted(bot: Bot, teams: FakeConnector) -> None:
    await teams.post(bot.url, changed(teams, "messageDelete", "softDeleteMessage"))
    await teams.until_said("stays with the conversation")
    assert bot.scheduler.messages == []


@pytest.mark.slow
async def test_what_is_brought_back_and_what_the_bot_changed_itself_are_passed_over(
    bot: Bot, teams: FakeConnector
) -> None:
    for change in (
        changed(teams, "messageUpdate", "undeleteMessage", text="hello"),
        changed(teams, "messageUpdate", "editMessage", text="hello", user=BOT),
    ):
        assert (await teams.post(bot.url, change)).status == 202
    assert await teams.until_quiet() == []


VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 10**400, "", "x", "\x00", "\u202e", "😀" * 50, "x" * 5_000, [],
    [None], [[]], {}, {"id": None}, {"id": "a"}, {"id": {"id": {}}}, [{"type": "mention"}],
    [{"mentioned": 5}],
    [{"type": "mention", "mentioned": {"id": "bot-1"}, "text": "<at>" * 2_000}],
    {"action": {"data": {"target_id": "q", "answer": "yes"}}}, {"target_id": "q", "answer": "no"},
    {"tenant": {"id": 5}}, {"tenant": []}, "expectReplies", "adaptiveCard/action", "<at>" * 1_000,
)  # fmt: skip
KINDS = ("message", "invoke", "conversationUpdate", "typing", "event", "\x00")
FIELDS = (
    "id", "channelId", "conversation", "from", "recipient", "text", "value", "name", "entities",
    "membersAdded", "channelData", "deliveryMode", "locale", "localTimezone", "serviceUrl",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
async def test_no_activity_makes_the_server_fail(
    seed: int, bot: Bot, channel: FakeConnector
) -> None:
    chosen = random.Random(seed)
    for number in range(60):
        activity = channel.activity(
            type=chosen.choice(KINDS), text="hello", conversation=f"{seed}-{number}"
        )
        for name in chosen.sample(FIELDS, chosen.randint(1, 4)):
            activity[name] = chosen.choice(VALUES)
        body = json.dumps(activity).encode()
        posted = await channel.post(bot.url, body)
        assert posted.status < 500 or posted.status == 501, body[:500]
    assert (await channel.say(bot.url, "still there?", conversation="after")).status == 202
    await channel.until_said("still there?", conversation="after")
    channel.faults.clear()


@pytest.mark.slow
async def test_logs_hold_neither_what_was_said_nor_tokens(
    bot: Bot, channel: FakeConnector, capfd: pytest.CaptureFixture[str]
) -> None:
    token = {"Authorization": "Bearer CANARY-token"}
    spoken = channel.activity(text="CANARY-text", user={"id": "CANARY-user", "name": "CANARY-name"})
    channel.fail_next(502, times=1)
    channel.fail_next(403, times=1)
    await channel.post(bot.url, spoken, headers=token)
    await channel.until_quiet(seconds=1.0)
    await channel.post(bot.url, {**spoken, "text": ["CANARY-shape"]}, headers=token)
    await channel.post(bot.url, b'{"type": "CANARY', headers=token)
    bot.scheduler.refusal = StoreUnavailableError("the store is down")
    await channel.ask(bot.url, "CANARY-unstored", until="storage")
    captured = capfd.readouterr()
    assert "bot_reply_kept" in captured.out + captured.err
    assert "CANARY" not in captured.out + captured.err


@pytest.mark.parametrize("path", ["/api/messages", "/api/Radiology/messages"])
async def test_every_activity_is_refused(path: str) -> None:
    app = web.Application(middlewares=[problems(ids=CountingIds())])
    add_closed_routes(app)
    async with TestClient(TestServer(app)) as client:
        for body in (b"{}", b"not json", b""):
            answer = await client.post(path, data=body, headers={"Authorization": "Bearer a.b.c"})
            assert answer.status == 403
            assert (await answer.json())["code"] == "forbidden"
