"""The offline rules of the agent that registers persons, and says whether somebody is registered.

Both need a full name and a date of birth.
"""

import re
from datetime import UTC, datetime

from group_chat.offline.prompt import Prompt
from group_chat.offline.reply import Call, OfflineReply

REGISTRATION_TOOL = "register_person"
LOOKUP_TOOL = "find_person"
IS_REGISTERED = re.compile(
    r"(?i)\b(?:is|are|was|were|whether|if|do you know)\b[^?!\n]{0,200}\bregistered\b"
)
_LOOKED_FOR = re.compile(
    r"(?i:\b(?:is|was|whether|if|called|named)\s+)"
    r"(?P<name>[^\W\d_a-z][\w'’-]+(?: [^\W\d_][\w'’-]+){0,4}? [^\W\d_a-z][\w'’-]+)"
    r"(?=\s*(?:,|\(|born|registered|\d|$))"
)
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


_KNOWN = {
    "nobody": "Nobody of that name and date of birth is registered here.",
    "this_patient": "That is the active patient, who is registered.",
    "another_person": "Somebody of that name and date of birth is registered, and it is not the "
    "active patient. To work on their record, send their patient ID; I can see nothing of it here.",
    "several": "Several persons of that name and date of birth are registered. Send the patient ID "
    "of the one you mean.",
}
_WHOM = (
    "To see whether somebody is registered I need the full name and the date of birth. Say it as: "
    "is Ada Leeward, born 1980-02-29, registered?"
)


def answer_as_registration(prompt: Prompt) -> OfflineReply | None:
    """Propose or look up whom the user names; None if the message is about no registration."""
    if prompt.tool(LOOKUP_TOOL) is not None and IS_REGISTERED.search(prompt.asked):
        return _looked_up(prompt)
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


def _looked_up(prompt: Prompt) -> OfflineReply:
    if prompt.answers:
        data = prompt.answers[-1].data
        return OfflineReply(text=_KNOWN.get(str(data.get("registered")), _WHOM))
    tool, name = prompt.tool(LOOKUP_TOOL), _LOOKED_FOR.search(prompt.asked)
    born = _date_in(prompt.asked)
    if tool is None or name is None or born is None:
        return OfflineReply(text=_WHOM)
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
