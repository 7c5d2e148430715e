"""The offline rules of the Assistant: which tool a request needs, and what it is given."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from group_chat.offline.assistant_report import report_of
from group_chat.offline.prompt import Prompt
from group_chat.offline.reply import Call, OfflineReply
from group_chat.offline.words import topics_of
from services.language.requests import NAMED_NUMBER, moves_to_an_hour

ASSISTANT_TOOL = "list_events"
_NOUNS = (
    ("contact", re.compile(r"(?i)\bcontacts?\b|\baddress book\b|\bphone\b|\btelephone\b")),
    ("task", re.compile(r"(?i)\btasks?\b|\bto-?dos?\b")),
    ("email", re.compile(r"(?i)\be?-?mails?\b|\binbox\b|\bmessages?\b|\bdrafts?\b")),
    ("document", re.compile(r"(?i)\bmy (?:documents?|files?)\b|\bdocuments?\b|\bfiles?\b")),
    ("contact", NAMED_NUMBER),
    (
        "calendar_event",
        re.compile(
            r"(?i)\bcalendar\b|\bevents?\b|\bmeetings?\b|\bagenda for\b|\b(?:am|i'm) i? ?free\b"
            r"|\bfree time\b|\bwhat(?:'s| is) on(?: (?:my|for|the \d|to(?:day|morrow)|this|next"
            r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b|\W*\Z)"
        ),
    ),
)
_DELETE = re.compile(r"(?i)\b(?:cancel|delete|remove|drop|call off)\b")
_MOVE = re.compile(r"(?i)\b(?:move|reschedule|postpone|push|shift)\b")
_ADD = re.compile(r"(?i)\b(?:add|create|new|schedule)\b")
_CHANGE = re.compile(r"(?i)\b(?:change|update|correct)\b")
_READ = re.compile(r"(?i)\b(?:read|open|say|says)\b")
_SEND = re.compile(r"(?i)\bsend\b")
_DRAFT = re.compile(r"(?i)\b(?:draft|write|compose)\b")
_DONE = re.compile(r"(?i)\b(?:complete|completed|finish|finished|done|tick off)\b")
_FREE = re.compile(r"(?i)\bfree\b")
_POINTS = re.compile(r"(?i)\b(?:it|that|this|the \w+ one|one)\b")
_DAY = re.compile(
    r"(?i)\b(?:day after tomorrow|today|tomorrow|yesterday|\d{4}-\d\d-\d\d"
    r"|(?:this|next|last) week"
    r"|(?:(?:this|next|last) )?(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
)
_PICKED = re.compile(r"(?i)\bthe (?:first|earlier)(?: one)?(?= to\b|\W*$)")
_GOAL = re.compile(r"(?i)\bto (?P<goal>[^?!]+?)(?: instead| please)?[.?!)]*$")
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_PHONE = re.compile(r"\+?\d[\d ()/-]{5,}\d")
_NEW_EVENT = re.compile(
    r"(?i)\b(?:add|create|schedule)\s+(?:an?\s+)?(?:new\s+)?(?:event|meeting)?\s*(?:called\s+)?"
    r"[\"“]?(?P<title>[^\"”]+?)[\"”]?\s+(?P<when>(?:on|for|at|today|tomorrow)\b.*)$"
)
_NEW_TASK = re.compile(
    r"(?i)\b(?:add|create)\s+(?:an?\s+)?(?:new\s+)?(?:task|to-?do)(?:\s+to|:)?\s+"
    r"[\"“]?(?P<title>.+?)[\"”]?(?:\s+(?:due|by|for|on|until)\s+(?P<when>.+?))?[.!]?$"
)
_NEW_CONTACT = re.compile(r"(?i)\b(?:add|create)\s+(?:an?\s+)?(?:new\s+)?contact:?\s+(?P<name>.+)$")
_NEW_MAIL = re.compile(
    r"(?i)\b(?:draft|write|compose)\b.*?\b(?:about|subject)\s+(?P<subject>[^:]+):\s*(?P<text>.+)$",
    re.DOTALL,
)
_ABOUT = re.compile(
    r"(?i)\b(?:from|about|named|called|of|for|with|find|search|contact|document|file|mail)\s+"
    r"(?P<words>[\w.@'’-]+(?:\s+(?:and\s+)?[A-Z][\w.@'’-]+)*)"
)
_NAMED = re.compile(
    r"(?i)[\"“](?P<quoted>[^\"”]+)[\"”]|\b(?:called|named|titled)\s+(?P<name>[^\"“”?!,;]+)"
)
_REACHED = r"(?:contacts?(?:['’]s)?|(?:tele)?phone)(?: (?:phone|telephone|number))*\b"
_OF_A_PATIENT = re.compile(
    rf"(?i)\b(?:her|his|their) (?:[\w-]+ )?{_REACHED}"
    rf"|\b(?:emergency|family|next[- ]of[- ]kin) {_REACHED}"
    r"|\b(?:patient|mother|father|wife|husband|sister|brother|daughter|son)['’]s (?:\w+ )?"
    rf"{_REACHED}|\bcontacts? with\b"
    r"|\bcontacts?(?: person)? (?:of|for) (?:the|this|our|my) patient\b"
)
_OWNER = re.compile(r"\b([A-Z][\w-]+(?: [A-Z][\w-]+)*)['’]s\b")
_IDLE_TEXT = (
    "today tomorrow yesterday me my the a an it that this on in friday monday tuesday wednesday "
    "thursday saturday sunday last next week from about contact contacts document documents file "
    "files mail mails is do i have there any for called named"
)
_IDLE_WORDS = frozenset(_IDLE_TEXT.split())
_LOOK_FIRST = "list or search them first"
_ONLY = "Offline I understand only simple requests; say it as: {example}."
_WRITES_MAIL = re.compile(
    r"(?i)\A\W*(?:please |can you |could you )*e?-?mail\b(?! (?:from|about)\b)"
)
_EXAMPLE = 'add a task "Call the lab" by Friday'
_EXAMPLES = {
    "email": "draft a mail to anna@example.org about the rota: I can swap on Friday",
    "calendar_event": 'add "Ward round" tomorrow at 8, or move the ward round to 4 pm',
    "contact": "add a contact Ada Leeward, +49 30 1234567",
}

Given: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Plan:
    """A tool to call, and what to call first if it does not know what is meant."""

    tool: str
    given: Given
    looks_with: str = ""


def is_office_request(prompt: Prompt) -> bool:
    """Whether the user asks for their own calendar, mail, contacts, tasks or documents."""
    text = _OF_A_PATIENT.sub(" ", prompt.asked)
    if any(pattern.search(text) for kind, pattern in _NOUNS if kind != "document"):
        return True
    if re.search(r"(?i)\bmy (?:documents?|files?)\b", text):
        return True
    acts = _DELETE, _MOVE, _DONE, _SEND, _READ
    if topics_of(_PICKED.sub("", text)):
        return False
    if moves_to_an_hour(text):
        return True
    if _DAY.search(text) and any(each.search(text) for each in (_ADD, _MOVE, _DELETE)):
        return True
    is_recent = prompt.recent_kind in _PLANNERS and not prompt.recent_is_record
    return is_recent and any(each.search(text) for each in acts)


def names_office_thing(text: str) -> bool:
    """Whether the text names something of the user's own: a meeting, a task, a mail."""
    return any(pattern.search(text) for _, pattern in _NOUNS)


