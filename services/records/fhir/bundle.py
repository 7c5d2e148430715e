"""The entries of one small Bundle: an answer of a server, or a file of our own."""

from typing import Any

from pydantic_core import from_json

from data_models.errors import RecordsUnreadableError


def bundle_entries_of(data: bytes) -> list[dict[str, Any]]:
    """Return the entries of a Bundle.

    Raises:
        RecordsUnreadableError: `data` is not a FHIR Bundle in JSON.
    """
    try:
        bundle = from_json(data, allow_inf_nan=False)
    except ValueError:
        # Not `from error`: the parser's message may quote the record.
        raise RecordsUnreadableError("the bundle is not JSON") from None
    return bundle_entries(bundle)


def bundle_entries(bundle: Any) -> list[dict[str, Any]]:
    """Return the entries of parsed JSON that should be a Bundle.

    Raises:
        RecordsUnreadableError: it is not one.
    """
    if not isinstance(bundle, dict) or bundle.get("resourceType") != "Bundle":
        raise RecordsUnreadableError("the answer is not a FHIR Bundle")
    entries = bundle.get("entry", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise RecordsUnreadableError("the Bundle's entries are not a list of objects")
    return entries
