"""What a FHIR server says it can do, read once."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from data_models.errors import RecordsRefusedError, RecordsUnreadableError
from services.records.entry import Raw, many
from services.records.fhir_client import FhirClient


@dataclass(frozen=True, slots=True)
class Capability:
    """Types of resources with their search parameters; None where the server does not say.

    Attributes:
        created_once: Types that it says it creates, on a condition.
    """

    types: Mapping[str, frozenset[str]] | None = None
    created_once: frozenset[str] = frozenset()

    def serves(self, kind: str) -> bool:
        """Tell whether resources of a type may be there."""
        return self.types is None or kind in self.types

    def may_create(self, kind: str) -> bool:
        """Tell whether the server says that it creates a type once; what is not said may not be."""
        return kind in self.created_once

    def may_search(self, kind: str, parameter: str) -> bool:
        """Tell whether a search parameter may be used: unknown ones may."""
        if self.types is None or not self.types.get(kind):
            return True
        return parameter in self.types[kind]


async def capability_of(client: FhirClient) -> Capability:
    """Return what the server's CapabilityStatement says; nothing, where it has none to read.

    Raises:
        RecordsUnavailableError: it does not answer.
    """
    try:
        answer = await client.get(client.base_url / "metadata")
    except (RecordsUnreadableError, RecordsRefusedError):
        return Capability()
    body = answer.body if answer.status == 200 else None
    types = dict(_types(body or {}))
    return Capability(types or None, frozenset(_created_once(body or {})))


def _types(body: Raw) -> Iterator[tuple[str, frozenset[str]]]:
    for rest in many(body, "rest"):
        shared = _names(rest)
        for row in many(rest, "resource"):
            if isinstance(row.get("type"), str):
                own = _names(row)
                yield row["type"], own | shared if own else frozenset()


def _created_once(body: Raw) -> Iterator[str]:
    for rest in many(body, "rest"):
        for row in many(rest, "resource") if rest.get("mode") == "server" else []:
            deeds = {each.get("code") for each in many(row, "interaction")}
            if "create" in deeds and row.get("conditionalCreate") is True:
                yield str(row.get("type"))


def _names(row: Raw) -> frozenset[str]:
    return frozenset(str(one.get("name")) for one in many(row, "searchParam"))
