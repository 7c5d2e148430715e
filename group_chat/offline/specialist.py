"""The offline rules of an agent with tools: call them, then write down what they gave."""

from collections.abc import Sequence

from group_chat.offline.asked_first import WHOLE, asked_first
from group_chat.offline.assistant import ASSISTANT_TOOL, answer_as_assistant
from group_chat.offline.booking import BOOKING_TOOL, answer_as_booking
from group_chat.offline.complaint import (
    answer_about_complaint,
    is_about_complaint,
)
from group_chat.offline.elsewhere import handed_back
from group_chat.offline.order_drafts import DRAFT_TOOL, answer_about_orders
from group_chat.offline.plain_talk import courtesy
from group_chat.offline.prompt import Prompt, Spoken, ToolAnswer, ToolOffer
from group_chat.offline.registration import REGISTRATION_TOOL, answer_as_registration
from group_chat.offline.remembering import RECALL_TOOL, answer_from_memory, asks_to_remember
from group_chat.offline.reply import Call, OfflineReply
from group_chat.offline.view_rows import capped, missing_behind, notes_behind, rows_behind
from group_chat.offline.words import asks_overview, query_of, spelt_otherwise, topics_of, words_of
from group_chat.tools.chart_tools import CHART_TOOLS
from group_chat.tools.entity_tools import UPDATE_ENTITIES
from group_chat.tools.scenario_tools import SCENARIO_TOOLS
from services.language.changes_asked import CHANGES
from services.language.judging import asks_for_judgement, caution_for, compares

_OVERVIEW_TOOL = "load_patient_data"
_TIMELINE_TOOL = "timeline"
_HEADINGS = frozenset(
    {"biomarkers", "create_report", "current_status", "imaging_reports", "load_patient_data",
     "pathology_reports", "timeline", "search_record"}
)  # fmt: skip
_ROWS_OF_MANY = {"biomarkers", "current_status", _TIMELINE_TOOL}
_CLOSING = "Close with: "
_SEARCH_ARGUMENTS = {"query", "question", "text", "words"}


def answer_as_specialist(prompt: Prompt) -> OfflineReply:
    """Call the agent's tools, or, once they have answered, report."""
    if asks_to_remember(prompt):
        return answer_from_memory(prompt)
    if prompt.tool(ASSISTANT_TOOL) is not None:
        return answer_as_assistant(prompt)
    if (taken := answer_about_complaint(prompt)) is not None:
        return taken
    if prompt.snapshot and prompt.patient_id is None:
        return OfflineReply(text=prompt.text("no_patient"))
    return _of_the_clinic(prompt) or _of_the_record(prompt)


def _of_the_clinic(prompt: Prompt) -> OfflineReply | None:
    if prompt.tool(BOOKING_TOOL) is not None:
        return answer_as_booking(prompt)
    if prompt.tool(DRAFT_TOOL) is not None:
        return answer_about_orders(prompt)
    return _registration(prompt)


def _of_the_record(prompt: Prompt) -> OfflineReply:
    if not prompt.said and prompt.cue.kind == "none" and (polite := courtesy(prompt)) is not None:
        return OfflineReply(text=polite)
    calls = () if prompt.answers else _calls(prompt)
    return OfflineReply(calls=calls) if calls else OfflineReply(text=_report(prompt))


def _registration(prompt: Prompt) -> OfflineReply | None:
    """Return what the agent for persons says; None where its other tools answer."""
    registers = prompt.tool(REGISTRATION_TOOL) is not None
    elsewhere = handed_back(prompt, topic="registration") if registers else None
    return elsewhere or answer_as_registration(prompt)


def _calls(prompt: Prompt) -> tuple[Call, ...]:
    passed_over = {
        _OVERVIEW_TOOL,
        UPDATE_ENTITIES,
        CHANGES,
        *SCENARIO_TOOLS,
        *_general_tools(prompt),
    }
    chosen = [tool for tool in prompt.tools if not tool.required and tool.name not in passed_over]
    overview = prompt.tool(_OVERVIEW_TOOL)
    if overview is not None and (not chosen or asks_overview(prompt.asked)):
        chosen.append(overview)
    calls = [Call(tool.wire_name, {}) for tool in chosen]
    query = query_of(_task(prompt), besides=prompt.patients)
    query = spelt_otherwise(query)
    if query and (prompt.cue.kind not in {"step", "own_step"} or not chosen):
        calls += [Call(tool.wire_name, {tool.required[0]: query}) for tool in _searches(prompt)]
    return tuple(calls)


def _general_tools(prompt: Prompt) -> set[str]:
    """Return the chart tools that answer questions only; who has most reports on its own subject.

    The course of the illness is the subject of the agent that also tells what is new in it.
    """
    general = {*CHART_TOOLS}
    offered = general.intersection(tool.name for tool in prompt.tools)
    if len(offered) < len(general) / 2:
        return set()
    return general - ({_TIMELINE_TOOL} if prompt.tool(CHANGES) is not None else set())


