"""What a model may have drafted: what the user named, for the open patient, and never a drug."""

from collections.abc import AsyncIterator
from datetime import date, timedelta
from pathlib import Path

import pytest

from data_models.chat_context import Turn
from data_models.clock import RandomIds, SystemClock
from data_models.conversations.turn_events import AgentMessageFinished
from data_models.identifiers import PatientId
from group_chat.tools.catalogue import TOOL_NAMES
from group_chat.tools.clinic.order_tools import OrderTools
from services.group_chat_port import QuestionAsked
from services.orders.draft_order import DraftOrder, draft_of, drafts_of, service_request
from services.orders.order_drafts import OrderDrafts
from services.records.local_resources import LocalResources
from services.team import ORDER_DRAFTS, load_team
from tests.fakes_openai import Reply
from tests.given import present
from tests.group_chat.team_world import (
    SAMPLES,
    Heard,
    TeamWorld,
    call,
    earlier_turn,
    team_world,
    text,
)
from tests.services.records.charts import records_in
from tests.services.scheduling.clinics import local_records
from tests.tables import with_cases

FOUR = PatientId("patient_4")
TEAM = load_team(tools=TOOL_NAMES, switched_on=(ORDER_DRAFTS,))
DONE = text("Please look at the card.")


def tomorrow() -> date:
    """Told when it is asked for: a run of all tests may begin before midnight and end after it."""
    return SystemClock().now().date() + timedelta(days=1)


class Ordering:
    """The team with drafts of orders, over stored records."""

    def __init__(self, *, world: TeamWorld, records: LocalResources) -> None:
        self.world, self.records = world, records

    async def say(self, words: str, *replies: Reply, **changes: object) -> Heard:
        given = {"may_order": True, "addressed_agent": "Orders", **changes}
        return await self.world.say(words, *replies, **given)

    def told(self) -> str:
        """What the model was told by the last tool."""
        return str(self.world.model.requests[-1].messages[-1]["content"])

    async def kept(self) -> int:
        return len(await self.records.search("ServiceRequest", []))


@pytest.fixture
async def ordering(tmp_path: Path) -> AsyncIterator[Ordering]:
    clock = SystemClock()
    records = local_records(tmp_path)
    drafts = OrderDrafts(records=records, clock=clock)
    charts = records_in(SAMPLES, clock)
    tools = OrderTools(drafts=drafts, records=charts, ids=RandomIds())
    async with team_world(team=TEAM, orders=tools) as world:
        yield Ordering(world=world, records=records)


def asked(heard: Heard) -> QuestionAsked | None:
    return next(iter(heard.of(QuestionAsked)), None)


def order(heard: Heard) -> DraftOrder:
    return present(draft_of(present(asked(heard)).payload))


async def test_a_card_with_both_identifiers_is_asked_about_first(ordering: Ordering) -> None:
    heard = await ordering.say(
        "order a CEA for tomorrow 8 am", call("draft_order", test="CEA"), DONE
    )
    question = present(asked(heard))
    assert question.kind == "destructive_tool"
    lines = question.text.splitlines()
    assert lines[0] == "**Draft of an order** (a proposal, not an active order)"
    assert "- Patient: Margaret Anne Whitfield, born 1957-03-14 · `patient_4`" in lines
    assert "- Test: CEA" in lines
    assert f"- When: {tomorrow()} 08:00" in lines
    assert any(one.startswith("- Rests on: Carcinoembryonic antigen (CEA), 9.7") for one in lines)
    assert any(one.startswith("- Allergies: Penicillin (rash)") for one in lines)
    assert lines[-1] == "Make this draft? yes / no"
    assert order(heard).occurs.startswith(f"{tomorrow()}T08:00")
    assert await ordering.kept() == 0


async def test_a_german_order_has_a_german_card(ordering: Ordering) -> None:
    heard = await ordering.say(
        "ordne ein Kalium für morgen 8 Uhr an", call("draft_order", test="Kalium"), DONE
    )
    question = present(asked(heard))
    assert f"- Wann: {tomorrow()} 08:00" in question.text
    assert question.text.endswith("Diesen Entwurf anlegen? ja / nein")


async def test_without_a_day_the_draft_has_none(ordering: Ordering) -> None:
    heard = await ordering.say("order a CEA", call("draft_order", test="CEA"), DONE)
    assert order(heard).occurs == ""
    assert "- When: not said" in str(asked(heard))


@pytest.mark.slow
@with_cases("words", "test", "why")
async def test_what_may_not_be_drafted_is_refused_with_the_reason(
    ordering: Ordering, words: str, test: str, why: str
) -> None:
    heard = await ordering.say(words, call("draft_order", test=test), text("I am sorry."))
    assert asked(heard) is None
    assert why in ordering.told()


@with_cases("words", "why")
async def test_without_the_role_it_is_refused_with_the_reason(
    ordering: Ordering, words: str, why: str
) -> None:
    test = "CEA" if "CEA" in words else "Kalium"
    heard = await ordering.say(
        words, call("draft_order", test=test), text("I am sorry."), may_order=False
    )
    assert asked(heard) is None
    assert why in ordering.told()


