"""What an agent says from its rows without a model call: always without a model, else if asked for.

With a model (`DIRECT_ANSWERS`) a plain look-up alone: whatever wants a judgement, or a search
through notes, is the model's.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence

from semantic_kernel.contents import (
    AuthorRole,
    ChatHistory,
    ChatMessageContent,
    FunctionResultContent,
)

from data_models.chat_context import UNSUPPORTED
from data_models.errors import ModelError
from data_models.patient_context_models import PatientIdentity
from group_chat.agents import TeamAgent
from group_chat.drafts.citations import changes_told
from group_chat.drafts.draft import Draft
from group_chat.tools.function import calls_of
from group_chat.turn_context import TurnContext
from group_chat.window import Line
from services.language.charts.answer_words import answer_words
from services.language.charts.tools_named import SEARCH
from services.language.model_output import hand_over
from services.language.questions.question_figures import arguments_of
from services.language.questions.single_questions import CHANGES
from services.language.replies.judging import caution_for
from services.language.requests.work import impossible_wish
from services.language.told.telling import is_half_read, told_in
from services.language.utterance import ChartQuestion, Utterance
from services.language.words.phrases import says
from services.language.words.talk_texts import talk_text
from services.records.answers.as_said import told_before
from services.records.answers.choosing.asked_rows import has_answer
from services.records.answers.direct import answered
from services.records.answers.looked_up import Looked
from services.statements.deeds import tells_deed

_QUESTIONS = 4
_SEARCHES = 8
_PLAIN_WORDS, _FEW_TOLD, _FEW_WORDS = 16, 2, 3
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
    if read is None or SEARCH not in agent.tools or says(turn.request.text, "danger"):
        return None
    if has_model and not (is_allowed and _is_plain(read, turn)):
        return None
    for _ in range(_SEARCHES):
        answer = _answer_of(read, turn, text=turn.request.text)
        if isinstance(answer, str):
            if read.task == "tell" and not any(_has_answer(*one) for one in turn.looked):
                return None  # it is noted
            return answer if has_model else f"{_preface(turn, read)}{answer}"
        if has_model or not await _run(agent, turn, history, [answer]):
            return None
    return None


async def usable(
    said: AsyncIterator[str], turn: TurnContext, search_on: Callable[[], Awaitable[None]]
) -> AsyncIterator[str]:
    """Yield what a model says; one that fails or says nothing leaves the word to rows that answer.

    Args:
        search_on: Looks up what else their answer needs.

    Raises:
        ModelError: it broke off, and no row that was fetched answers, nor was anything changed that
            is told without it.
    """
    has_begun = False
    try:
        async for text in said:
            has_begun = has_begun or bool(text.strip())
            yield text
    except ModelError:
        if has_begun or turn.calls_of_message > len(turn.looked):  # it had begun to look itself
            await search_on()
        if told_by_rows(turn) is None and (has_begun or not changes_told(turn, turn.ran)):
            raise
        turn.is_cut = has_begun
        return
    if not has_begun and turn.looked:
        await search_on()


async def search_on(agent: TeamAgent, turn: TurnContext) -> None:
    """Look up what else the rows' own answer needs: what is in no list may be in a note."""
    for _ in range(_SEARCHES):
        answer = _by_rows(turn)
        if not isinstance(answer, ChartQuestion):
            return
        await _run(agent, turn, ChatHistory(), [answer])


def told_by_rows(turn: TurnContext) -> str | None:
    """Return what the fetched rows answer, None where they do not."""
    answer = _by_rows(turn)
    return answer if isinstance(answer, str) and answer else None


def _by_rows(turn: TurnContext) -> ChartQuestion | str | None:
    """Return what the fetched rows answer, or what else they need; None where nothing is asked."""
    if (read := turn.request.utterance) is None:
        return None
    if turn.looked and read.about:
        return _answer_of(read, turn)
    # Where code read no question, what the agent looked for itself stands for it.
    runs = {one.call_id: ChartQuestion(one.tool, one.parameters) for one in turn.ran if one.is_view}
    found = [(runs[one.view_id], one) for one in turn.views if one.view_id in runs and one.rows]
    asked = [question for question, _ in found[-_QUESTIONS:]]
    return answered(asked, found, answer_words(read.language)) if found else None


