"""What a bot does not read is never passed over in silence: files, quotes, changes, deletions."""

from typing import Any

import pytest

from tests.bots.conftest import Bot, Start
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
