"""The offline rules of an agent with tools: call them, then write down what they gave.

What is meant is looked for where a tool does not know; nothing is added to what rows say.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from group_chat.drafts.citations import items_in, plain_rows, told_result
from group_chat.offline import plain_talk
from group_chat.offline.prompt import Call, OfflineReply, Prompt, ToolAnswer
from group_chat.speakers.gate import form_open_line
from group_chat.tools.chart_tools import CHART_TOOLS
from group_chat.tools.session_tools import SCENARIO_TOOLS, UPDATE_ENTITIES
from services.evidence.pubmed import RESEARCH
from services.language.charts.answer_words import answer_words
from services.language.charts.tools_named import SEARCH
from services.language.questions.single_questions import CHANGES
from services.language.replies.judging import caution_for
from services.language.replies.ratings import rating_in
from services.language.replies.yes_no import yes_no_in
from services.language.requests import tool_requests
from services.language.requests.appointment_slots import slots_in
from services.language.requests.arrangement import NOTED_AS, Arranging, asks_for
from services.language.requests.clock import day_in
from services.language.requests.orders import orders_change
from services.language.requests.tool_requests import LISTS_APPOINTMENTS, ToolRequest, as_move
from services.language.requests.work import behind_switch, own_kind_in, points_only
from services.language.utterance import ChartQuestion
from services.language.words.own_texts import ends_with_own, problem_told
from services.language.words.phrases import says
from services.language.words.talk_texts import ends_with_text, has_text
from services.records.answers.choosing.row_line import NOT_RECORDED
from services.records.answers.direct import answered
from services.records.answers.whole_chart import told_list

SECRETARY_TOOL, TIMES_TOOL = "list_events", "available_slots"
BOOKING_TOOL, _MOVE_TOOL, _SHORT_WORDS = "book_appointment", "move_appointment", 8
_CANCELS = ToolRequest("cancel_appointment", ("cancel",), looks_with=LISTS_APPOINTMENTS[0])
_LOOK_FIRST = ("list or search them first", "use list_appointments first")
_EXAMPLES = frozenset({"email", "calendar_event", "contact"})
_DEEDS = ("delete", "move", "done", "send", "reads", "orders")
OVERVIEW_TOOL, _TIMELINE_TOOL = "load_patient_data", "timeline"
_STATUS_TOOL, _RESULTS_TOOL = "current_status", "results"
_NEVER_ASKED = (tool_requests.RECALL.tool, RESEARCH)
_QUERIES = frozenset({"query", "question", "text", "words"})
_SCENARIO = (tool.name for tool in SCENARIO_TOOLS)
_PASSED_OVER = frozenset({OVERVIEW_TOOL, UPDATE_ENTITIES, CHANGES, *_SCENARIO, *CHART_TOOLS})


def answer_as_specialist(prompt: Prompt) -> OfflineReply:
    """Call the agent's tools, or, once they have answered, report."""
    if SECRETARY_TOOL in prompt.tools:
        return answer_as_secretary(prompt)
    if (taken := answer_about_complaint(prompt)) is not None:
        return taken
    if prompt.patient_id is None:
        return plain_talk.nobody_open(prompt)
    if BOOKING_TOOL in prompt.tools:
        return answer_as_booking(prompt)
    if told := plain_talk.noted(prompt):
        return told
    request = request_in(prompt, tool_requests.OF_THE_HOUSE)
    if request is not None:
        return run(prompt, request)
    if not prompt.said and prompt.cue == "none" and (told := plain_talk.courtesy(prompt)):
        return told
    calls = () if prompt.answers else tuple(_calls(prompt))
    return OfflineReply(calls=calls) if calls else OfflineReply(text=report_of(prompt))


def _calls(prompt: Prompt) -> Iterator[Call]:
    """Yield the agent's own tools, and those that look for the words of a question.

    What users type leaves the house by no rule: only a model searches PubMed, in words of its own.
    In a step of a plan who has none tells the course of the illness: told by each, it would hide
    what the others found.
    """
    tools, is_step = prompt.tools, prompt.cue == "step"
    own = [one for one, needed in tools.items() if not needed and one not in _PASSED_OVER]
    if is_step and not own:
        own = [_TIMELINE_TOOL] * (_TIMELINE_TOOL in tools)
    for tool, needed in tools.items():
        if tool in own:
            yield Call(tool, {})
        elif prompt.query and not is_step and tool not in _NEVER_ASKED and len(needed) == 1:
            yield from (Call(tool, {name: prompt.query}) for name in needed if name in _QUERIES)
    if is_step and _RESULTS_TOOL in tools and _STATUS_TOOL in own:
        # A board weighs the functions of organs, too, which the status does not hold.
        yield Call(_RESULTS_TOOL, {"category": "laboratory", "last": 1})


