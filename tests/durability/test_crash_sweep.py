"""A process may die, and the store may fail, at every single operation of a turn."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from data_models.conversations.turn_events import RunFailed
from data_models.errors import InterruptedTurnError
from services.runs.hub import Run
from tests.amounts import amount
from tests.durability import crash
from tests.durability.evidence import Evidence
from tests.fakes_store import MemoryBlobStore
from tests.faults import Down, Fault, Kill, LostAnswer
from tests.services.world import Heard, heard

CLEAR = "clear patient context"
_MOST_OPERATIONS = 150


async def _first_turn(tried: crash.Attempt) -> None:
    await tried.submit("start a tumor board for patient_4, says alpha")


async def _follow_up(tried: crash.Attempt) -> None:
    await tried.submit("and what of the biopsy, says alpha")


async def _switch(tried: crash.Attempt) -> None:
    await tried.submit("switch to patient_15 and tell me the stage, says alpha")


async def _new_patient(tried: crash.Attempt) -> None:
    await tried.submit("switch to patient_33 and tell me the stage, says alpha")


async def _clear(tried: crash.Attempt) -> None:
    await tried.submit(CLEAR)


async def _queued(tried: crash.Attempt) -> None:
    tried.world.team.gate.clear()
    await tried.submit("what does the radiology say, says alpha")
    await tried.submit("and the pathology, says beta")


TWO_PATIENTS = (
    "hello, says one",
    "start a tumor board for patient_4, says two",
    "switch to patient_15 and tell me the stage, says three",
    "switch to patient_4 and go on, says four",
)
LONG = "history " * 900
SCENARIOS = [
    crash.Scenario("first turn", (), _first_turn),
    crash.Scenario("follow-up with two answers", TWO_PATIENTS, _follow_up, answers=2),
    crash.Scenario("switch back", TWO_PATIENTS, _switch),
    crash.Scenario("switch to a new patient", TWO_PATIENTS, _new_patient),
    crash.Scenario("clear", TWO_PATIENTS, _clear),
    crash.Scenario("queue", TWO_PATIENTS, _queued),
    crash.Scenario("first message, and one behind it", (), _queued),
    crash.Scenario(
        "rotation",
        (
            *("start a tumor board for patient_4, says two",),
            *(f"note {number} {LONG}" for number in range(3)),
        ),
        _follow_up,
    ),
]


@dataclass
class Aftermath:
    """What is found after the fault: by a new process, at the next message."""

    tried: crash.Attempt
    store: MemoryBlobStore
    heard: list[Heard] = field(default_factory=list)
    orphans: list[Run] = field(default_factory=list)

    async def go_on(self) -> None:
        """Serve the conversation from a new process."""
        self.world = crash.world_on(self.store, ids=crash.GenerationIds("c"))

        async def deliver(run: Run) -> None:
            self.orphans.append(run)

        self.world.scheduler.on_orphan("web", deliver)
        for text in ("what now, says omega", "and then, says psi"):
            self.heard.append(await self.world.say(text))
            await self.world.scheduler.idle()

    @property
    def evidence(self) -> Evidence:
        return crash.evidence_of(self.store)

    async def told_of_interruptions(self) -> int:
        """Count how often anybody was told."""
        return sum(
            map(
                crash.notices,
                [*self.heard, *[await heard(run) for run in [*self.orphans, *self.tried.runs]]],
            )
        )


def assert_legal(found: Evidence) -> None:
    """Whatever happened: nothing half-done shows."""
    conversation, registry = found.conversation, found.registry
    assert conversation.running_turn is None
    assert found.queued == []
    assert conversation.pending_clear is None
    roster = {None, *registry.patient_registry}
    assert registry.active_patient_id in roster
    for context in found.contexts():
        assert context.patient_id in roster
        mine = [each for each in found.turns() if each.patient_id == context.patient_id]
        numbers = sorted(each.turn.turn_id for each in mine if not each.is_archived)
        assert numbers == list(range(1, context.next_turn_id))
    stale = [name for name, document in found.parsed.items() if _is_stale(document.epoch, found)]
    assert stale == []


def _is_stale(epoch: int, found: Evidence) -> bool:
    return epoch > found.conversation.epoch


def assert_kept(found: Evidence, texts: Sequence[str]) -> None:
    """Every text can be read, once."""
    for text in texts:
        places = found.saying(text)
        assert len(places) == 1, (text[:60], [(p.patient_id, p.epoch) for p in places])


def assert_cleared_or_not(found: Evidence, *, epochs: Sequence[int]) -> None:
    """A clear happened whole or not at all."""
    assert found.conversation.epoch in epochs
    places = [found.saying(text)[0] for text in TWO_PATIENTS]
    assert {each.is_archived for each in places} == {found.conversation.epoch == 1}
    if found.conversation.epoch == 1:
        assert {name for name in found.live if name.startswith("patient_patient_")} == set()


async def assert_one_answer(after: Aftermath) -> None:
    """Sending everything again changes nothing: the same answer, told a second time."""
    for message in after.tried.messages:
        before = after.evidence.saying(message.text)
        again = await crash.resend(after.world, message)
        await after.world.scheduler.idle()
        found = after.evidence.saying(message.text)
        if message.text == CLEAR:
            continue
        assert len(found) == 1
        turn = found[0].turn
        if not before:
            continue
        assert again.run.replayed
        assert before[0].turn == turn
        assert again.texts == [answer.text for answer in turn.agent_responses]
        assert isinstance(again.end, RunFailed) == (turn.turn_status == "FAILED")


async def assert_recovered(after: Aftermath, scenario: crash.Scenario) -> None:
    await after.go_on()
    assert not [each.end for each in after.heard if isinstance(each.end, RunFailed)]
    found = after.evidence
    assert_legal(found)
    acknowledged = [text for text in after.tried.acknowledged if text != CLEAR]
    assert_kept(found, [*scenario.before, *acknowledged])
    if scenario.name == "clear":
        assert_cleared_or_not(found, epochs=(0, 1))
    dead = [each for each in found.turns() if each.turn.error_code == InterruptedTurnError.code]
    # A turn that had its answer before the process died is not interrupted; a killed clear may
    # have left its command with the session.
    assert await after.told_of_interruptions() == len(dead)
    await assert_one_answer(after)
    assert_legal(after.evidence)


async def sweep(scenario: crash.Scenario, fault: Fault, *, at_least: int) -> None:
    contents = await crash.prepared(scenario)
    for number in range(1, _MOST_OPERATIONS):
        inner = await crash.copy_of(contents)
        tried = await crash.attempt(scenario, inner, number, fault)
        if len(tried.store.operations) < number:
            assert number > at_least, "the fault met nothing"
            return
        operation = tried.store.operations[number - 1]
        try:
            await assert_recovered(Aftermath(tried, inner), scenario)
        except AssertionError as error:
            error.add_note(f"{scenario.name}: {fault} at {operation}")
            raise
    pytest.fail("the scenario has more operations than the sweep")


def named(scenario: crash.Scenario) -> str:
    return scenario.name


# What is stored after one operation is what is stored before the next: the night tries both.
KILLS = {"before": Kill(), "after": Kill(after=True)}
BY_DAY = amount(by_day=1, by_night=len(KILLS))


@pytest.mark.large
@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS, ids=named)
@pytest.mark.parametrize("fault", list(KILLS.values())[:BY_DAY], ids=list(KILLS)[:BY_DAY])
async def test_a_killed_process_leaves_every_word_and_no_half_state(
    scenario: crash.Scenario, fault: Fault
) -> None:
    await sweep(scenario, fault, at_least=5)


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS, ids=named)
@pytest.mark.parametrize("fault", [Down(), LostAnswer()], ids=["down", "lost answer"])
async def test_a_failing_store_costs_an_error_at_most(
    scenario: crash.Scenario, fault: Fault
) -> None:
    await sweep(scenario, fault, at_least=5)
