"""The question of a draft of an order: its user's yes makes it once, nothing else does."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from data_models.clock import RandomIds
from data_models.conversations.incoming_message import Sender
from data_models.errors import RecordsUnavailableError
from data_models.identifiers import PatientId
from data_models.resource import Resource
from services.group_chat_port import QuestionAsked
from services.orders.draft_order import ORDER, DraftOrder, draft_of, payload_of
from services.orders.order_drafts import OrderDrafts
from services.records.local_resources import LocalResources
from tests.fakes import FixedClock
from tests.services.scheduling.clinics import NOW, local_records
from tests.services.turn_tools import turn_tools
from tests.services.world import Heard, World, heard
from tests.tables import with_cases

FOUR, SEVEN = PatientId("patient_4"), PatientId("patient_7")
ADA, BERT = "user:Ada", "user:Bert"
ORDERED = DraftOrder(
    key="order_1",
    test="potassium",
    occurs="2030-01-03T08:00:00+00:00",
    patient="Margaret Anne Whitfield, born 1957-03-14",
    rests_on=("Observation/cea-3",),
    agent="Orders",
)
MADE = (
    "Made a draft for Margaret Anne Whitfield, born 1957-03-14 (patient_4): potassium, "
    "2030-01-03 08:00. It is not ordered: somebody has to activate it in the order system. "
    "“withdraw the order” takes it back."
)


class Unreliable(LocalResources):
    """Storage that loses the answers to writes, as a network does, while it is told to."""

    loses = False

    async def create_once(self, body: Mapping[str, Any]) -> Resource:
        kept = await super().create_once(body)
        if self.loses:
            raise RecordsUnavailableError("the connection broke")
        return kept


class Ordering:
    """A conversation of a group whose team asks about drafts when the test says so."""

    def __init__(self, root: Path, *, is_on: bool = True) -> None:
        self.clock = FixedClock(NOW)
        self.records = local_records(root)
        drafts = OrderDrafts(records=self.records, clock=self.clock)
        tools = turn_tools(clock=self.clock, orders=drafts if is_on else None)
        self.world = World(clock=self.clock, ids=RandomIds(), tools=tools)

    async def say(self, text: str, *, who: str = ADA, may_order: bool = True) -> Heard:
        message = self.world.message(text, owner="bot:msteams:t")
        sender = Sender(principal_id=who, display_name=who[5:], may_order=may_order)
        sent = message.model_copy(
            update={"sender": sender, "channel": "bot", "channel_id": "msteams", "is_group": True}
        )
        said = await heard(await self.world.scheduler.submit(sent))
        await self.world.scheduler.idle()
        return said

    async def asked(self, *orders: DraftOrder) -> None:
        """Have a tool ask Ada about `orders`."""
        payload = payload_of(orders or [ORDERED])
        question = QuestionAsked("destructive_tool", "Make it? yes / no", payload)
        self.world.team.also = lambda _: [question]
        await self.say("order a potassium for tomorrow 8 am")
        self.world.team.also = lambda _: []

    async def kept(self, patient_id: PatientId = FOUR) -> list[dict[str, Any]]:
        key = await self.records.patient_key(patient_id)
        found = await self.records.search(ORDER, [("patient", f"Patient/{key}")])
        return [dict(one.body) for one in found]


@pytest.fixture
async def ordering(tmp_path: Path) -> Ordering:
    talk = Ordering(tmp_path)
    await talk.say("start a tumor board for patient_4")
    return talk


class Step(BaseModel):
    """What a tool asks Ada to draft, or what is said; of what is not given nothing is asserted.

    Attributes:
        untold: What no answer holds; kept: test and status of each draft of patient_4.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    asks: tuple[str, ...] = ()
    say: str = ""
    who: str = ADA
    may_order: bool = True
    told: list[str] | None = None
    untold: str | None = None
    kept: list[str] | None = None


@pytest.mark.slow
@with_cases("talk")
async def test_who_was_asked_makes_a_draft_once(ordering: Ordering, talk: tuple[Step, ...]) -> None:
    for step in talk:
        if step.asks:
            drafts = [
                replace(ORDERED, key=f"order_{number}", test=test)
                for number, test in enumerate(step.asks, 1)
            ]
            await ordering.asked(*drafts)
            continue
        texts = (await ordering.say(step.say, who=step.who, may_order=step.may_order)).texts
        assert step.told is None or texts == step.told, step.say
        assert step.untold is None or step.untold not in "".join(texts), step.say
        if step.kept is not None:
            kept = [f"{one['code']['text']}: {one['status']}" for one in await ordering.kept()]
            assert (kept, await ordering.kept(SEVEN)) == (step.kept, []), step.say


@pytest.mark.slow
@pytest.mark.parametrize("words", ["yes", "Yes, please.", "ok, do it"])
async def test_the_askers_yes_makes_a_draft_and_no_order(ordering: Ordering, words: str) -> None:
    await ordering.asked()
    assert await ordering.kept() == []

    said = await ordering.say(words)

    assert said.texts == [MADE]
    (kept,) = await ordering.kept()
    assert (kept["status"], kept["intent"]) == ("draft", "proposal")
    assert kept["subject"] == {"reference": "Patient/patient-4"}
    assert kept["occurrenceDateTime"] == ORDERED.occurs
    assert kept["requester"] == {"display": "Ada"}
    assert kept["supportingInfo"] == [{"reference": "Observation/cea-3"}]


@pytest.mark.slow
async def test_a_german_yes_is_answered_in_german(ordering: Ordering) -> None:
    await ordering.asked(replace(ORDERED, test="Kalium", language="de"))
    said = await ordering.say("Ja, bitte.")
    assert said.texts[0].startswith("Entwurf angelegt für Margaret Anne Whitfield")
    assert "Angeordnet ist damit nichts" in said.texts[0]
    assert [one["code"]["text"] for one in await ordering.kept()] == ["Kalium"]


