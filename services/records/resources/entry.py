"""One FHIR resource as received, and careful reading of its elements.

Nothing is validated twice: `services.records.resources.sorting` refuses a damaged resource when
it arrives, and every reader here gives "" or nothing where an element is absent or of another kind.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from data_models.plain_yaml import read_yaml

Raw: TypeAlias = Mapping[str, Any]

_NOTHING: Raw = {}
_PERIOD_STARTS = ("start", "end")
KINDS: Mapping[str, Mapping[str, Mapping[str, Any]]] = read_yaml(
    Path(__file__).with_name("kinds.yaml").read_bytes()
)
"""The resource types that are read, by what for; the file explains."""
CODES: Mapping[str, Mapping[str, str]] = read_yaml(
    Path(__file__).with_name("codes.yaml").read_bytes()
)
"""What codes are in words."""
CODE_SETS: Mapping[str, frozenset[str]] = {
    name: frozenset(map(str, codes))
    for name, codes in read_yaml(Path(__file__).with_name("code_sets.yaml").read_bytes()).items()
}
DATES: Mapping[str, Sequence[str]] = {
    kind: row.get("dates", ()) for rows in KINDS.values() for kind, row in rows.items()
}
"""Elements that may hold the clinical date, best first."""


_INHERITED = ("effectiveDateTime", "effectivePeriod", "issued")


@dataclass(frozen=True, slots=True)
class Entry:
    """A resource of the record.

    Attributes:
        ref: Source id, such as `Observation/k-7`.
        kind: FHIR type.
        raw: The resource as received.
    """

    ref: str
    kind: str
    raw: Raw

    @property
    def date(self) -> str:
        """The clinical date as recorded, in its own offset; "" when undated."""
        return first_date(self.raw, *DATES.get(self.kind, ()))

    @property
    def status(self) -> str:
        """The resource's own status code."""
        return text(self.raw, "status")


def one(node: Raw, name: str) -> Raw:
    """Return the object `name`, the first where several are, or an empty one."""
    value = node.get(name)
    if isinstance(value, list):
        value = next((item for item in value if isinstance(item, dict)), None)
    return value if isinstance(value, dict) else _NOTHING


def many(node: Raw, name: str) -> list[Raw]:
    """Return the objects of the list `name`; a lone object counts as a list of one."""
    value = node.get(name)
    if isinstance(value, dict):
        return [value]
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text(node: Raw, name: str) -> str:
    """Return the text `name`, tidied, or ""."""
    value = node.get(name)
    return value.strip() if isinstance(value, str) else ""


def label(concept: Raw) -> str:
    """Return a CodeableConcept or Coding in words: text, else a display, a paper's type, a code."""
    if not (found := text(concept, "text")):
        codings = many(concept, "coding") or [concept]
        found = next((said for coding in codings if (said := text(coding, "display"))), "")
        found = found or next((said for coding in codings if (said := text(coding, "code"))), "")
    # Public charts hold zero-width spaces within names.
    return CODES["alone"].get(found, found).replace("\u200b", "")


def labels(node: Raw, name: str) -> list[str]:
    """Return the concepts of the list `name` in words."""
    return [said for concept in many(node, name) if (said := label(concept))]


def codings(concept: Raw) -> Iterator[tuple[str, str]]:
    """Yield system and code of each coding."""
    for coding in many(concept, "coding"):
        if code := text(coding, "code"):
            yield text(coding, "system"), code


def codes(concept: Raw) -> frozenset[str]:
    """Return all codes, whatever their system."""
    return frozenset(code for _, code in codings(concept))


def code_of(concept: Raw) -> str:
    """Return the first code of a concept of a closed list, else its text in small letters."""
    return next((code for _, code in codings(concept)), "") or label(concept).casefold()


def code_pairs(concept: Raw) -> tuple[str, ...]:
    """Return codes as `system|code`."""
    return tuple(f"{system}|{code}" for system, code in codings(concept))


def first_date(node: Raw, *names: str) -> str:
    """Return the first date among the elements, the start of a Period, or ""."""
    for name in names:
        value = node.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, dict):
            if event := next(iter(value.get("event") or ()), None):
                return str(event)
            for edge in _PERIOD_STARTS:
                if found := text(value, edge):
                    return found
    return ""


def end_of(node: Raw, *names: str) -> str:
    """Return the end of the first Period among the elements, or ""."""
    return next((end for name in names if (end := text(one(node, name), "end"))), "")


@lru_cache(maxsize=4_000)
def instant(recorded: str) -> str:
    """Return a key by which recorded dates sort in time, whatever their offsets; "" is first."""
    if len(recorded) <= 10 or "T" not in recorded:
        return recorded
    try:
        moment = datetime.fromisoformat(recorded)
    except ValueError:
        return recorded
    if moment.tzinfo is None:
        return recorded
    try:
        return moment.astimezone(UTC).isoformat()
    except OverflowError:
        return recorded


def contained_results(raw: Raw) -> Iterator[tuple[str, Raw]]:
    """Yield ids and bodies of the results that a report holds itself, dated and owned as it is."""
    pointers = (*many(raw, "result"), *many(raw, "hasMember"))
    wanted = {text(pointer, "reference") for pointer in pointers}
    for inner in many(raw, "contained"):
        key = text(inner, "id")
        if text(inner, "resourceType") == "Observation" and f"#{key}" in wanted:
            dates = () if any(name in inner for name in _INHERITED) else _INHERITED
            told = {name: raw[name] for name in ("subject", "status", *dates) if name in raw}
            yield f"{text(raw, 'id')}.{key}", {**told, **inner}


def notes_of(node: Raw) -> list[str]:
    """Return the texts of the Annotations of a resource."""
    return [said for note in many(node, "note") if (said := text(note, "text"))]


def joined(*parts: str) -> str:
    """Return the parts that say something, each once, in a line."""
    return "; ".join(dict.fromkeys(" ".join(part.split()) for part in parts if part.strip()))
