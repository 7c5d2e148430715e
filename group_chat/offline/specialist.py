"""The offline rules of an agent with tools: call them, then write down what they gave."""

from group_chat.offline.booking import BOOKING_TOOL, answer_as_booking
from group_chat.offline.complaint import answer_about_complaint
from group_chat.offline.errands import OF_ORDERS, OF_PERSONS, RECALL, errand_in, run
from group_chat.offline.plain_talk import courtesy
from group_chat.offline.prompt import OfflineReply, Prompt, ToolAnswer
from group_chat.offline.secretary import SECRETARY_TOOL, answer_as_secretary
from group_chat.offline.told import missing_in, notes_on, told_rows
from group_chat.tools.chart_tools import CHART_TOOLS
from group_chat.tools.entity_tools import UPDATE_ENTITIES
from group_chat.tools.scenario_tools import SCENARIO_TOOLS
from services.language.changes_asked import CHANGES
from services.language.judging import asks_for_judgement, caution_for
from services.language.phrases import says
from services.language.work import asks_overview

OVERVIEW_TOOL, _TIMELINE_TOOL = "load_patient_data", "timeline"
_PASSED_OVER = frozenset({OVERVIEW_TOOL, UPDATE_ENTITIES, CHANGES, *SCENARIO_TOOLS})
_HEADINGS = frozenset(
    {"biomarkers", "create_report", "current_status", "imaging_reports", "load_patient_data",
     "pathology_reports", "timeline", "search_record"}
)  # fmt: skip
_SEARCH_ARGUMENTS = {"query", "question", "text", "words"}
# Who has the tool does these errands.
_ERRANDS = (("draft_order", OF_ORDERS), ("register_person", OF_PERSONS))


def answer_as_specialist(prompt: Prompt) -> OfflineReply:
    """Call the agent's tools, or, once they have answered, report."""
    if RECALL.is_for(prompt):
        return run(prompt, RECALL)
    if prompt.tool(SECRETARY_TOOL) is not None:
        return answer_as_secretary(prompt)
    if (taken := answer_about_complaint(prompt)) is not None:
        return taken
    if prompt.patient_id is None:
        return prompt.say("no_patient")
    if prompt.tool(BOOKING_TOOL) is not None:
        return answer_as_booking(prompt)
    return _errand(prompt) or _of_the_record(prompt)


def _errand(prompt: Prompt) -> OfflineReply | None:
    """Return what comes of a request that one tool does; None where the others are to answer."""
    errands = (one for tool, each in _ERRANDS if prompt.tool(tool) is not None for one in each)
    errand = errand_in(prompt, [*errands])
    return None if errand is None else run(prompt, errand)


def _of_the_record(prompt: Prompt) -> OfflineReply:
    if not prompt.said and prompt.cue == "none" and (polite := courtesy(prompt)) is not None:
        return polite
    asked = [] if prompt.answers else _asked(prompt)
    calls = tuple(call for name, given in asked for call in prompt.call(name, **given).calls)
    return OfflineReply(calls=calls) if calls else OfflineReply(text=_report(prompt))


def _asked(prompt: Prompt) -> list[tuple[str, dict[str, str]]]:
    """Return the agent's own tools, and those that look for the words of a question.

    Tools over the whole chart are nobody's own; the course of the illness is the subject of who
    also tells what is new in it.
    """
    query = prompt.query
    general = {*CHART_TOOLS} - ({_TIMELINE_TOOL} if prompt.tool(CHANGES) is not None else set())
    names = [one.name for one in prompt.tools if not one.required and one.name not in _PASSED_OVER]
    own = [name for name in names if name not in general]
    own = own or (names if len(names) < len(general) / 2 else [])
    if _is_for_one_thing(prompt) and query:
        own = [name for name in own if name != _TIMELINE_TOOL]
    if prompt.tool(OVERVIEW_TOOL) is not None and (not own or asks_overview(prompt.asked)):
        own.append(OVERVIEW_TOOL)
    is_at_work = not query or prompt.cue == "step"
    searches = [] if is_at_work else [one for one in prompt.tools if len(one.required) == 1]
    found = [
        one for one in searches if one.required[0] in _SEARCH_ARGUMENTS and one.name != RECALL.tool
    ]
    return [*((name, {}) for name in own), *((one.name, {one.required[0]: query}) for one in found)]


def _is_for_one_thing(prompt: Prompt) -> bool:
    """Whether a question that names one thing was passed on: the whole course is no answer."""
    read = prompt.utterance
    is_whole = says(prompt.asked, "comparison") or (read is not None and bool(read.about))
    return bool(prompt.said) and prompt.cue != "step" and not is_whole


def _report(prompt: Prompt) -> str:
    judged = prompt.cue != "step" and asks_for_judgement(prompt.asked)
    parts = [prompt.text(caution_for(prompt.asked))] if judged else []
    is_found = any(one.error or told_rows(prompt, one) for one in prompt.answers)
    if not prompt.answers:
        parts.append(prompt.text("no_tool"))
    elif is_found or not _is_for_one_thing(prompt):
        parts += [_section(prompt, one) for one in prompt.answers]
    else:
        sought = prompt.query
        parts.append(f"{prompt.text('no_passage', sought=sought)} {prompt.text('ask_timeline')}")
    missing = [name for one in prompt.answers for name in missing_in(prompt, one)]
    if missing:
        parts.append(prompt.text("not_in_record", names=", ".join(dict.fromkeys(missing))))
    parts.append(prompt.closing)
    parts += [prompt.text("back_to", agent=prompt.hand_back)] if prompt.hand_back else []
    return "\n\n".join(filter(None, parts))


def _section(prompt: Prompt, answer: ToolAnswer) -> str:
    name = answer.name.replace("_", " ").strip()
    is_known = answer.name in _HEADINGS
    title = prompt.text(f"heading_{answer.name}") if is_known else name[:1].upper() + name[1:]
    if answer.error:
        return prompt.text("unreadable", title=title, problem=answer.error)
    rows, notes = told_rows(prompt, answer), notes_on(prompt, answer)
    if not rows:
        return prompt.text("holds_nothing", title=title)
    return "\n".join([f"**{title}**", *rows, *(["", *notes] if notes else [])])
