"""What the user may want to say next: at the end of a piece of work, and never in between."""

from typing import Any

import pytest

from bots.rendering.rendering import next_steps
from data_models.conversations.turn_events import RunFailed
from tests.bots.conftest import Bot
from tests.bots.scripts import NOW, Talk, plan_of, telling
from tests.fakes_connector import FakeConnector
from tests.routes.fakes import state

PROPOSED = plan_of("Read the imaging")
RUNNING = PROPOSED.confirmed(None, now=NOW)
DONE = RUNNING.with_status("done", now=NOW)
BOTH = ("patient_4", "patient_15")


def after(before: dict[str, Any], **changes: Any) -> tuple[str, ...]:
    first = state("c", **before)
    return next_steps(first, state("c", **{**before, **changes}), patient_id_example="patient_4")


def test_a_new_patient_may_be_discussed_or_left() -> None:
    assert after({"all_patient_ids": BOTH}, decision="NEW_BLANK", patient_id="patient_15") == (
        "start tumor board for patient_15",
        "switch to patient_4",
        "which patients have we discussed?",
    )


def test_a_plan_that_is_done_leads_to_the_others() -> None:
    assert after({"plan": RUNNING, "all_patient_ids": BOTH}, plan=DONE) == (
        "switch to patient_15",
        "which patients have we discussed?",
    )


def test_after_a_clear_an_example_begins_anew() -> None:
    changes: dict[str, Any] = {"patient_id": None, "all_patient_ids": (), "decision": "CLEAR"}
    assert after({}, **changes) == ("start tumor board for patient_4",)


def test_whoever_was_not_told_apart_can_be_pressed() -> None:
    question = {"id": "q", "kind": "which_patient", "text": "Which patient?"}
    assert after({"all_patient_ids": BOTH}, question=question) == BOTH


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"decision": "UNCHANGED", "plan": DONE},
        {"decision": "NEW_BLANK", "plan": PROPOSED},
        {"decision": "NEW_BLANK", "plan": RUNNING},
        {"question": {"id": "q", "kind": "clear", "text": "Clear?"}},
    ],
)
def test_in_the_midst_of_work_there_is_nothing_to_press(changes: dict[str, Any]) -> None:
    assert after({"all_patient_ids": BOTH}, **changes) == ()


async def switches(talk: Talk) -> None:
    await talk.say("Switched to patient_4.")


async def test_a_pressed_suggestion_is_what_it_says(bot: Bot, channel: FakeConnector) -> None:
    bot.scheduler.script = telling(switches, decision="NEW_BLANK")
    asked = await channel.ask(bot.url, "switch to patient_4", until="What next?")
    (action,) = asked["suggestedActions"]["actions"]
    assert action == {
        "type": "imBack",
        "title": "start tumor board for patient_4",
        "value": "start tumor board for patient_4",
    }


@pytest.mark.slow
async def test_a_group_is_not_asked(bot: Bot, channel: FakeConnector) -> None:
    channel.groups.add("conversation-1")
    bot.scheduler.script = telling(switches, decision="NEW_BLANK")
    await channel.ask(bot.url, "switch to patient_4", until="Switched")
    assert not any("suggestedActions" in one for one in await channel.until_quiet())


async def test_an_example_of_the_welcome_is_said_by_its_button(
    bot: Bot, channel: FakeConnector, teams: FakeConnector
) -> None:
    example = "start tumor board for patient_4"
    for place, added in ((channel, "user-1"), (teams, "bot-1")):
        here = f"{place.channel_id}-1"
        joined = place.activity(
            type="conversationUpdate", membersAdded=[{"id": added}], conversation=here
        )
        await place.post(bot.url, joined)
        await place.until(lambda one: bool(one.get("attachments")), conversation=here)
        await place.press(bot.url, place.buttons(here)[example], conversation=here)
        await place.until_said(f"You said: {example}", conversation=here)
        assert bot.scheduler.messages[-1].press is None


@pytest.mark.slow
async def test_what_failed_is_said_again_by_one_button(bot: Bot, channel: FakeConnector) -> None:
    async def fails(talk: Talk) -> None:
        talk.run.emit(RunFailed(code="model_timeout", text="The model was slow.", ref="run_1"))

    bot.scheduler.script = telling(fails)
    await channel.ask(bot.url, "what did the CT show?", until="The model was slow.")
    await channel.press(bot.url, channel.buttons()["Try again"])
    await channel.until_quiet()
    assert [one.text for one in bot.scheduler.messages] == ["what did the CT show?"] * 2


@pytest.mark.parametrize(("code", "is_for_others"), [("stale_question", False), ("internal", True)])
async def test_what_the_user_alone_can_mend_sends_them_to_nobody_else(
    code: str, bot: Bot, channel: FakeConnector, *, is_for_others: bool
) -> None:
    async def fails(talk: Talk) -> None:
        talk.run.emit(RunFailed(code=code, text="It was not done.", ref="run_1"))

    bot.scheduler.script = telling(fails)
    failed = await channel.ask(bot.url, "Confirm", until="It was not done.")
    assert ("tell your administrator" in str(failed)) is is_for_others
