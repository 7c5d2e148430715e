"""Decides who may run the next turn of a conversation. Pure: no store, no clock."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from pydantic import AwareDatetime

from data_models.conversations.conversation import (
    ANSWERED_HOURS,
    ANSWERED_INLINE,
    WHO_KINDS,
    AnsweredBlob,
    AnsweredMessage,
    AnsweredPage,
    Conversation,
    RunningTurn,
)
from data_models.values import Value

ATTEMPTS_LIMIT = 5

ClaimState = Literal["free", "held", "abandoned"]


@dataclass(frozen=True, slots=True)
class ClaimTimes:
    """How long a claim lasts (DESIGN, State). Renewed well before it expires."""

    lease: timedelta = timedelta(seconds=30)
    renew_every: timedelta = timedelta(seconds=10)
    grace: timedelta = timedelta(seconds=5)


class Lease(Value):
    """The replica that works on what is no turn; past `expires_at` another goes on."""

    replica: str
    expires_at: AwareDatetime


def claim_state(
    running: RunningTurn | Lease | None,
    *,
    now: datetime,
    times: ClaimTimes,
    is_dead: Callable[[str], bool],
) -> ClaimState:
    """Return whether a turn may begin: nobody runs, somebody runs, or somebody died running."""
    if running is None:
        return "free"
    if is_dead(running.replica) or now > running.expires_at + times.grace:
        return "abandoned"
    return "held"


def may_run_again(conversation: Conversation, dead: RunningTurn, *, is_promised: bool) -> bool:
    """Whether another replica may answer the message of a turn that died, if that is promised.

    Not where what it asked for may have been done: a yes to our question, a pressed button, a
    clear that had begun or its undoing. Nor a message that several replicas have died over. Whose
    a request is may be answered twice: that changes nothing, and what it changes itself is on
    record.
    """
    question = conversation.question_of(dead.message.sender.principal_id)
    answers = (
        question is not None
        and question.kind not in WHO_KINDS
        and question.is_alive(epoch=conversation.epoch, now=dead.started_at)
    )
    pending = conversation.pending_clear or conversation.pending_restore
    clears = pending is not None or (dead.decided and dead.patient_id is None)
    if answers or dead.message.press is not None or clears:
        return False
    return is_promised and dead.purpose == "turn" and dead.attempts < ATTEMPTS_LIMIT


def queue_length(conversation: Conversation) -> int:
    """Return how many messages wait."""
    return conversation.inbox_tail - conversation.inbox_head


def find_answer(conversation: Conversation, message_hash: str) -> AnsweredMessage | None:
    """Return the answered message of that hash among those kept inline."""
    for answered in reversed(conversation.answered):
        if answered.message_hash == message_hash:
            return answered
    return None


def with_answer(
    conversation: Conversation, answered: AnsweredMessage, *, now: datetime
) -> AnsweredBlob | None:
    """Add `answered`; return the page of older ones that must be stored first, if one is full.

    A page is half of what is kept inline, so that pages are few. Pages whose newest message is
    over a day old are forgotten here; their blobs may then be deleted by anybody.
    """
    oldest_kept = int((now - timedelta(hours=ANSWERED_HOURS)).timestamp())
    conversation.answered_pages = [
        page for page in conversation.answered_pages if page.newest_at >= oldest_kept
    ]
    conversation.answered.append(answered)
    if len(conversation.answered) <= ANSWERED_INLINE:
        return None
    half = ANSWERED_INLINE // 2
    leaving, conversation.answered = conversation.answered[:half], conversation.answered[half:]
    leaving = [row for row in leaving if row.answered_at >= oldest_kept]
    if not leaving:
        return None
    number = conversation.next_answered_page
    conversation.next_answered_page = number + 1
    newest_at = max(row.answered_at for row in leaving)
    conversation.answered_pages.append(AnsweredPage(number=number, newest_at=newest_at))
    return AnsweredBlob(
        conversation_id=conversation.conversation_id, epoch=conversation.epoch, messages=leaving
    )
