"""What another system said, as rows of a view. Needs nothing of the protocol it was said in."""

import hashlib
from collections.abc import Iterator
from typing import Any

import orjson

from data_models.chart_view import FOREIGN, ChartView, ViewRow, ViewSource
from services.evidence.foreign.servers import names_a_patient

ROWS_LIMIT = 100


def foreign_view(
    text: str, *, tool: str, server: str, of_patient: bool, patient_id: str
) -> ChartView:
    """Return the words of `server`: a row for each entry of JSON, else for each line."""
    ref = f"Foreign/{server}-{hashlib.sha256(text.encode()).hexdigest()[:10]}"
    said = _entries(text)
    rows = [
        ViewRow(
            kind="foreign record" if of_patient else FOREIGN,
            name=f"According to {server}",
            detail=one,
            sources=(ref,),
        )
        for one in said[:ROWS_LIMIT]
    ]
    more = len(said) - len(rows)
    return ChartView(
        tool=tool,
        patient_id=patient_id,
        kind="passages" if of_patient else "table",
        title=f"{server}: another system, not the record",
        columns=("name", "detail"),
        labels=("Source", "What it says"),
        rows=tuple(rows),
        sources=(ViewSource(ref=ref, title=f"{server}, another system"),),
        nothing="" if rows else f"{server} found nothing. That says nothing of the record.",
        notes=(f"{more} more entries are not shown; ask for less",) if more > 0 else (),
    )


def patients_in(text: str) -> frozenset[str]:
    """Return, folded, whom JSON says that it is of; nobody where it is none or says nothing."""
    return frozenset(_patients_in(_parsed(text)))


def _patients_in(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for key, value in node.items():
            if names_a_patient(key) and isinstance(value, str | int):
                yield str(value).removeprefix("Patient/").casefold()
            yield from _patients_in(value)
    elif isinstance(node, list):
        for one in node:
            yield from _patients_in(one)


def _parsed(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def _entries(text: str) -> list[str]:
    found = _parsed(text)
    if not isinstance(found, dict | list):
        return [line.strip() for line in text.splitlines() if line.strip()]
    if isinstance(found, dict) and len(found) == 1:
        [inner] = found.values()
        found = inner if isinstance(inner, list) else found
    listed = found if isinstance(found, list) else [found]
    return [line for line in map(_line, listed) if line]


def _line(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{key}: {_line(one)}" for key, one in value.items() if one is not None)
    if isinstance(value, list):
        return ", ".join(map(_line, value))
    return " ".join(value.split()) if isinstance(value, str) else orjson.dumps(value).decode()
