"""The offline rules of the agent that registers persons, and says whether somebody is registered.

Both need a full name and a date of birth.
"""

from group_chat.offline.prompt import Prompt
from group_chat.offline.reply import Call, OfflineReply
from services.language.person_details import birth_date_in, full_name_in
from services.language.phrases import says

REGISTRATION_TOOL = "register_person"
LOOKUP_TOOL = "find_person"
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
    if prompt.tool(LOOKUP_TOOL) is not None and says(prompt.asked, "is_registered"):
        return _looked_up(prompt)
    tool = prompt.tool(REGISTRATION_TOOL)
    if tool is None or not _asks(prompt.asked):
        return None
    if prompt.answers:
        problem = prompt.answers[-1].data.get("error")
        said = f"That did not work: {problem}." if problem else "I propose to register this person."
        return OfflineReply(text=said)
    name, born = full_name_in(prompt.asked), birth_date_in(prompt.asked)
    if name is None or born is None:
        return OfflineReply(text=_MISSING)
    return OfflineReply(
        calls=(Call(tool.wire_name, {"name": name, "birth_date": born.isoformat()}),)
    )


def _looked_up(prompt: Prompt) -> OfflineReply:
    if prompt.answers:
        data = prompt.answers[-1].data
        return OfflineReply(text=_KNOWN.get(str(data.get("registered")), _WHOM))
    tool, name = prompt.tool(LOOKUP_TOOL), full_name_in(prompt.asked)
    born = birth_date_in(prompt.asked)
    if tool is None or name is None or born is None:
        return OfflineReply(text=_WHOM)
    return OfflineReply(
        calls=(Call(tool.wire_name, {"name": name, "birth_date": born.isoformat()}),)
    )


def _asks(text: str) -> bool:
    return says(text, "registers") and not says(text, "is_registered")
