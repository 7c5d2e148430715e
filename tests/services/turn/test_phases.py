"""The phases of a turn, the budget of its document, what is repeated, the language of answers."""

import ast
from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import pytest

from data_models.conversations.turn_events import Notice, RunFinished
from data_models.entities.entities import ENTITIES_LIMIT_BYTES
from data_models.identifiers import PatientId
from data_models.memory_blocks import CHANGES_LIMIT_BYTES, MEMORY_LIMIT_BYTES
from services.group_chat_port import GroupChatRequest
from services.identity.linking import SubjectLinker
from services.identity.names.person import Person, PersonName
from services.memory_blocks.rotation import HISTORY_LIMIT_BYTES
from services.tool_memory.store import LIMIT_BYTES as TOOL_MEMORY_LIMIT_BYTES
from services.turn.phases import ClaimedTurn, GroundedTurn, LoadedTurn, UnderstoodTurn
from services.views.conversation_reader import OwnedChat
from tests.fakes import GivenPeople
from tests.services.patient_context.world import PATTERN
from tests.services.world import CHAT, Heard, World, heard

_SERVICES = Path("services")


def _stores(tree: ast.AST) -> list[str]:
    """Return which attributes of a turn's record, or of the turn itself, are assigned."""
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    ]
    return [ast.unparse(one) for one in found if ast.unparse(one.value).endswith("turn.record")]


def test_an_assignment_to_a_record_is_seen() -> None:
    assert _stores(ast.parse("turn.record.outcome = 'x'")) == ["turn.record.outcome"]


def test_only_its_own_methods_change_a_turns_record() -> None:
    sources = [*_SERVICES.glob("turn/*.py"), _SERVICES / "turn_pipeline.py"]
    written = {str(one): _stores(ast.parse(one.read_text("utf-8"))) for one in sources}
    assert {file: names for file, names in written.items() if names} == {}


@pytest.mark.parametrize("phase", [ClaimedTurn, LoadedTurn, UnderstoodTurn, GroundedTurn])
def test_a_phase_is_frozen(phase: type[ClaimedTurn]) -> None:
    turn = object.__new__(phase)
    for one in fields(phase):
        with pytest.raises(FrozenInstanceError):
            setattr(turn, one.name, None)


DOCUMENT_BYTES = 96_000
SCENARIO_AND_PROFILE_BYTES = 8_000


def test_the_budgets_of_all_parts_add_up_to_no_more_than_the_documents() -> None:
    parts = {
        "history": HISTORY_LIMIT_BYTES,
        "blocks": MEMORY_LIMIT_BYTES,
        "entities": ENTITIES_LIMIT_BYTES,
        "tool memory": TOOL_MEMORY_LIMIT_BYTES,
        "scenario and profile": SCENARIO_AND_PROFILE_BYTES,
        "changes by people": CHANGES_LIMIT_BYTES,
    }
    assert sum(parts.values()) <= DOCUMENT_BYTES, parts


async def stored(world: World) -> bool:
    page = await world.reader.messages(OwnedChat(CHAT, "alice", "patient_4"))
    return page.turns[-1].is_repeatable


def told(heard: Heard) -> bool:
    assert isinstance(heard.end, RunFinished)
    return heard.end.is_repeatable


@pytest.fixture
async def world() -> World:
    world = World()
    await world.say("history of patient_4")
    return world


async def test_what_the_team_answered_may_be_asked_again(world: World) -> None:
    heard = await world.say("is she on warfarin?")
    assert told(heard)
    assert await stored(world)


async def test_what_began_a_change_outside_may_not(world: World) -> None:
    async def book(request: GroupChatRequest) -> None:
        assert request.effects is not None
        await request.effects.begin("add_task", {"title": "Check INR"}, message=0)

    world.team.first = book
    heard = await world.say("remind me to check the INR")
    assert not told(heard)
    assert not await stored(world)


@pytest.mark.parametrize("text", ["clear patient context", "stop", "switch to patient_4"])
async def test_what_the_server_answers_itself_may_not(world: World, text: str) -> None:
    assert not told(await world.say(text))


async def test_talk_about_nobody_may_not() -> None:
    assert not told(await World().say("hello"))


_DOYLE = Person(
    PatientId("patient_42"), "k1", (PersonName("Doyle", ("Francis",), ""),), birth_date="1951-02-03"
)
_ADAMS = Person(
    PatientId("patient_7"), "k2", (PersonName("Adams", ("Tunde",), ""),), birth_date="1968-07-21"
)


async def test_a_chart_that_a_bare_name_opens_is_announced_in_the_language_of_the_talk() -> None:
    world = World(linker=SubjectLinker(directory=GivenPeople(_DOYLE, _ADAMS), fits=PATTERN.matches))
    await world.tell("Öffne die Akte von Francis Doyle")
    await world.tell("Wie ist der Blutdruck?")

    (told,) = (await world.say("Tunde Adams")).texts
    assert "Geöffnet ist die Akte von Tunde Adams" in told


async def test_what_is_told_beside_the_answers_is_told_in_it_too() -> None:
    world = World(linker=SubjectLinker(directory=GivenPeople(_DOYLE, _ADAMS), fits=PATTERN.matches))
    await world.say("Öffne die Akte von Francis Doyle")
    await world.say("Wie ist der Blutdruck?")
    said = await world.say("Und das Kalium von Tunde Adams?")
    notices = [one.text for one in said.events if isinstance(one, Notice)]
    assert any(one.startswith("Geöffnet ist die Akte von Tunde Adams") for one in notices)


async def test_a_first_word_of_two_languages_is_answered_in_the_one_of_the_page() -> None:
    world = World(linker=SubjectLinker(directory=GivenPeople(_DOYLE, _ADAMS), fits=PATTERN.matches))
    message = world.message("Francis Doyle").model_copy(update={"language": "de"})
    (told,) = (await heard(await world.scheduler.submit(message))).texts
    assert "Geöffnet ist die Akte von Francis Doyle" in told
