"""Brings a stored document of an older `schema_version` up to the one this server writes.

Each step takes plain JSON from version N to N + 1. A released step is frozen and imports no
model: editing a model must not change what an old document means.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from data_models.document import Document
from data_models.errors import CorruptDocumentError

Json = Mapping[str, Any]
Step = Callable[[Json], Json]


def _unchanged(document: Json) -> Json:
    return document


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


STEPS: Mapping[str, Mapping[int, Step]] = {"ChatContext": {1: _points_without_quote}}
"""By model name, then by the version a step starts from."""
COMMON_STEPS: Mapping[int, Step] = {1: _unchanged}
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
        document = {
            **change(document),
            "schema_version": step + 1,
            "min_reader": model.MIN_READER,
        }
    return document
