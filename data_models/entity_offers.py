"""Sorts what a delta offers into values to store and keys to refuse, alike for both namespaces."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from data_models.entity_keys import Namespace, canonical_key, namespace_of
from data_models.entity_report import EntityReport
from data_models.entity_values import VALUE_LIMIT_CHARS, Offer, canonical_json, is_blank

IsTaken = Callable[[str], bool]


def sorted_offers(
    updates: Mapping[str, Any],
    *,
    namespace: Namespace,
    is_taken: IsTaken,
    blanks_count: bool,
    report: EntityReport,
) -> dict[str, Offer]:
    """Return the values that may be stored, by canonical key; the rest goes into `report`.

    Two spellings of one key are one key, and the later one counts.

    Args:
        is_taken: Whether an unlisted key lives in the other namespace already.
        blanks_count: Whether null and blank text are values, as they are from a tool.
    """
    offers: dict[str, Offer] = {}
    for raw, value in updates.items():
        key = canonical_key(raw)
        if key is None:
            report["rejected"][raw] = "key"
        elif not _belongs(key, namespace, is_taken):
            report["rejected"][key] = "namespace"
        elif not blanks_count and is_blank(value):
            report["ignored"].append(key)
        else:
            canonical = canonical_json(value)
            offer = Offer(value, canonical or "")
            reason = _fault(offer) if canonical is not None else "value"
            if reason is not None:
                report["rejected"][key] = reason
                continue
            offers.pop(key, None)
            offers[key] = offer
            report["rejected"].pop(key, None)
    if report["ignored"]:
        report["ignored"] = [key for key in dict.fromkeys(report["ignored"]) if key not in offers]
    return offers


def sorted_removals(keys: Iterable[str], *, report: EntityReport) -> list[str]:
    """Return the canonical keys to remove, each once."""
    found: dict[str, None] = {}
    for raw in keys:
        key = canonical_key(raw)
        if key is None:
            report["rejected"][raw] = "key"
        else:
            found[key] = None
    return list(found)


def _belongs(key: str, namespace: Namespace, is_taken: IsTaken) -> bool:
    home = namespace_of(key)
    return home == namespace if home is not None else not is_taken(key)


def _fault(offer: Offer) -> str | None:
    return "too_large" if offer.length_chars > VALUE_LIMIT_CHARS else None
