"""What the user may want to say next, and rows of the chart: cards in Teams, elsewhere text."""

from typing import Any

import orjson
import pytest

from bots.rendering.cards import CARD_LIMIT_BYTES, ROWS_SHOWN, view_cards
from bots.rendering.rendering import next_steps
from data_models.chart_view import ChartView, ViewRow
from data_models.conversations.turn_events import RunFailed, ViewShown
from tests.bots.conftest import Bot
from tests.bots.scripts import NOW, Talk, plan_of, telling
from tests.bots.test_turns import said, script_of
from tests.fakes_connector import CARD, FakeConnector
from tests.routes.fakes import state
from tests.web.chart_scenes import MEDICATIONS, POTASSIUM

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


def body_of(card: dict[str, Any]) -> list[dict[str, Any]]:
    return list(card["content"]["body"])


def texts_of(table: dict[str, Any]) -> list[list[str]]:
    rows = [[cell["items"][0] for cell in row["cells"]] for row in table["rows"]]
    return [["".join(run["text"] for run in item["inlines"]) for item in row] for row in rows]


def test_a_course_is_a_line_chart_with_its_table_for_hosts_that_draw_none() -> None:
    (card,) = view_cards(POTASSIUM)
    chart = body_of(card)[1]

    assert card["content"]["version"] == "1.5"
    assert (chart["type"], chart["yAxisTitle"]) == ("Chart.Line", "mmol/L")
    assert [(at["x"], at["y"]) for at in chart["data"][0]["values"]] == [
        ("2026-01-02", 3.4), ("2026-03-02", 4.1), ("2026-06-02", 4.4), ("2026-09-02", 5.6),
    ]  # fmt: skip
    assert texts_of(chart["fallback"])[:2] == [
        ["Date", "Name", "Value", "Range", "Flag"],
        ["2026-09-02", "Potassium", "5.6 mmol/L", "3.5-5.1", "high"],
    ]
    remarks = [one["inlines"][0]["text"] for one in body_of(card)[2:]]
    assert remarks == ["7 older values of Potassium not shown", "2 entries could not be read"]


def test_values_in_two_units_have_no_common_axis() -> None:
    first, *others = POTASSIUM.rows
    rows = (first.model_copy(update={"unit": "mg/dL"}), *others)
    (card,) = view_cards(POTASSIUM.model_copy(update={"rows": rows}))
    assert body_of(card)[1]["type"] == "Table"


def drugs(count: int, **more: Any) -> ChartView:
    rows = tuple(ViewRow(name=f"Drug {at} " + "long " * 60, status="active") for at in range(count))
    return ChartView(tool="medications", kind="facts", title="Medications", rows=rows, **more)


def test_a_long_list_ends_with_how_many_there_are_more() -> None:
    (card,) = view_cards(drugs(200))
    shown = len(body_of(card)[1]["rows"]) - 1
    assert 0 < shown <= ROWS_SHOWN
    assert body_of(card)[-1]["inlines"][0]["text"] == f"{200 - shown} more rows"


def test_what_must_be_shown_is_shown_whole_in_cards_that_a_channel_takes() -> None:
    cards = view_cards(drugs(200, must_be_shown=True))
    names = [row[0].split(" long")[0] for card in cards for row in texts_of(body_of(card)[1])[1:]]

    assert names == [f"Drug {at}" for at in range(200)]
    assert all(len(orjson.dumps(card)) < CARD_LIMIT_BYTES * 1.3 for card in cards)


def test_text_of_a_record_is_shown_as_it_is_written() -> None:
    row = ViewRow(name="[click](https://evil.example) <at>all</at>", status="active")
    (card,) = view_cards(ChartView(tool="problems", kind="facts", title="Problems", rows=(row,)))
    runs = body_of(card)[1]["rows"][1]["cells"][0]["items"][0]
    assert runs["type"] == "RichTextBlock"
    assert runs["inlines"][0] == {"type": "TextRun", "text": row.name}


@pytest.mark.slow
async def test_teams_gets_rows_as_a_card_behind_the_answer(bot: Bot, teams: FakeConnector) -> None:
    bot.scheduler.script = script_of(
        ViewShown("m1", POTASSIUM), ViewShown("m1", MEDICATIONS), said("It rises.")
    )
    await teams.say(bot.url, "how is her potassium?")
    sent = await teams.until_quiet()

    cards = [one for one in sent if one.get("attachments")]
    assert [one["summary"] for one in cards] == ["Potassium", "Medications"]
    assert cards[0]["attachments"][0]["contentType"] == CARD
    (answer,) = [one for one in sent if "It rises." in one.get("text", "")]
    assert "|" not in answer["text"]
    assert sent.index(answer) < sent.index(cards[0])


async def test_a_channel_without_cards_gets_a_text_table(bot: Bot, channel: FakeConnector) -> None:
    bot.scheduler.script = script_of(ViewShown("m1", POTASSIUM), said("It rises."))
    reply = await channel.ask(bot.url, "how is her potassium?", until="It rises.")
    assert "| 2026-09-02 | Potassium | 5.6 mmol/L | 3.5-5.1 | high |" in reply["text"]


@pytest.mark.parametrize("rows", [(), (ViewRow(name=""),)])
def test_a_view_without_rows_is_no_card(rows: tuple[ViewRow, ...]) -> None:
    assert view_cards(ChartView(tool="problems", kind="table", title="Problems", rows=rows)) == []


def test_two_charts_side_by_side_have_both_identifiers_over_their_columns() -> None:
    over = ("", "Anna Moen, born 1950-01-02 (patient_1)", "Bo King, born 1960-03-04 (patient_2)")
    row = ViewRow(name="Potassium", value="4.1", detail="3.9")
    view = ChartView(
        tool="compare", kind="table", title="Side by side", rows=(row,),
        columns=("name", "value", "detail"), labels=over,
    )  # fmt: skip

    (card,) = view_cards(view)

    assert all(one in str(card) for one in over)
