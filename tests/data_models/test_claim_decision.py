"""Who may run the next turn, and which answered messages are remembered."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_models.conversations import claim_decision
from data_models.conversations.conversation import (
    ANSWERED_INLINE,
    AnsweredMessage,
    Conversation,
    RunningTurn,
)
from tests.given import message_of
from tests.tables import with_cases

NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
TIMES = claim_decision.ClaimTimes()


def conversation() -> Conversation:
    return Conversation(
        conversation_id="c", owner="alice", channel="web", created_at=NOW, updated_at=NOW
    )


def running(*, expires_in: float) -> RunningTurn:
    return RunningTurn(
        run_id="run_1",
        message=message_of(at=NOW),
        replica="there",
        patient_id=None,
        started_at=NOW,
        expires_at=NOW + timedelta(seconds=expires_in),
    )


def answer(number: int, *, age_hours: float = 0) -> AnsweredMessage:
    at = int((NOW - timedelta(hours=age_hours)).timestamp())
    return AnsweredMessage(f"hash-{number}", f"run_{number}", None, 0, number, at)


@with_cases("expires_in", "state")
def test_a_claim_is_held_until_its_grace_is_over(expires_in: float, state: str) -> None:
    turn = running(expires_in=expires_in)
    assert claim_decision.claim_state(turn, now=NOW, times=TIMES, is_dead=lambda _: False) == state


def test_nobody_holds_a_conversation_without_a_running_turn() -> None:
    assert claim_decision.claim_state(None, now=NOW, times=TIMES, is_dead=lambda _: True) == "free"


def test_the_claim_of_a_dead_process_is_not_waited_for() -> None:
    turn = running(expires_in=30)
    state = claim_decision.claim_state(
        turn, now=NOW, times=TIMES, is_dead=lambda name: name == "there"
    )
    assert state == "abandoned"


def test_the_queue_is_what_lies_between_head_and_tail() -> None:
    waiting = conversation().model_copy(update={"inbox_head": 3, "inbox_tail": 8})
    assert claim_decision.queue_length(waiting) == 5


def test_the_newest_answer_of_a_message_is_found() -> None:
    talk = conversation()
    talk.answered = [answer(1), answer(2), answer(1)._replace(run_id="run_again")]
    found = claim_decision.find_answer(talk, "hash-1")
    assert found is not None
    assert found.run_id == "run_again"
    assert claim_decision.find_answer(talk, "hash-3") is None


@pytest.mark.slow
@given(count=st.integers(1, 900))
def test_every_answer_of_the_day_is_inline_or_on_one_page(count: int) -> None:
    talk, pages = conversation(), {}
    for number in range(count):
        named = talk.next_answered_page
        page = claim_decision.with_answer(talk, answer(number), now=NOW)
        if page is not None:
            pages[named] = page
        assert len(talk.answered) <= ANSWERED_INLINE
    listed = [row.number for row in talk.answered_pages]
    assert listed == sorted(pages)
    kept = [row for number in listed for row in pages[number].messages] + talk.answered
    assert [row.message_hash for row in kept] == [f"hash-{number}" for number in range(count)]


def test_answers_older_than_a_day_are_let_go() -> None:
    talk = conversation()
    talk.answered = [answer(number, age_hours=25) for number in range(ANSWERED_INLINE)]
    assert claim_decision.with_answer(talk, answer(1_000), now=NOW) is None
    assert talk.answered_pages == []
    assert len(talk.answered) <= ANSWERED_INLINE


def test_a_page_is_forgotten_when_its_newest_is_a_day_old() -> None:
    talk = conversation()
    for number in range(ANSWERED_INLINE + 1):
        claim_decision.with_answer(talk, answer(number), now=NOW)
    assert len(talk.answered_pages) == 1
    claim_decision.with_answer(talk, answer(999), now=NOW + timedelta(hours=25))
    assert talk.answered_pages == []
