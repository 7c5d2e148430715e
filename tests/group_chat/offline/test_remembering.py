"""Questions about what was said earlier are looked up and quoted, not searched in the record."""

from datetime import UTC, datetime

import pytest

from data_models.conversations.turn_events import ToolCallStarted
from services.memory_blocks.recall import PatientPast, Recalled, Remark
from services.records.answers.as_said import held_about
from tests.group_chat.offline.conftest import conversation
from tests.tables import with_cases

SAID = Remark(3, datetime(2025, 1, 2, tzinfo=UTC), "user", "Her contact is Ottilie Brandauer.")


class Past(PatientPast):
    """Remembers one remark, and what was asked of it."""

    def __init__(self, *remarks: Remark) -> None:
        self.remarks = remarks
        self.asked: list[str] = []

    async def recall(self, query: str, *, limit: int) -> Recalled:
        self.asked.append(query)
        return Recalled(self.remarks, 12)


@pytest.mark.slow
@with_cases("question")
async def test_it_is_quoted_with_its_turn_and_its_day(question: str) -> None:
    past = Past(SAID)
    heard = await conversation().say(question, past=past)
    assert [event.tool for event in heard.of(ToolCallStarted)] == ["recall"]
    assert "contact" in past.asked[0]
    assert "Radiology" not in past.asked[0]
    assert "Turn 3, 2025-01-02, you: “Her contact is Ottilie Brandauer.”" in heard.said[0][1]


async def test_what_nobody_said_is_said_not_to_be_found() -> None:
    heard = await conversation().say("what did I say about smoking?", past=Past())
    assert "nothing on that in the 12 earlier turns" in heard.said[0][1]


@pytest.mark.slow
async def test_other_questions_are_answered_from_the_record() -> None:
    past = Past(SAID)
    await conversation().say("does she have brain metastases?", past=past)
    assert past.asked == []


def test_what_is_held_of_the_same_thing_is_named() -> None:
    held = ("he's on warfarin 5 mg", "She is allergic to latex.")
    assert held_about("the warfarin made him dizzy", held) == held[:1]
    assert held_about("he feels dizzy", held) == ()


@pytest.mark.slow
async def test_what_was_told_is_said_beside_a_search_that_finds_nothing() -> None:
    talk = conversation()
    talk.held = ("remember that she walks 200 m", "remember that she likes tea")
    heard = await talk.say("how far does she walk?")
    assert "not from the record: \u201cremember that she walks 200 m\u201d" in heard.said[-1][1]


@pytest.mark.parametrize(
    "question", ["what did we note about his potassium?", "Was haben wir zum Kalium notiert?"]
)
async def test_what_is_held_of_it_is_told(question: str) -> None:
    talk = conversation()
    talk.held = ("note: K 4.9 on the phone",)

    heard = await talk.say(question, past=Past())

    assert "K 4.9 on the phone" in heard.said[-1][1]
