"""What an agent says from its rows without a model call: always without a model, else if asked for.

With a model (`DIRECT_ANSWERS`) a plain look-up alone: whatever wants a judgement, or a search
through notes, is the model's.
"""

from collections.abc import AsyncIterator, Iterator
from datetime import date

from semantic_kernel.contents import ChatHistory

from data_models.errors import ModelSilentError
from group_chat.agents import TeamAgent
from group_chat.look_up import look_up, look_up_more
from group_chat.turn_context import TurnContext
from services.language.answer_words import answer_words
from services.language.changes_asked import CHANGES
from services.language.commands import takes_back
from services.language.held_statements import withdrawn_value
from services.language.judging import asks_for_judgement, caution_for
from services.language.phrases import says
from services.language.reading import question_before_deed
from services.language.talk_texts import talk_text
from services.language.telling import is_told, puts_right_what_was_told
from services.language.tools_named import SEARCH
from services.language.utterance import Utterance
from services.records.answers.as_said import Told, without_what_is_forgotten
from services.records.answers.asked_rows import has_answer
from services.records.answers.direct import answered

_QUESTIONS = 4
_SEARCHES = 8
_PLAIN_WORDS = 16
_TURNS_READ, _TOLD_CHARS = 20, 300
_REASONS, _OVER_TIME = ("reason", "end reason"), ("trend", "change")
_NOT_PLAIN = ("advice", "comparison", "reason", "term", "danger")


async def directly(
    agent: TeamAgent, turn: TurnContext, history: ChatHistory, *, is_allowed: bool
) -> str | None:
    """Fetch what the record answers alone; return what `agent` says of it without a model.

    None where it is asked as ever, with the rows in its first request.

    Args:
        is_allowed: Whether a plain look-up may be answered so although there is a model.
    """
    has_model = turn.checking is None or turn.checking.is_language_model
    if not await look_up(agent, turn, history):
        return None
    read = turn.request.utterance
    if read is None or SEARCH not in agent.tools or says(turn.request.text, "remember", "danger"):
        return None
    if has_model and not (is_allowed and _is_plain(read, turn)):
        return None
    words, before = answer_words(read.language), _told_before(turn)
    for _ in range(_SEARCHES):
        answer = answered(
            read.about[:_QUESTIONS], turn.looked, words, held=turn.request.held, told=before
        )
        if isinstance(answer, str):
            return answer if has_model else f"{_preface(turn, read)}{answer}"
        if has_model or not await look_up_more(agent, turn, history, answer):
            return None
    return None


async def usable(said: AsyncIterator[str], turn: TurnContext) -> AsyncIterator[str]:
    """Yield what a model says; one that says nothing leaves the word to rows that answer.

    Raises:
        ModelSilentError: it said nothing, and no row that was fetched answers.
        ModelOutputError: its answer broke off, or is none.
    """
    try:
        async for text in said:
            yield text
    except ModelSilentError:
        if told_by_rows(turn) is None:
            raise


def told_by_rows(turn: TurnContext) -> str | None:
    """Return what the fetched rows answer, None where they do not."""
    read = turn.request.utterance
    if read is None or not turn.looked:
        return None
    answer = answered(
        read.about[:_QUESTIONS],
        turn.looked,
        answer_words(read.language),
        held=turn.request.held,
        told=_told_before(turn),
    )
    return answer if isinstance(answer, str) and answer else None


def said_without_words(turn: TurnContext) -> str:
    """Return what is said for a model that said nothing: that it did not, and the rows' answer."""
    said, answer = turn.text("no_words" if turn.is_spent else "no_answer"), told_by_rows(turn)
    return said if answer is None else f"{said}\n\n{answer}"


def _preface(turn: TurnContext, read: Utterance) -> str:
    """Return what an answer without a model begins with: who speaks first, and what it is not."""
    text = turn.request.text
    is_first = not (turn.said or any(each.agent_responses for each in turn.request.history))
    names = ["not_a_model"] if is_first else []
    tells = any(
        one.part in _REASONS or one.aspect in _OVER_TIME or one.tool == CHANGES
        for one in read.about
    )
    if says(text, "advice") or (asks_for_judgement(text) and not tells):
        names.append(caution_for(text))
    if question_before_deed(text):
        names.append("tasks_alone")
    return "".join(f"{talk_text(read.language, name)}\n\n" for name in names)


def _told_before(turn: TurnContext) -> list[Told]:
    """Return what users told of this patient in the last turns, in their words.

    Without the last thing that was told before it was said that this is not so.
    """
    found: list[Told] = []
    was_told = False
    for said, day in _lines_before(turn):
        tells = len(said) <= _TOLD_CHARS and is_told(said)
        puts_right = bool(found) and (tells or was_told) and puts_right_what_was_told(said)
        was_told = tells or puts_right
        if takes_back(said):
            del found[-1:]
        elif (value := withdrawn_value(said)) is not None:
            found = without_what_is_forgotten(found, value)
        elif puts_right:
            found[-1] = found[-1]._replace(sentences=(*found[-1].sentences, said))
        elif was_told:
            found.append(Told((said,), day))
    return found


def _lines_before(turn: TurnContext) -> Iterator[tuple[str, date]]:
    """Yield what users wrote in the last turns, a line each: also what waited for an answer."""
    for each in turn.request.history[-_TURNS_READ:]:
        for line in each.user_message.splitlines():
            said = " ".join(line.split())
            _, _, waited = said.partition(": ")  # behind the answer: "yes: her K was 6.1"
            yield (waited if is_told(waited) and not is_told(said) else said), each.timestamp.date()


def _is_plain(read: Utterance, turn: TurnContext) -> bool:
    """Whether code alone read a short question that the rows answer as they are."""
    by_model = "model" in read.decided_by.values() or says(turn.request.text, *_NOT_PLAIN)
    is_short = len(turn.request.text.split()) <= _PLAIN_WORDS
    has_rows = all(
        not isinstance(given, str) and one.tool != SEARCH and has_answer(one, given)
        for one, given in turn.looked
    )
    return is_short and not by_model and has_rows and len(read.about) == len(turn.looked)
