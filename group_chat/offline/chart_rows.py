"""Which rows of a view a question asks for. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from data_models.chart_view import ChartView, ViewRow
from services.language.chart_words import tokens_of
from services.language.folding import fold
from services.language.utterance import ChartQuestion, TimeSpan
from services.records.concepts.table import ConceptKind, concept_table
from services.records.dates import first_day, last_day
from services.records.finding import means

# What a question calls a part of `care` and `history`, and the kinds of its rows.
_KINDS = {
    "care plan": ("care plan",),
    "goal": ("goal",),
    "care team": ("care team",),
    "device": ("device", "device use"),
    "directive": ("directive",),
    "coverage": ("coverage",),
    "family": ("family history",),
    "social": ("social history",),
}
_ENCOUNTERS = {
    "emergency": ("emergency",),
    "inpatient admission": ("inpatient", "admission"),
    "check up": ("check up", "well", "annual"),
}
_BY_CONCEPT = frozenset({"problems", "allergies"})
_TO_COME = frozenset({"appointment"})
_TELLING_CHARS = 4


@dataclass(frozen=True, slots=True)
class AskedRows:
    """Rows that a question asks for.

    Attributes:
        rows: In the order of the view.
        of_other_time: There are such rows, but not of the days asked about.
    """

    rows: tuple[ViewRow, ...]
    of_other_time: bool = False


def asked_rows(question: ChartQuestion, view: ChartView) -> AskedRows:
    """Return the rows of `view` that the question is about, by name and by days."""
    named = tuple(row for row in view.rows if _is_named(question, row))
    if question.name and question.tool in _BY_CONCEPT:
        # The words themselves before what they mean: "viral sinusitis" is no chronic one.
        named = tuple(row for row in named if _has_words(row, question.name)) or named
    inside = tuple(row for row in named if _is_inside(row, question.span))
    elsewhere = any(left.argument.startswith("other since") for left in view.left_out)
    return AskedRows(inside, of_other_time=bool(named or elsewhere) and not inside)


def concept_of(kind: ConceptKind, row: ViewRow) -> str:
    """Return what people call the thing of a row, by its codes; "" where that is not known."""
    table = concept_table()
    found = table.coded(kind, row.code) or table.displayed(kind, row.name)
    return found.name if found is not None else ""


def _is_named(question: ChartQuestion, row: ViewRow) -> bool:
    name = question.name
    match question.tool:
        case "encounters" if row.kind in _TO_COME:
            return False
        case "problems" if name:
            return means("problem", name, label=row.name, codes=row.code) or _has_words(row, name)
        case "allergies" if name:
            is_drug = means("drug", name, label=row.name, codes=row.code)
            return row.kind != "no known allergy" and (is_drug or _has_words(row, name))
        case "encounters" if name:
            wanted = _ENCOUNTERS.get(name)
            return _says(row, wanted) if wanted is not None else _has_words(row, name)
        case "care" | "history" if name:
            return row.kind in _KINDS.get(name, ()) or (
                name not in _KINDS and _has_words(row, name)
            )
        case "documents" | "search_record" if name:
            return _has_words(row, name)
        case _:
            return True


def _says(row: ViewRow, phrases: Sequence[str]) -> bool:
    text = fold(f"{row.name} {row.value}")[0].replace("-", " ")
    return any(phrase in text for phrase in phrases)


def _has_words(row: ViewRow, name: str) -> bool:
    """Whether the row says every word of `name`, also in the plural or within a longer one."""
    have = tokens_of(fold(" ".join((row.name, row.value, row.detail)))[0])
    wanted = [word for word in tokens_of(fold(name)[0]) if len(word) > 1]
    return bool(wanted) and all(any(_is_word(word, each) for each in have) for word in wanted)


def _is_word(wanted: str, said: str) -> bool:
    stem = wanted.removesuffix("s")
    return said == wanted or (len(stem) >= _TELLING_CHARS and said.startswith(stem))


def _is_inside(row: ViewRow, span: TimeSpan | None) -> bool:
    """Whether any day of the row is inside; a course without an end goes on where it is active."""
    if span is None or (span.since is None and span.until is None):
        return True
    first = first_day(row.date[:10]) if row.date else None
    if first is None:
        return False
    last = last_day((row.end or row.date)[:10])
    if row.kind in ("problem", "medication") and not row.end and row.status == "active":
        last = date.max
    is_before = span.until is None or first <= span.until
    return is_before and (span.since is None or last is None or last >= span.since)
