"""The offline rules of an agent with tools: call them, then write down what they gave.

What is meant is looked for where a tool does not know; nothing is added to what rows say.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from group_chat.drafts.item_lines import item_line
from group_chat.offline.plain_talk import (
    as_said,
    courtesy,
    nobody_open,
    not_understood,
    noted,
    plain_rows,
    said_first,
    told_beside,
)
from group_chat.offline.prompt import Call, OfflineReply, Prompt, ToolAnswer
from group_chat.speakers.plan_text import form_open_line
from group_chat.tools.chart_tools import CHART_TOOLS
from group_chat.tools.entity_tools import UPDATE_ENTITIES
from group_chat.tools.scenario_tools import SCENARIO_TOOLS
from services.evidence.pubmed import RESEARCH
from services.language.charts.answer_words import answer_words
from services.language.charts.tools_named import SEARCH
from services.language.questions.single_questions import CHANGES
from services.language.replies.judging import caution_for
from services.language.replies.ratings import rating_in
from services.language.replies.yes_no import yes_no_in
from services.language.requests.arrangement import NOTED_AS, Arranging, asks_for
from services.language.requests.clock import day_in
from services.language.requests.orders import orders_change
from services.language.requests.tool_requests import (
    LISTS_APPOINTMENTS,
    OF_OWN_THINGS,
    OF_THE_HOUSE,
    RECALL,
    ToolRequest,
    as_move,
)
from services.language.requests.work import behind_switch, own_kind_in, points_only
from services.language.utterance import ChartQuestion
from services.language.words.own_texts import ends_with_own, in_own_language
from services.language.words.phrases import says
from services.language.words.talk_texts import ends_with_text, has_text
from services.records.answers.choosing.row_line import NOT_RECORDED, bullets_of
from services.records.answers.direct import answered
from services.records.answers.whole_chart import notes_on

SECRETARY_TOOL, TIMES_TOOL = "list_events", "available_slots"
BOOKING_TOOL, _MOVE_TOOL, _SHORT_WORDS = "book_appointment", "move_appointment", 8
_LOOK_FIRST = ("list or search them first", "use list_appointments first")
_EXAMPLES = frozenset({"email", "calendar_event", "contact"})
_LISTING = ("list_", "search_", "find_", "recall")
_DEEDS = ("delete", "move", "done", "send", "reads", "orders")
OVERVIEW_TOOL, _TIMELINE_TOOL = "load_patient_data", "timeline"
_STATUS_TOOL, _RESULTS_TOOL = "current_status", "results"
_SCENARIO = (tool.name for tool in SCENARIO_TOOLS)
_PASSED_OVER = frozenset({OVERVIEW_TOOL, UPDATE_ENTITIES, CHANGES, *_SCENARIO, *CHART_TOOLS})


def answer_as_specialist(prompt: Prompt) -> OfflineReply:
    """Call the agent's tools, or, once they have answered, report."""
    if prompt.tool(SECRETARY_TOOL) is not None:
        return answer_as_secretary(prompt)
    if (taken := answer_about_complaint(prompt)) is not None:
        return taken
    if prompt.patient_id is None:
        return nobody_open(prompt)
    if prompt.tool(BOOKING_TOOL) is not None:
        return answer_as_booking(prompt)
    if (told := noted(prompt)) is not None:
        return told
    request = request_in(prompt, OF_THE_HOUSE)
    return _of_the_record(prompt) if request is None else run(prompt, request)


def _of_the_record(prompt: Prompt) -> OfflineReply:
    if not prompt.said and prompt.cue == "none" and (polite := courtesy(prompt)) is not None:
        return polite
    calls = () if prompt.answers else tuple(_calls(prompt))
    return OfflineReply(calls=calls) if calls else OfflineReply(text=report_of(prompt))


def _calls(prompt: Prompt) -> Iterator[Call]:
    """Yield the agent's own tools, and those that look for the words of a question.

    What users type leaves the house by no rule: only a model searches PubMed, in words of its own.
    In a step of a plan who has none tells the course of the illness: told by each, it would hide
    what the others found.
    """
    is_step = prompt.cue == "step"
    own = [one for one in prompt.tools if not one.required and one.name not in _PASSED_OVER]
    if is_step and not own:
        own = [one for one in prompt.tools if one.name == _TIMELINE_TOOL]
    has_query = prompt.query and not is_step
    for tool in prompt.tools:
        if tool in own:
            yield Call(tool.wire_name, {})
        elif has_query and len(tool.required) == 1 and tool.name not in (RECALL.tool, RESEARCH):
            (name,) = tool.required
            if name in {"query", "question", "text", "words"}:
                yield Call(tool.wire_name, {name: prompt.query})
    results = prompt.tool(_RESULTS_TOOL)
    if is_step and results is not None and prompt.tool(_STATUS_TOOL) in own:
        # A board weighs the functions of organs, too, which the status does not hold.
        yield Call(results.wire_name, {"category": "laboratory", "last": 1})


