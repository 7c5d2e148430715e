"""The card of a plan: what it shows, and that it follows the plan while it runs."""

import asyncio
from typing import Any

import pytest

from bots.rendering import plan_board
from data_models.conversations.plan import Plan
from tests.bots.conftest import Bot
from tests.bots.scripts import NOW, Talk, plan_of, telling
from tests.fakes_connector import FakeConnector
from tests.waiting import until

PROPOSED = plan_of("Summarise the course", "Read the imaging")
RUNNING = PROPOSED.confirmed(None, now=NOW)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_board, "UPDATE_SECONDS", 0.1)


def at(number: int, status: Any) -> Plan:
    plan = RUNNING
    for earlier in range(1, number):
        plan = plan.with_step(earlier, "done", now=NOW)
    return plan.with_step(number, status, now=NOW)


DONE = at(2, "done").with_status("done", now=NOW)


async def carry_out(talk: Talk) -> None:
    for number in (1, 2):
        talk.show(plan=at(number, "running"))
        await talk.say(f"Step {number} is done.", message_id=f"m{number}")
        await asyncio.sleep(0.15)
    talk.show(plan=DONE)


async def propose(bot: Bot, channel: FakeConnector) -> None:
    async def proposes(talk: Talk) -> None:
        talk.show(plan=PROPOSED)
        await talk.say("Shall I?")
        talk.end("interrupt")

    bot.scheduler.script = telling(proposes)
    await channel.say(bot.url, "start tumor board for patient_4")
    await channel.until(lambda one: bool(one.get("attachments")))


def texts_of(card: dict[str, Any]) -> list[str]:
    """Every text of a card, row by row."""
    rows = [
        item["inlines"]
        for row in card["body"]
        for item in ([row] if row["type"] == "RichTextBlock" else row["columns"][1]["items"])
    ]
    return ["".join(run["text"] for run in row) for row in rows]


async def test_a_proposed_plan_says_who_does_what_and_that_nothing_runs(
    bot: Bot, channel: FakeConnector
) -> None:
    await propose(bot, channel)
    (card,) = channel.cards()
    assert texts_of(card) == [
        "Plan for patient_4",
        "1. Radiology: Summarise the course",
        "2. Radiology: Read the imaging",
        "Nothing runs before you confirm.",
    ]
    assert list(channel.buttons()) == ["Confirm", "Change", "Cancel"]


@pytest.mark.slow
async def test_the_pressed_card_follows_its_plan_in_place(bot: Bot, teams: FakeConnector) -> None:
    await propose(bot, teams)
    bot.scheduler.script = telling(carry_out, plan=PROPOSED)
    await teams.press(bot.url, teams.buttons()["Confirm"])
    await teams.until(lambda one: "All steps are done." in str(one.get("attachments")))
    (card,) = teams.cards()
    assert texts_of(card)[1:] == [
        "1. Radiology: Summarise the course (done)",
        "2. Radiology: Read the imaging (done)",
        "All steps are done.",
    ]
    assert card["actions"] == []


@pytest.mark.slow
async def test_a_plan_that_words_confirmed_gets_a_card_that_follows_it(
    bot: Bot, channel: FakeConnector
) -> None:
    await propose(bot, channel)
    bot.scheduler.script = telling(carry_out, plan=PROPOSED)
    await channel.say(bot.url, "yes proceed")
    await channel.until(lambda one: "All steps are done." in str(one.get("attachments")))
    before, after = channel.cards()
    assert "Nothing runs before you confirm." in texts_of(before)
    assert "All steps are done." in texts_of(after)


@pytest.mark.slow
async def test_the_steps_are_shown_as_they_run(bot: Bot, channel: FakeConnector) -> None:
    reached: list[str] = []

    async def stops_in_the_middle(talk: Talk) -> None:
        talk.show(plan=at(2, "running"))
        await talk.say("Reading.")
        await channel.until(lambda one: "runs now" in str(one.get("attachments")))
        reached.extend(texts_of(channel.cards()[-1]))

    bot.scheduler.script = telling(stops_in_the_middle, plan=PROPOSED)
    await channel.ask(bot.url, "yes proceed", until="Reading.")
    await channel.until_quiet()
    assert reached[1:] == [
        "1. Radiology: Summarise the course (done)",
        "2. Radiology: Read the imaging (runs now)",
        "1 of 2 steps are done.",
    ]


async def test_a_cancelled_plan_says_so_on_its_card(bot: Bot, teams: FakeConnector) -> None:
    async def cancels(talk: Talk) -> None:
        talk.show(plan=PROPOSED.with_status("cancelled", now=NOW))
        await talk.say("Cancelled.")

    await propose(bot, teams)
    bot.scheduler.script = telling(cancels, plan=PROPOSED)
    await teams.press(bot.url, teams.buttons()["Cancel"])
    await teams.until(lambda one: "Nothing more runs." in str(one.get("attachments")))
    assert len(teams.cards()) == 1


@pytest.mark.slow
async def test_a_plan_that_rests_is_not_shown_again(bot: Bot, channel: FakeConnector) -> None:
    async def answers(talk: Talk) -> None:
        talk.show(plan=RUNNING)
        await talk.say("It is a mass.")

    bot.scheduler.script = telling(answers, plan=RUNNING)
    await channel.ask(bot.url, "what did the CT show?", until="It is a mass.")
    await channel.until_quiet()
    assert channel.cards() == []


async def test_a_card_that_cannot_be_changed_costs_no_reply(bot: Bot, teams: FakeConnector) -> None:
    async def quick_one(talk: Talk) -> None:
        teams.fail_next(404, kind="message")
        talk.show(plan=at(1, "running"))
        await until(lambda: teams.refused)
        await talk.say("Step 1 is done.")

    await propose(bot, teams)
    bot.scheduler.script = telling(quick_one, plan=PROPOSED)
    await teams.press(bot.url, teams.buttons()["Confirm"])
    await teams.until_said("Step 1 is done.")


@pytest.mark.slow
async def test_a_card_that_cannot_be_changed_is_followed_by_one_that_can(
    bot: Bot, teams: FakeConnector
) -> None:
    async def carries_out(talk: Talk) -> None:
        teams.fail_next(400, kind="message")
        talk.show(plan=at(1, "running"))
        await until(lambda: teams.refused)
        await carry_out(talk)

    await propose(bot, teams)
    bot.scheduler.script = telling(carries_out, plan=PROPOSED)
    await teams.press(bot.url, teams.buttons()["Confirm"])
    await teams.until(lambda one: "All steps are done." in str(one.get("attachments")))
    before, after = teams.cards()
    assert "Nothing runs before you confirm." in texts_of(before)
    assert "All steps are done." in texts_of(after)
