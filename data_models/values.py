"""What documents, arguments and answers are made of: values that do not change."""

from collections import OrderedDict
from typing import Any, TypeVar

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
