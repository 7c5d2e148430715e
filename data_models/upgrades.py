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

STEPS: Mapping[str, Mapping[int, Step]] = {}
"""By model name, then by the version a step starts from."""


def upgraded(data: bytes, model: type[Document], version: int) -> Json:
    """Return `data` as JSON of `model.SCHEMA_VERSION`.

    Raises:
        CorruptDocumentError: there is no way up from `version`.
    """
    document: Json = json.loads(data)
    for step in range(version, model.SCHEMA_VERSION):
        if step not in STEPS.get(model.__name__, {}):
            raise CorruptDocumentError(f"{model.__name__} has no step from version {step}")
        document = {**STEPS[model.__name__][step](document), "schema_version": step + 1}
    return document
