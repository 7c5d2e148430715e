"""A branch has what was said of one patient before a question, and nothing of later or others."""

import pytest

from data_models.conversations.conversation import Conversation
from data_models.errors import ChartClosedError, NotFoundError
from data_models.identifiers import ConversationLayout, PatientId
from services.chart_access.chart_guard import ChartGuard
from services.conversations.maintenance_lease import MaintenanceLease
from services.operations.forgetting import Forgetting
from services.views.archive import Branching
from services.views.conversation_reader import OwnedChat
from tests.fakes import ClosedCharts
from tests.fakes_store import MemoryBlobStore
from tests.services.world import CHAT, OWNER, FarReplica, World

FOUR = PatientId("patient_4")
LATER, OTHER = "CANARYLATER", "CANARYFIFTEEN"


def branching_on(world: World) -> Branching:
    return Branching(reader=world.reader, store=world.sessions)


@pytest.fixture
async def world() -> World:
    world = World()
    await world.say("history of patient_4")
    await world.say("stage of the tumour?")
    await world.say(f"plan a biopsy {LATER}")
    await world.say(f"start a tumor board for patient_15 {OTHER}")
    await world.tell("switch to patient_4")
    view = await world.reader.view(OwnedChat(CHAT, OWNER))
    assert [row.patient_id for row in view.patients] == ["patient_4", "patient_15"]
    return world


def of_branch(world: World, branch: str) -> dict[str, bytes]:
    assert isinstance(world.sessions, MemoryBlobStore)
    prefix = ConversationLayout.of(branch).prefix
    return {name: data for name, data in world.sessions.contents.items() if name.startswith(prefix)}


async def test_it_holds_the_talk_until_then_and_nothing_else(world: World) -> None:
    branch = await branching_on(world).branch(OwnedChat(CHAT, OWNER, "patient_4"), before_turn=3)
    page = await world.reader.messages(OwnedChat(branch, OWNER))
    assert page.patient_id == FOUR
    old = (await world.reader.messages(OwnedChat(CHAT, OWNER, "patient_4"))).turns
    assert [turn.user_message for turn in page.turns] == [one.user_message for one in old[:2]]
    assert [turn.turn_id for turn in page.turns] == [1, 2]
    assert not {turn.run_id for turn in page.turns} & {turn.run_id for turn in old}
    held = b"".join(of_branch(world, branch).values())
    assert LATER.encode() not in held
    assert b"patient_15" not in held
    assert OTHER.encode() not in held
    view = await world.reader.view(OwnedChat(branch, OWNER))
    assert (view.question, view.plan, view.running_turn) == (None, None, None)
    assert view.branched_from is not None
    assert (view.branched_from.conversation_id, view.branched_from.before_turn) == (CHAT, 3)
    assert branch in [row.chat_id for row in await world.reader.list_of(owner=OWNER)]


async def test_the_talk_goes_on_there_and_the_old_one_stays(world: World) -> None:
    before = of_branch(world, CHAT)
    branch = await branching_on(world).branch(OwnedChat(CHAT, OWNER, "patient_4"), before_turn=2)
    assert of_branch(world, CHAT) == before
    await world.say("and now?", chat=branch, seen_patient_id="patient_4")
    shown = world.team.requests[-1]
    assert "history of patient_4" in str(shown)
    assert LATER not in str(shown)
    page = await world.reader.messages(OwnedChat(branch, OWNER, "patient_4"))
    assert [turn.turn_id for turn in page.turns] == [1, 2]


async def test_before_the_first_question_it_is_an_open_chart(world: World) -> None:
    branch = await branching_on(world).branch(OwnedChat(CHAT, OWNER, "patient_4"), before_turn=1)
    page = await world.reader.messages(OwnedChat(branch, OWNER))
    assert (page.patient_id, page.turns) == (FOUR, [])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("chat", "owner", "patient"),
    [(CHAT, "mallory", "patient_4"), ("absent", OWNER, "patient_4"), (CHAT, OWNER, "patient_7"),
     (CHAT, OWNER, "session")],
)  # fmt: skip
async def test_nobody_else_and_nothing_else_is_branched(
    world: World, chat: str, owner: str, patient: str
) -> None:
    assert isinstance(world.sessions, MemoryBlobStore)
    before = dict(world.sessions.contents)
    with pytest.raises(NotFoundError):
        await branching_on(world).branch(OwnedChat(chat, owner, patient), before_turn=3)
    assert world.sessions.contents == before


async def test_a_closed_chart_is_not_branched(world: World) -> None:
    guard = ChartGuard(policy=ClosedCharts(FOUR), audit=world.trail, clock=world.clock)
    closed = World(sessions=world.sessions, users=world.users, clock=world.clock, guard=guard)
    with pytest.raises(ChartClosedError):
        await branching_on(closed).branch(OwnedChat(CHAT, OWNER, "patient_4"), before_turn=3)


async def test_who_is_forgotten_meanwhile_does_not_come_back(world: World) -> None:
    other = World(
        sessions=world.sessions, users=world.users, clock=world.clock, replica=FarReplica()
    )
    lease = MaintenanceLease(claimant=other.claimant, ids=world.ids)
    forgetting = Forgetting(sessions=world.sessions, users=world.users, maintenance_lease=lease)
    branching = branching_on(world)
    write = world.conversations.write

    async def forget_first(conversation: Conversation, *, etag: str | None) -> str:
        await forgetting.run(FOUR, dry_run=False)
        return await write(conversation, etag=etag)

    world.conversations.write = forget_first  # type: ignore[method-assign]
    with pytest.raises(NotFoundError):
        await branching.branch(OwnedChat(CHAT, OWNER, "patient_4"), before_turn=3)
    world.conversations.write = write  # type: ignore[method-assign]
    assert isinstance(world.sessions, MemoryBlobStore)
    assert [name for name, data in world.sessions.contents.items() if b"stage of" in data] == []
