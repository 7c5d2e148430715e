"""At most one question of a user is open, and only their next message answers it."""

import json
from collections.abc import Awaitable, Callable
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from data_models.clock import RandomIds
from data_models.conversations.claim_decision import ClaimTimes
from data_models.conversations.conversation import Conversation, Effect
from data_models.conversations.incoming_message import Press
from data_models.conversations.plan import Plan, PlanStatus, PlanStep
from data_models.conversations.turn_events import Notice, RunFailed
from data_models.errors import StoreError
from services.assistant.own_things import Task
from services.assistant.undo_log import AssistantService
from services.audit.trail import Audit, AuditEntry
from services.group_chat_port import PlanChanged, QuestionAsked
from tests.durability.evidence import Evidence
from tests.fakes import FixedClock
from tests.fakes_store import MemoryBlobStore
from tests.given import present
from tests.services.assistant.back_ends import local_assistant
from tests.services.turn_tools import turn_tools
from tests.services.world import CHAT, OWNER, FarReplica, Heard, World, heard
from tests.tables import with_cases


@pytest.fixture
async def world(store: MemoryBlobStore, clock: FixedClock) -> World:
    """A conversation with one patient, in which "clear it all" asks before it clears."""
    world = World(sessions=store, clock=clock)
    await world.tell("start a tumor board for patient_4")
    return world


def epoch(store: MemoryBlobStore) -> int:
    return Evidence(store.contents, CHAT).conversation.epoch


def open_question(store: MemoryBlobStore) -> str | None:
    question = Evidence(store.contents, CHAT).conversation.open_question
    return None if question is None else question.question_id


async def ask(world: World, store: MemoryBlobStore) -> str:
    """Have the server ask whether to clear; return the question's id."""
    await said(world, "please clear all patients")
    question = open_question(store)
    assert question is not None
    return question


async def said(
    world: World, text: str, *, press: Press | None = None, user: str = "alice"
) -> Heard:
    message = world.message(text, press=press)
    sender = message.sender.model_copy(update={"principal_id": user})
    ended = await heard(await world.scheduler.submit(message.model_copy(update={"sender": sender})))
    await world.scheduler.idle()
    return ended


def code(ended: Heard) -> str | None:
    return ended.end.code if isinstance(ended.end, RunFailed) else None


