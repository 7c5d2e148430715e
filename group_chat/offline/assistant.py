"""The offline rules of the Assistant: which tool a request needs, and what it is given."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from group_chat.offline.assistant_report import report_of
from group_chat.offline.prompt import Prompt
from group_chat.offline.reply import Call, OfflineReply
from group_chat.offline.words import topics_of
from services.language.clock import day_in
from services.language.in_english import in_english
from services.language.phrases import parts_in, says, without, words_for
from services.language.requests import asks_how_to_reach, moves_to_an_hour
from services.language.text_words import (
    mail_addresses_in,
    named_after,
    owner_in,
    phone_number_in,
    quoted_in,
    without_ways_to_reach,
)

ASSISTANT_TOOL = "list_events"
_NOUNS = ("contact", "task", "named_number", "email", "document", "calendar_event")
_LOOK_FIRST = "list or search them first"
_EXAMPLES = frozenset({"email", "calendar_event", "contact"})

Given: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Plan:
    """A tool to call, and what to call first if it does not know what is meant."""

    tool: str
    given: Given
    looks_with: str = ""


def is_office_request(prompt: Prompt) -> bool:
    """Whether the user asks for their own calendar, mail, contacts, tasks or documents."""
    text = without(prompt.asked, "of_patient")
    if says(text, "record") and not _kind_in(text, but="document"):
        return False
    if _kind_in(text, but="document") is not None or says(text, "own_document"):
        return True
    if topics_of(without(text, "picked")):
        return False
    if moves_to_an_hour(text):
        return True
    if day_in(text) is not None and says(text, "add", "move", "delete"):
        return True
    return is_own_recent(prompt) and says(text, "delete", "move", "done", "send", "reads")


def is_own_recent(prompt: Prompt) -> bool:
    """Whether what tools found or used last is something of the user's own."""
    return prompt.recent_kind in _PLANNERS and not prompt.recent_is_record


def names_office_thing(text: str) -> bool:
    """Whether the text names something of the user's own: a meeting, a task, a mail."""
    return _kind_in(text) is not None


def answer_as_assistant(prompt: Prompt) -> OfflineReply:
    """Call one tool, look for what is meant if it does not know, or report what it gave."""
    plan = _plan(prompt)
    if plan is None:
        kind = _kind(prompt)
        example = prompt.text(f"example_{kind if kind in _EXAMPLES else 'task'}")
        return OfflineReply(text=prompt.text("only_simple", example=example))
    if not prompt.answers:
        return _calling(prompt, plan.tool, plan.given)
    last = prompt.answers[-1]
    tried = sum(answer.name == plan.tool for answer in prompt.answers)
    if plan.looks_with and tried == 1:
        if _LOOK_FIRST in str(last.data.get("error", "")) and not only_points(prompt.asked):
            return _calling(prompt, plan.looks_with, _looking_for(prompt, plan.looks_with))
        if last.name == plan.looks_with:
            return _calling(prompt, plan.tool, plan.given)
    return OfflineReply(text=report_of(prompt, last))


def _calling(prompt: Prompt, name: str, given: Given) -> OfflineReply:
    tool = prompt.tool(name)
    if tool is None:
        return OfflineReply(text=prompt.text("no_tool_for_that"))
    return OfflineReply(calls=(Call(tool.wire_name, given),))


def _plan(prompt: Prompt) -> _Plan | None:
    return _PLANNERS[_kind(prompt)](prompt)


def _kind(prompt: Prompt) -> str:
    """Return what kind of thing is meant: named, or such as can be done, or found last."""
    done = "task" if says(prompt.asked, "done") else None
    return _kind_in(prompt.asked) or done or _recent(prompt)


def _kind_in(text: str, *, but: str = "") -> str | None:
    """Return what kind of thing the text names first, in the order of the list."""
    kinds = (kind for kind in _NOUNS if kind != but)
    named = next((kind for kind in kinds if _names(text, kind)), None)
    return "contact" if named == "named_number" else named


def _names(text: str, kind: str) -> bool:
    return asks_how_to_reach(text) if kind == "named_number" else says(text, kind)


def _recent(prompt: Prompt) -> str:
    return prompt.recent_kind if is_own_recent(prompt) else "calendar_event"


