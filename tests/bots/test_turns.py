"""Turns over a channel: what comes in, what is sent back, and when."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from bots.rendering import delivery, text_stream
from bots.rendering.rendering import Look, TurnRenderer
from data_models.chat_context import AgentMessage, Citation
from data_models.clock import SystemClock
from data_models.conversations import turn_events
from data_models.conversations.plan import Plan, PlanStep
from data_models.errors import CorruptDocumentError, NotFoundError, StoreUnavailableError
from services.runs.hub import Run
from tests.bots.conftest import Bot, Start
from tests.fakes_connector import BOT, FakeConnector
from tests.given import message_of, present
from tests.routes.fakes import answer, spoken, state, tell
from tests.waiting import until

NOW = SystemClock().now()
PLAN = Plan(
    plan_id="plan_1",
    run_id="run_1",
    steps=[
        PlanStep(number=1, agent="PatientHistory", text="Summarise the course"),
        PlanStep(number=2, agent="Radiology", text="Read the <b>imaging</b>"),
    ],
    created_at=NOW,
    updated_at=NOW,
)
Script = Callable[[Run], Awaitable[None]]


def script_of(*events: Any, state_changes: dict[str, Any] | None = None) -> Script:
    async def script(run: Run) -> None:
        run.emit(turn_events.RunStarted(run_id=run.run_id, conversation_id=run.conversation_id))
        run.emit(
            turn_events.StateChanged(state=state(run.conversation_id, **(state_changes or {})))
        )
        for event in events:
            run.emit(event)
        if not run.is_finished:
            run.emit(turn_events.RunFinished(outcome="success", timing=turn_events.TurnTiming()))

    return script


def said(text: str, *, citations: list[Citation] | None = None) -> turn_events.AgentMessageFinished:
    message = AgentMessage(
        message_id="m1", agent="Radiology", text=text, timestamp=NOW, citations=citations or []
    )
    return turn_events.AgentMessageFinished(message=message)


# -- one message and its answer -------------------------------------------------------------------


async def test_the_request_is_answered_before_the_turn_and_the_reply_follows(
    bot: Bot, channel: FakeConnector
) -> None:
    posted = await channel.say(bot.url, "hello")
    assert posted.status == 202
    assert posted.body == b""
    reply = await channel.until_said("You said: hello")
    assert reply["text"].startswith("**Orchestrator**\n\nYou said: hello\n\n---\n*PT_CTX:*\n")
    assert "- **Patient ID:** `patient_4`" in reply["text"]
    assert "- **Conversation ID:** `conversation-1`" in reply["text"]
    assert reply["from"]["id"] == BOT["id"]
    assert reply["recipient"]["id"] == "user-1"
    assert reply["textFormat"] == "markdown"


async def test_agents_messages_are_labelled_as_generated(bot: Bot, channel: FakeConnector) -> None:
    reply = await channel.ask(bot.url, "hello", until="You said")
    (label,) = reply["entities"]
    assert label["type"] == "https://schema.org/Message"
    assert label["additionalType"] == ["AIGeneratedContent"]


async def test_the_offline_rules_say_what_they_are(bot: Bot, channel: FakeConnector) -> None:
    bot.scheduler.script = script_of(said("Hello."), state_changes={"model_kind": "offline"})
    reply = await channel.ask(bot.url, "hello", until="Hello.")
    assert "not a language model" in reply["text"]
    assert "AIGeneratedContent" not in str(reply)


@pytest.mark.slow
async def test_typing_is_shown_until_the_first_text_and_not_after_the_last(
    bot: Bot, channel: FakeConnector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_stream, "REPEAT_SECONDS", 0.3)

    async def script(run: Run) -> None:
        run.emit(turn_events.RunStarted(run_id=run.run_id, conversation_id=run.conversation_id))
        await until(lambda: len(channel.activities()) >= 2)
        tell(run, answer(run, "At last.")[1:])

    bot.scheduler.script = script
    await channel.ask(bot.url, "hello", until="At last.")
    kinds = [one["type"] for one in await channel.until_quiet(seconds=0.6)]
    assert kinds[:2] == ["typing", "typing"]
    assert kinds.index("message") == len(kinds) - 1


@pytest.mark.slow
async def test_a_turn_longer_than_the_channel_waits_is_delivered_once(
    bot: Bot, channel: FakeConnector
) -> None:
    is_sent_again = asyncio.Event()

    async def script(run: Run) -> None:
        await is_sent_again.wait()
        tell(run, answer(run, "Slow but sure."))

    bot.scheduler.script = script
    assert (await channel.say(bot.url, "hello", activity_id="a-1")).status == 202
    # The channel has given up waiting for a reply and sends the activity again.
    assert (await channel.say(bot.url, "hello", activity_id="a-1")).status == 202
    is_sent_again.set()
    await channel.until_said("Slow but sure.")
    await channel.until_quiet(seconds=1.0)
    assert len(channel.texts()) == 1


@pytest.mark.slow
async def test_an_activity_that_comes_twice_is_answered_once(
    bot: Bot, channel: FakeConnector
) -> None:
    for _ in range(3):
        assert (await channel.say(bot.url, "hello", activity_id="a-1")).status == 202
    await channel.until_said("You said: hello")
    assert (await channel.say(bot.url, "hello", activity_id="a-1")).status == 202
    await channel.until_quiet()
    assert len(channel.texts()) == 1
    assert len(bot.scheduler.messages) == 1


@pytest.mark.slow
async def test_an_answer_from_storage_is_not_sent_again(bot: Bot, channel: FakeConnector) -> None:
    async def script(run: Run) -> None:
        run.replayed = True
        tell(run, answer(run, "Old news."))

    bot.scheduler.script = script
    await channel.say(bot.url, "hello")
    await channel.until_quiet()
    assert channel.messages() == []


async def test_each_agent_speaks_in_a_message_of_its_own_and_in_order(
    bot: Bot, channel: FakeConnector
) -> None:
    bot.scheduler.script = script_of(
        *spoken("m1", "First.", agent="Orchestrator"),
        turn_events.Notice(kind="restored", text="Continuing with patient_4."),
        *spoken("m2", "Second.", agent="Radiology"),
    )
    await channel.ask(bot.url, "hello", until="Second.")
    texts = channel.texts()
    assert [text.splitlines()[0] for text in texts] == [
        "**Orchestrator**",
        "*Continuing with patient_4.*",
        "**Radiology**",
    ]


@pytest.mark.slow
async def test_a_failed_turn_says_so_in_one_sentence(bot: Bot, channel: FakeConnector) -> None:
    bot.scheduler.script = script_of(
        turn_events.RunFailed(code="model", text="The model failed.", ref="run_1")
    )
    await channel.ask(bot.url, "hello", until="The model failed.")
    assert len(await channel.until_quiet()) == len(channel.activities())
    assert len(channel.texts()) == 1


@pytest.mark.slow
async def test_messages_meanwhile_are_queued_and_answered_in_order(
    bot: Bot, channel: FakeConnector
) -> None:
    are_all_sent = asyncio.Event()

    async def script(run: Run) -> None:
        await are_all_sent.wait()
        tell(run, answer(run, f"Answer to {run.message.text}"))

    bot.scheduler.script = script
    for text in ("one", "two", "three"):
        assert (await channel.say(bot.url, text)).status == 202
    are_all_sent.set()
    await channel.until_said("Answer to three")
    answers = [text for text in channel.texts() if "Answer" in text]
    assert [text.splitlines()[2] for text in answers] == [
        "Answer to one",
        "Answer to two",
        "Answer to three",
    ]
    assert sum("waits" in text for text in channel.texts()) == 2


async def test_conversations_do_not_hold_each_other_up(bot: Bot, channel: FakeConnector) -> None:
    go_on = asyncio.Event()

    async def script(run: Run) -> None:
        if run.conversation_id == "slow":
            await go_on.wait()
        tell(run, answer(run, "Done."))

    bot.scheduler.script = script
    await channel.say(bot.url, "hello", conversation="slow")
    await channel.ask(bot.url, "hello", until="Done.", conversation="quick")
    assert channel.messages("slow") == []
    go_on.set()
    await channel.until_said("Done.", conversation="slow")


# -- long answers, links, citations ---------------------------------------------------------------


async def test_a_long_answer_comes_in_parts_that_the_channel_takes(start: Start) -> None:
    async with FakeConnector(messages_per_second=100) as channel:
        bot = await start()
        lines = [f"{number}. Ein Satz über die Lunge, „wörtlich“." for number in range(3_000)]
        bot.scheduler.script = script_of(said("\n".join(lines)))
        await channel.ask(bot.url, "hello", until="PT_CTX")
        texts = channel.texts()
        assert channel.faults == []
        assert len(texts) > 3
        assert sum("PT_CTX" in text for text in texts) == 1
        assert f"(1 of {len(texts)})" in texts[0]
        missing = [line for line in lines if not any(line in text for text in texts)]
        assert missing == []


async def test_markup_in_an_answer_is_shown_and_not_run(bot: Bot, channel: FakeConnector) -> None:
    text = "<img src=x> [a](javascript:alert(1)) ![b](https://evil.example/b.png) PSA < 0.1"
    bot.scheduler.script = script_of(said(text))
    reply = await channel.ask(bot.url, "hello", until="PSA < 0.1")
    for harm in ("<img", "](javascript", "![", "https://evil"):
        assert harm not in reply["text"]


async def test_sources_are_cited_in_teams_within_its_limits(start: Start) -> None:
    sources = [
        Citation(ref=f"DocumentReference/note-{number}", title="T" * 80, quote="q" * 160)
        for number in range(12)
    ]
    async with FakeConnector(channel_id="msteams") as channel:
        channel.groups.add("conversation-1")
        bot = await start()
        bot.scheduler.script = script_of(said("Sourced.", citations=sources))
        reply = await channel.ask(bot.url, "hello", until="Sourced.")
        assert channel.faults == []
    (entity,) = reply["entities"]
    assert [claim["position"] for claim in entity["citation"]] == list(range(1, 11))
    assert "[10]" in reply["text"]
    assert "[11]" not in reply["text"]


async def test_in_teams_a_source_is_a_number_and_no_path(start: Start) -> None:
    sources = [Citation(ref=f"Observation/k-{number}", title=f"K {number}") for number in (7, 8, 9)]
    text = "4.1 [Observation/k-8], 3.4 [Observation/k-7] and 4.1 [Observation/k-8]."
    async with FakeConnector(channel_id="msteams") as channel:
        channel.groups.add("conversation-1")
        bot = await start()
        bot.scheduler.script = script_of(said(text, citations=sources))
        reply = await channel.ask(bot.url, "hello", until="4.1")
    assert "4.1 [1], 3.4 [2] and 4.1 [1].\n\nSources: [1] [2] [3]" in reply["text"]
    assert "Observation/" not in reply["text"]
    named = {one["position"]: one["appearance"]["name"] for one in reply["entities"][0]["citation"]}
    assert named == {1: "K 8", 2: "K 7", 3: "K 9"}


def test_what_is_shown_while_a_cited_answer_is_written_stays_as_it_is() -> None:
    text = "4.1 [Observation/k-8], 3.4 [Observation/k-7] and 4.1 [Observation/k-8]."
    place = {"channelId": "msteams", "conversation": {"id": "c"}}
    asked = message_of(at=NOW, channel="bot", channel_id="msteams", owner="bot:c", delivery=place)
    renderer = TurnRenderer(look=Look(footer=lambda _: ""), asked=asked)
    (whole,) = renderer.spoken(said(text).message)
    for end in range(len(text)):
        assert whole["text"].startswith(renderer.being_written("Radiology", text[:end]))


async def test_sources_are_not_cited_where_the_channel_does_not_know_them(
    bot: Bot, channel: FakeConnector
) -> None:
    source = Citation(ref="DocumentReference/note-3", title="CT chest")
    bot.scheduler.script = script_of(said("Sourced.", citations=[source]))
    reply = await channel.ask(bot.url, "hello", until="Sourced.")
    assert "citation" not in reply["entities"][0]


# -- plan and questions ---------------------------------------------------------------------------


async def test_a_proposed_plan_is_a_card_whose_buttons_name_it(
    bot: Bot, channel: FakeConnector
) -> None:
    interrupted = turn_events.RunFinished(outcome="interrupt", timing=turn_events.TurnTiming())
    bot.scheduler.script = script_of(said("A plan."), interrupted, state_changes={"plan": PLAN})
    await channel.say(bot.url, "start tumor board for patient_4")
    card = await channel.until(lambda one: bool(one.get("attachments")))
    assert list(channel.buttons()) == ["Confirm", "Change", "Cancel"]
    body = str(card["attachments"][0]["content"]["body"])
    assert "PatientHistory" in body
    assert "Summarise the course" in body
    assert "TextRun" in body

    bot.scheduler.script = script_of(said("Confirmed."))
    posted = await channel.press(bot.url, channel.buttons()["Confirm"])
    assert posted.status == 202
    await channel.until_said("Confirmed.")
    press = present(bot.scheduler.messages[-1].press)
    assert (press.target_id, press.answer) == ("plan_1", "confirm")
    assert bot.scheduler.messages[-1].text == "Confirm"


_WHICH = "Which event do you mean?\n1. *Case meeting*, Wed 2 Dec 15:00\n2. *other appointment*"
_CHOICES = ["1. Case meeting, Wed 2 Dec 15:00", "2. other appointment", "None of these"]


@pytest.mark.parametrize(
    ("kind", "text", "buttons", "second"),
    [
        ("clear", "Clear everything?", ["Yes", "No"], "no"),
        ("which_entity", _WHICH, _CHOICES, "2"),
    ],
)
async def test_a_question_has_a_button_for_each_answer(
    kind: str, text: str, buttons: list[str], second: str, bot: Bot, channel: FakeConnector
) -> None:
    question = {"id": "question_7", "kind": kind, "text": text}
    interrupted = turn_events.RunFinished(outcome="interrupt", timing=turn_events.TurnTiming())
    bot.scheduler.script = script_of(said(text), interrupted, state_changes={"question": question})
    await channel.say(bot.url, "forget all that")
    await channel.until(lambda one: bool(one.get("attachments")))
    assert list(channel.buttons()) == buttons
    await channel.press(bot.url, channel.buttons()[buttons[1]])
    press = present(bot.scheduler.messages[-1].press)
    assert (press.target_id, press.answer) == ("question_7", second)


@pytest.mark.slow
async def test_a_question_that_no_button_can_answer_has_none(
    bot: Bot, channel: FakeConnector
) -> None:
    question = {"id": "question_7", "kind": "which_patient", "text": "Which patient?"}
    interrupted = turn_events.RunFinished(outcome="interrupt", timing=turn_events.TurnTiming())
    bot.scheduler.script = script_of(
        said("Which patient?"), interrupted, state_changes={"question": question, "plan": PLAN}
    )
    await channel.ask(bot.url, "both of them", until="Which patient?")
    assert not any(one.get("attachments") for one in await channel.until_quiet())


async def test_an_action_of_a_card_is_a_press_and_is_answered_at_once(
    bot: Bot, channel: FakeConnector
) -> None:
    data = {"target_id": "plan_1", "answer": "cancel"}
    activity = channel.activity(
        type="invoke", name="adaptiveCard/action", value={"action": {"data": data}}
    )
    posted = await channel.post(bot.url, activity)
    assert posted.status == 200
    assert posted.body["statusCode"] == 200
    await channel.until_said("You said: Cancel")


@pytest.mark.parametrize("value", [None, 5, "x", {}, {"action": 1}, {"action": {"data": {"a": 1}}}])
async def test_an_action_of_another_card_is_refused_and_starts_no_turn(
    value: Any, bot: Bot, channel: FakeConnector
) -> None:
    activity = channel.activity(type="invoke", name="adaptiveCard/action", value=value)
    posted = await channel.post(bot.url, activity)
    assert (posted.status, posted.body["statusCode"]) == (200, 400)
    assert bot.scheduler.messages == []


@pytest.mark.parametrize(
    ("status", "fields"),
    [
        pytest.param(202, {"value": {"foreign": True}}, id="another card's value without text"),
        (501, {"type": "invoke", "name": "composeExtension"}),
        (501, {"type": "invoke", "name": "signin/verifyState"}),
        (501, {"type": "invoke", "name": None}),
    ],
)
async def test_what_nobody_serves_starts_no_turn(
    status: int, fields: dict[str, Any], bot: Bot, channel: FakeConnector
) -> None:
    posted = await channel.post(bot.url, channel.activity(**fields))
    assert posted.status == status
    assert bot.scheduler.messages == []


# -- replies in the answer ------------------------------------------------------------------------


async def test_expected_replies_come_with_the_answer(bot: Bot, channel: FakeConnector) -> None:
    posted = await channel.say(bot.url, "hello", deliveryMode="expectReplies")
    assert posted.status == 200
    (reply,) = posted.body["activities"]
    assert "You said: hello" in reply["text"]
    assert channel.activities() == []


async def test_expected_replies_are_repeated_for_the_same_activity(
    bot: Bot, channel: FakeConnector
) -> None:
    answers = [
        await channel.say(bot.url, "hello", activity_id="a-1", deliveryMode="expectReplies")
        for _ in range(2)
    ]
    assert answers[0].body == answers[1].body
    assert len(bot.scheduler.messages) == 1


@pytest.mark.slow
async def test_late_replies_follow_through_the_conversation(
    bot: Bot, channel: FakeConnector
) -> None:
    is_told = asyncio.Event()

    async def script(run: Run) -> None:
        await is_told.wait()
        tell(run, answer(run, "Here it is."))

    bot.scheduler.script = script
    posted = await channel.say(bot.url, "hello", deliveryMode="expectReplies")
    is_told.set()
    assert "takes longer" in posted.body["activities"][0]["text"]
    await channel.until_said("Here it is.")


async def test_a_refused_message_is_told_in_the_expected_replies(
    bot: Bot, channel: FakeConnector
) -> None:
    posted = await channel.say(bot.url, "x" * 16_001, deliveryMode="expectReplies")
    assert posted.status == 200
    assert "16,000" in posted.body["activities"][0]["text"]


# -- refusals and trouble -------------------------------------------------------------------------


async def test_a_message_that_is_too_long_is_refused_in_the_chat(
    bot: Bot, channel: FakeConnector
) -> None:
    for said, told in (
        ("x" * 16_001, "is longer than 16,000"),
        ("die Lunge " * 1_601, "ist länger"),
    ):
        posted = await channel.say(bot.url, said)
        assert posted.status == 202
        await channel.until_said(told)


async def test_too_many_messages_are_refused_in_the_chat(
    start: Start, channel: FakeConnector
) -> None:
    bot = await start(per_minute=1)
    await channel.say(bot.url, "one")
    await channel.ask(bot.url, "two", until="in a minute")
    assert len(bot.scheduler.messages) == 1


@pytest.mark.parametrize("error", [StoreUnavailableError("x"), CorruptDocumentError("x")])
async def test_a_message_that_could_not_be_stored_is_not_acknowledged(
    error: Any, bot: Bot, channel: FakeConnector
) -> None:
    bot.scheduler.refusal = error
    posted = await channel.say(bot.url, "hello", activity_id="a-1")
    assert posted.status == error.http_status
    await channel.until_said(error.user_message)
    bot.scheduler.refusal = None
    assert (await channel.say(bot.url, "hello", activity_id="a-1")).status == 202
    await channel.until_said("You said: hello")


async def test_a_conversation_of_somebody_else_looks_like_none(
    bot: Bot, channel: FakeConnector
) -> None:
    bot.scheduler.refusal = NotFoundError()
    posted = await channel.say(bot.url, "hello")
    assert posted.status == 404
    assert channel.activities() == []


async def test_a_tenant_does_not_reach_the_conversation_of_another(
    bot: Bot, channel: FakeConnector
) -> None:
    await channel.say(bot.url, "hello", channelData={"tenant": {"id": "one"}})
    posted = await channel.say(bot.url, "hello", channelData={"tenant": {"id": "two"}})
    assert posted.status == 404


async def test_who_claimed_a_channels_id_on_the_web_neither_reads_nor_blocks_the_channel(
    bot: Bot, channel: FakeConnector
) -> None:
    bot.scheduler.owners["conversation-1"] = "key:mallory"
    posted = await channel.say(bot.url, "hello")
    assert posted.status < 300
    await channel.until_said("You said: hello")
    (message,) = bot.scheduler.messages
    assert message.conversation_id == f"{message.owner}:conversation-1"
    assert bot.scheduler.owners["conversation-1"] == "key:mallory"
    assert bot.scheduler.owners[message.conversation_id] == message.owner


@pytest.mark.slow
async def test_a_busy_channel_is_asked_again_after_the_time_it_names(
    bot: Bot, channel: FakeConnector
) -> None:
    bot.scheduler.script = script_of(said("Patience."))
    channel.fail_next(429, Retry_After="1")
    began = time.monotonic()
    await channel.ask(bot.url, "hello", until="Patience.")
    assert time.monotonic() - began >= 1.0
    assert channel.refused == 1


@pytest.mark.slow
async def test_a_channel_that_fails_is_asked_again(bot: Bot, channel: FakeConnector) -> None:
    channel.fail_next(502, times=3)
    await channel.ask(bot.url, "hello", until="You said: hello")
    await channel.until_quiet()
    assert len(channel.texts()) == 1


@pytest.mark.slow
async def test_replies_never_go_to_a_stored_address_that_is_not_allowed(
    bot: Bot, channel: FakeConnector
) -> None:
    await channel.ask(bot.url, "hello", until="You said")
    before = len(channel.activities())
    message = bot.scheduler.messages[0]
    delivery = {**(message.delivery or {}), "serviceUrl": "http://evil.example/"}
    run = Run(run_id="run_2", message=message.model_copy(update={"delivery": delivery}))
    await present(bot.scheduler.deliver)(run)
    tell(run, answer(run, "Elsewhere."))
    assert len(await channel.until_quiet()) == before


@pytest.mark.slow
async def test_replies_under_way_are_finished_when_the_server_stops(
    start: Start, channel: FakeConnector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "CLOSE_SECONDS", 60.0)
    bot = await start()
    channel.fail_next(429, times=2, Retry_After="1")
    await channel.say(bot.url, "hello")
    await until(lambda: channel.refused)
    await bot.server.close()
    assert len(channel.texts()) == 1
