"""What the tools gave to the questions of a message, and what is still to be asked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from data_models.chart_view import ChartView, ViewRow
from services.language.charts.answer_words import AnswerWords
from services.language.charts.tools_named import SEARCH
from services.language.questions.question_figures import arguments_of
from services.language.utterance import ChartQuestion, Part
from services.language.words.vocabulary import concept_rows
from services.records.answers.choosing import row_parts
from services.records.answers.choosing.asked_rows import DIAGNOSES, asked_rows, has_answer
from services.records.answers.choosing.events import times_of
from services.records.answers.choosing.imaged import reports_on
from services.records.answers.choosing.row_line import PASSAGE_CHARS, row_line
from services.records.answers.choosing.said_words import has_words, passage
from services.records.answers.sentences import answer_of
from services.records.answers.treatments import LOOKED_AT
from services.records.concepts.table import concept_table, names_of_procedure, rows_called
from services.records.resources.standing import FORBIDDEN, REFUTED
from services.records.rows.measurements import MEASURED

Looked: TypeAlias = ChartView | str
"""What a tool gave: rows, or what was wrong."""
_NO_ROWS: Final = ChartView(tool="", kind="table", title="", rows=())
_VISITS: Final = ChartQuestion("encounters")
_PROBLEMS: Final = ChartQuestion("problems", {"status": "all"})
_REPORTS: Final = ChartQuestion("documents")
_TISSUE: Final = ChartQuestion("pathology_reports")
_TREATMENTS: Final = LOOKED_AT[:2]
_THERE = {"reason": [_PROBLEMS], "result": [_REPORTS, _PROBLEMS], "people": [_REPORTS, _VISITS],
          "place": [_VISITS]}  # fmt: skip
_TOLD_IN_TEXTS = frozenset({"change", "trend", "count", "minimum", "maximum"})
"""Notes may have other doses, how many cycles there were, and what was measured besides."""
_NOTED = (
    "procedures due", "procedures reason", "procedures end", "procedures people",
    "medications end when", "medications end people", "problems side",
)  # fmt: skip
_MOST_ROWS = 3
"""Of more the days say little."""
_MOST_SHOWN = 8
_TO_COME = frozenset({"order", "appointment"})
_TEXTS = ("DocumentReference/", "DiagnosticReport/")


@dataclass(slots=True, kw_only=True)
class LookedUp:
    """What was looked up for one message.

    What was thought and is not so is in no view: it is told where nothing else is of its name.

    Attributes:
        missing: The first question that was needed and not looked up yet.
    """

    given: Sequence[tuple[ChartQuestion, Looked]]
    missing: ChartQuestion | None = None

    def result_of(self, question: ChartQuestion) -> Looked:
        """Return what the tool gave; no rows where it is still to be asked."""
        if (found := self._found(question)) is None:
            self.missing = self.missing or question
            return _NO_ROWS
        if isinstance(found, ChartView) and (question.tool, question.part) == (SEARCH, "people"):
            return _signed(found, self.view_of(_REPORTS))
        if not isinstance(found, ChartView) or not any(map(_is_refuted, found.rows)):
            return found
        rows = tuple(row for row in found.rows if not _is_refuted(row))
        return found.model_copy(update={"rows": rows})

    def refuted(self, question: ChartQuestion) -> Sequence[ViewRow]:
        """Return what is of the name that is asked for, and is not so."""
        found = self._found(question) if question.name else None
        rows = found.rows if isinstance(found, ChartView) else ()
        view = _NO_ROWS.model_copy(update={"rows": tuple(filter(_is_refuted, rows))})
        return asked_rows(question, view).rows

    def view_of(self, question: ChartQuestion) -> ChartView:
        """Return the rows that the tool gave; none where it failed or is still to be asked."""
        found = self.result_of(question)
        return found if isinstance(found, ChartView) else _NO_ROWS

    def has(self, question: ChartQuestion) -> bool:
        """Whether the tool was asked."""
        return self._found(question) is not None

    def tells_beside(self, question: ChartQuestion, others: Sequence[ChartQuestion]) -> bool:
        """Whether another list tells what none of its own does: pregnancies, chemotherapy."""
        if question.name == row_parts.BROKEN_OFF and self.has(question):
            return not has_answer(question, self.view_of(question))
        if question.tool not in ("results", "procedures") or not self.has(question):
            return False
        alike = [one for one in others if one.name == question.name]
        told = {one.tool for one in alike if has_answer(one, self.view_of(one))}
        return bool(told) and question.tool not in told

    def _found(self, question: ChartQuestion) -> Looked | None:
        alike = (
            looked
            for asked, looked in self.given
            if asked.tool == question.tool and arguments_of(asked) == arguments_of(question)
        )
        return next(alike, None)


def _is_refuted(row: ViewRow) -> bool:
    return row.status == REFUTED


def looked_at(
    question: ChartQuestion, view: ChartView, words: AnswerWords
) -> Sequence[ChartQuestion]:
    """Return where to look for what is untold: what began on the same day, and texts on a drug."""
    rows = _rows_told(question, view)
    is_of_days = question.aspect == "trend" and bool(question.span)
    is_told = question.aspect in _TOLD_IN_TEXTS and not is_of_days
    if question.tool == "results" and is_told and len(rows) == 1:
        return (ChartQuestion(SEARCH, {"query": f"{question.name} {question.said}"}),)
    if question.tool == SEARCH or _is_of_device(question) or not 0 < len(rows) <= _MOST_ROWS:
        return ()
    if question.tool == "encounters" and question.part == "treatment":
        return (_PROBLEMS, *_TREATMENTS)
    is_of_more = question.aspect in _TOLD_IN_TEXTS or _is_said_more(question)
    is_of_more &= question.tool == "medications" and bool(question.name)
    is_of_drug = question.tool == "medications" and question.part in ("reason", "end reason")
    is_in_texts = f"{question.tool} {question.part} {question.aspect}".startswith(_NOTED)
    there = [*_THERE.get(question.part or "", ())]
    if question.tool == "problems" and question.part not in ("code", "end"):
        there += [_VISITS, _TREATMENTS[1], _REPORTS]
    value = concept_rows()["measured_by"].get(question.name) if question.part == "result" else None
    there += [ChartQuestion("results", {"names": [value]}, "trend", value)] if value else []
    is_result = question.part == "result" and not value
    # Of another dose, of what is planned and of a result texts tell.
    if question.name and (is_of_drug or is_of_more or is_result or is_in_texts):
        there += [_VISITS] * is_of_drug + [_TISSUE] * is_result
        signed: Part | None = "people" if "people" in (question.part or "") else None
        there.append(ChartQuestion(SEARCH, {"query": question.name}, "all", question.name, signed))
    return there if is_of_more or row_parts.part_missing(question, rows, words) else ()


def _is_said_more(question: ChartQuestion) -> bool:
    """Whether more is asked of a drug than its list tells: "when can pembro restart?"."""
    is_longer = len(question.said.split()) > 1 and question.aspect != "whether"
    return is_longer and concept_table().named("drug", question.said) is None


def told_of_day(
    question: ChartQuestion,
    view: ChartView,
    lists: Sequence[ChartView],
    told: str,
    words: AnswerWords,
) -> str:
    """Return what is `told`, what of `lists` began on a day of it, and what texts say of it."""
    told_rows = _rows_told(question, view)
    days = {day for row in told_rows for day in (row.date[:10], row_parts.newest_day(row)) if day}
    every = (
        one for each in lists if each.tool != SEARCH for row in each.rows for one in times_of(row)
    )
    own = {row.sources[:1] for row in told_rows}
    on_days = [one for one in every if one.date[:10] in days and one.sources[:1] not in own]
    once = {(one.sources[:1], one.date): one for one in on_days}  # of two lists
    begun = _NO_ROWS.model_copy(update={"rows": [*once.values()]})
    found: Sequence[ViewRow] = asked_rows(ChartQuestion("timeline", span=question.span), begun).rows
    if question.tool == "medications" and question.part != "place":  # visits that say for what
        found = [row for row in found if row.kind != "encounter" or row.detail.startswith("for ")]
    if question.part == "result":  # reports on it
        names = names_of_procedure(question.name)
        found = [
            row for row in found
            if row.kind in MEASURED | DIAGNOSES | {"measurement"} or has_words(row, *names)
        ]  # fmt: skip
    said = [question.said] if question.tool == "results" else []  # "weight 84 kg"
    if question.tool == "procedures":  # a note may tell less: "transurethral resection"
        said = [one for one in (question.said, question.name.partition(" of ")[0]) if " " in one]
    every_text = (one for name in (question.name, *said) for one in _texts_on(name, lists))
    texts = [*{(one.sources, one.detail): one for one in every_text}.values()]
    is_shown = question.part == "result" and any(row.kind not in DIAGNOSES for row in found)
    if question.part is not None and (texts or is_shown):
        told = told.replace(words.say("no_part", part=words.parts[question.part]), "").strip()
    return "\n".join([told, *_under(words.say("same_day"), found, words),
                      *_under(words.say("elsewhere"), texts, words)])  # fmt: skip


def told_of_giving(question: ChartQuestion, told: str, looked: LookedUp, words: AnswerWords) -> str:
    """Return what is `told` of allergies; of a drug between orders against it and texts on it.

    Of what is but ordered texts tell, too: "any lung nodule?".
    """
    name, head = question.name, question.head
    if _is_of_device(question):
        return _put_in(question, looked, words) or told
    found = asked_rows(question, looked.view_of(question)).rows if head else ()
    if question.tool == SEARCH and found and {row.kind for row in found} <= _TO_COME:
        return "\n".join([told, *noted_of(head, looked, words)])
    if question.tool != "allergies" or not name or question.aspect != "all":
        return told
    ordered = ChartQuestion("medications", {"name": name, "status": "all"}, "all", name)
    rows = [row for row in looked.view_of(ordered).rows if row.status == FORBIDDEN]
    forbidden = [f"- {row_line(row, words)}" for row in rows]
    return "\n".join([*forbidden, told, *noted_of(name, looked, words)])


def _is_of_device(question: ChartQuestion) -> bool:
    """Whether it is asked of one device what the procedure tells by which it was put in."""
    is_asked = question.aspect == "when" or question.part in ("people", "reason", "place")
    is_named = question.name and question.name not in rows_called("parts_of_care")
    return question.tool == "care" and is_asked and bool(is_named)


def _put_in(question: ChartQuestion, looked: LookedUp, words: AnswerWords) -> str:
    """Return a device and the procedure by which it was put in; "" where one is not recorded."""
    name, aspect = question.name, question.aspect
    done = ChartQuestion("procedures", {"name": name}, aspect, name, question.part)
    view, own = looked.view_of(done), asked_rows(question, looked.view_of(question)).rows
    if not own or not has_answer(done, view):
        return ""
    lines = [f"- {row_line(row, words)}" for row in own]
    return "\n".join([*lines, words.say("elsewhere"), answer_of(done, view, words)])


def is_told_whole(search: ChartQuestion) -> bool:
    """Whether more than the rows is told of what was found: texts on a drug, the last note."""
    if search.tool == "documents":
        return bool(search.arguments)
    is_drug = search.tool == "medications" and search.aspect != "whether"
    return is_drug or (search.tool, search.part) == ("problems", "people")


def noted_of(name: str, looked: LookedUp, words: AnswerWords) -> list[str]:
    """Return the newest texts that speak of `name`, under what says so."""
    view = looked.view_of(ChartQuestion(SEARCH, {"query": name}, name=name))
    texts = sorted(_texts_on(name, [view]), key=row_parts.moment_of, reverse=True)
    return _under(words.say("elsewhere"), texts[:_MOST_ROWS], words)


def _texts_on(name: str, lists: Sequence[ChartView]) -> Iterator[ViewRow]:
    """Yield the reports on `name`, and what a search found, each from where it speaks of it."""
    for each in lists:
        yield from reports_on(name, each.rows) if each.tool == _TISSUE.tool else ()
        for row in each.rows if each.tool == SEARCH else ():
            if row.sources[:1] and row.sources[0].startswith(_TEXTS) and has_words(row, name):
                yield row.model_copy(update={"detail": passage(row.detail, name)})


def _signed(found: ChartView, written: ChartView) -> ChartView:
    """Return what a search found, each text with who wrote it: "who saw her heart?"."""
    parts = ((row, row.detail.partition("; ")[0]) for row in written.rows)
    by = {row.sources[:1]: f", {one}" for row, one in parts if one.startswith("by ")}
    named = ((row, f"{row.name}{by.get(row.sources[:1], '')}") for row in found.rows)
    rows = tuple(row.model_copy(update={"name": name}) for row, name in named)
    return found.model_copy(update={"rows": rows})


def _under(lead: str, rows: Sequence[ViewRow], words: AnswerWords) -> list[str]:
    shown = rows[:_MOST_SHOWN]
    lines = [f"- {row_line(row, words, detail_chars=PASSAGE_CHARS)}" for row in shown]
    return [lead, *lines] if lines else []


def _rows_told(question: ChartQuestion, view: ChartView) -> Sequence[ViewRow]:
    """Return the rows asked for, of the last or the second visit that one."""
    rows = sorted(asked_rows(question, view).rows, key=row_parts.moment_of)
    is_newest = question.tool == "results" and question.aspect == "all" and question.span is None
    if question.aspect == "latest" or is_newest:
        return rows[::-1][question.back :][: max(1, question.most)]
    return rows[question.back :][:1] if question.aspect == "first" else rows