def _calendar(prompt: Prompt) -> _Plan | None:
    text = prompt.asked
    if says(text, "delete"):
        return _Plan("cancel_event", {"event_id": ""}, "list_events")
    if says(text, "move"):
        goal = _goal_in(text)
        return None if goal is None else _Plan("move_event", {"start": goal}, "list_events")
    if says(text, "free"):
        return _Plan("find_free_time", {"day": day_in(text) or "today", "minutes": 30})
    if says(text, "add"):
        new = parts_in(text, "new_event")
        given = None if new is None else {"title": new["title"], "start": new["when"]}
        return None if given is None else _Plan("create_event", given)
    return _Plan("list_events", _days(text))


def _mail(prompt: Prompt) -> _Plan | None:
    text = prompt.asked
    if says(text, "new_message") and not mail_addresses_in(text):
        return None
    if says(text, "send"):
        return _Plan("send_mail", {})
    if says(text, "writes_mail") and not says(text, "looks_for_mail"):
        return None
    if says(text, "draft") and not says(text, "reads"):
        new = parts_in(text, "new_mail")
        to = mail_addresses_in(text.partition(":")[0])
        if new is None or not to:
            return None
        return _Plan("draft_mail", {"to": to, "title": new["subject"], "text": new["text"]})
    if says(text, "reads"):
        return _Plan("read_mail", {}, "search_mail")
    return _Plan("search_mail", _looking_for(prompt, "search_mail"))


def _contact(prompt: Prompt) -> _Plan | None:
    text = prompt.asked
    if says(text, "delete"):
        return _Plan("delete_contact", {}, "search_contacts")
    if says(text, "change"):
        given = _reached_by(in_english(text).rpartition(" to ")[2])
        return _Plan("change_contact", given, "search_contacts") if given else None
    new = parts_in(text, "new_contact")
    if new is not None:
        given = _reached_by(new["name"])
        name = without_ways_to_reach(new["name"]).strip(" ,;.")
        return _Plan("add_contact", {"name": name, **given})
    return _Plan("search_contacts", _looking_for(prompt, "search_contacts"))


def _task(prompt: Prompt) -> _Plan | None:
    text = prompt.asked
    if says(text, "delete"):
        return _Plan("delete_task", {}, "list_tasks")
    new = parts_in(text, "new_task")
    if new is not None:
        due = {"due": new["when"]} if "when" in new else {}
        return _Plan("add_task", {"title": new["title"], **due})
    if says(text, "done"):
        return _Plan("complete_task", {}, "list_tasks")
    if says(text, "move"):
        goal = _goal_in(text)
        return None if goal is None else _Plan("move_task", {"due": goal}, "list_tasks")
    return _Plan("list_tasks", _days(text))


def _document(prompt: Prompt) -> _Plan | None:
    text = prompt.asked
    if says(text, "delete"):
        return _Plan("delete_document", {}, "search_documents")
    if says(text, "reads"):
        return _Plan("read_own_document", {}, "search_documents")
    return _Plan("search_documents", _looking_for(prompt, "search_documents"))


_PLANNERS: Mapping[str, Callable[[Prompt], _Plan | None]] = {
    "calendar_event": _calendar,
    "email": _mail,
    "contact": _contact,
    "task": _task,
    "document": _document,
}


def _looking_for(prompt: Prompt, tool: str) -> dict[str, Any]:
    """Return what a listing is given: the day that the user names, or the words to look for."""
    text = prompt.asked
    if says(text, "move"):
        text = without(text, "goal")  # where it goes says nothing of what it is
    days = {} if tool == "search_contacts" else _days(text)
    if tool in ("list_events", "list_tasks"):
        return days
    named = (parts_in(text, "named") or {}).get("name")
    if quoted := quoted_in(text) or ([without(named, "day")] if named else []):
        return {"words": " ".join(quoted[0].rstrip(". ").split()), **days}
    words = owner_in(text) or named_after(text, "about") or ""
    kept = [word for word in words.split() if word.casefold() not in words_for("idle_in_lists")]
    return {"words": " ".join(kept), **days} if kept else days


def _days(text: str) -> dict[str, str]:
    day = day_in(text)
    return {} if day is None else {"since": day, "until": day}


def _goal_in(text: str) -> str | None:
    return (parts_in(in_english(text), "goal") or {}).get("goal")


def _reached_by(text: str) -> dict[str, str]:
    found = {"email": next(iter(mail_addresses_in(text)), None), "phone": phone_number_in(text)}
    return {name: value for name, value in found.items() if value}


def only_points(text: str) -> bool:
    """Whether the request only points: what it means was said before, and no list helps."""
    return says(text, "points") and day_in(text) is None