async def test_a_test_that_only_a_model_or_record_named_is_no_draft(ordering: Ordering) -> None:
    history: list[Turn] = [earlier_turn(1, "hello", ("Orders", "You should order a CEA."))]
    heard = await ordering.say(
        "order it for tomorrow",
        call("draft_order", test="CEA"),
        text("Which test?"),
        history=history,
    )
    assert asked(heard) is None
    assert "was not named" in ordering.told()


async def test_a_draft_for_another_patient_is_not_made(ordering: Ordering) -> None:
    """The tool takes no patient: a model that names one is refused, and rests on its own."""
    heard = await ordering.say(
        "order a CEA", call("draft_order", test="CEA", patient_id="patient_7"), text("I am sorry.")
    )
    assert asked(heard) is None
    assert "patient_7" not in "".join(one.text for one in heard.of(QuestionAsked))


async def test_of_two_calls_one_is_asked_about(ordering: Ordering) -> None:
    both = Reply(
        text=None,
        tool_calls=[
            *call("draft_order", test="CEA").tool_calls,
            *call("draft_order", test="CT chest").tool_calls,
        ],
    )
    heard = await ordering.say("order a CEA and a CT chest", both, DONE)
    assert len(heard.of(QuestionAsked)) == 1


@pytest.mark.slow
@with_cases("words", "named", "tests")
async def test_tests_of_one_sentence_are_drafts_behind_one_question(
    ordering: Ordering, words: str, named: str, tests: list[str]
) -> None:
    heard = await ordering.say(words, call("draft_order", test=named), DONE)
    (question,) = heard.of(QuestionAsked)
    found = drafts_of(question.payload)
    assert [one.test for one in found] == tests
    assert len({one.key for one in found}) == len(tests)
    assert len({one.occurs for one in found}) == 1
    assert question.text.count("`patient_4`") == len(tests)
    if len(tests) == 2 and found[0].language == "en":
        assert question.text.endswith("Make these 2 drafts? yes / no")


@with_cases("words", "named", "why")
async def test_where_one_of_several_may_not_be_drafted_none_is(
    ordering: Ordering, words: str, named: str, why: str
) -> None:
    heard = await ordering.say(words, call("draft_order", test=named), text("I am sorry."))
    assert asked(heard) is None
    assert why in ordering.told()


async def test_whether_a_test_was_ordered_is_told_from_what_was_drafted(ordering: Ordering) -> None:
    await ordering.say("did you order the CT?", call("order_drafts_of", test="CT"), text("No."))
    assert "No draft of CT stands here for Margaret Anne Whitfield" in ordering.told()
    draft = DraftOrder("order_1", "CT chest", "2030-01-03", "Margaret", (), "Orders")
    body = service_request(draft, patient_key="patient-4", requester="Ada", now=SystemClock().now())
    await ordering.records.create_once(body)
    await ordering.say("did you order the CT?", call("order_drafts_of", test="CT"), text("Yes."))
    assert "not ordered yet: CT chest 2030-01-03." in ordering.told()
    other = {
        "patient_id": "patient_7",
        "snapshot": 'PATIENT_CONTEXT_JSON: {"patient_id":"patient_7"}',
    }
    await ordering.say(
        "did you order the CT?", call("order_drafts_of", test="CT"), text("No."), **other
    )
    assert "No draft of CT stands here" in ordering.told()


async def test_a_draft_is_taken_back_only_after_a_yes(ordering: Ordering) -> None:
    draft = DraftOrder("order_1", "CEA", "", "Margaret", (), "Orders")
    body = service_request(draft, patient_key="patient-4", requester="Ada", now=SystemClock().now())
    await ordering.records.create_once(body)
    heard = await ordering.say("withdraw the CEA order", call("withdraw_order_draft"), DONE)
    question = present(asked(heard))
    assert question.text == (
        "Take back the draft of CEA for Margaret Anne Whitfield, born 1957-03-14 (patient_4)? "
        "yes / no"
    )
    none = await ordering.say(
        "withdraw the CEA order",
        call("withdraw_order_draft"),
        text("I am sorry."),
        patient_id="patient_7",
        snapshot='PATIENT_CONTEXT_JSON: {"patient_id":"patient_7"}',
    )
    assert asked(none) is None
    assert "has no such draft" in ordering.told()


@pytest.mark.parametrize(
    "claim",
    ["I have ordered the CEA.", "The CEA has been ordered.", "Ich habe das CEA angeordnet."],
)
async def test_a_model_that_says_it_ordered_is_marked(ordering: Ordering, claim: str) -> None:
    made = "Made a draft for Margaret (patient_4): CEA. It is not ordered: somebody has to."
    history = [earlier_turn(1, "order a CEA", ("Orders", made))]
    heard = await ordering.say("and?", text(claim), history=history)
    (message,) = [one.message for one in heard.of(AgentMessageFinished)]
    assert [one.state for one in message.statements] != ["supported"]
    assert claim not in message.text or [one.state for one in message.statements] == ["unsupported"]
