"""Writes tool results as lines that a clinician can read; adds nothing to what they say.

Rows are told apart by their shape, not by the tool they come from, so the result of a tool that
nobody foresaw is written too.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from services.language.phrases import parts_in

ROW_LIMIT = 30
TEXT_LIMIT_CHARS = 420
_SILENT = frozenset(
    {"limit", "left_out", "left_out_chars", "undated_left_out", "other_kinds", "patient_id",
     "as_of", "start", "end", "length_chars", "not_in_the_record", "incomplete",
     "shortened", "source", "sources", "earlier", "state", "media_type", "artifact_id",
     "offline_model", "size_bytes", "generated_at", "score"}
)  # fmt: skip
_LABELS = {"unsourced": "Statements without a source", "file_name": "File"}


def lines_of(data: Mapping[str, Any]) -> list[str]:
    """Return the rows of a tool's result as Markdown bullets, most telling shape first."""
    return capped(all_lines_of(data))


def all_lines_of(data: Mapping[str, Any]) -> list[str]:
    """Return the same rows, however many."""
    return list(_rows(data, heading=None))


def notes_of(data: Mapping[str, Any]) -> list[str]:
    """Return what the result says about its own gaps."""
    found: list[str] = []
    for key, value in _walk(data):
        if key in {"incomplete", "shortened"} and isinstance(value, str):
            found.append(value[:1].upper() + value[1:])
        elif key == "left_out" and isinstance(value, int) and value > 0:
            found.append(f"{value} further entries are not shown")
    return list(dict.fromkeys(found))


def missing_of(data: Mapping[str, Any]) -> list[str]:
    """Return the names of what the result says is not in the record."""
    named = data.get("not_in_the_record")
    names = [str(name) for name in named] if isinstance(named, Sequence) else []
    absent = [
        str(row["name"])
        for _, row in _walk(data)
        if isinstance(row, Mapping) and row.get("state") == "not in the record" and "name" in row
    ]
    return list(dict.fromkeys([*names, *absent]))


