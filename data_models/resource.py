"""A FHIR resource with the version it was read at, and where resources are read and written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from data_models.identifiers import PatientId


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource of a records store.

    Attributes:
        body: FHIR R4 JSON.
        version: For the next conditional write; None where the store has none to give.
    """

    body: Mapping[str, Any]
    version: str | None


class ResourceStore(Protocol):
    """Reads and writes FHIR R4 resources; one for sample data, one for a FHIR server.

    Every method raises `RecordsError` or `StoreError` when the back end does not answer; a
    failure is never an empty answer.
    """

    async def patient_key(self, patient_id: PatientId) -> str:
        """Return the id of the Patient resource that carries `patient_id`.

        Raises:
            RecordNotFoundError: there is none.
            RecordAmbiguousError: there are several.
        """
        ...

    async def read(self, kind: str, resource_id: str) -> Resource | None:
        """Return one resource; None if and only if there is none."""
        ...

    async def search(self, kind: str, query: Sequence[tuple[str, str]]) -> Sequence[Resource]:
        """Return what fits `query`, FHIR search parameters; it may return more, never less."""
        ...

    async def may_create(self, kind: str) -> bool:
        """Tell whether the back end says that it creates a type, once."""
        ...

    async def create_once(self, body: Mapping[str, Any]) -> Resource:
        """Store a new resource, or return the one that carries its first identifier already.

        Race-safe where the back end keeps conditional creates apart.
        """
        ...

    async def update(self, before: Resource, body: Mapping[str, Any]) -> Resource:
        """Put `body` in place of `before`.

        Raises:
            RecordChangedError: somebody else wrote it since; nothing was written.
        """
        ...