class Line(BaseModel):
    """One message; of what is not given nothing is asserted.

    Attributes:
        asks: The name of the question that it leads to: whether to clear.
        press: The name of a question, and what is pressed of it.
        open: The name of the question that is open then; null for none.
        left: How many questions of anybody are open then; epoch: how often all was cleared.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    asks: str = ""
    say: str = "please clear all patients"
    by: str = "alice"
    minutes: int = 0
    press: tuple[str, str] | None = None
    open: str | None = None
    left: int = 0
    epoch: int = 0
    code: str = ""
    told: str = ""


@with_cases("talk")
async def test_only_the_next_message_of_its_user_answers(
    world: World, store: MemoryBlobStore, clock: FixedClock, talk: list[dict[str, Any]]
) -> None:
    asked: dict[str, str] = {}
    for written in talk:
        line = Line.model_validate(written)
        clock.advance(60 * line.minutes)
        name, answer = line.press or ("", "yes")
        press = Press(target_id=asked.get(name, name), answer=answer) if line.press else None
        ended = await said(world, line.say, press=press, user=line.by)
        if line.asks:
            asked[line.asks] = present(open_question(store))
            assert len({*asked.values()}) == len(asked)
        now = {
            "open": next((one for one, key in asked.items() if key == open_question(store)), None),
            "left": len(Evidence(store.contents, CHAT).conversation.questions),
            "epoch": epoch(store),
            "code": code(ended) or "",
        }
        expected = line.model_dump(include={*written} & {*now})
        assert {one: now[one] for one in expected} == expected, line
        assert line.told in "".join(ended.texts)


async def test_a_question_that_an_earlier_version_stored_can_be_answered(
    world: World, store: MemoryBlobStore
) -> None:
    await ask(world, store)
    stored = json.loads(store.contents[f"{CHAT}/conversation.json"])
    del stored["other_questions"]
    await replace(store, f"{CHAT}/conversation.json", json.dumps(stored).encode())
    await said(restarted(world), "yes")
    assert epoch(store) == 1


async def test_a_button_of_no_patients_plan_is_refused(store: MemoryBlobStore) -> None:
    world = World(sessions=store)
    refused = await said(world, "Confirm", press=Press(target_id="plan_1", answer="confirm"))
    assert code(refused) == "stale_question"
    assert world.team.requests == []


@pytest.mark.slow
@pytest.mark.parametrize("status", ["proposed", "running", "done", "cancelled"])
async def test_a_plans_button_counts_while_it_is_open(status: PlanStatus, world: World) -> None:
    plan = Plan(
        plan_id="plan_1",
        run_id="run_1",
        steps=[PlanStep(number=1, agent="Orchestrator", text="Look")],
        created_at=world.clock.now(),
        updated_at=world.clock.now(),
    )
    shown = PlanChanged(plan.with_status(status, now=world.clock.now()))
    world.team.also = lambda _: [shown]
    await said(world, "start tumor board")
    world.team.also = lambda _: ()
    asked = len(world.team.requests)
    pressed = await said(world, "Confirm", press=Press(target_id="plan_1", answer="confirm"))
    is_open = status in ("proposed", "running")
    assert len(world.team.requests) == asked + is_open
    assert code(pressed) == (None if is_open else "stale_question")


async def test_a_question_does_not_survive_the_turn_that_should_have_answered_it(
    world: World, store: MemoryBlobStore
) -> None:
    await ask(world, store)
    running = Evidence(store.contents, CHAT).conversation
    world.team.gate.clear()
    await world.scheduler.submit(world.message("no, what was the stage?"))
    survivor = World(sessions=store, users=world.users, clock=FixedClock())  # the other one died
    await said(survivor, "go on")
    await said(survivor, "yes")
    assert (epoch(store), open_question(store)) == (running.epoch, None)


async def test_a_damaged_history_is_offered_a_new_one_and_only_yes_begins_it(
    world: World, store: MemoryBlobStore
) -> None:
    name = f"{CHAT}/patient_patient_4_context.json"
    await damage(store, name)
    world = restarted(world)

    offered = await said(world, "what was the stage?")
    assert "start a new history for `patient_4`" in offered.texts[0]
    assert world.team.requests == []
    declined = await said(world, "no")
    assert "Nothing was changed" in declined.texts[0]
    assert store.contents[name] == b'{"conversation_id": '

    question = open_question_after(await said(world, "what was the stage?"), store)
    started = await said(world, "Yes", press=Press(target_id=question, answer="yes"))
    assert "A new history is started" in started.texts[0]
    assert (await said(world, "what was the stage?")).texts == ["Heard: what was the stage?"]
    copies = [each for each in store.contents if each.startswith(f"{name}.corrupt-")]
    assert [store.contents[each] for each in copies] == [b'{"conversation_id": ']


async def test_a_history_that_was_restored_meanwhile_is_not_overwritten(
    world: World, store: MemoryBlobStore
) -> None:
    name = f"{CHAT}/patient_patient_4_context.json"
    good = store.contents[name]
    await damage(store, name)
    world = restarted(world)
    assert "start a new history" in (await said(world, "what was the stage?")).texts[0]
    await replace(store, name, good)

    await said(world, "yes")

    turns = [each.turn.user_message for each in Evidence(store.contents, CHAT).turns()]
    assert "start a tumor board for patient_4" in turns


async def test_one_damaged_history_leaves_the_other_patients_alone(
    world: World, store: MemoryBlobStore
) -> None:
    await damage(store, f"{CHAT}/patient_patient_4_context.json")
    world = restarted(world)
    told = await said(world, "switch to patient_15 and tell me the stage")
    assert told.texts == ["Heard: switch to patient_15 and tell me the stage"]


async def test_a_damaged_registry_refuses_every_turn_and_keeps_the_message_unstored(
    world: World, store: MemoryBlobStore
) -> None:
    name = f"{CHAT}/patient_context_registry.json"
    good = store.contents[name]
    await damage(store, name)
    fresh = restarted(world)
    refused = await refusal(fresh, "what was the stage?")
    assert refused == "corrupt_registry"
    await replace(store, name, good)
    assert (await said(fresh, "and now?")).texts == ["Heard: and now?"]


async def test_a_damaged_conversation_is_nobodys_history(
    world: World, store: MemoryBlobStore
) -> None:
    await damage(store, f"{CHAT}/conversation.json")
    assert await refusal(restarted(world), "and now?") == "corrupt_conversation"


async def test_a_damaged_session_refuses_its_turns_and_no_patients(store: MemoryBlobStore) -> None:
    world = World(sessions=store)
    await said(world, "hello")
    await damage(store, f"{CHAT}/session_context.json")
    fresh = restarted(world)

    assert code(await said(fresh, "hello again")) == "corrupt_conversation"
    told = await said(fresh, "start a tumor board for patient_4")
    assert told.texts == ["Heard: start a tumor board for patient_4"]


async def test_a_plans_button_reaches_the_team_whatever_it_says(
    world: World, store: MemoryBlobStore, clock: FixedClock
) -> None:
    plan = Plan(
        plan_id="plan_1",
        run_id="run_1",
        steps=[PlanStep(number=1, agent="Orchestrator", text="Look")],
        created_at=clock.now(),
        updated_at=clock.now(),
    )
    world.team.also = lambda request: [PlanChanged(plan)]
    await said(world, "make a plan")
    world.team.also = lambda request: []
    await said(world, "switch to patient_15", press=Press(target_id="plan_1", answer="confirm"))
    request = world.team.requests[-1]
    assert (request.patient_id, request.press) == (
        "patient_4",
        Press(target_id="plan_1", answer="confirm"),
    )


def restarted(world: World) -> World:
    """Return a new process on the same stores; it remembers nothing."""
    return World(sessions=world.sessions, users=world.users, clock=world.clock)


async def damage(store: MemoryBlobStore, name: str) -> None:
    await replace(store, name, b'{"conversation_id": ')


async def replace(store: MemoryBlobStore, name: str, data: bytes) -> None:
    blob = await store.read(name)
    assert blob is not None
    await store.replace(name, data, etag=blob.etag)


async def refusal(world: World, text: str) -> str | None:
    try:
        return code(await said(world, text))
    except StoreError as error:
        return error.code


def open_question_after(_: Heard, store: MemoryBlobStore) -> str:
    # The damaged document cannot be parsed, so only the conversation is read here.
    data = store.contents[f"{CHAT}/conversation.json"]
    question = Conversation.model_validate_json(data).open_question
    assert question is not None
    return question.question_id


class Sleep(Audit):
    """An audit trail during whose next entry this process sleeps through its claim."""

    def __init__(self, clock: FixedClock) -> None:
        self._clock = clock
        self.meanwhile: Callable[[], Awaitable[object]] | None = None

    async def record(self, entry: AuditEntry) -> None:
        if self.meanwhile is not None:
            meanwhile, self.meanwhile = self.meanwhile, None
            self._clock.advance(36)
            await meanwhile()

    async def close(self) -> None:
        """Nothing is open."""


async def test_a_process_that_sleeps_between_a_yes_and_its_deed_does_nothing(
    store: MemoryBlobStore, clock: FixedClock, tmp_path: Path
) -> None:
    back_end = local_assistant(tmp_path, clock=clock)
    tasks = back_end.of(OWNER, zone=UTC).tasks
    task = await tasks.add(Task(title="Call the lab"), Effect("call"))
    ids, users, trail = RandomIds(), MemoryBlobStore(), Sleep(clock)
    service = AssistantService(back_end=back_end, store=users)
    tools = turn_tools(clock=clock, ids=ids, assistant=service)
    slow = ClaimTimes(renew_every=timedelta(hours=1))
    asleep, other = (
        World(
            sessions=store, users=users, clock=clock, times=slow, tools=tools, ids=ids,
            replica=FarReplica(), audit=trail,
        )
        for _ in range(2)
    )  # fmt: skip
    await said(asleep, "start a tumor board for patient_4")
    payload = {"action": "delete_task", "entity_id": task.id, "name": "*Call the lab*"}
    asks = QuestionAsked("destructive_tool", "Delete *Call the lab*? yes / no", payload)
    asleep.team.also = lambda request: (asks,)
    await said(asleep, "delete it")
    told: list[Heard] = []

    async def go_on() -> None:
        told.append(await said(other, "what now?"))

    trail.meanwhile = go_on
    assert code(await said(asleep, "yes")) == "claim_lost"
    assert await tasks.get(task.id) == task
    (notice,) = [e for e in told[0].events if isinstance(e, Notice) and e.kind == "interrupted"]
    assert "check first: “Delete *Call the lab*? yes / no”" in notice.text
    await said(other, "yes")
    assert await tasks.get(task.id) == task
