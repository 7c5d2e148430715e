"""Passages of guidelines as they are quoted: document, section, version, words. Pure."""

from collections.abc import Sequence

from data_models.chart_view import ViewRow
from services.records.answers.row_parts import sources_of


def quoted_passages(rows: Sequence[ViewRow]) -> str:
    """Return each passage whole, with where it stands; "" where rows are no guideline's."""
    return "\n\n".join(_quoted(row) for row in rows if row.kind == "guideline")


def _quoted(row: ViewRow) -> str:
    date = f", {row.date}" if row.date else ""
    quote = "\n".join(f"> {line}" for line in row.detail.splitlines())
    return f"**{row.name}** ({row.status}{date}) {sources_of(row)}\n{quote}"
