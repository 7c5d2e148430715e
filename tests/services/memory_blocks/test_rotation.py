"""A history of any length and script stays within its bounds, and nothing is lost on the way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_models.chat_context import AgentMessage, ChatContext, Citation, Turn
from data_models.chat_context_accessor import ChatContextAccessor
from data_models.documents import Documents
from services.memory_blocks.history import HISTORY_LIMIT_CHARS, conversation_history, size_chars
from services.memory_blocks.rotation import (
    HISTORY_LIMIT_BYTES,
    ROTATE_ABOVE_TURNS,
    head_and_tail,
    make_room,
    rotate,
)
from services.records.answers.as_said import told_in_passing
from tests.fakes import CountingIds, FixedClock
from tests.fakes_store import MemoryBlobStore

NOW = FixedClock().now()
SCRIPTS = {"latin": "abc ", "cjk": "患者の状態", "emoji": "👩🏽‍⚕️🙂", "quotes": '"\\\n'}
SIZES = st.one_of(st.integers(0, 40), st.integers(0, 2_500), st.integers(0, 16_000))


def text(script: str, chars: int, mark: str) -> str:
    body = SCRIPTS[script]
    return mark + (body * (chars // len(body) + 1))[: max(0, chars - 2 * len(mark))] + mark


@st.composite
def drafts(draw: st.DrawFn) -> list[tuple[str, int, list[int]]]:
    """Turns as (script, characters of the question, characters of each answer)."""
    turn = st.tuples(st.sampled_from(sorted(SCRIPTS)), SIZES, st.lists(SIZES, max_size=4))
    return draw(st.lists(turn, min_size=1, max_size=14))


def turn(number: int, script: str, question: int, answers: list[int]) -> Turn:
    return Turn(
        turn_id=number,
        run_id=f"run_{number}",
        timestamp=NOW,
        user="A",
        user_message=text(script, question, f"<q{number}>"),
        agent_responses=[
            AgentMessage(
                message_id=f"m{number}-{index}",
                agent="Radiology",
                text=text(script, chars, f"<a{number}-{index}>"),
                timestamp=NOW,
            )
            for index, chars in enumerate(answers)
        ],
    )


async def read_all(contexts: ChatContextAccessor, context: ChatContext) -> list[Turn]:
    """Read the whole history back as the reader does."""
    live = context.chat_history
    first = live[0].turn_id if live else context.next_turn_id
    older = await contexts.read_archived_turns(context, before=first, limit=10_000)
    return [await contexts.whole_turn(context, each) for each in [*older, *live]]


@pytest.mark.slow
@given(drafts())
async def test_everything_is_readable_once_and_whole_after_any_history(
    plan: list[tuple[str, int, list[int]]],
) -> None:
    documents = Documents(store=MemoryBlobStore(), clock=FixedClock(), ids=CountingIds())
    contexts = ChatContextAccessor(documents=documents)
    context, said = ChatContext(conversation_id="c"), list[Turn]()
    for number, (script, question, answers) in enumerate(plan, 1):
        added = turn(number, script, question, answers)
        said.append(added.model_copy(deep=True))
        context.chat_history.append(added)
        context.next_turn_id += 1
        await make_room(contexts, context)
        assert len(context.chat_history) >= min(number, 3)
        assert_fits(context.chat_history)
    assert await read_all(contexts, context) == said


def assert_fits(turns: list[Turn]) -> None:
    block = conversation_history(ChatContext(conversation_id="c" * 300, chat_history=turns))
    assert size_chars(block) <= HISTORY_LIMIT_CHARS
    assert sum(len(each.model_dump_json().encode()) for each in turns) <= HISTORY_LIMIT_BYTES


@pytest.mark.slow
@pytest.mark.parametrize("script", sorted(SCRIPTS))
async def test_turns_of_very_many_answers_fit_too(script: str) -> None:
    documents = Documents(store=MemoryBlobStore(), clock=FixedClock(), ids=CountingIds())
    contexts = ChatContextAccessor(documents=documents)
    context, said = ChatContext(conversation_id="c"), list[Turn]()
    for number in range(1, 6):
        added = turn(number, script, 16_000, [6_000] * 30)
        for answer in added.agent_responses:
            answer.citations = [Citation(ref="Observation/1", title="t" * 80, quote="q" * 160)] * 10
        said.append(added.model_copy(deep=True))
        context.chat_history.append(added)
        context.next_turn_id += 1
        await make_room(contexts, context)
        assert_fits(context.chat_history)
    assert await read_all(contexts, context) == said


async def test_many_short_turns_leave_the_newest_and_no_gap() -> None:
    documents = Documents(store=MemoryBlobStore(), clock=FixedClock(), ids=CountingIds())
    contexts = ChatContextAccessor(documents=documents)
    context = ChatContext(conversation_id="c")
    for number in range(1, 201):
        context.chat_history.append(turn(number, "latin", 20, [40]))
        context.next_turn_id += 1
        await make_room(contexts, context)
        assert len(context.chat_history) <= ROTATE_ABOVE_TURNS
    assert [each.turn_id for each in await read_all(contexts, context)] == list(range(1, 201))
    page = await contexts.read_archived_turns(context, before=100, limit=7)
    assert [each.turn_id for each in page] == [93, 94, 95, 96, 97, 98, 99]


async def test_what_was_told_in_passing_is_still_told_when_its_turn_has_left() -> None:
    contexts = ChatContextAccessor(
        documents=Documents(store=MemoryBlobStore(), clock=FixedClock(), ids=CountingIds())
    )
    context = ChatContext(conversation_id="c")
    said = ["she fell on Monday", "her brother is ill", "no, that was another patient"]
    for number in range(1, 60):
        added = turn(number, "latin", 20, [9_000] if number == 9 else [40])
        added.user_message = said[number - 1] if number <= len(said) else "potassium?"
        context.chat_history.append(added)
        await make_room(contexts, context)
    assert context.chat_history[0].turn_id > len(said)
    assert told_in_passing(context, context.heard) == ["she fell on Monday"]
    assert [one.agent_responses for one in context.told] == [[]]


async def test_a_turn_that_was_shortened_is_archived_whole_when_it_leaves() -> None:
    """The range that leaves may be that one turn, under the very name of its whole text."""
    documents = Documents(store=MemoryBlobStore(), clock=FixedClock(), ids=CountingIds())
    contexts = ChatContextAccessor(documents=documents)
    context = ChatContext(conversation_id="c")
    for number in range(1, 6):
        context.chat_history.append(turn(number, "latin", 15_000, [15_000]))
        context.next_turn_id += 1
        await make_room(contexts, context)
    found = await read_all(contexts, context)
    assert [len(each.user_message) for each in found] == [15_000] * 5
    assert [len(each.agent_responses[0].text) for each in found] == [15_000] * 5


@pytest.mark.parametrize("turns", [[], [turn(1, "latin", 10, [10])]])
def test_a_short_history_stays_as_it_is(turns: list[Turn]) -> None:
    rotation = rotate(turns)
    assert (list(rotation.archived), list(rotation.whole)) == ([], [])
    assert list(rotation.kept) == turns


@pytest.mark.slow
@given(st.text(max_size=500), st.integers(3, 300))
def test_head_and_tail_say_what_is_left_out(said: str, limit: int) -> None:
    shown = head_and_tail(said, limit, turn_id=7)
    if len(said) <= limit:
        assert shown == said
    else:
        head, tail = limit * 2 // 3, limit // 3
        assert shown.startswith(said[:head])
        assert shown.endswith(said[-tail:])
        assert f"{len(said) - head - tail} characters left out, whole in turn 7 …]" in shown