def _searches(prompt: Prompt) -> list[ToolOffer]:
    """Return the tools that need nothing but words to look for."""
    return [
        tool
        for tool in prompt.tools
        if tool.name != RECALL_TOOL
        and len(tool.required) == 1
        and tool.required[0] in _SEARCH_ARGUMENTS
    ]


def _task(prompt: Prompt) -> str:
    """Return what is to be done: the step that was called, else the user's words."""
    if prompt.cue.kind in {"step", "own_step"} and prompt.said:
        _, _, task = prompt.said[-1].text.partition(": ")
        return task.partition("*")[2].partition("*")[2].lstrip(", ") or task
    return prompt.asked


def _report(prompt: Prompt) -> str:
    answers: Sequence[ToolAnswer] = prompt.answers
    parts = _asked_first(prompt, answers)
    if _is_for_one_thing(prompt):
        answers, note = _on_one_thing(prompt, answers, is_found=bool(parts))
        parts += note
    for answer in answers:
        parts += _section(prompt, answer)
    if not prompt.answers:
        parts += [prompt.text("no_tool")]
    missing = list(
        dict.fromkeys(name for answer in prompt.answers for name in missing_behind(answer))
    )
    if missing:
        parts += ["", prompt.text("not_in_record", names=", ".join(missing))]
    lines = [line.strip() for line in prompt.instructions.splitlines()]
    closing = next((line for line in lines if line.startswith(_CLOSING)), "")
    if closing:
        parts += ["", closing.removeprefix(_CLOSING)]
    if is_about_complaint(prompt):
        parts += ["", prompt.text("severity")]
    if prompt.cue.hand_back is not None:
        parts += ["", prompt.text("back_to", agent=prompt.cue.hand_back)]
    caution = _caution(prompt)
    return "\n".join([*caution, *(parts[1:] if caution and parts[:1] == [""] else parts)]).strip()


def _caution(prompt: Prompt) -> list[str]:
    """Return what the answer is not, where the user wants more than what is on record."""
    is_step = prompt.cue.kind in {"step", "own_step"}
    return (
        []
        if is_step or not asks_for_judgement(prompt.asked)
        else [prompt.text(caution_for(prompt.asked)), ""]
    )


def _is_for_one_thing(prompt: Prompt) -> bool:
    """Whether a question that names one thing was passed on: the whole course is no answer."""
    is_passed_on = bool(prompt.said) and prompt.cue.kind not in {"step", "own_step"}
    asked = prompt.asked
    is_whole = compares(asked) or words_of(asked) & WHOLE
    is_for_notes = is_passed_on and prompt.tool(_TIMELINE_TOOL) is not None
    return is_for_notes and not is_whole and topics_of(asked) <= {"history"}


def _on_one_thing(
    prompt: Prompt, answers: Sequence[ToolAnswer], *, is_found: bool
) -> tuple[list[ToolAnswer], list[str]]:
    """Return what to show of the answers to one question, and what to say where there is none."""
    failed = [one for one in answers if "error" in one.data]
    notes = [one for one in answers if one.name != _TIMELINE_TOOL and rows_behind(one)]
    if is_found or notes or failed:
        return [*failed, *notes], []
    sought = query_of(prompt.asked, besides=prompt.patients)
    nothing = prompt.text("no_passage", sought=sought)
    if topics_of(prompt.asked):
        return list(answers), [nothing]
    return [], [f"{nothing} {prompt.text('ask_timeline')}"]


def _asked_first(prompt: Prompt, answers: Sequence[ToolAnswer]) -> list[str]:
    """Return the rows that a question asks for, before the whole; a plan's step wants the whole."""
    if prompt.cue.kind in {"step", "own_step"}:
        return []
    rows = [line for one in answers if one.name in _ROWS_OF_MANY for line in rows_behind(one)]
    found = asked_first(prompt.asked, rows)
    title = "asked_for" if _is_for_one_thing(prompt) else "asked_for_first"
    return [prompt.text(title), *found] if found else []


def _section(prompt: Prompt, answer: ToolAnswer) -> list[str]:
    title = heading_of(prompt, answer.name)
    problem = answer.data.get("error")
    if problem:
        return ["", prompt.text("unreadable", title=title, problem=problem)]
    lines = [line for line in capped(rows_behind(answer)) if not line.endswith("not in the record")]
    if not lines:
        return ["", prompt.text("holds_nothing", title=title)]
    notes = [f"*{note.rstrip('.')}.*" for note in notes_behind(answer)]
    return ["", f"**{title}**", *lines, *(["", *notes] if notes else [])]


def heading_of(prompt: Prompt, tool_name: str) -> str:
    """Return a tool's name as a heading."""
    if tool_name in _HEADINGS:
        return prompt.text(f"heading_{tool_name}")
    words = tool_name.replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def bullets_of(spoken: Spoken) -> list[str]:
    """Return the rows of a report."""
    return [line for line in spoken.text.splitlines() if line.startswith("- ")]
