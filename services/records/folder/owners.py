"""Whose a resource is, and what it points to. Pure; the resources are as received."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from services.records.resources.entry import many

_OWNING: Final = ("subject", "patient", "beneficiary", "for", "individual")
_DEEP: Final = 12


def owner_keys(resource: Mapping[str, Any]) -> frozenset[str]:
    """Return the references and identifiers by which a resource says whose it is.

    A reference is `Patient/7`, `urn:uuid:…`, or `system|value` for one by identifier.
    """
    named: list[Any] = [resource.get(field) for field in _OWNING]
    named += [each.get("actor") for each in many(resource, "participant")]
    named += many(resource, "target") if resource["resourceType"] == "Provenance" else []
    flat = [one for each in named for one in (each if isinstance(each, list) else [each])]
    return frozenset(key for each in flat if isinstance(each, dict) for key in keys_of(each))


def names_of(resource: Mapping[str, Any], full_url: object) -> frozenset[str]:
    """Return every reference that means the resource."""
    names = {normal(full_url)} if isinstance(full_url, str) else set[str]()
    if isinstance(resource.get("id"), str):
        names |= {f"{resource['resourceType']}/{resource['id']}", f"urn:uuid:{resource['id']}"}
    return frozenset(names)


def identifier_keys(resource: Mapping[str, Any]) -> frozenset[str]:
    """Return the identifiers as `system|value`."""
    rows = many(resource, "identifier")
    return frozenset(f"{row.get('system', '')}|{row['value']}" for row in rows if row.get("value"))


def references_in(value: object, deep: int = _DEEP) -> Iterator[str]:
    """Yield every reference and address of an attachment within, normal."""
    if deep == 0:
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in ("reference", "url") and isinstance(inner, str):
                yield normal(inner)
            elif isinstance(inner, dict | list):
                yield from references_in(inner, deep - 1)
    elif isinstance(value, list):
        for inner in value:
            yield from references_in(inner, deep - 1)


def normal(reference: str) -> str:
    """Return a reference without version and server: `Patient/7`, `urn:uuid:…`, `system|value`."""
    plain = reference.partition("/_history/")[0]
    _, question, query = plain.partition("?identifier=")
    if question:
        return query
    parts = plain.rsplit("/", 2)
    is_address = plain.startswith(("http://", "https://")) and len(parts) == 3
    return f"{parts[1]}/{parts[2]}" if is_address and parts[1][:1].isupper() else plain


def keys_of(reference: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a Reference names: `Patient/7`, or `system|value`."""
    if isinstance(reference.get("reference"), str):
        yield normal(reference["reference"])
    identifier = reference.get("identifier")
    if isinstance(identifier, dict) and identifier.get("value"):
        yield f"{identifier.get('system', '')}|{identifier['value']}"
