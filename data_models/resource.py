"""A FHIR resource with the version it was read at."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource of a records store.

    Attributes:
        body: FHIR R4 JSON.
        version: For the next conditional write; None where the store has none to give.
    """

    body: Mapping[str, Any]
    version: str | None