@pytest.mark.slow
@pytest.mark.parametrize("words", ["no", "nein", "yes, but at 9", "wait", "make it a CT", "ok?"])
async def test_anything_else_makes_nothing_and_ends_it(ordering: Ordering, words: str) -> None:
    await ordering.asked()
    await ordering.say(words)
    await ordering.say("yes")
    assert await ordering.kept() == []


@pytest.mark.slow
async def test_a_question_beside_it_leaves_a_draft_open(ordering: Ordering) -> None:
    await ordering.asked()
    beside = await ordering.say("what is her stage?")
    assert beside.texts[-1] == "Make it? yes / no"
    assert await ordering.kept() == []
    assert (await ordering.say("yes")).texts == [MADE]


@pytest.mark.parametrize("meanwhile", [[], ["yes"], ["no"], ["what is her stage?", "yes"]])
@pytest.mark.parametrize("back", ["switch to patient_4", "switch to patient_4 and show her stage"])
@pytest.mark.slow
async def test_back_at_its_patient_a_draft_is_asked_about_again(
    ordering: Ordering, meanwhile: list[str], back: str
) -> None:
    await ordering.asked()
    await ordering.say("switch to patient_7")
    for words in meanwhile:
        said = await ordering.say(words)
        assert "Make it?" not in "".join(said.texts)
    again = await ordering.say(back)
    assert again.texts[-1] == "Make it? yes / no"
    assert await ordering.kept() == await ordering.kept(SEVEN) == []
    assert (await ordering.say("yes")).texts == [MADE]
    assert len(await ordering.kept()) == 1
    assert await ordering.kept(SEVEN) == []


@pytest.mark.slow
async def test_a_draft_switched_off_since_is_not_made(tmp_path: Path) -> None:
    talk = Ordering(tmp_path, is_on=False)
    await talk.say("start a tumor board for patient_4")
    await talk.asked()
    assert (await talk.say("yes")).texts == ["No draft was made: potassium."]
    assert await talk.kept() == []


async def test_a_lost_answer_is_asked_about_again_and_makes_one_draft(tmp_path: Path) -> None:
    talk = Ordering(tmp_path)
    await talk.say("start a tumor board for patient_4")
    talk.records.__class__ = Unreliable
    await talk.asked()
    talk.records.loses = True  # type: ignore[attr-defined]
    said = await talk.say("yes")
    assert said.texts[-1].endswith("It is made once at most. yes / no")
    talk.records.loses = False  # type: ignore[attr-defined]
    assert (await talk.say("yes")).texts == [MADE]
    assert len(await talk.kept()) == 1


BOTH = [ORDERED, replace(ORDERED, key="order_2", test="sodium")]


@pytest.mark.slow
async def test_a_yes_makes_both_drafts_and_undo_says_that_they_stay(
    ordering: Ordering,
) -> None:
    await ordering.asked(*BOTH)
    said = await ordering.say("yes")
    assert said.texts == ["\n\n".join([MADE, MADE.replace("potassium", "sodium")])]
    assert [one["code"]["text"] for one in await ordering.kept()] == ["potassium", "sodium"]
    assert (await ordering.say("undo")).texts[0].startswith("Nothing was undone.")
    assert [one["status"] for one in await ordering.kept()] == ["draft", "draft"]


@pytest.mark.slow
async def test_of_both_what_is_not_known_to_be_made_is_asked_about_again(tmp_path: Path) -> None:
    talk = Ordering(tmp_path)
    await talk.say("start a tumor board for patient_4")
    talk.records.__class__ = Unreliable
    await talk.asked(*BOTH)
    talk.records.loses = True  # type: ignore[attr-defined]
    assert "potassium, sodium. Try again?" in (await talk.say("yes")).texts[-1]
    talk.records.loses = False  # type: ignore[attr-defined]
    await talk.say("yes")
    assert [one["code"]["text"] for one in await talk.kept()] == ["potassium", "sodium"]


async def test_a_draft_of_the_same_number_for_another_is_no_success(
    ordering: Ordering,
) -> None:
    await ordering.asked()
    await ordering.say("yes")
    await ordering.asked(replace(ORDERED, test="sodium"))
    said = await ordering.say("yes")
    assert said.texts[0].startswith("No draft was made: the server keeps something else")
    assert [one["code"]["text"] for one in await ordering.kept()] == ["potassium"]


async def test_a_draft_without_a_day_says_none(ordering: Ordering) -> None:
    await ordering.asked(replace(ORDERED, occurs=""))
    said = await ordering.say("yes")
    assert "potassium. It is not ordered" in said.texts[0]
    assert "occurrenceDateTime" not in (await ordering.kept())[0]


async def test_what_was_agreed_and_done_is_on_the_audit_trail(ordering: Ordering) -> None:
    await ordering.asked()
    await ordering.say("yes")
    trail = b"".join(ordering.world.audit_store.contents.values()).decode()  # type: ignore[attr-defined]
    assert trail.index("order_agreed") < trail.index("order_made")


SPOILT: list[Callable[[dict[str, Any]], Any]] = [
    lambda one: one | {"action": "delete"},
    lambda one: {},
]


@pytest.mark.parametrize("spoil", SPOILT)
def test_what_is_no_draft_is_none(spoil: Callable[[dict[str, Any]], Any]) -> None:
    assert draft_of(spoil(ORDERED.payload())) is None
    assert draft_of(ORDERED.payload()) == ORDERED
