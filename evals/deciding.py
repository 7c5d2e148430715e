"""Who decided whom a message is about, as far as the server and the wire show it. Pure."""

from collections.abc import Sequence
from typing import Any

import orjson

from evals.spending import said_in
from evals.talk import Turn
from evals.wire import Asked

_OF_PATIENTS = ("subject", "which_patient")
_CAREFUL = ("another", "clear", "")


def decided_by(turn: Turn, asked: Sequence[Asked]) -> str:
    """Return rule, model or guard.

    Guard: the model named one patient, and the code asked the user all the same.
    """
    said = [named for one in asked if (named := _named_by(one, turn.user)) is not None]
    if not said:
        return "rule"
    question = turn.state.get("question") or {}
    is_asked = question.get("kind") in _OF_PATIENTS
    return "guard" if is_asked and said[-1] not in _CAREFUL else "model"


def _named_by(asked: Asked, message: str) -> str | None:
    """Return whom the model named; None where it was not asked, "" where nothing can be read."""
    schema = (asked.body.get("response_format") or {}).get("json_schema") or {}
    if "patient" not in schema.get("schema", {}).get("properties", {}):
        return None
    given = _object(str(asked.body["messages"][-1].get("content") or ""))
    if not given.get("patients") or given.get("message") != message:
        return None
    return str(_object(said_in(asked.answer)).get("patient", ""))


def _object(text: str) -> dict[str, Any]:
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}
