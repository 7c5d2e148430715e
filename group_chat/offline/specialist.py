"""The offline rules of an agent with tools: call them, then write down what they gave."""

import re

from group_chat.offline.prompt import Prompt, Spoken, ToolAnswer, ToolOffer
from group_chat.offline.reply import Call, OfflineReply
from group_chat.offline.rows import lines_of, missing_of, notes_of
from group_chat.offline.words import OVERVIEW, query_of

_OVERVIEW_TOOL = "load_patient_data"
_SEARCH_ARGUMENTS = {"query", "question", "text", "words"}


def answer_as_specialist(prompt: Prompt) -> OfflineReply:
    """Call the agent's tools, or, once they have answered, report."""
    if not prompt.answers:
        calls = _calls(prompt)
        if calls:
            return OfflineReply(calls=calls)
    return OfflineReply(text=_report(prompt))


def _calls(prompt: Prompt) -> tuple[Call, ...]:
    chosen = [tool for tool in prompt.tools if not tool.required and tool.name != _OVERVIEW_TOOL]
    overview = prompt.tool(_OVERVIEW_TOOL)
    if overview is not None and (not chosen or OVERVIEW.search(prompt.asked)):
        chosen.append(overview)
    calls = [Call(tool.wire_name, {}) for tool in chosen]
    if prompt.cue.kind not in {"step", "own_step"} or not chosen:
        calls += [Call(tool.wire_name, _search(tool, prompt)) for tool in _searches(prompt)]
    return tuple(calls)


def _searches(prompt: Prompt) -> list[ToolOffer]:
    """Return the tools that need nothing but words to look for."""
    return [
        tool
        for tool in prompt.tools
        if len(tool.required) == 1 and tool.required[0] in _SEARCH_ARGUMENTS
    ]


def _search(tool: ToolOffer, prompt: Prompt) -> dict[str, str]:
    return {tool.required[0]: query_of(_task(prompt))}


def _task(prompt: Prompt) -> str:
    """Return what is to be done: the step that was called, else the user's words."""
    if prompt.cue.kind in {"step", "own_step"} and prompt.said:
        return re.sub(r"^Step \d+ of \d+: \*[\w-]+\*,?\s*", "", prompt.said[-1].text)
    return prompt.asked


def _report(prompt: Prompt) -> str:
    parts: list[str] = []
    for answer in prompt.answers:
        parts += _section(answer)
    if not prompt.answers:
        parts += ["I have no tool for this, so I can report nothing."]
    missing = list(
        dict.fromkeys(name for answer in prompt.answers for name in missing_of(answer.data))
    )
    if missing:
        parts += ["", f"Not in the record: {', '.join(missing)}."]
    if prompt.cue.hand_back is not None:
        parts += ["", f"Back to you *{prompt.cue.hand_back}*."]
    return "\n".join(parts).strip()


def _section(answer: ToolAnswer) -> list[str]:
    title = heading_of(answer.name)
    problem = answer.data.get("error")
    if problem:
        return ["", f"**{title}**: could not be read. {problem}"]
    lines = [line for line in lines_of(answer.data) if not line.endswith("not in the record")]
    if not lines:
        return ["", f"**{title}**: the record holds nothing on this."]
    notes = [f"*{note.rstrip('.')}.*" for note in notes_of(answer.data)]
    return ["", f"**{title}**", *lines, *(["", *notes] if notes else [])]


def heading_of(tool_name: str) -> str:
    """Return a tool's name as a heading."""
    words = tool_name.replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def bullets_of(spoken: Spoken) -> list[str]:
    """Return the rows of a report."""
    return [line for line in spoken.text.splitlines() if line.startswith("- ")]
