"""A plan in Teams: one living card, one message for each answer, and no machine's ids."""

import asyncio
import re

import pytest

from bots.rendering import plan_board
from data_models.chat_context import Artifact
from data_models.patient_context_models import PatientIdentity
from group_chat.speakers.gate import plan_message, step_line
from tests.bots.conftest import Bot
from tests.bots.scripts import NOW, Talk, plan_of, telling
from tests.bots.test_plan_board import texts_of
from tests.fakes_connector import FakeConnector

PROPOSED = plan_of("Sum up", "Status", "Imaging", "Pathology", "Write the document")
RUNNING = PROPOSED.confirmed(None, now=NOW)
WHO = PatientIdentity(name="Margaret Anne Whitfield", birth_date="1957-03-14", sex="female")
CONSENT = "application/vnd.microsoft.teams.card.file.consent"
INTERNAL = re.compile(r"run_\d|msg_|plan_\d|Conversation ID|conversation-1|[0-9a-f]{8}-[0-9a-f]{4}")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_board, "UPDATE_SECONDS", 0.05)


async def proposes(talk: Talk) -> None:
    talk.show(plan=PROPOSED, patient=WHO, facilitator="Orchestrator")
    words = f"She was seen on Monday.\n\n{plan_message(PROPOSED)}"
    await talk.say(words, agent="Orchestrator", message_id="m0")
    talk.end("interrupt")


async def carries_out(talk: Talk) -> None:
    plan = RUNNING
    for step in PROPOSED.steps:
        plan = plan.with_step(step.number, "running", now=NOW)
        talk.show(plan=plan, patient=WHO, facilitator="Orchestrator")
        called = step_line(plan, step.number)
        await talk.say(called, agent="Orchestrator", message_id=f"called-{step.number}")
        await talk.say(f"Answer {step.number}.", message_id=f"m{step.number}")
        await asyncio.sleep(0.02)
        plan = plan.with_step(step.number, "done", now=NOW)
    made = Artifact(
        artifact_id="art_1",
        file_name="tumor-board.docx",
        media_type="application/x",
        size_bytes=10,
        created_at=NOW,
        run_id=talk.run.run_id,
    )
    done = plan.with_status("done", now=NOW)
    talk.show(plan=done, patient=WHO, facilitator="Orchestrator", artifacts=(made,))
    await talk.say("The summary.", agent="Orchestrator", message_id="m6")


async def carried_out(bot: Bot, chat: FakeConnector, *, by_words: bool) -> None:
    bot.scheduler.script = telling(proposes)
    await chat.say(bot.url, "start tumor board for patient_4")
    await chat.until(lambda one: bool(one.get("attachments")))
    known = {"plan": PROPOSED, "patient": WHO, "facilitator": "Orchestrator"}
    bot.scheduler.script = telling(carries_out, **known)
    if by_words:
        await chat.say(bot.url, "yes proceed")
    else:
        await chat.press(bot.url, chat.buttons()["Confirm"])
    await chat.until_said("The summary.")
    await chat.until_quiet()


@pytest.mark.slow
@pytest.mark.parametrize("by_words", [False, True], ids=["a button", "words"])
async def test_a_plan_of_five_steps_is_eight_messages_at_most(
    bot: Bot, teams: FakeConnector, by_words: bool
) -> None:
    await carried_out(bot, teams, by_words=by_words)
    # A full channel takes the eighth a second later.
    await teams.until(lambda one: CONSENT in str(one.get("attachments")))
    await teams.until_quiet()
    said = teams.texts()
    assert len(teams.messages()) == 8
    assert [f"Answer {number}." in text for number, text in enumerate(said[1:6], 1)] == [True] * 5
    assert teams.messages()[-1]["attachments"][0]["contentType"] == CONSENT
    # What was said around the plan stays when its card moves on in the same place.
    assert "She was seen on Monday." in said[0]
    (card,) = teams.cards()
    assert texts_of(card)[-1] == "All steps are done."


@pytest.mark.slow
async def test_every_message_of_a_plan_says_whose_it_is_and_names_nothing_internal(
    bot: Bot, teams: FakeConnector
) -> None:
    await carried_out(bot, teams, by_words=False)
    for text in (*teams.texts(), texts_of(teams.cards()[0])[0]):
        assert "Margaret Anne Whitfield, born 1957-03-14" in text
        assert "patient_4" in text
        assert INTERNAL.search(text) is None, text


@pytest.mark.slow
async def test_a_chat_without_living_cards_is_told_of_each_step_in_words(
    bot: Bot, channel: FakeConnector
) -> None:
    await carried_out(bot, channel, by_words=True)
    assert sum("Step 2 of 5" in text for text in channel.texts()) == 1