def answer_as_assistant(prompt: Prompt) -> OfflineReply:
    """Call one tool, look for what is meant if it does not know, or report what it gave."""
    plan = _plan(prompt)
    if plan is None:
        example = _EXAMPLES.get(_kind(prompt), _EXAMPLE)
        return OfflineReply(text=_ONLY.format(example=example))
    if not prompt.answers:
        return _calling(prompt, plan.tool, plan.given)
    last = prompt.answers[-1]
    tried = sum(answer.name == plan.tool for answer in prompt.answers)
    if plan.looks_with and tried == 1:
        if _LOOK_FIRST in str(last.data.get("error", "")) and not _only_points(prompt.asked):
            return _calling(prompt, plan.looks_with, _looking_for(prompt, plan.looks_with))
        if last.name == plan.looks_with:
            return _calling(prompt, plan.tool, plan.given)
    return OfflineReply(text=report_of(last))


def _calling(prompt: Prompt, name: str, given: Given) -> OfflineReply:
    tool = prompt.tool(name)
    if tool is None:
        return OfflineReply(text="I have no tool for that.")
    return OfflineReply(calls=(Call(tool.wire_name, given),))


def _plan(prompt: Prompt) -> _Plan | None:
    return _PLANNERS[_kind(prompt)](prompt)


def _kind(prompt: Prompt) -> str:
    kind = next((kind for kind, pattern in _NOUNS if pattern.search(prompt.asked)), None)
    return kind or _recent(prompt)