def report_of(prompt: Prompt) -> str:
    """Return what the tools gave, what they lack, and how the agent ends."""
    caution = caution_for(prompt.asked) if prompt.cue != "step" else ""
    parts = [prompt.text(caution)] if caution else []
    parts += [_section(prompt, one) for one in prompt.answers] or [prompt.text("no_tool")]
    views = filter(None, map(prompt.view_of, prompt.answers))
    missing = [row.name for view in views for row in view.rows if row.status == NOT_RECORDED]
    if called := dict.fromkeys(map(answer_words(prompt.language).called, missing)):
        parts.append(prompt.text("not_in_record", names=", ".join(called)))
    parts += [plain_talk.said_here(prompt), prompt.closing]
    parts += [prompt.text("back_to", agent=prompt.hand_back)] if prompt.hand_back else []
    return "\n\n".join(filter(None, parts))


def _section(prompt: Prompt, answer: ToolAnswer) -> str:
    view, words = prompt.view_of(answer), answer_words(prompt.language)
    title = words.things_of.get(answer.name, answer.name.replace("_", " ").strip()).capitalize()
    title = prompt.text(heading) if has_text(heading := f"heading_{answer.name}") else title
    if answer.error:
        return prompt.text(
            "unreadable", title=title, problem=problem_told(answer.error, prompt.language)
        )
    if answer.name == SEARCH and view is not None and prompt.cue != "step":
        question = ChartQuestion(SEARCH, {"query": prompt.query}, name=prompt.query)
        if isinstance(told := answered([question], [(question, view)], words), str):
            return told  # what has but some of the words says so
    if view is not None:
        told = told_list(view, title, words) or (view.nothing if prompt.language == "en" else "")
    elif told := "\n".join(plain_rows(prompt.language, answer.data)):
        told = f"**{title}**\n{told}"
    return told or prompt.text("holds_nothing", title=title)


def answer_as_booking(prompt: Prompt) -> OfflineReply:
    """Go one step on: what is known comes from the entities, never from guesses."""
    wishes = prompt.entities.get("entities") or {}
    beside, shown = form_open_line(prompt.agent), prompt.shown_before
    past = [(as_move(said), told) for said, told in prompt.past if not ends_with_own(told, beside)]
    if prompt.has_asked or ends_with_own(shown, beside):
        own = (one.text for one in reversed(prompt.earlier) if one.agent == prompt.agent)
        shown = next(own, shown)  # others may have been answered since it asked
    told_time = str(wishes.get(NOTED_AS["time"], shown))  # "make it half past"
    talk = Arranging(as_move(prompt.asked, told_time), shown, past, wishes)
    tells = prompt.read.task == "tell" and not slots_in(prompt.asked, is_booking=True)
    if tells and not prompt.answers and (wanted := asks_for(shown)) is not None:
        told = prompt.text("not_held", told=" ".join(prompt.asked.split()))
        return OfflineReply(text=f"{told}\n\n{prompt.text(f'which_{wanted}')}")
    if talk.is_dropped:
        noted = prompt.call("update_entities", entities_to_remove=[*wishes], words=prompt.asked)
        return noted if wishes and not prompt.answers else prompt.say("nothing_arranged")
    # What was said decides which is cancelled, and the last booked one behind that.
    is_said = talk.is_of_other_cancelled or prompt.recent == "appointment"
    found = {} if is_said else prompt.entities.get("derived_entities") or {}
    booked = {"appointment_id": str(found.get("appointment_id", ""))}
    cancel = replace(_CANCELS, given=lambda _: booked)
    if talk.is_of_other_cancelled:
        return run(prompt, cancel)
    request = request_in(prompt, () if talk.is_move else (cancel, *LISTS_APPOINTMENTS))
    if request in LISTS_APPOINTMENTS:
        return _appointments(prompt, request)
    return _arrange(prompt, talk) if request is None else run(prompt, request)


