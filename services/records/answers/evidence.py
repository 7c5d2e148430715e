"""What stands beside the chart, as it is told: passages of guidelines, studies, criteria. Pure."""

from collections.abc import Iterator

from data_models.chart_view import NOT_OF_THE_PATIENT, ChartView, ViewRow
from services.records.answers.row_parts import sources_of


def told_evidence(view: ChartView) -> str:
    """Return guidelines or studies whole; "" for a view of the chart."""
    if not view.rows or any(row.kind not in NOT_OF_THE_PATIENT for row in view.rows):
        return ""
    return "\n\n".join(filter(None, ["\n".join(_lines(view)), *view.notes]))


def _lines(view: ChartView) -> Iterator[str]:
    for row in view.rows:
        date = f", {row.date}" if row.date else ""
        match row.kind:
            case "guideline" | "publication":
                yield f"**{row.name}** ({row.status}{date}) {sources_of(row)}"
                yield from (f"> {line}" for line in row.detail.splitlines())
                yield ""
            case "study":
                yield f"**{row.name}**: {row.status} {sources_of(row)}"
            case _:
                yield _criterion(row)


def _criterion(row: ViewRow) -> str:
    return f"- *{row.status}* ({row.value}) “{row.name}”: {row.detail} {sources_of(row)}"