def _recent(prompt: Prompt) -> str:
    is_own = prompt.recent_kind in _PLANNERS and not prompt.recent_is_record
    return prompt.recent_kind if is_own else "calendar_event"


def _calendar(prompt: Prompt) -> _Plan | None:
    text = prompt.asked
    if _DELETE.search(text):
        return _Plan("cancel_event", {"event_id": ""}, "list_events")
    if _MOVE.search(text):
        goal = _GOAL.search(text)
        return goal and _Plan("move_event", {"start": goal["goal"]}, "list_events")
    if _FREE.search(text):
        return _Plan("find_free_time", {"day": _day_in(text) or "today", "minutes": 30})
    if _ADD.search(text):
        new = _NEW_EVENT.search(text)
        return new and _Plan("create_event", {"title": new["title"], "start": new["when"]})
    return _Plan("list_events", _days(text))


def _mail(prompt: Prompt) -> _Plan | None:
    text = prompt.asked
    if _SEND.search(text):
        return _Plan("send_mail", {})
    if _WRITES_MAIL.search(text):
        return None
    if _DRAFT.search(text) and not _READ.search(text):
        new, to = _NEW_MAIL.search(text), _ADDRESS.findall(text.partition(":")[0])
        given = new and {"to": to, "title": new["subject"].strip(), "text": new["text"].strip()}
        return _Plan("draft_mail", given) if given and to else None
    if _READ.search(text):
        return _Plan("read_mail", {}, "search_mail")
    return _Plan("search_mail", _looking_for(prompt, "search_mail"))


def _contact(prompt: Prompt) -> _Plan | None:
    text = prompt.asked
    if _DELETE.search(text):
        return _Plan("delete_contact", {}, "search_contacts")
    if _CHANGE.search(text):
        given = _reached_by(text.rpartition(" to ")[2])
        return _Plan("change_contact", given, "search_contacts") if given else None
    new = _NEW_CONTACT.search(text)
    if new is not None:
        given = _reached_by(new["name"])
        name = _PHONE.sub("", _ADDRESS.sub("", new["name"])).strip(" ,;.")
        return _Plan("add_contact", {"name": name, **given})
    return _Plan("search_contacts", _looking_for(prompt, "search_contacts"))


def _task(prompt: Prompt) -> _Plan | None:
    text = prompt.asked
    if _DELETE.search(text):
        return _Plan("delete_task", {}, "list_tasks")
    new = _NEW_TASK.search(text)
    if new is not None:
        due = {"due": new["when"]} if new["when"] else {}
        return _Plan("add_task", {"title": new["title"], **due})
    if _DONE.search(text):
        return _Plan("complete_task", {}, "list_tasks")
    if _MOVE.search(text):
        goal = _GOAL.search(text)
        return goal and _Plan("move_task", {"due": goal["goal"]}, "list_tasks")
    return _Plan("list_tasks", _days(text))


def _document(prompt: Prompt) -> _Plan | None:
    text = prompt.asked
    if _DELETE.search(text):
        return _Plan("delete_document", {}, "search_documents")
    if _READ.search(text):
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
    if _MOVE.search(text) and (goal := _GOAL.search(text)) is not None:
        text = text[: goal.start()]  # where it goes says nothing of what it is
    days = {} if tool == "search_contacts" else _days(text)
    if tool in ("list_events", "list_tasks"):
        return days
    named = _NAMED.search(text)
    if named is not None:
        name = named["quoted"] or _DAY.sub(" ", named["name"])
        return {"words": " ".join(name.rstrip(". ").split()), **days}
    owner = _OWNER.search(text)
    about = _ABOUT.search(text)
    words = owner[1] if owner else about["words"] if about else ""
    kept = [word for word in words.split() if word.casefold() not in _IDLE_WORDS]
    return {"words": " ".join(kept), **days} if kept else days


def _days(text: str) -> dict[str, str]:
    day = _day_in(text)
    return {} if day is None else {"since": day, "until": day}


def _day_in(text: str) -> str | None:
    found = _DAY.search(text)
    return None if found is None else found[0]


def _reached_by(text: str) -> dict[str, str]:
    address = _ADDRESS.search(text)
    phone = _PHONE.search(_ADDRESS.sub("", text))
    found = {"email": address and address[0], "phone": phone and phone[0]}
    return {name: value for name, value in found.items() if value}


def _only_points(text: str) -> bool:
    """Whether the request only points: what it means was said before, and no list helps."""
    return _POINTS.search(text) is not None and _DAY.search(text) is None
