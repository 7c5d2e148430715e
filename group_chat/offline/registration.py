"""The offline rules of the agent that registers persons, and says whether somebody is registered.

Both need a full name and a date of birth.
"""

from group_chat.offline.prompt import Prompt
from group_chat.offline.reply import Call, OfflineReply
from services.language.own_texts import in_own_language
from services.language.person_details import birth_date_in, full_name_in
from services.language.phrases import says

REGISTRATION_TOOL = "register_person"
LOOKUP_TOOL = "find_person"


_KNOWN = frozenset({"nobody", "this_patient", "another_person", "several"})


def answer_as_registration(prompt: Prompt) -> OfflineReply | None:
    """Propose or look up whom the user names; None if the message is about no registration."""
    if prompt.tool(LOOKUP_TOOL) is not None and says(prompt.asked, "is_registered"):
        return _looked_up(prompt)
    tool = prompt.tool(REGISTRATION_TOOL)
    if tool is None or not _asks(prompt.asked):
        return None
    if prompt.answers:
        problem = prompt.answers[-1].data.get("error")
        done = prompt.text("propose_person")
        said = (
            prompt.text("did_not_work", problem=in_own_language(str(problem), prompt.language))
            if problem
            else done
        )
        return OfflineReply(text=said)
    name, born = full_name_in(prompt.asked), birth_date_in(prompt.asked)
    if name is None or born is None:
        return OfflineReply(text=prompt.text("missing_of_person"))
    return OfflineReply(
        calls=(Call(tool.wire_name, {"name": name, "birth_date": born.isoformat()}),)
    )


def _looked_up(prompt: Prompt) -> OfflineReply:
    if prompt.answers:
        data = prompt.answers[-1].data
        known = str(data.get("registered"))
        return OfflineReply(
            text=prompt.text(f"known_{known}" if known in _KNOWN else "missing_to_look")
        )
    tool, name = prompt.tool(LOOKUP_TOOL), full_name_in(prompt.asked)
    born = birth_date_in(prompt.asked)
    if tool is None or name is None or born is None:
        return OfflineReply(text=prompt.text("missing_to_look"))
    return OfflineReply(
        calls=(Call(tool.wire_name, {"name": name, "birth_date": born.isoformat()}),)
    )


def _asks(text: str) -> bool:
    return says(text, "registers") and not says(text, "is_registered")
