"""A file that an agent made: offered where the channel can take it, never sent unasked."""

import base64
from typing import Any

import pytest

from tests.bots.conftest import Bot
from tests.bots.scripts import Talk, telling
from tests.fakes_connector import Activity, FakeConnector
from tests.routes.fakes import REPORT

pytestmark = pytest.mark.slow

CONSENT = "application/vnd.microsoft.teams.card.file.consent"


async def makes_a_report(talk: Talk) -> None:
    made = REPORT.model_copy(update={"run_id": talk.run.run_id})
    talk.show(artifacts=(REPORT, made))
    await talk.say("The report is ready.")


async def offered(bot: Bot, channel: FakeConnector) -> Activity:
    bot.scheduler.script = telling(makes_a_report)
    await channel.say(bot.url, "write the report")
    message = await channel.until(lambda one: REPORT.file_name in str(one))
    await channel.until_quiet()
    assert sum(REPORT.file_name in str(one) for one in channel.messages()) == 1
    return message


async def answer(
    bot: Bot, teams: FakeConnector, offer: Activity, action: str, *, url: str | None = None
) -> None:
    content = offer["attachments"][0]["content"]
    upload = {
        "uploadUrl": url or f"{teams.service_url}/drive/report.docx?tempauth=secret",
        "contentUrl": "https://clinic-my.sharepoint.com/report.docx",
        "uniqueId": "u-1",
        "fileType": "docx",
        "name": REPORT.file_name,
    }
    value = {"type": "fileUpload", "action": action, "context": content["acceptContext"]}
    value |= {"uploadInfo": upload} if action == "accept" else {}
    activity = teams.activity(type="invoke", name="fileConsent/invoke", value=value)
    assert (await teams.post(bot.url, activity)).status == 200


async def test_teams_asks_before_a_report_goes_into_a_drive(bot: Bot, teams: FakeConnector) -> None:
    offer = await offered(bot, teams)
    (card,) = offer["attachments"]
    assert (card["contentType"], card["content"]["sizeInBytes"]) == (CONSENT, 4)
    assert teams.uploads == []
    await answer(bot, teams, offer, "accept")
    info = await teams.until(lambda one: "file.info" in str(one.get("attachments")))
    assert teams.uploads == [b"PK\x03\x04"]
    assert info["attachments"][0]["content"] == {"uniqueId": "u-1", "fileType": "docx"}


async def test_a_report_that_is_declined_stays(bot: Bot, teams: FakeConnector) -> None:
    await answer(bot, teams, await offered(bot, teams), "decline")
    await teams.until_said("stays with this conversation")
    assert teams.uploads == []


async def test_reports_never_go_to_an_address_of_no_drive(bot: Bot, teams: FakeConnector) -> None:
    offer = await offered(bot, teams)
    await answer(bot, teams, offer, "accept", url="http://192.0.2.7/steal")
    await teams.until_said("could not be saved")
    assert teams.uploads == []


async def test_a_report_of_other_conversations_is_not_found(bot: Bot, teams: FakeConnector) -> None:
    offer = await offered(bot, teams)
    content: dict[str, Any] = offer["attachments"][0]["content"]
    content["acceptContext"] |= {"artifactId": "artifact_of_another"}
    await answer(bot, teams, offer, "accept")
    await teams.until_said("not here any more")
    assert teams.uploads == []


async def test_a_group_is_told_where_the_report_is(bot: Bot, teams: FakeConnector) -> None:
    teams.groups.add("conversation-1")
    message = await offered(bot, teams)
    assert "one-to-one chats only" in message["text"]


async def test_the_emulator_gets_the_report_in_a_message(bot: Bot, channel: FakeConnector) -> None:
    message = await offered(bot, channel)
    (attached,) = message["attachments"]
    encoded = attached["contentUrl"].partition("base64,")[2]
    assert base64.b64decode(encoded) == b"PK\x03\x04"