def report_of(prompt: Prompt) -> str:
    """Return what the tools gave, what they lack, and how the agent ends."""
    caution = caution_for(prompt.asked) if prompt.cue != "step" else ""
    parts = [prompt.text(caution)] if caution else []
    parts += [_section(prompt, one) for one in prompt.answers] or [prompt.text("no_tool")]
    views = filter(None, (prompt.view_of(one) for one in prompt.answers))
    rows = (row for view in views for row in view.rows if row.status == NOT_RECORDED)
    if missing := list(map(answer_words(prompt.language).called, (row.name for row in rows))):
        parts.append(prompt.text("not_in_record", names=", ".join(dict.fromkeys(missing))))
    parts += [as_said(prompt), prompt.closing]
    parts += [prompt.text("back_to", agent=prompt.hand_back)] if prompt.hand_back else []
    return "\n\n".join(filter(None, parts))


def _section(prompt: Prompt, answer: ToolAnswer) -> str:
    title = answer.name.replace("_", " ").strip().capitalize()
    title = prompt.text(heading) if has_text(heading := f"heading_{answer.name}") else title
    if answer.error:
        return prompt.text("unreadable", title=title, problem=answer.error)
    view, words = prompt.view_of(answer), answer_words(prompt.language)
    if answer.name == SEARCH and view is not None and prompt.cue != "step":
        question = ChartQuestion(SEARCH, {"query": prompt.query}, name=prompt.query)
        if isinstance(told := answered([question], [(question, view)], words), str):
            return told  # what has but some of the words says so
    if view is None:
        rows, notes = [*plain_rows(prompt, answer.data)], []
    else:
        rows = bullets_of(view, words)
        notes = [f"*{one[:1].upper()}{one[1:].rstrip('.')}.*" for one in notes_on(view, words)]
    if not rows:
        searched = view.nothing if view is not None and prompt.language == "en" else ""
        return searched or prompt.text("holds_nothing", title=title)
    return "\n".join([f"**{title}**", *rows, *(["", *notes] if notes else [])])


def answer_as_booking(prompt: Prompt) -> OfflineReply:
    """Go one step on: what is known comes from the entities, never from guesses."""
    wishes = prompt.entities.get("entities") or {}
    found = prompt.entities.get("derived_entities") or {}
    beside, shown = form_open_line(prompt.agent), prompt.shown_before
    past = [(as_move(said), told) for said, told in prompt.past if not ends_with_own(told, beside)]
    if prompt.has_asked or ends_with_own(shown, beside):
        own = (one.text for one in reversed(prompt.earlier) if one.agent == prompt.agent)
        shown = next(own, shown)  # others may have been answered since it asked
    talk = Arranging(as_move(prompt.asked, shown), shown, past, wishes)
    if not prompt.answers and (beside_form := told_beside(prompt, asks_for(shown))) is not None:
        return beside_form
    if talk.is_dropped:
        noted = prompt.call("update_entities", entities_to_remove=[*wishes], words=prompt.asked)
        return noted if wishes and not prompt.answers else prompt.say("nothing_arranged")
    if talk.is_of_other_cancelled:
        return run(prompt, _cancel(""))
    booked = "" if prompt.recent == "appointment" else str(found.get("appointment_id", ""))
    cancel = _cancel(booked)
    request = request_in(prompt, () if talk.is_move else (cancel, *LISTS_APPOINTMENTS))
    if request in LISTS_APPOINTMENTS:
        return _appointments(prompt, request)
    return _arrange(prompt, talk) if request is None else run(prompt, request)


def _appointments(prompt: Prompt, request: ToolRequest) -> OfflineReply:
    """Tell what is booked here, and behind it what the chart has planned."""
    reply = run(prompt, request)
    if reply.calls:
        return reply
    words = answer_words(prompt.language)
    data = prompt.answers[-1].data
    planned = str(data.get("planned_in_chart", "")).splitlines()
    lines = (f"- {'  '.join(map(words.in_words, one.split('  ')))}" for one in planned)
    told = prompt.text("planned_in_chart" if planned else "none_planned")
    told = str(data.get("chart_not_read", told))
    return OfflineReply(text="\n".join([*said_first(prompt), reply.text, "", told, *lines]))


