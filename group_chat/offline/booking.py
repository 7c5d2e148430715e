"""The offline rules of the agent that arranges appointments: what is known goes into one form."""

from group_chat.offline.errands import TIMES_TOOL, request_in, run
from group_chat.offline.prompt import OfflineReply, Prompt
from services.language.arrangement import NOTED_AS, Arranging
from services.language.phrases import says
from services.language.tool_requests import LISTS_APPOINTMENTS, ToolRequest

BOOKING_TOOL, _MOVE_TOOL = "book_appointment", "move_appointment"


def answer_as_booking(prompt: Prompt) -> OfflineReply:
    """Go one step on: what is known comes from the entities, never from guesses."""
    if not prompt.answers and says(prompt.asked, "drops_arrangement"):
        return prompt.say("nothing_arranged")
    wishes = prompt.entities.get("entities") or {}
    talk = Arranging(prompt.asked, prompt.shown_before, prompt.past, wishes)
    requests = () if talk.is_move else (_cancelling(prompt), *LISTS_APPOINTMENTS)
    request = request_in(prompt, requests)
    return _arrange(prompt, talk) if request is None else run(prompt, request)


def _cancelling(prompt: Prompt) -> ToolRequest:
    """Return how one is cancelled: what was said decides, and the last booked one behind that."""
    found = prompt.entities.get("derived_entities") or {}
    booked = "" if prompt.recent == "appointment" else str(found.get("appointment_id", ""))
    given, looks = {"appointment_id": booked}, LISTS_APPOINTMENTS[0]
    return ToolRequest("cancel_appointment", ("cancel",), given=lambda _: given, looks_with=looks)


def _arrange(prompt: Prompt, talk: Arranging) -> OfflineReply:
    """Look with what is known; propose the wanted time where it is free."""
    picked, last = {} if prompt.answers else talk.picked(), prompt.answers[-1:]
    given: dict[str, str] = {**talk.known(), **picked}
    given |= {"instead_of": prompt.recent_appointment or "it"} if talk.is_move else {}
    if picked:
        kept = {NOTED_AS[name]: value for name, value in picked.items()}
        noted = prompt.call("update_entities", entities_to_update=kept, words=prompt.asked)
        return OfflineReply(calls=(*noted.calls, *prompt.call(TIMES_TOOL, **given).calls))
    found = next(iter(prompt.given_by(TIMES_TOOL)[-1:]), {})
    if last and last[0].name == TIMES_TOOL and found.get("wanted_time_is_free"):
        slot_id = found["slots"][0]["slot_id"]
        if talk.is_move:
            moved = found["moved"]["appointment_id"]
            return prompt.call(_MOVE_TOOL, appointment_id=moved, slot_id=slot_id)
        wishes = (talk.wishes.get(one) for one in ("reason_visit", "procedure_preference"))
        reason = next(({"reason": str(one)} for one in wishes if one), {})
        return prompt.call(BOOKING_TOOL, slot_id=slot_id, **reason)
    looks = LISTS_APPOINTMENTS[0] if talk.is_move else None
    reply = run(prompt, ToolRequest(TIMES_TOOL, given=lambda _: given, looks_with=looks))
    if last and last[0].error and found.get("wanted_time_is_free"):
        # What is free stands before why it cannot be had.
        return OfflineReply(text=f"{found['told']}\n{reply.text}")
    return reply
