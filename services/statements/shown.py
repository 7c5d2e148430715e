"""How a surface without marks says what of a message the record does not support."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from data_models.chart_view import ChartView, ViewRow
from data_models.chat_context import AgentMessage, CheckedStatement
from services.language.model_output.inert import inert
from services.language.words.detection import language_of
from services.language.words.talk_texts import talk_text

ROWS_SHOWN = 40
_NAMED_SHARE = 0.8
_COLUMNS = ("date", "name", "value", "unit", "range", "flag", "status", "detail")


def views_of(message: AgentMessage, views: Mapping[str, ChartView]) -> list[ChartView]:
    """Return the views of a message that can be read and say more than its text does."""
    own = [views[one.view_id] for one in message.views if one.view_id in views]
    return [view for view in own if not repeats(message.text, view)]


def maker_label(message: AgentMessage) -> str:
    """Return who wrote a message, as people are told; "" where that was not noted."""
    return {"model": "AI-generated", "rules": "Rule-based"}.get(message.made_by or "", "")


def not_supported(message: AgentMessage) -> str:
    """Return the block that ends a message in plain text, in its language; "" where none is."""
    marked = [one for one in message.statements if one.state != "supported"]
    if not marked:
        return ""
    text = partial(talk_text, language_of(message.text))
    # What is said forty times is listed once.
    lines = dict.fromkeys(_line(message, one, text) for one in marked)
    return "\n".join([f"**{text('not_supported')}:**", *(f"- {line}" for line in lines)])


def repeats(text: str, view: ChartView) -> bool:
    """Whether `text` names nearly every row of `view` by its source already."""
    named = sum(any(ref in text for ref in row.sources) for row in view.rows)
    return named >= _NAMED_SHARE * len(view.rows)


def pipe_table(view: ChartView) -> str:
    """Return a view as a Markdown table, empty columns left out.

    At most 40 rows, but of a view that must be shown.
    """
    columns, texts = cells(view)
    if not columns:
        return ""
    over = [_inert(one) for one in labels_of(view, columns)]
    head = f"| {' | '.join(over)} |\n|{'---|' * len(columns)}"
    count = len(texts) if view.must_be_shown else ROWS_SHOWN
    rows = [f"| {' | '.join(map(_inert, row))} |" for row in texts[:count]]
    more = len(view.rows) - count
    left = [f"{more} more rows"] if more > 0 else []
    left += left_out_of(view)
    return "\n".join(
        [f"**{_inert(view.title)}**", "", head, *rows, *(["", "; ".join(left)] if left else [])]
    )


def left_out_of(view: ChartView) -> list[str]:
    """Return what of a view is not among its rows, in words."""
    return [f"{one.count} {one.what} not shown" for one in view.left_out]


def cells(view: ChartView) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the columns of a view that hold anything, and its rows as texts."""
    columns = tuple(
        name for name in (view.columns or _COLUMNS) if any(_cell(row, name) for row in view.rows)
    )
    return columns, [tuple(_cell(row, name) for name in columns) for row in view.rows]


def labels_of(view: ChartView, columns: Sequence[str]) -> Sequence[str]:
    """Return what stands over `columns` of a view: its own labels, or their names."""
    own = dict(zip(view.columns, view.labels, strict=False))
    return [own.get(one, one) for one in columns]


def _cell(row: ViewRow, column: str) -> str:
    fields = row.model_dump(include={column})
    value = fields.get(column, "")
    text = ", ".join(value) if isinstance(value, list | tuple) else str(value or "")
    if column in ("date", "end"):
        text = text[:10]
    if column == "end" and text == row.date[:10]:
        return ""
    if column == "value" and text and row.unit and not text.endswith(row.unit):
        text = f"{text} {row.unit}"
    return _plain(text)


def _plain(text: str) -> str:
    return text.replace("|", "/").replace("\n", " ")


def _inert(text: str) -> str:
    """Return what stands in Markdown; cards and Word write text as text, whatever it holds."""
    return inert(_plain(text), hosts=())


def _line(message: AgentMessage, one: CheckedStatement, text: Callable[[str], str]) -> str:
    if one.state == "contradicted":
        says = _inert(one.record_says)
        lead = text("left_out_by_record" if one.sources else "left_out")
        return f"{lead}: {says}" if says else text("sentence_left_out")
    return " ".join(message.text[one.start : one.end].split())