def _answer_of(read: Utterance, turn: TurnContext, *, text: str = "") -> ChartQuestion | str:
    """Return what the fetched rows answer, or what else they need."""
    words, told = answer_words(read.language), told_before(turn.request.heard)
    asked, held = read.about[:_QUESTIONS], turn.request.held
    return answered(asked, turn.looked, words, held=held, told=told, text=text)


def known_by_code(turn: TurnContext, earlier: Sequence[Sequence[Line]]) -> str:
    """Return who is open, or what was done, where that is asked: no model knows. "" otherwise."""
    if says(turn.request.text, "roster"):
        return roster_told(turn)
    if impossible_wish(turn.request.text) != "asks_of_deed":
        return ""
    said = (line for _, *answered in earlier for line in answered)
    return deeds_told(turn.request.text, said, turn.text)


def roster_told(turn: TurnContext) -> str:
    """Return whom a conversation knows and whose chart is open: code knows, a model may not."""
    request, text = turn.request, turn.text
    names = [
        named(turn.language, one, request.identities.get(one))
        + f" {text('active')}" * (one in (request.patient_id, request.active))
        for one in request.all_patient_ids
    ]
    if not names:
        return text("nobody_discussed", next=text("no_patient_yet"))
    said = "one_discussed" if len(names) == 1 else "many_discussed"
    return text(said, count=len(names), names=", ".join(names))


def named(language: str, patient_id: str | None, identity: PatientIdentity | None) -> str:
    """Return how a patient is named: by name and birth date, where both are known, and by id."""
    if identity is None or not (identity.name and identity.birth_date):
        return f"`{patient_id}`"
    name, born = identity.name, identity.birth_date
    return talk_text(language, "who_is", name=name, born=born, patient=patient_id)


def said_without_words(turn: TurnContext, lead: str = "", rows: str | None = None) -> str:
    """Return what is said for a model that said nothing: `lead`, or that, and the rows' answer.

    Args:
        rows: Their answer, where it is known.
    """
    said = lead or turn.text("no_words" if turn.is_spent else "no_answer")
    return "\n\n".join(filter(None, (said, rows or told_by_rows(turn))))


def rows_behind(draft: Draft, turn: TurnContext, *, is_last: bool) -> str:
    """Return what the rows answer behind a message.

    That is where nothing is left of it, it goes in circles, or it is a word or two that tell
    nothing of the record.

    Args:
        is_last: Whether nobody goes on behind it.
    """
    is_spent = turn.is_spent and draft.ends_with_call
    said = ((one.agent, one.text) for one in turn.said)
    is_again = is_spent or (draft.agent, draft.text) in said
    is_unsupported = draft.has_support is False and is_last
    is_unsupported = is_unsupported and any(_has_answer(*one) for one in turn.looked)
    is_stuck = draft.text and not draft.has_support and (is_again or is_unsupported)
    says_little = draft.has_support is None and 0 < len(draft.text.split()) <= _FEW_WORDS
    is_asked = draft.is_left_out or is_stuck or turn.is_cut or hand_over.hands_back(draft.text)
    is_asked = is_asked or (says_little and is_last)
    rows = told_by_rows(turn) if is_asked else None
    is_said = rows is not None and rows in draft.text  # by the rules themselves
    if is_said or (rows is None and not (is_asked and is_spent)):
        return ""
    lead = draft.what_is_left or (turn.text("broke_off") if turn.is_cut else "")
    lead = lead or turn.text("rows_instead") * (is_unsupported and not is_again)
    return f"\n\n{said_without_words(turn, lead, rows)}"


def _preface(turn: TurnContext, read: Utterance) -> str:
    """Return what an answer without a model begins with: who speaks first, and what it is not."""
    text = turn.request.text
    is_first = not (turn.said or any(each.agent_responses for each in turn.request.history))
    is_either = read.task == "tell" or (
        any(one.unread for one in read.about) and is_half_read(text)
    )
    names = ["not_a_model"] * is_first + ["told_or_asked"] * is_either
    tells = any(
        one.part in _REASONS
        or one.aspect in _OVER_TIME
        or one.tool == CHANGES
        or "last" in one.arguments
        for one in read.about
    )
    if (caution := caution_for(text)) and (not tells or says(text, "advice", "cost")):
        names.append(caution)
    said = [talk_text(read.language, name) for name in names]
    if len(told := told_in(text)) > _FEW_TOLD:
        said.append(talk_text(read.language, "not_held", told="; ".join(told)))
    return "".join(f"{one}\n\n" for one in said)


