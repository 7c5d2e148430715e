"""Sorts what a delta offers into values to store and keys to refuse, alike for both namespaces."""

from collections.abc import Callable, Mapping
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
    rejected = report["rejected"]
    for raw, value in updates.items():
        key = canonical_key(raw)
        if key is None:
            rejected[raw] = "key"
            continue
        home = namespace_of(key)
        if home != namespace if home is not None else is_taken(key):
            rejected[key] = "namespace"
        elif not blanks_count and is_blank(value):
            report["ignored"].append(key)
        elif (canonical := canonical_json(value)) is None:
            rejected[key] = "value"
        elif (offer := Offer(value, canonical)).length_chars > VALUE_LIMIT_CHARS:
            rejected[key] = "too_large"
        else:
            offers.pop(key, None)
            offers[key] = offer
            rejected.pop(key, None)
    if report["ignored"]:
        report["ignored"] = [key for key in dict.fromkeys(report["ignored"]) if key not in offers]
    return offers
