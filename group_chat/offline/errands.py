"""Requests that one tool does: it is called, what is meant is looked for, and its result told."""

from collections.abc import Sequence
from dataclasses import replace

from group_chat.offline.prompt import OfflineReply, Prompt, ToolAnswer
from group_chat.offline.told import items_in, told_deed
from services.language.phrases import says
from services.language.tool_requests import OF_OWN_THINGS, ToolRequest
from services.language.work import own_kind_in, points_only

SECRETARY_TOOL, TIMES_TOOL = "list_events", "available_slots"
_LOOK_FIRST = ("list or search them first", "use list_appointments first")
_EXAMPLES = frozenset({"email", "calendar_event", "contact"})


def request_in(prompt: Prompt, requests: Sequence[ToolRequest]) -> ToolRequest | None:
    """Return the first of `requests` that the message is and that the agent has the tool for."""
    able = (one for one in requests if prompt.tool(one.tool) is not None)
    return next((one for one in able if one.fits(prompt.asked)), None)


def run(prompt: Prompt, request: ToolRequest) -> OfflineReply:
    """Call its tool; look for what is meant where it does not know; tell what it gave."""
    given = request.given(prompt.asked)
    if given is None:
        return prompt.say(request.asks)
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
    is_deed = says(prompt.asked, "delete", "move", "done", "send", "reads", "orders")
    return is_deed and prompt.recent in OF_OWN_THINGS


def answer_as_secretary(prompt: Prompt) -> OfflineReply:
    """Do what the table has for what is named, or for what was found last."""
    done = "task" if says(prompt.asked, "done") else None
    recent = prompt.recent if prompt.recent in OF_OWN_THINGS else "calendar_event"
    kind = own_kind_in(prompt.asked) or done or recent
    request = request_in(prompt, OF_OWN_THINGS[kind])
    if request is None:
        return prompt.say("no_tool")
    if request.given(prompt.asked) is None:
        example = prompt.text(f"example_{kind if kind in _EXAMPLES else 'task'}")
        return prompt.say("only_simple", example=example)
    # What is only pointed at was said before: no list helps.
    return run(prompt, replace(request, looks_with=None) if points_only(prompt.asked) else request)
