"""What became of each key of a delta."""

from typing import TypedDict


class EntityReport(TypedDict):
    """Keys, in the order of the delta; `evicted` in the order in which they left.

    `rejected` gives a reason: `key`, `value`, `too_large`, `namespace`, `provenance`,
    `tool_value`, `capacity`, `absent`, `present`.
    """

    added: list[str]
    updated: list[str]
    unchanged: list[str]
    removed: list[str]
    ignored: list[str]
    evicted: list[str]
    rejected: dict[str, str]


def empty_report() -> EntityReport:
    """Return the report of a delta that did nothing."""
    return {
        "added": [],
        "updated": [],
        "unchanged": [],
        "removed": [],
        "ignored": [],
        "evicted": [],
        "rejected": {},
    }
