"""Which deeds the runs of tools prove."""

from collections.abc import Iterator

DONE = "done"
"""What "Done." claims: something was changed."""

_DONE = {
    "book": "booked", "send": "sent", "register": "registered", "cancel": "cancelled",
    "move": "moved", "delete": "deleted", "add": "added", "create": "added",
    "complete": "completed", "change": "saved", "draft": "saved", "record": "saved",
    "update": "saved", "confirm": "confirmed", "cancel_plan": "cancelled",
}  # fmt: skip
_LOOKED_UP = {
    "list_appointments": ("booked", "moved", "cancelled"),
    "list_events": ("booked", "moved", "cancelled", "added"),
    "search_mail": ("sent",),
    "read_mail": ("sent",),
    "find_person": ("registered",),
    "insurance_eligibility": ("registered",),
    "list_tasks": ("added", "completed", "moved"),
    "search_contacts": ("added", "saved"),
    "search_documents": ("added", "saved"),
}


def proven_by(tool: str) -> Iterator[str]:
    """Yield the deeds that a run of `tool` did, or looked up as done, such as `booked`."""
    kind = _DONE.get(tool.partition("_")[0])
    if kind is not None:
        yield kind
        yield DONE
    if tool == "move_appointment":
        yield "booked"
    if tool in ("create_event", "create_report", "draft_mail"):
        yield from ("booked",) if tool == "create_event" else ("saved", "added")
    yield from _LOOKED_UP.get(tool, ())