def _is_plain(read: Utterance, turn: TurnContext) -> bool:
    """Whether code alone read a short question that the rows answer as they are."""
    by_model = "model" in read.decided_by.values() or says(turn.request.text, *_NOT_PLAIN)
    is_short = len(turn.request.text.split()) <= _PLAIN_WORDS and read.task != "tell"
    has_rows = all(one.tool != SEARCH and _has_answer(one, given) for one, given in turn.looked)
    return is_short and not by_model and has_rows and len(read.about) == len(turn.looked)


def _has_answer(asked: ChartQuestion, given: Looked) -> bool:
    return not isinstance(given, str) and has_answer(asked, given)


# What the record answers alone is fetched before the agent is asked: its first request has it.

LOOK_UPS = 3
"""Calls that are made before an agent is asked; it may make more itself."""


async def look_up(agent: TeamAgent, turn: TurnContext, history: ChatHistory) -> bool:
    """Make the calls that the message asks for, as if `agent` had, and add them to `history`.

    Once in a turn, by the first agent that reads the record, whichever of its tools are named;
    every call counts and is told like an agent's own. A call that fails is the agent's to report.
    Returns whether any was made; what they gave is in `turn.looked`.
    """
    if asked := _asked(turn, agent):
        turn.looked.clear()
    has_looked = await _run(agent, turn, history, asked)
    turn.has_looked_up = has_looked or turn.has_looked_up
    return has_looked


async def look_up_step(agent: TeamAgent, turn: TurnContext, history: ChatHistory) -> None:
    """Make the call that a step of a plan begins with, and add it to `history`."""
    if agent.first_look and turn.request.patient_id is not None:
        await _run(agent, turn, history, [ChartQuestion(agent.first_look)])


async def _run(
    agent: TeamAgent, turn: TurnContext, history: ChatHistory, asked: Sequence[ChartQuestion]
) -> bool:
    """Return whether anything was called."""
    chart = agent.chart
    asked = [one for one in asked if chart is not None and one.tool in chart.tools]
    calls = calls_of(((one.tool, arguments_of(one)) for one in asked), "look_up")
    if chart is None or not calls:
        return False
    history.add_message(ChatMessageContent(role=AuthorRole.ASSISTANT, items=list(calls)))
    for question, call in zip(asked, calls, strict=True):
        known = len(turn.views)
        await chart.invoke_function_call(call, history, request_index=0)
        given = turn.views[-1] if turn.views[known:] else _problem(history.messages[-1])
        turn.looked.append((question, given))
    return True


def _problem(message: ChatMessageContent) -> str:
    """Return what was wrong where a tool gave no rows."""
    results = [one for one in message.items if isinstance(one, FunctionResultContent)]
    try:
        said = json.loads(str(results[-1].result)) if results else {}
    except json.JSONDecodeError:
        return ""
    return str(said.get("error", "")) if isinstance(said, dict) else ""


def _asked(turn: TurnContext, agent: TeamAgent) -> Sequence[ChartQuestion]:
    """Return what the message asks of the chart, as long as nobody has looked.

    Who guides a scenario is handed nothing: the words may answer its step, and a question beside
    it is passed on.
    """
    read = turn.request.utterance
    scenario = turn.request.scenario
    if scenario is not None and scenario.lead == agent.name:
        return ()
    if read is None or turn.has_looked_up or turn.request.patient_id is None:
        return ()
    first = [asked for one in read.about for asked in (one.around or (one,))]
    return first[:LOOK_UPS]


def deeds_told(asked: str, earlier: Iterable[Line], text: Callable[..., str]) -> str:
    """Return what was told of things done, or not done, for the user: the last, or all."""
    paragraphs = [one for line in earlier for one in line.text.split("\n\n")]
    proven = [one for one in paragraphs if tells_deed(one) and UNSUPPORTED not in one]
    told = list(dict.fromkeys(map(str.strip, proven)))
    if not told:
        return text("asks_of_deed")
    name = "all_deeds" if says(asked, "asks_all_deeds") else "last_deed"
    return text(name, told="\n\n".join(told if name == "all_deeds" else told[-1:]))