def _cancel(booked: str) -> ToolRequest:
    """Return how one is cancelled: what was said decides, and the last booked one behind that."""
    given, looks = {"appointment_id": booked}, LISTS_APPOINTMENTS[0]
    return ToolRequest("cancel_appointment", ("cancel",), given=lambda _: given, looks_with=looks)


def _arrange(prompt: Prompt, talk: Arranging) -> OfflineReply:
    """Look with what is known; propose the wanted time where it is free."""
    picked, last = {} if prompt.answers else talk.picked(), prompt.answers[-1:]
    given: dict[str, str] = {**talk.known(), **picked}
    given |= {"instead_of": prompt.recent_appointment or "it"} if talk.is_move else {}
    if picked:
        kept = {NOTED_AS[name]: value for name, value in picked.items()}
        noted = prompt.call("update_entities", entities_to_update=kept, words=prompt.asked)
        return OfflineReply(calls=(*noted.calls, *prompt.call(TIMES_TOOL, **given).calls))
    found = next(iter(prompt.given_by(TIMES_TOOL)[-1:]), {})
    if last and last[0].name == TIMES_TOOL and found.get("wanted_time_is_free"):
        slot_id = found["slots"][0]["slot_id"]
        if talk.is_move:
            moved = found["moved"]["appointment_id"]
            return prompt.call(_MOVE_TOOL, appointment_id=moved, slot_id=slot_id)
        wishes = (talk.wishes.get(one) for one in ("reason_visit", "procedure_preference"))
        reason = next(({"reason": str(one)} for one in wishes if one), {})
        return prompt.call(BOOKING_TOOL, slot_id=slot_id, **reason)
    looks = LISTS_APPOINTMENTS[0] if talk.is_move else None
    reply = run(prompt, ToolRequest(TIMES_TOOL, given=lambda _: given, looks_with=looks))
    is_reply = yes_no_in(prompt.asked) or says(prompt.asked, "bare") or talk.names_wish
    if asks_for(reply.text) and reply.text == talk.shown and not is_reply:
        said = prompt.text("not_read_as_answer", said=" ".join(prompt.asked.split()))
        return OfflineReply(text=f"{said}\n\n{reply.text}")  # it is not swallowed
    if last and last[0].error and found.get("wanted_time_is_free"):
        # What is free stands before why it cannot be had.
        return OfflineReply(text=f"{found['told']}\n{reply.text}")
    return reply


def answer_about_complaint(prompt: Prompt) -> OfflineReply | None:
    """Ask about the user's own complaint, one thing at a time; None for any other message.

    It is the user's: nothing of the open chart belongs into it. Who hears complaints is who closes
    each answer with a caution.
    """
    if not prompt.closing or prompt.cue == "step" or prompt.answers:
        return None
    rating = rating_in(prompt.asked)
    if ends_with_text(prompt.shown_before, "severity") and rating is not None:
        return OfflineReply(text=f"{prompt.text('rated', rating=rating)}\n\n{prompt.text('onset')}")
    is_short = len(prompt.asked.split()) <= _SHORT_WORDS and "?" not in prompt.asked
    if ends_with_text(prompt.shown_before, "onset") and is_short:
        return prompt.say("both_noted", said=" ".join(prompt.asked.split()).rstrip("."))
    if says(prompt.asked, "own_complaint"):
        return OfflineReply(text=f"{prompt.closing}\n\n{prompt.text('severity')}")
    read = prompt.utterance
    if read is None or read.about:
        return None
    return noted(prompt) or courtesy(prompt) or not_understood(prompt)


def request_in(prompt: Prompt, requests: Sequence[ToolRequest]) -> ToolRequest | None:
    """Return the first of `requests` that the message is and that the agent has the tool for."""
    able = (one for one in requests if prompt.tool(one.tool) is not None)
    return next((one for one in able if one.fits(prompt.asked)), None)


