"""What a turn's tools change outside: on record first, once under one key, honestly told."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_models.conversations.claim import Claim
from data_models.conversations.conversation import (
    Begun,
    Conversation,
    Effect,
    Interruption,
    OutsideChange,
    RunningTurn,
)
from data_models.conversations.turn_events import Notice, RunFailed, RunFinished
from data_models.errors import (
    ClaimLostError,
    ModelUnavailableError,
    StoreUnavailableError,
    ToolInputError,
)
from data_models.identifiers import PatientId
from services.conversations.turn_effects import ARGUMENTS_LIMIT_CHARS, TurnEffects, interrupted_text
from services.group_chat_port import GroupChatRequest
from tests.data_models.test_claim import Scheduler
from tests.faults import Down
from tests.services.world import CHAT, World, heard

FOUR = PatientId("patient_4")
LAB: Mapping[str, Any] = {"title": "Call the lab"}
WARD: Mapping[str, Any] = {"title": "Call the ward"}


def attempt(claim: Claim, *, answered: int = 0, patient_id: PatientId | None = FOUR) -> TurnEffects:
    """Another replica's log of the same turn: it knows what the claim says, and nothing else."""
    return TurnEffects(claim=claim, patient_id=patient_id, answered=answered)


async def begin(log: TurnEffects, arguments: Mapping[str, Any], *, message: int = 0) -> Begun:
    return await log.begin("add_task", arguments, message=message)


async def test_every_attempt_has_the_same_keys() -> None:
    claim = await Scheduler().claim()
    first, second = attempt(claim), None
    keys = [(await begin(first, one)).effect for one in (LAB, LAB, WARD)]
    second = attempt(claim)
    again = [(await begin(second, one)).effect for one in (WARD, LAB, LAB)]
    assert [one.is_repeated for one in keys] == [False] * 3
    assert [one.is_repeated for one in again] == [True] * 3
    assert len({one.key for one in keys}) == 3
    assert {one.key for one in keys} == {one.key for one in again}


async def test_it_is_on_record_before_it_begins_and_costs_one_write() -> None:
    scheduler = Scheduler()
    claim = await scheduler.claim()
    before = len(scheduler.inner.operations)
    begun = await begin(attempt(claim), LAB)
    (operation,) = scheduler.inner.operations[before:]
    assert operation.kind == "replace"
    running = (await scheduler.stored()).running_turn
    assert running is not None
    assert [(one.key, one.tool, one.arguments) for one in running.deeds] == [
        (begun.effect.key, "add_task", LAB)
    ]


async def test_what_cannot_be_put_on_record_does_not_begin() -> None:
    scheduler = Scheduler()
    claim = await scheduler.claim()
    scheduler.inner.always = Down()
    with pytest.raises(StoreUnavailableError):
        await begin(attempt(claim), LAB)


async def test_a_process_that_slept_through_its_claim_changes_nothing() -> None:
    scheduler = Scheduler()
    claim = await scheduler.claim()
    log = attempt(claim)
    begun = await begin(log, LAB)
    log.note_failure(begun)
    theirs = (await scheduler.stored()).draft()
    theirs.running_turn = scheduler.running("run_1", replica="there")
    stored = await scheduler.there.read("c")
    assert stored is not None
    await scheduler.there.write(theirs, etag=stored.etag)
    with pytest.raises(ClaimLostError):
        await begin(log, WARD)
    scheduler.clock.advance(timedelta(hours=1).total_seconds())
    with pytest.raises(ClaimLostError):
        await begin(log, LAB)


async def test_a_call_that_failed_is_tried_again_under_its_key() -> None:
    log = attempt(await Scheduler().claim())
    first = await begin(log, LAB)
    log.note_failure(first)
    again = await begin(log, LAB)
    assert (again.effect.key, again.effect.is_repeated) == (first.effect.key, True)
    assert (await begin(log, LAB)).effect.key != first.effect.key


async def test_other_words_finish_first_what_was_begun_before() -> None:
    claim = await Scheduler().claim()
    begun = await begin(attempt(claim), LAB)
    second = attempt(claim)
    other = await begin(second, WARD)
    assert (other.effect.key, other.arguments, other.is_other) == (begun.effect.key, LAB, True)
    own = await begin(second, WARD)
    assert (own.arguments, own.is_other, own.effect.is_repeated) == (WARD, False, False)
    same = await begin(second, LAB)
    assert (same.effect.key, same.is_other) == (begun.effect.key, False)
    assert second.unmet == ""


