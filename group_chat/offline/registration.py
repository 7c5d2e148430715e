"""The offline rules of the agent that registers persons: a full name and a date of birth."""

import re
from datetime import UTC, datetime

from group_chat.offline.prompt import Prompt
from group_chat.offline.reply import Call, OfflineReply

REGISTRATION_TOOL = "register_person"
_ASKS = re.compile(r"(?i)\bregister(?:ing)?\b(?! is\b| was\b)")
_NAME = re.compile(
    r"(?i:\bregister\s+(?:(?:an?|the|this)\s+)?(?:new\s+)?(?:(?:person|patient)\b)?[\s:,]*)"
    r"(?P<name>[^\W\d_][\w'’-]+(?: [^\W\d_][\w'’-]+)*? [^\W\d_a-z][\w'’-]+)"
)
_DATE = re.compile(r"\b\d{4}-\d\d-\d\d\b|\b\d{1,2}\.? (?:[A-Z][a-z]{2,8}) \d{4}\b")
_FORMS = ("%Y-%m-%d", "%d %B %Y", "%d %b %Y")
_MISSING = (
    "To register somebody I need the full name and the date of birth. Say it as: "
    "register Ada Leeward, born 1980-02-29."
)


def answer_as_registration(prompt: Prompt) -> OfflineReply | None:
    """Propose whom the user names; None if the message registers nobody."""
    tool = prompt.tool(REGISTRATION_TOOL)
    if tool is None or _ASKS.search(prompt.asked) is None:
        return None
    if prompt.answers:
        problem = prompt.answers[-1].data.get("error")
        said = f"That did not work: {problem}." if problem else "I propose to register this person."
        return OfflineReply(text=said)
    name, born = _NAME.search(prompt.asked), _date_in(prompt.asked)
    if name is None or born is None:
        return OfflineReply(text=_MISSING)
    return OfflineReply(calls=(Call(tool.wire_name, {"name": name["name"], "birth_date": born}),))


def _date_in(text: str) -> str | None:
    found = _DATE.search(text)
    if found is None:
        return None
    for form in _FORMS:
        try:
            day = datetime.strptime(found[0].replace(".", ""), form).replace(tzinfo=UTC)
        except ValueError:
            continue
        return day.date().isoformat()
    return None