def run(prompt: Prompt, request: ToolRequest) -> OfflineReply:
    """Call its tool; look for what is meant where it does not know; tell what it gave."""
    given = request.given(prompt.asked)
    if given is None:  # a "yes" that nothing asked for names no test
        return courtesy(prompt) or prompt.say(request.asks)
    if not prompt.answers:
        return prompt.call(request.tool, **given)
    last, look = prompt.answers[-1], request.looks_with
    looked = prompt.given_by(look.tool) if look is not None else []
    knows_not = any(one in last.error for one in _LOOK_FIRST)
    if look is not None and knows_not and not looked:
        return prompt.call(look.tool, **(look.given(prompt.asked) or {}))
    if look is not None and last.name == look.tool and items_in(last):
        return prompt.call(request.tool, **given)
    told = [told_deed(prompt, last)]
    if look is not None and knows_not and looked:
        told.append(told_deed(prompt, ToolAnswer(look.tool, looked[-1])))
    return OfflineReply(text="\n\n".join(told))


def is_of_recent(prompt: Prompt) -> bool:
    """Whether the message does something to what of the user's own was found or used last."""
    is_deed = says(as_move(prompt.asked, prompt.shown_before), *_DEEDS)
    is_next_day = prompt.recent == "calendar_event" and says(prompt.asked, "another_day")
    return is_next_day or (is_deed and prompt.recent in OF_OWN_THINGS)


def answer_as_secretary(prompt: Prompt) -> OfflineReply:
    """Do what the table has for what is named, or for what was found last."""
    moved = as_move(behind_switch(prompt.asked), prompt.shown_before)
    prompt = replace(prompt, asked=as_move(moved, shown=None))
    done = "task" if says(prompt.asked, "done") else None
    is_event = says(prompt.asked, "cancel", "add") and not points_only(prompt.asked)
    is_event = is_event and day_in(prompt.asked) is not None  # whatever was listed last
    is_recent = prompt.recent in OF_OWN_THINGS and not is_event
    recent = prompt.recent if is_recent else "calendar_event"
    new = "task" if says(prompt.asked, "new_task") else None  # whatever it is about
    kind = new or own_kind_in(prompt.asked) or done or recent
    request = request_in(prompt, OF_OWN_THINGS[kind])
    if request is None:
        return prompt.say("no_tool")
    is_list = request is OF_OWN_THINGS[kind][-1]
    is_order = orders_change(prompt.asked) and not says(prompt.asked, "question")
    if request.given(prompt.asked) is None or (is_list and is_order):
        example = prompt.text(f"example_{kind if kind in _EXAMPLES else 'task'}")
        return prompt.say("only_simple", example=example)
    # What is only pointed at was said before: no list helps.
    reply = run(prompt, replace(request, looks_with=None) if points_only(prompt.asked) else request)
    if not is_list or reply.calls:
        return reply
    return OfflineReply(text="\n".join([*said_first(prompt), reply.text]))


def told_deed(prompt: Prompt, answer: ToolAnswer) -> str:
    """Return the result of a tool that lists or changes something, as a user reads it."""
    data, rows = answer.data, items_in(answer)
    if "asked which" in answer.error:
        return prompt.text("please_choose")
    if answer.error:
        # What a tool says behind what went wrong is advice for a model.
        said, is_order, _ = answer.error.partition("; nothing is prepared")
        problem = (said if is_order else said.partition(";")[0]).rstrip(".")
        return prompt.text("changed_nothing", problem=in_own_language(problem, prompt.language))
    told = str(data.get("told", "")) or ("asked" in data and prompt.text("please_confirm"))
    if told:
        return told
    if answer.name in ("read_mail", "read_own_document"):
        text = next((str(data[one]) for one in ("text", "withheld") if data.get(one)), "")
        text = text or next((row["body"] for row in rows if row.get("body")), "")
        quoted = (text or prompt.text("holds_no_text")).splitlines()
        return "\n".join([*_lines(prompt, rows), "", *(f"> {line}" for line in quoted)])
    if not rows and answer.name.startswith(_LISTING):
        return prompt.text(f"none_{answer.name}", count=data.get("turns_searched", 0))
    more, day = [prompt.text("and_more_rows")] if data.get("more") else [], data.get("day")
    title = f"**{prompt.text(f'title_{answer.name}')}**"
    title += f" {item_line({'start': day}, prompt.language, year=prompt.year)}" if day else ""
    return "\n".join([title, *(f"- {line}" for line in _lines(prompt, rows)), *more])


def items_in(answer: ToolAnswer) -> list[Any]:
    """Return what a tool listed or changed: the first list of its result."""
    return next((one for one in answer.data.values() if isinstance(one, list)), [])


def _lines(prompt: Prompt, rows: list[Any]) -> list[str]:
    return [
        row if isinstance(row, str) else item_line(row, prompt.language, year=prompt.year)
        for row in rows
    ]
