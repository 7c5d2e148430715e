"""What documents, arguments and answers are made of: values, and documents that upgrade."""

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from data_models.errors import CorruptDocumentError

ValueT = TypeVar("ValueT", bound=BaseModel)


def read_value(
    data: bytes | str, model: type[ValueT], *, refusal: Exception | None = None
) -> ValueT:
    """Return what is stored, or was sent, as JSON.

    Raises:
        CorruptDocumentError: it is no such value; or else `refusal`, where one is given.
    """
    try:
        return model.model_validate_json(data)
    except ValidationError:
        # `from None`: pydantic quotes what it rejects, a token perhaps.
        raise refusal or CorruptDocumentError(f"{model.__name__} cannot be read") from None


def read_if_whole(data: bytes | str | None, model: type[ValueT]) -> ValueT | None:
    """Return what is stored as JSON; None for what is as good as none: absent, or no such value."""
    try:
        return None if data is None else model.model_validate_json(data)
    except ValidationError:
        return None


def read_object(data: bytes | str) -> dict[str, Any] | None:
    """Return what is stored, or was sent, as a JSON object; None for anything else."""
    try:
        found = from_json(data)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


class Value(BaseModel, frozen=True, defer_build=True):
    """A value; fields that it does not know are left out."""


class ClosedValue(Value, extra="forbid"):
    """A value from outside: a field that it does not know is an error."""


Key = TypeVar("Key")
Kept = TypeVar("Kept")


class Newest(OrderedDict[Key, Kept]):
    """Keeps what was put last; what was put longest ago is let go of first.

    Args:
        limit: How many entries are kept.
    """

    def __init__(self, *, limit: int) -> None:
        super().__init__()
        self._limit = limit

    def __setitem__(self, key: Key, value: Kept) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        if len(self) > self._limit:
            self.popitem(last=False)


class Part(BaseModel, extra="allow", defer_build=True):
    """A piece of a document: mutable only as part of a turn's draft, and it keeps unknown fields.

    Fields that a newer version added survive a rewrite by this one (spec page 1.1).
    """

    # Most parts are only read within their document; a start need not build a reader of each.

    def stored_bytes(self) -> int:
        """Return how long it is as it is stored, in UTF-8."""
        return len(self.model_dump_json().encode())


# What every stored document carries, and the steps that bring an old one up to date.


class Document(Part):
    """A JSON document in the `chat-sessions` container.

    Attributes:
        schema_version: Version of the shape the writer used.
        min_reader: Lowest version that may read it; a reader below refuses.
        write_id: Made anew for each write, so that a lost acknowledgement can be told from a
            conflict by reading back (spec page 7, R32).
        epoch: Epoch of the conversation it was written in; older epochs are invisible.
        conversation_id: Whose it is; checked on read.
    """

    SCHEMA_VERSION: ClassVar[int] = 2
    MIN_READER: ClassVar[int] = 2

    schema_version: int = 2
    min_reader: int = 2
    write_id: str = ""
    epoch: int = 0
    conversation_id: str


# Brings a stored document of an older `schema_version` up to the one this server writes. Each
# step takes plain JSON from version N to N + 1. A released step is frozen and imports no model:
# editing a model must not change what an old document means.

Json = Mapping[str, Any]
Step = Callable[[Json], Json]


def _points_without_quote(document: Json) -> Json:
    """Nobody can say of what 0.1 noted by itself who said it: people may, no model is shown it."""
    memory = document.get("memory")
    if not isinstance(memory, dict) or not isinstance(memory.get("key_points"), list):
        return document
    points = [
        {**point, "status": "unverified"}
        if point.get("source") != "person" and point.get("status", "active") == "active"
        else point
        for point in memory["key_points"]
    ]
    return {**document, "memory": {**memory, "key_points": points}}


def _runs_with_their_values(document: Json) -> Json:
    """0.1 kept all values with the patient: running sessions take theirs, later runs ask anew."""
    profile = document.get("profile")
    known = profile.get("fields") if isinstance(profile, dict) else None
    if not isinstance(known, dict):
        return document
    values = {
        name: one["value"]
        for name, one in known.items()
        if isinstance(one, dict) and "value" in one
    }
    left = document.get("left_scenarios")
    runs = [_with_values(run, values) for run in left] if isinstance(left, list) else []
    return {
        **document,
        "scenario": _with_values(document.get("scenario"), values),
        "left_scenarios": runs,
        "profile": {**(profile or {}), "fields": {}},
    }


def _with_values(run: Any, values: Json) -> Any:
    if not isinstance(run, dict) or run.get("step") is None:
        return run
    held = {**values, **(run.get("variables") or {})}
    return {**run, "variables": held, "evidence": {name: {"source": "0.1"} for name in held}}


_OWN_KINDS = ("calendar_event", "email", "contact", "task")
_OWN_TOOLS = (
    *("list_events", "find_free_time", "create_event", "move_event", "cancel_event"),
    *("search_mail", "read_mail", "draft_mail", "send_mail", "search_contacts"),
    *("add_contact", "change_contact", "delete_contact", "list_tasks", "add_task"),
    *("complete_task", "move_task", "delete_task", "search_documents", "delete_document"),
)
"""Those of 0.1: kinds and tools that came later are in none of its documents."""


def _without_own_items(document: Json) -> Json:
    """0.1 did not say whose mailbox a message was from: the backup keeps such, no turn sees it."""
    memory = document.get("tool_memory")
    if not isinstance(memory, dict):
        return document
    entities = [
        one
        for one in _rows(memory, "entities")
        if one.get("entity_type") not in _OWN_KINDS
        or str(one.get("entity_id", "")).startswith("Appointment/")
    ]
    runs = [one for one in _rows(memory, "executions") if one.get("tool_name") not in _OWN_TOOLS]
    return {**document, "tool_memory": {**memory, "entities": entities, "executions": runs}}


def _rows(memory: Json, name: str) -> list[Any]:
    rows = memory.get(name)
    return [one for one in rows if isinstance(one, dict)] if isinstance(rows, list) else []


def _from_first(document: Json) -> Json:
    return _without_own_items(_runs_with_their_values(_points_without_quote(document)))


STEPS: Mapping[str, Mapping[int, Step]] = {"ChatContext": {1: _from_first}}
"""By model name, then by the version a step starts from."""
COMMON_STEPS: Mapping[int, Step] = {1: lambda document: document}
"""Of models whose shape a version does not change."""


def upgraded(data: bytes, model: type[Document], version: int) -> Json:
    """Return `data` as JSON of `model.SCHEMA_VERSION`.

    Raises:
        CorruptDocumentError: there is no way up from `version`.
    """
    document: Json = json.loads(data)
    for step in range(version, model.SCHEMA_VERSION):
        change = STEPS.get(model.__name__, {}).get(step) or COMMON_STEPS.get(step)
        if change is None:
            raise CorruptDocumentError(f"{model.__name__} has no step from version {step}")
        document = {**change(document), "schema_version": step + 1, "min_reader": model.MIN_READER}
    return document
