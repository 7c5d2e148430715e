"""The chart on one screen: who it is of, then a list for each kind of entry. Pure."""

from collections.abc import Iterator, Sequence

from data_models.chart_view import ChartView, ViewRow
from services.language.answer_words import AnswerWords
from services.records.answers.row_line import row_line
from services.records.record import INCOMPLETE

_LISTS = {
    "allergies": ("allergy", "no known allergy"),
    "problems": ("problem", "encounter diagnosis"),
    "medications": ("medication",),
    "results": (),
    "encounters": ("encounter", "appointment"),
}
"""What is listed, in this order, and the kinds of its rows; results are what nothing else is."""
_DEATH = "death"


def told_summary(view: ChartView, rows: Sequence[ViewRow], words: AnswerWords) -> str:
    """Return `rows` under a heading for each kind; that a kind is empty is said, too.

    Address, numbers and the like are left out: they are asked for by name.
    """
    named = {kind for kinds in _LISTS.values() for kind in kinds}
    who = [row for row in rows if row.kind == "patient" or row.name == _DEATH]
    parts = ["\n".join(row_line(row, words) for row in who)]
    for tool, kinds in _LISTS.items():
        listed = [
            row
            for row in rows
            if (row.kind in kinds if kinds else row.kind not in {*named, "patient", "personal"})
        ]
        said = [row_line(row, words) for row in listed] or [empty_list(tool, words)]
        if any(said):
            title = words.things_of[tool]
            parts.append("\n- ".join([f"**{title[:1].upper()}{title[1:]}**", *said]))
    parts.append("\n".join(f"- {note}" for note in _notes(view, words)))
    return "\n\n".join(filter(None, parts))


def empty_list(tool: str, words: AnswerWords) -> str:
    """Return what an empty list means; that no allergy is recorded is no statement of none."""
    empty = {
        "allergies": words.no_allergies,
        "problems": words.no_problems,
        "medications": words.no_drugs,
    }
    return empty.get(tool, "")


def _notes(view: ChartView, words: AnswerWords) -> Iterator[str]:
    """Yield what the chart holds besides; in any language that it is incomplete."""
    if not words.is_language_of_tools:
        yield from (note for note in view.notes if note.startswith(INCOMPLETE))
        return
    told = {empty_list(tool, words) for tool in _LISTS}
    yield from (f"{left.count} {left.what}" for left in view.left_out)
    yield from (note for note in view.notes if note not in told)
