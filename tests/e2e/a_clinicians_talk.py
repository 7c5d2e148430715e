"""Two hundred messages about one patient, as a clinician types them through a long day."""

from pathlib import Path

from tests.tables import tables_beside

_TALK = tables_beside(Path(__file__))
STATED: dict[str, str] = _TALK["stated"]
NEVER_HELD: list[str] = _TALK["never_held"]
TURNS = 200
LAST = "what do you know about her?"
_OPENING: list[str] = _TALK["opening"]
_ROUTINE: list[str] = _TALK["routine"]
MESSAGES = (
    *_OPENING,
    *(_ROUTINE[number % len(_ROUTINE)] for number in range(TURNS - len(_OPENING) - 1)),
)