def capped(rows: list[str]) -> list[str]:
    """The newest rows are last in a timeline and first in a list of reports: both ends stay."""
    if len(rows) <= ROW_LIMIT:
        return rows
    between = f"- … {len(rows) - ROW_LIMIT} further entries …"
    return [*rows[: ROW_LIMIT // 2], between, *rows[-ROW_LIMIT // 2 :]]


def _rows(node: Any, *, heading: str | None) -> Iterator[str]:
    if isinstance(node, Mapping):
        yield from _rows_of_mapping(node, heading)
    elif isinstance(node, list):
        words = [item for item in node if isinstance(item, str)]
        if words and heading is not None:
            yield f"- {_label(heading)}: {_short('; '.join(words))}"
        for item in node:
            if not isinstance(item, str):
                yield from _rows(item, heading=heading)
    elif node not in (None, "") and heading is not None:
        yield f"- {_label(heading)}: {_short(str(node))}"


def _rows_of_mapping(node: Mapping[str, Any], heading: str | None) -> Iterator[str]:
    line = _row(node, heading)
    if line is not None:
        yield line
        return
    for key, value in node.items():
        if key not in _SILENT and not key.endswith("_state"):
            yield from _rows(value, heading=heading if key == "items" else key)


def _row(node: Mapping[str, Any], heading: str | None) -> str | None:
    if "state" in node and "name" in node:
        return _fact(node)
    source = node.get("source")
    if not isinstance(source, Mapping):
        return None
    if isinstance(node.get("title"), str):
        return _event(node, str(node["title"]))
    if isinstance(node.get("name"), str) and heading != "patient":
        return _event(node, str(node["name"]))
    if "modalities" in node:
        return _study(node, source)
    return _document(node, source) if heading != "patient" else _person(node, source)


def _fact(fact: Mapping[str, Any]) -> str | None:
    name = _label(str(fact["name"]))
    if fact["state"] == "not in the record":
        return f"- **{name}**: not in the record"
    readings = _readings(fact.get("disagreement"))
    if fact["state"] == "sources differ" and readings:
        sides = " versus ".join(f"{row['value']}{refs(row)}" for row in readings)
        return f"- **{name}**: sources differ: {sides}"
    before = [f"{row['value']}{refs(row)}" for row in _readings(fact.get("earlier"))[:3]]
    earlier = f"; earlier: {', '.join(before)}" if before else ""
    return f"- **{name}**: {fact.get('value', 'recorded')}{refs(fact)}{earlier}"


def _readings(rows: Any) -> list[Mapping[str, Any]]:
    """Return the rows that are readings; a tool of an operator's own may give anything."""
    if not isinstance(rows, list):
        return []
    return [row for row in rows if isinstance(row, Mapping) and "value" in row]


def _event(event: Mapping[str, Any], title: str) -> str:
    source = event.get("source") or {}
    when = event.get("date") or event.get("start") or source.get("date") or "undated"
    until = event.get("until") or event.get("end")
    span = f"{when} to {until}" if until and until != when else when
    kind = f" ({event['kind']})" if event.get("kind") else ""
    detail = f": {_short(str(event['detail']))}" if event.get("detail") else ""
    return f"- {span} **{title}**{kind}{detail}{refs(event)}"


def _study(row: Mapping[str, Any], source: Mapping[str, Any]) -> str:
    counts = [f"{row[key]} {key}" for key in ("series", "images") if row.get(key)]
    what = ", ".join([*(row.get("modalities") or ()), *counts])
    return (
        f"- {source.get('date') or 'undated'} **Study: {source.get('title')}**: {what}{refs(row)}"
    )


def _document(row: Mapping[str, Any], source: Mapping[str, Any]) -> str:
    title = source.get("title") or "Entry"
    head = f"- {source.get('date') or 'undated'} **{title}**"
    text = row.get("conclusion") or row.get("text")
    if text:
        return f"{head}: {_telling(str(text))}{refs(row)}"
    rest = [
        f"{_label(key).lower()} {_scalar(value)}"
        for key, value in row.items()
        if key not in _SILENT
        and key not in {"kind", "title", "name", "date", "description"}
        and value
    ]
    return f"{head}{': ' if rest else ''}{', '.join(rest)}{refs(row)}"


def _person(row: Mapping[str, Any], source: Mapping[str, Any]) -> str:
    parts = [
        f"{_label(key).lower()} {row[key]}" for key in ("birth_date", "age", "sex") if row.get(key)
    ]
    parts += [str(row["deceased"])] if row.get("deceased") else []
    return f"- **{row.get('name') or 'Patient'}**: {', '.join(parts)}{refs({'source': source})}"


def refs(row: Mapping[str, Any]) -> str:
    """Return the source ids of `row` as they are cited, with a leading space; at most four."""
    listed = row.get("sources")
    sources = listed if isinstance(listed, list) and listed else [row.get("source")]
    ids = [str(one["ref"]) for one in sources if isinstance(one, Mapping) and one.get("ref")]
    return "".join(f" [{ref}]" for ref in dict.fromkeys(ids[:4]))


def _telling(text: str) -> str:
    """Return the conclusion of a report where it has one, else its beginning."""
    return _short((parts_in(text, "conclusion") or {}).get("told") or text)


def _short(text: str) -> str:
    flat = " ".join(text.split())
    if len(flat) <= TEXT_LIMIT_CHARS:
        return flat
    return f"{flat[:TEXT_LIMIT_CHARS].rsplit(' ', 1)[0]} …"


def _scalar(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_scalar(one)}" for key, one in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(_scalar(one) for one in value)
    return _short(str(value))


def _label(key: str) -> str:
    words = _LABELS.get(key, key).replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def _walk(node: Any) -> Iterator[tuple[str, Any]]:
    """Every key and value below `node`, rows of lists under the key of their list."""
    if isinstance(node, Mapping):
        for key, value in node.items():
            yield key, value
            yield from _walk(value)
    elif isinstance(node, Sequence) and not isinstance(node, str):
        for item in node:
            yield "", item
            yield from _walk(item)