async def test_what_was_begun_for_a_stored_message_is_done() -> None:
    claim = await Scheduler().claim()
    first = await begin(attempt(claim), LAB, message=0)
    second = attempt(claim, answered=1)
    assert second.unmet == ""
    like_it = await begin(second, LAB, message=1)
    assert like_it.effect.key != first.effect.key
    assert not like_it.is_other


async def test_what_is_too_long_to_keep_is_asked_about_and_never_guessed() -> None:
    claim = await Scheduler().claim()
    long = {"title": "x" * ARGUMENTS_LIMIT_CHARS}
    begun = await begin(attempt(claim), long)
    assert (await begin(attempt(claim), long)).effect.key == begun.effect.key
    third = attempt(claim)
    with pytest.raises(ToolInputError, match="nobody knows"):
        await begin(third, LAB)
    assert not (await begin(third, LAB)).is_other


async def test_what_nobody_met_again_is_told() -> None:
    claim = await Scheduler().claim()
    await begin(attempt(claim), LAB)
    await attempt(claim).begin("create_event", {}, message=0)
    third = attempt(claim)
    assert "add task, create event" in third.unmet
    await begin(third, LAB)
    assert "add task" not in third.unmet


async def test_what_was_begun_for_one_patient_is_shown_in_no_other_patients_turn() -> None:
    claim = await Scheduler().claim()
    begun = await begin(attempt(claim), LAB)
    other = attempt(claim, patient_id=PatientId("patient_15"))
    own = await begin(other, WARD)
    assert (own.arguments, own.is_other, own.effect.is_repeated) == (WARD, False, False)
    assert "add task" in other.unmet, "the user learns of it all the same"
    same = await begin(other, LAB)
    assert (same.effect.key, same.effect.is_repeated) == (begun.effect.key, True)
    assert other.unmet == ""


async def test_an_interruption_keeps_patients_apart_that_attempts_took_it_to_be_about() -> None:
    claim = await Scheduler().claim()
    await begin(attempt(claim), LAB)
    fifteen = PatientId("patient_15")
    following = await after(claim, interruption(claim, deeds_for=fifteen))
    own = await begin(attempt(following, patient_id=fifteen), WARD)
    assert (own.arguments, own.is_other) == (WARD, False)


async def test_a_scenarios_run_keeps_its_own_key_and_is_no_agents() -> None:
    claim = await Scheduler().claim()
    log = attempt(claim)
    begun = await log.begin("add_task", LAB, message=-1, key="step-1")
    assert (begun.effect.key, begun.effect.is_repeated) == ("step-1", True)
    second = attempt(claim)
    assert (second.unmet, (await begin(second, WARD)).is_other) == ("", False)


async def test_who_says_the_same_again_means_what_was_begun() -> None:
    scheduler = Scheduler()
    claim = await scheduler.claim()
    begun = await begin(attempt(claim), LAB)
    died = interruption(claim, deeds_for=FOUR)
    same = await begin(attempt(await after(claim, died)), LAB)
    assert (same.effect.key, same.effect.is_repeated) == (begun.effect.key, True)
    other_patient = attempt(await after(claim, died), patient_id=None)
    other_words = attempt(await after(claim, died.model_copy(update={"words": "other"})))
    for log in (other_patient, other_words):
        assert (await begin(log, LAB)).effect.key != begun.effect.key


def interruption(claim: Claim, *, deeds_for: PatientId) -> Interruption:
    running = claim.conversation.running_turn
    assert running is not None
    return Interruption(
        run_id=running.run_id,
        patient_id=None,
        interrupted_at=running.started_at,
        words=claim.message.words_hash,
        deeds=running.deeds,
        deeds_for=deeds_for,
        effects_of=running.run_id,
    )


async def after(claim: Claim, died: Interruption) -> Claim:
    """Return the claim of the next message, which says the same."""
    scheduler = Scheduler()
    following = await scheduler.claim("run_2")

    def note(draft: Conversation) -> None:
        draft.interruption = died

    await following.update(note)
    return following


def test_the_user_is_told_what_may_have_been_done() -> None:
    scheduler = Scheduler()
    deed = OutsideChange(key="k", tool="draft_mail", message=0)
    died = Interruption(run_id="r", patient_id=None, interrupted_at=scheduler.clock.now())
    assert "check" not in interrupted_text(died)
    died.deeds, died.asked = [deed, deed], "Cancel *Board*? yes / no"
    told = interrupted_text(died)
    assert told.endswith("check first: “Cancel *Board*? yes / no”, draft mail.")


