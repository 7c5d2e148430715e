"""Views of the chart as the built-in rules write them down; adds nothing to what rows say."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from data_models.chart_view import ChartView, ViewRow
from data_models.errors import ToolInputError
from group_chat.offline.prompt import ToolAnswer
from group_chat.turn_context import current_turn
from services.records.values import with_unit

TEXT_LIMIT_CHARS = 420
_MISSING = "not in the record"
_REFS_SHOWN = 4
_USUAL = frozenset({"final", "completed", "finished", "current", "available", ""})
_UNDATED = frozenset({"fact", "biomarker", "patient"})
_ROWS_SHOWN = 30
# Of results that are no views: what tells a reader nothing.
_SILENT = frozenset(
    {"patient_id", "media_type", "artifact_id", "size_bytes", "generated_at", "source", "sources",
     "incomplete", "shortened"}
)  # fmt: skip
_LABELS = {"unsourced": "Statements without a source", "file_name": "File"}


def rows_behind(answer: ToolAnswer) -> list[str]:
    """Return the rows of a tool's answer as Markdown bullets."""
    view = _view_behind(answer)
    if view is None:
        return list(_plain_rows(answer.data))
    return [_bullet(row) for row in view.rows]


def missing_behind(answer: ToolAnswer) -> list[str]:
    """Return the names of what the answer says is not in the record."""
    view = _view_behind(answer)
    if view is None:
        return []
    return [row.name for row in view.rows if row.status == _MISSING]


def notes_behind(answer: ToolAnswer) -> list[str]:
    """Return what the answer says about its own gaps."""
    view = _view_behind(answer)
    if view is None:
        said = (answer.data.get(key) for key in ("incomplete", "shortened"))
        return list(_capitals(one for one in said if isinstance(one, str)))
    left_out = [f"{row.count} {row.what} are not shown" for row in view.left_out]
    return list(_capitals([*view.notes, *left_out]))


def capped(rows: list[str]) -> list[str]:
    """The newest rows are last in a timeline and first in a list of reports: both ends stay."""
    if len(rows) <= _ROWS_SHOWN:
        return rows
    between = f"- … {len(rows) - _ROWS_SHOWN} further entries …"
    return [*rows[: _ROWS_SHOWN // 2], between, *rows[-_ROWS_SHOWN // 2 :]]


def _plain_rows(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a tool that gives no view returned, such as one of an operator's own."""
    for key, value in data.items():
        rows = value if isinstance(value, list) else [value]
        if rows and all(isinstance(row, Mapping) for row in rows):
            yield from (f"- {_plain_row(row)}" for row in rows)
        elif key not in _SILENT and value not in (None, "", []):
            yield f"- {_label(key)}: {_plain(value)}"


def _plain_row(row: Mapping[str, Any]) -> str:
    title = row.get("title") or row.get("name")
    head = f"**{_plain(title)}**" if title else ""
    parts = [
        f"{_label(str(key)).lower()} {_plain(value)}"
        for key, value in row.items()
        if key not in _SILENT | {"title", "name", "date"} and value not in (None, "", [])
    ]
    said = [_plain(row.get("date") or ""), head, ", ".join(parts)]
    listed = row.get("sources")
    sources = listed if isinstance(listed, list) and listed else [row.get("source")]
    ids = [str(one["ref"]) for one in sources if isinstance(one, Mapping) and one.get("ref")]
    refs = "".join(f" [{ref}]" for ref in dict.fromkeys(ids[:_REFS_SHOWN]))
    return f"{' '.join(filter(None, said))}{refs}"


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_plain(one)}" for key, one in value.items())
    return ", ".join(map(_plain, value)) if isinstance(value, list) else _short(str(value))


def _label(key: str) -> str:
    words = _LABELS.get(key, key).replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def _view_behind(answer: ToolAnswer) -> ChartView | None:
    """Return the last view of that tool in this turn; None where the answer is none."""
    if "error" in answer.data:
        return None
    try:
        views = current_turn().views
    except (LookupError, ToolInputError):  # a prompt that is read outside of any turn
        return None
    return next((view for view in reversed(views) if view.tool == answer.name), None)


def _bullet(row: ViewRow) -> str:
    name = row.name[:1].upper() + row.name[1:] if row.kind in _UNDATED else row.name
    own = [ref for ref in row.sources if f"[{ref}]" not in row.detail]
    refs = "".join(f" [{ref}]" for ref in own[:_REFS_SHOWN])
    value = with_unit(row.value, row.unit)
    if row.status == _MISSING:
        return f"- **{name}**: {_MISSING}"
    if row.kind in _UNDATED:
        # Sides and earlier values carry their own source ids.
        said = row.detail if row.status == "sources differ" else value
        before = f"{row.status}: " if row.status else ""
        after = row.detail if row.status != "sources differ" and row.detail else ""
        cited = "" if row.status == "sources differ" else refs
        return f"- **{name}**: {before}{said}{cited}{f'; {after}' if after else ''}"
    span = f"{row.date[:10] or 'undated'}{f' to {row.end[:10]}' if row.end else ''}"
    parts = [value, row.range, row.flag, row.status if row.status not in _USUAL else "", row.detail]
    detail = _short("; ".join(part for part in parts if part))
    return f"- {span} **{name}** ({row.kind}){f': {detail}' if detail else ''}{refs}"


def _short(text: str) -> str:
    flat = " ".join(text.split())
    if len(flat) <= TEXT_LIMIT_CHARS:
        return flat
    return f"{flat[:TEXT_LIMIT_CHARS].rsplit(' ', 1)[0]} …"


def _capitals(notes: Iterable[str]) -> Iterable[str]:
    return (note[:1].upper() + note[1:] for note in notes)
