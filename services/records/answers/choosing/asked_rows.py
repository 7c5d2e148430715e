"""Which rows of a view a question asks for. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from data_models.chart_view import ChartView, ViewRow
from services.language.charts.chart_parts import REPORTS
from services.language.utterance import ChartQuestion, TimeSpan
from services.language.words.folding import fold, tokens_of
from services.language.words.vocabulary import concept_rows
from services.records.answers.choosing import excluded_rows, row_parts
from services.records.answers.choosing.allergens import is_of_allergen
from services.records.answers.choosing.excluded_rows import NOT_DONE, PLANNED, TO_COME, is_left_out
from services.records.answers.choosing.imaged import IMAGING, reports_on, scans_of
from services.records.answers.choosing.lengths_told import lasted_so_long
from services.records.answers.choosing.said_words import has_words, is_called
from services.records.concepts.table import (
    ConceptKind,
    concept_table,
    names_of_procedure,
    rows_called,
    words_listed,
)
from services.records.concepts.words import words_of
from services.records.resources.dates import first_day, last_day
from services.records.resources.sorting import NUMBERS_OF_STATE
from services.records.resources.standing import FUTURE
from services.records.rows.finding import means
from services.records.rows.measurements import NOT_PATIENTS
from services.records.visits import NOT_MEANT

MISSING = "missing"
"""What is asked for where all is asked of which the status says that the record has it not."""
_NOT_THERE, _DIFFERS = "not in the record", "sources differ"
_RESUSCITATION = ("resuscitation", "resuscitate", "dnr")
_OPEN = frozenset({"active", "on-hold", "planned", "draft", "preparation"})
_OF_OPEN = frozenset({"open order", "overdue order", PLANNED})
DONE = frozenset({"encounters", "procedures", "immunizations"})
_NEVER_WAS = NOT_MEANT | NOT_DONE | {FUTURE}
_NO_STAYS = frozenset({"ambulatory", "emergency", "virtual", "home"})
_SAID = frozenset({"problems", "encounters"})
_BY_CONCEPT = frozenset({"problems", "allergies", "immunizations"})
_TREATMENTS = frozenset({"medication", "procedure"})
VISITS_OF_STATE = {
    "planned": TO_COME,
    "missed": frozenset({"noshow"}),
    "cancelled": frozenset({"cancelled"}),
    "refused": NOT_DONE,
}
"""By what is asked for, the states of visits and vaccinations that are meant, and no others."""
_KINDS_OF_CONCEPT: tuple[ConceptKind, ...] = ("result", "drug", "problem", "vaccine")
_WORD_CHARS = 3
_CHOSEN_FROM = frozenset({"chart_summary", "documents", "encounters", "search_record"})


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
    named = tuple([row for row in view.rows if _is_wanted(question, row)])
    if question.tool in _SAID and question.name and not named:  # in a longer word: Gichtanfall
        is_in = has_words if question.tool == "encounters" else _is_said  # came by the ER
        named = tuple(row for row in view.rows if is_in(row, question.name))
    if question.head == IMAGING:
        named = scans_of(question.name, view.rows)
    elif question.name and question.tool in REPORTS:
        then = [row for row in view.rows if _is_in_days(row, question)]
        named = reports_on(question.name, then) or reports_on(question.name, view.rows)
    if question.name and question.tool in _BY_CONCEPT and not _group_of(question.name):
        # The words themselves before what they mean.
        named = tuple(row for row in named if has_words(row, question.name)) or named
    named = tuple([row for row in named if question.said and is_called(row, question)]) or named
    named = _without_mere_titles(question, excluded_rows.as_meant(question, named))
    is_of_onset = question.aspect in ("when", "first") or question.part == "found"
    if question.tool == "problems" and is_of_onset:
        named = tuple(of_itself(question.name, named))
    if question.tool in DONE and question.aspect in ("latest", "first", "count"):
        # What was cancelled is no last visit; that it was is told where nothing else is.
        named = tuple(row for row in named if row.status not in _NEVER_WAS) or named
    inside = tuple([row for row in named if question.span is None or _is_in_days(row, question)])
    # "-05" or "-05-19", of whichever year.
    of_month = tuple([row for row in inside if row.date[4:].startswith(question.month)])
    newest = max([row.date for row in of_month if question.back], default="")  # "and before that?"
    inside = tuple(row for row in inside if row.date <= newest) if question.back else of_month
    if question.asked_on is not None and question.aspect in ("minimum", "maximum"):
        inside = lasted_so_long(inside, question.asked_on, question.aspect)
    elsewhere = any("since" in left.argument for left in view.left_out)
    return AskedRows(inside, of_other_time=bool(named or elsewhere) and not inside)


def _without_mere_titles(question: ChartQuestion, rows: Sequence[ViewRow]) -> tuple[ViewRow, ...]:
    """Return the rows, of a text not what its title alone says where its own words say it."""
    if question.tool != "search_record":
        return tuple(rows)
    own = [row for row in rows if _is_named(question, row.model_copy(update={"name": ""}))]
    told = {row.sources[:1] for row in own}
    return tuple(row for row in rows if row in own or row.sources[:1] not in told)


def _is_wanted(question: ChartQuestion, row: ViewRow) -> bool:
    """Whether a row is of the thing that is asked about, and not of what is to be left out."""
    if not (question.name or question.without or question.by or question.tool in _CHOSEN_FROM):
        return True
    is_panel = question.tool == "documents" and row.kind == "laboratory report"  # of its results
    is_whole = question.tool in ("chart_summary", "search_record")
    if not question.name and (is_panel or (is_whole and row.name in NUMBERS_OF_STATE)):
        return False  # nobody wants it who asks for no name
    is_named = _is_named(question, row) and not (question.without and is_left_out(question, row))
    return is_named and (not question.by or excluded_rows.is_by(question.by, row))


_OF_THE_PERSON = frozenset({"birth date", "vital status", "age", "sex", "name", "identifiers"})


def has_answer(question: ChartQuestion, view: ChartView) -> bool:
    """Whether `view` answers the question, so that no search over everything is needed."""
    if question.tool == "chart_summary" and question.name:
        is_known = question.name in _OF_THE_PERSON and bool(view.rows)
        return is_known or bool(personal_facts(question.name, view.rows))
    if (question.tool, question.name) == ("current_status", MISSING):
        return True  # nothing is a good answer, too
    # A device has no day, its insertion has.
    needs_day = question.tool == "care" and question.aspect == "when"
    return any(row.date or not needs_day for row in asked_rows(question, view).rows)


DIAGNOSES = frozenset({"problem", "encounter diagnosis"})
"""Kinds of rows that are illnesses."""


def concept_of(kind: ConceptKind, row: ViewRow) -> str:
    """Return what people call the thing of a row, by its codes; "" where that is not known."""
    table = concept_table()
    found = table.coded(kind, row.code) or table.displayed(kind, row.name)
    is_of_another = row.name.endswith(NOT_PATIENTS)
    return found.name if found is not None and not is_of_another else ""


def of_itself(name: str, rows: Sequence[ViewRow]) -> list[ViewRow]:
    """Return the rows of an illness itself where there are some: none of what is due to it."""
    asked = concept_table().named("problem", name)
    of_concept = [row for row in rows if asked and concept_of("problem", row) == asked.name]
    begins = tokens_of(name)
    called = [row for row in rows if tokens_of(row.name)[: len(begins)] == begins]
    return of_concept or called or [*rows]


def _is_named(question: ChartQuestion, row: ViewRow) -> bool:
    name = question.name
    match "encounters" if name in VISITS_OF_STATE else question.tool:
        case "encounters":
            return _is_visit(row, question)
        case "problems" if name:
            meant = _group_of(name) or name
            is_meant = means("problem", meant, label=row.name, codes=row.code)
            is_so = is_meant or has_words(row, name) or row.status == name  # "in remission"
            return is_so or _is_the_head(question, row)
        case "allergies" if name:
            return row.kind != "no known allergy" and is_of_allergen(name, row)
        case "care" | "history" | "medications" if name:
            return _is_part(row, question)
        case "search_record" if not name:
            return _has_any_word(row, str(question.arguments.get("query", "")))
        case "documents" | "search_record" | "biomarkers" if name:
            is_meant = means("problem", name, label=row.name, codes=row.code)
            # "The mutations of the tumour" are all of them.
            of_illness = bool(concept_table().named("problem", name))
            is_meant |= question.tool == "biomarkers" and of_illness
            titles = concept_rows()["also_said"].get(name) if question.tool == "documents" else ""
            is_meant |= not {*tokens_of(titles or "")}.isdisjoint(tokens_of(row.name))
            is_given = row.kind == "immunization"  # "hepatitis B" is "Hep B, adult"
            is_meant |= is_given and means("vaccine", name, label=row.name, codes=row.code)
            return is_meant or has_words(row, name) or _is_said(row, name)
        case "current_status" if name in {*rows_called("facts_of_status"), "treatment", MISSING}:
            return _is_fact(row, name)
        case _:
            return True


@lru_cache(maxsize=512)
def _group_of(name: str) -> str:
    """Return what the illnesses of an organ are called, where it is asked for these; else ""."""
    table = concept_table()
    for called in (f"{name} disease", name):
        concept = table.named("problem", called)
        if concept is not None and table.leaves(concept):
            return called
    return ""


def _is_the_head(question: ChartQuestion, row: ViewRow) -> bool:
    """Whether an illness is the thing itself and says the rest: a laceration of the hand."""
    words = [word for word in question.name.split() if word not in question.head.split()]
    is_head = means("problem", question.head, label=row.name, codes=row.code)
    return bool(question.head and words) and is_head and has_words(row, " ".join(words))


def _is_said(row: ViewRow, name: str) -> bool:
    """Whether a text tells of the thing in other words: of weight, of a flu jab, in German."""
    return has_words(row, *_in_other_words(name))


@lru_cache(maxsize=512)
def _in_other_words(name: str) -> Sequence[str]:
    # Of two letters any text has some.
    others = concept_table().also_called(name)
    return [one for one in others if max(map(len, one.split())) >= _WORD_CHARS]


def _is_visit(row: ViewRow, question: ChartQuestion) -> bool:
    name = question.head or question.name
    is_planned = row.kind == "appointment" or row.status in TO_COME
    is_due = question.part == "due" and is_planned  # "next pacemaker check"
    if name in VISITS_OF_STATE or is_planned != is_due:
        return row.status in VISITS_OF_STATE.get(name, ())
    if not _says_rest(row, question):
        return False
    if name == "inpatient admission":
        is_stay = row.value not in _NO_STAYS and _says(row, rows_called("kinds_of_visits")[name])
        return is_stay or _says(row, ("hospital admission",))
    wanted = rows_called("kinds_of_visits").get(name)
    if name == "intensive care":  # which the ward says
        return has_words(row, *(wanted or ()))
    if not name or wanted is not None:
        return wanted is None or _says(row, wanted)
    return has_words(row, name, question.said) or means("problem", name, label=row.detail, codes=())


def _is_fact(row: ViewRow, name: str) -> bool:
    """Whether a row of the status is what `name` asks for, and is in the record."""
    if name == "treatment":
        return row.kind in _TREATMENTS
    is_there = row.kind == "fact" and row.status != _NOT_THERE
    if name == MISSING:
        return row.status in (_NOT_THERE, _DIFFERS)
    return is_there and fold(row.name)[0].startswith(rows_called("facts_of_status")[name])


def _says_rest(row: ViewRow, question: ChartQuestion) -> bool:
    """Whether a row says what is asked for besides its kind: a stay for a fracture."""
    rest = question.name.removeprefix(question.head).strip() if question.head else ""
    said = f"{row.value} {row.detail}"
    is_typed = question.tool == "encounters" and has_words(row, question.said)
    is_typed |= row.kind == "goal" and _is_said(row, rest)  # of "body weight" it may say weight
    is_said = is_typed or has_words(row, rest)
    return not rest or is_said or means("problem", rest, label=said, codes=())


def _is_part(row: ViewRow, question: ChartQuestion) -> bool:
    """Whether a row is of the part of `care` or `history`, or the drug, and says the words."""
    name = question.head or question.name
    kinds = rows_called("parts_of_care").get(name)
    if question.tool == "medications" and not question.arguments.get("name", True):
        said = (name, *tokens_of(concept_rows()["also_said"].get(name, "")))  # as it is taken
        is_over = name == row_parts.BROKEN_OFF
        return row_parts.says_why_over(row) if is_over else has_words(row, *said)
    if question.tool == "medications" or not _says_rest(row, question):
        return _says_rest(row, question)
    is_over = name in _OF_OPEN and row.status not in _OPEN
    if is_over or (name == "implant" and words_listed("not_implants") & {*words_of(row.name)}):
        return False
    if kinds is None:
        # Of neurology a neurologist is.
        said = names_of_procedure(name.removesuffix("y") if question.part == "people" else name)
        if kin := concept_rows()["relatives_called"].get(name, ()):  # no grandfather
            return not {*kin}.isdisjoint(tokens_of(row.name))
        return has_words(row, *said)
    says_it = name == "directive" and has_words(row, *_RESUSCITATION)
    return row.kind in kinds or row.name in kinds or says_it


def personal_facts(name: str, rows: Sequence[ViewRow]) -> list[ViewRow]:
    """Return the rows of the Patient resource that a question for `name` asks for."""
    wanted = rows_called("facts_of_person").get(name, (name,))
    return [row for row in rows if row.kind == "personal" and row.name in wanted]


def partly_named(name: str, rows: Sequence[ViewRow]) -> tuple[ViewRow, ...]:
    """Return the rows that say most of the telling words of a longer name, in their order.

    "Reconstruction of the knee" is told of a knee; "oxygen at home" by no telephone there.
    """
    telling = [word for word in tokens_of(name) if {*words_of(word)[:1]} - words_listed("vague")]
    if not tokens_of(name)[1:] or _is_known(name):
        return ()
    counts = [sum(has_words(r, one) for one in telling) * (r.kind != "personal") for r in rows]
    most = max(counts, default=0) or 1
    return tuple(row for row, count in zip(rows, counts, strict=True) if count == most)


def _is_known(name: str) -> bool:
    """Whether it is the name of one thing: part of "hemoglobin A1c" is another."""
    table = concept_table()
    return any(table.named(kind, name) for kind in _KINDS_OF_CONCEPT)


def _says(row: ViewRow, phrases: Sequence[str]) -> bool:
    text = fold(f"{row.name} {row.value}")[0].replace("-", " ")
    return any(phrase in text for phrase in phrases)


def _has_any_word(row: ViewRow, query: str) -> bool:
    if row.kind == "encounter":  # a children's hospital tells of no children
        reasons = (one for one in row.detail.split("; ") if one.startswith("for "))
        row = row.model_copy(update={"detail": "; ".join(reasons)})
    return has_words(row, *query.split())


def _is_in_days(row: ViewRow, question: ChartQuestion) -> bool:
    """Whether it is of the days asked about; of two years set side by side of one of them."""
    return any(_is_inside(row, question, one) for one in question.ends or (question.span,))


def _is_inside(row: ViewRow, question: ChartQuestion, span: TimeSpan | None) -> bool:
    """Whether any day of the row is inside; a course without an end goes on where it is active.

    Of "what was new" only what began or was done counts.
    """
    if span is None or (span.since is None and span.until is None):
        return True
    is_event = question.tool == "timeline" or question.is_begun or question.is_ordered
    first = first_day(row.date[:10]) if row.date else None
    if first is None:
        return False
    last = last_day((not is_event and row.end[:10]) or row_parts.newest_day(row))
    if row.kind in ("fact", "biomarker"):  # it holds until it is read anew; earlier ones are told
        told = (*(one.date for one in row.earlier), *(one[:10] for one in row.detail.split("(")))
        first, last = min([first, *filter(None, map(first_day, told))]), date.max
    if is_event and row.kind == "medication" and not question.is_ordered:
        last = first  # ordered again is not begun
    if (
        not is_event
        and row.kind in ("problem", "medication")
        and not row.end
        and row.status == "active"
    ):
        last = date.max
    if len(days := row_parts.days_recorded(row)) > 1 and row.status != "active":
        # Between two times of an illness it was not there; how long the last took is told.
        begun = [day for day in days if span.until is None or day <= span.until]
        first = max(begun, default=first)
        last = max(first, last) if last is not None and first == max(days) else first
    is_before = span.until is None or first <= span.until
    return is_before and (span.since is None or last is None or last >= span.since)
