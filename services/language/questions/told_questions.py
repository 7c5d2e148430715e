"""What of the chart a statement speaks of, so that it can be looked up and compared. Pure."""

from services.language.charts.chart_words import lexicon
from services.language.charts.tools_named import OF_ALL, OVER
from services.language.utterance import ChartQuestion
from services.language.words.folding import fold

_NAMES = 20
_LISTS = frozenset(
    {
        *("allergies", "biomarkers", "care", "current_status", "encounters", "history"),
        *("imaging_reports", "immunizations", "medications", "pathology_reports", "problems"),
        "procedures",
    }
)
"""The tools that are asked for all they have: what is not in it is in none of it."""


def questions_told(text: str, *, language: str) -> tuple[ChartQuestion, ...]:
    """Return what has to be looked up to tell whether a statement holds; nothing names nothing."""
    pieces = lexicon(language).pieces(fold(text)[0])
    named = [one for piece in pieces for one in (*piece.of("name"), *piece.of("topic"))]
    values = dict.fromkeys(one.name for one in named if one.tool == "results" and one.name)
    lists = dict.fromkeys(one.tool for one in named if one.tool in _LISTS)
    of_values = [ChartQuestion("results", {"names": [*values][:_NAMES]})] if values else []
    return (*of_values, *(ChartQuestion(one, OF_ALL if one in OVER else {}) for one in lists))
