"""What the one note or letter says that a question is about, in its own words. Pure."""

from collections.abc import Sequence

from data_models.chart_view import ChartView, ViewRow
from services.language.utterance import ChartQuestion
from services.records.answers.row_parts import moment_of, sources_of

_SHOWN_CHARS = 2_400
"""A letter of a page and a half; the source beside the answer has the rest."""


def letter_asked(question: ChartQuestion, rows: Sequence[ViewRow]) -> ChartQuestion | None:
    """Return the call that reads the document of `rows` that is asked for; None for several."""
    # "The last clinic letter" asks for no clinic.
    is_of_text = question.part in (None, "place") and not question.back
    if (
        question.tool != "documents"
        or not is_of_text
        or question.aspect not in ("all", "latest", "first")
    ):
        return None
    dated = sorted((row for row in rows if row.date), key=moment_of) or list(rows)
    if not dated or (question.aspect == "all" and len(dated) > 1):
        return None
    asked = dated[0 if question.aspect == "first" else -1]
    return ChartQuestion("read_document", {"id": asked.sources[0]}) if asked.sources else None


def told_letter(view: ChartView | str) -> str:
    """Return the text of a document, quoted, with who wrote it; "" where it could not be read."""
    if isinstance(view, str):
        return ""
    passage = next((row for row in view.rows if row.detail), None)
    if passage is None:
        return ""
    shown = passage.detail[:_SHOWN_CHARS]
    cut = " …" if len(shown) < len(passage.detail) or view.left_out else ""
    quoted = "\n".join(f"> {line}".rstrip() for line in f"{shown}{cut}".splitlines())
    head = ", ".join(filter(None, [f"**{passage.name}**", passage.date[:10], passage.value]))
    return f"{head} {sources_of(passage)}\n{quoted}"