def _appointments(prompt: Prompt, request: ToolRequest) -> OfflineReply:
    """Tell what is booked here, and behind it what the chart has planned."""
    reply = run(prompt, request)
    if reply.calls:
        return reply
    words, data = answer_words(prompt.language), prompt.answers[-1].data
    planned = str(data.get("planned_in_chart", "")).splitlines()
    lines = (f"- {'  '.join(map(words.in_words, one.split('  ')))}" for one in planned)
    told = prompt.text("planned_in_chart" if planned else "none_planned")
    told = str(data.get("chart_not_read", told))
    others = data.get("on_other_days", 0)
    name = "more_on_other_days" if data.get("appointments") else "only_on_other_days"
    booked = prompt.text(name, told=reply.text, count=others) if others else reply.text
    return plain_talk.said_first(prompt, booked, "", told, *lines)


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
    looks = LISTS_APPOINTMENTS[1] if talk.is_move else None
    reply = run(prompt, ToolRequest(TIMES_TOOL, given=lambda _: given, looks_with=looks))
    is_reply = (
        yes_no_in(prompt.asked)
        or says(prompt.asked, "bare", "part_of_day_alone")
        or bool(slots_in(talk.asked, is_booking=True))
    )
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
    if prompt.read.about:
        return None
    told = plain_talk.noted(prompt) or plain_talk.courtesy(prompt)
    return told or plain_talk.not_understood(prompt)


def request_in(prompt: Prompt, requests: Sequence[ToolRequest]) -> ToolRequest | None:
    """Return the first of `requests` that the message is and that the agent has the tool for."""
    able = (one for one in requests if one.tool in prompt.tools)
    return next((one for one in able if one.fits(prompt.asked)), None)


def run(prompt: Prompt, request: ToolRequest) -> OfflineReply:
    """Call its tool; look for what is meant where it does not know; tell what it gave."""
    given = request.given(prompt.asked)
    if given is None:  # a "yes" that nothing asked for names no test
        return plain_talk.courtesy(prompt) or prompt.say(request.asks)
    if not prompt.answers:
        return prompt.call(request.tool, **given)
    last, look = prompt.answers[-1], request.looks_with
    if look is None:
        return OfflineReply(text=_told(prompt, last))
    looked, knows_not = prompt.given_by(look.tool), any(one in last.error for one in _LOOK_FIRST)
    if knows_not and not looked:
        return prompt.call(look.tool, **(look.given(prompt.asked) or {}))
    if last.name == look.tool and items_in(last.data):
        return prompt.call(request.tool, **given)
    told = [last, *(ToolAnswer(look.tool, one) for one in looked[-1:] if knows_not)]
    return OfflineReply(text="\n\n".join(_told(prompt, one) for one in told))


def is_of_recent(prompt: Prompt) -> bool:
    """Whether the message does something to what of the user's own was found or used last."""
    is_deed = says(as_move(prompt.asked, prompt.shown_before), *_DEEDS)
    is_day = prompt.recent == "calendar_event" and says(prompt.asked, "another_day", "when_is_it")
    return is_day or (is_deed and prompt.recent in tool_requests.OF_OWN_THINGS)


def answer_as_secretary(prompt: Prompt) -> OfflineReply:
    """Do what the table has for what is named, or for what was found last."""
    moved = as_move(behind_switch(prompt.asked), prompt.shown_before)
    prompt = replace(prompt, asked=as_move(moved, shown=None))
    done = "task" if says(prompt.asked, "done") else None
    is_event = says(prompt.asked, "cancel", "add") and not points_only(prompt.asked)
    is_event = is_event and day_in(prompt.asked) is not None  # whatever was listed last
    is_recent = prompt.recent in tool_requests.OF_OWN_THINGS and not is_event
    recent = prompt.recent if is_recent else "calendar_event"
    new = "task" if says(prompt.asked, "new_task") else None  # whatever it is about
    kind = new or own_kind_in(prompt.asked) or done or recent
    request = request_in(prompt, tool_requests.OF_OWN_THINGS[kind])
    if request is None:
        return prompt.say("no_tool")
    is_list = request is tool_requests.OF_OWN_THINGS[kind][-1]
    is_order = orders_change(prompt.asked) and not says(prompt.asked, "question")
    if request.given(prompt.asked) is None or (is_list and is_order):
        example = prompt.text(f"example_{kind if kind in _EXAMPLES else 'task'}")
        return prompt.say("only_simple", example=example)
    # What is only pointed at was said before: no list helps.
    reply = run(prompt, replace(request, looks_with=None) if points_only(prompt.asked) else request)
    is_told = is_list and not reply.calls
    return plain_talk.said_first(prompt, reply.text) if is_told else reply


def _told(prompt: Prompt, answer: ToolAnswer) -> str:
    return told_result(prompt.language, answer.name, answer.data, now=prompt.now)