@pytest.mark.slow
@given(
    st.lists(st.sampled_from(["a", "b", "c"]), max_size=8), st.integers(min_value=0, max_value=8)
)
async def test_however_far_an_attempt_came_the_next_one_adds_only_what_was_missing(
    titles: list[str], died_after: int
) -> None:
    claim = await Scheduler().claim()
    made: set[str] = set()
    for some in (titles[:died_after], titles):
        log = attempt(claim)
        for title in some:
            made.add((await begin(log, {"title": title})).effect.key)
    assert len(made) == len(titles)


class Asked:
    """A team whose tool begins a change in every turn, and that breaks down while `fails`."""

    def __init__(self) -> None:
        self.world = World()
        self.world.team.first = self._add
        self.effects: list[Effect] = []
        self.fails = False

    async def _add(self, request: GroupChatRequest) -> None:
        assert request.effects is not None
        begun = await request.effects.begin("add_task", LAB, message=len(request.said))
        self.effects.append(begun.effect)
        if self.fails:
            raise ModelUnavailableError

    async def failed(self, text: str) -> None:
        self.fails = True
        assert isinstance((await self.world.say(text)).end, RunFailed)
        self.fails = False


@pytest.fixture
async def asked() -> Asked:
    asked = Asked()
    asked.world.team.first = nothing
    await asked.world.say("start a tumor board for patient_4")
    asked.world.team.first = asked._add
    return asked


async def nothing(_: GroupChatRequest) -> None:
    """A team that calls no tool."""


async def test_after_a_turn_that_failed_the_same_words_change_nothing_twice(asked: Asked) -> None:
    await asked.failed("remember the lab")
    again = await asked.world.say("Remember  the lab")
    later = await asked.world.say("remember the lab")
    first, second, third = asked.effects
    assert (second.key, second.is_repeated) == (first.key, True)
    assert (third.key == first.key, third.is_repeated) == (False, False)
    assert not any(isinstance(event, Notice) for heard in (again, later) for event in heard.events)


async def test_what_fails_again_and_again_is_on_record_once(asked: Asked) -> None:
    for _ in range(3):
        await asked.failed("remember the lab")
    stored = await asked.world.conversations.read(CHAT, fresh=True)
    assert stored is not None
    assert stored.document.interruption is not None
    assert [deed.tool for deed in stored.document.interruption.deeds] == ["add_task"]


async def test_after_a_turn_that_failed_other_words_are_another_wish(asked: Asked) -> None:
    await asked.failed("remember the lab")
    await asked.world.say("remember it now, please")
    first, second = asked.effects
    assert first.key != second.key


async def test_who_says_the_same_again_is_told_of_what_nobody_looked_after(asked: Asked) -> None:
    await asked.failed("remember the lab")
    asked.world.team.first = nothing
    told = await asked.world.say("remember the lab")
    assert "had begun: add task" in told.texts[-1]
    assert "add task" not in "".join((await asked.world.say("remember the lab")).texts)


async def test_an_attempt_that_only_asks_whose_it_is_owns_up_to_what_another_had_begun() -> None:
    world = World(is_promised=True)
    await world.tell("patient_4")
    stored = await world.conversations.read(CHAT)
    assert stored is not None
    message, began = world.message("compare patient_4 and patient_15"), world.clock.now()
    stored.document.running_turn = RunningTurn(
        run_id="run_dead",
        message=message,
        replica="dead",
        patient_id=FOUR,
        started_at=began - timedelta(minutes=2),
        expires_at=began - timedelta(minutes=1),
        deeds=[
            OutsideChange(key="k", tool="add_task", arguments=dict(LAB), message=0, patient_id=FOUR)
        ],
    )
    await world.conversations.write(stored.document, etag=stored.etag)
    run = await world.scheduler.go_on(message)
    assert run is not None
    told = (await heard(run)).texts
    assert "had begun: add task" in told[0]
    assert "Which patient" in told[-1]
    assert world.team.requests == []


async def test_a_turn_without_tools_costs_no_write_more(asked: Asked) -> None:
    asked.world.team.first = nothing
    heard = await asked.world.say("and the stage?")
    assert isinstance(heard.end, RunFinished)
    assert heard.end.timing.storage_ops <= 2


async def test_what_was_begun_before_is_still_open_behind_stored_messages() -> None:
    claim = await Scheduler().claim()
    begun = await begin(attempt(claim), LAB)
    following = await after(claim, interruption(claim, deeds_for=FOUR))
    again = await begin(attempt(following, answered=2), LAB, message=2)
    assert (again.effect.key, again.effect.is_repeated) == (begun.effect.key, True)
