"""What plain questions about a chart come to, from rows alone: what to look up next, or the answer.

Pure. What is absent from one list may stand in a note; only then it is not in the record.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from data_models.chart_view import ChartView, ViewRow
from services.language.answer_words import AnswerWords
from services.language.question_figures import with_days
from services.language.tools_named import SEARCH
from services.language.utterance import ChartQuestion, TimeSpan
from services.records.answers.ages import AGE, BORN, ages_then, has_an_age, of_that_age
from services.records.answers.as_said import Told, said_of, told_of
from services.records.answers.asked_rows import asked_rows, has_answer
from services.records.answers.done import done_for, told_by
from services.records.answers.events import days_around, is_of_unknown_end, rows_of_event, within
from services.records.answers.evidence import told_evidence
from services.records.answers.excluded_rows import may_hold_what_is_left_out
from services.records.answers.further import (
    led,
    measured_for,
    searches_for,
    told_elsewhere,
    with_parts,
)
from services.records.answers.lengths_told import told_lengths
from services.records.answers.letters import letter_asked, told_letter
from services.records.answers.looked_up import Looked, given_for, is_told_beside
from services.records.answers.papers import parted, told_papers, written_later
from services.records.answers.row_line import row_line
from services.records.answers.same_day import looked_at, told_of_day
from services.records.answers.sentences import answer_of
from services.records.answers.treatments import LOOKED_AT, asks_for_treatment, told_treatments
from services.records.answers.unsaid import said_absent, said_incomplete, said_unread


def answered(
    questions: Sequence[ChartQuestion],
    given: Sequence[tuple[ChartQuestion, Looked]],
    words: AnswerWords,
    *,
    held: Sequence[str] = (),
    told: Sequence[Told] = (),
) -> ChartQuestion | str:
    """Return what has to be looked up next, or what the rows say to all `questions`.

    Args:
        given: What was looked up so far, and what that gave.
        held: What users said of the patient; what is about the questions is told beside the rows.
        told: What they told in passing, which no memory holds; likewise.
    """
    said: list[str] = []
    is_then = any(one.name == AGE and one.is_past for one in questions)
    others = [one for one in questions if has_an_age(one, is_then=is_then)]
    for question in questions:
        if question.name == AGE and others and given_for(question, given) is not None:
            continue  # not how old they are now
        if is_told_beside(question, questions, given):
            continue
        answer = _answer(question, given, words)
        if isinstance(answer, ChartQuestion):
            return answer
        said.append(said_unread(question, answer, words))
    if others and any(one.name == AGE for one in questions):
        said += ages_then(given, others, words)
    said += told_lengths([*_of_lengths(questions, given)], words)
    quotes = (*said_of(questions, held), *told_of(questions, "\n".join(said), told))
    said += said_incomplete((view for _, view in given if isinstance(view, ChartView)), words)
    told_once = "; ".join(dict.fromkeys(quotes))
    as_said = [words.as_said.format(quotes=told_once)] if quotes else []
    return words.of_one("\n\n".join(dict.fromkeys([*said, *as_said])))


def _of_lengths(
    questions: Sequence[ChartQuestion], given: Sequence[tuple[ChartQuestion, Looked]]
) -> Iterator[tuple[ChartQuestion, Sequence[ViewRow]]]:
    """Yield what asks for a length, each with its rows; an event it is asked around likewise."""
    for question in questions:
        asked = [question, *(question.around if question.is_apart else ())]
        for one in asked if question.asked_on is not None else ():
            taken = given_for(replace(one, around=()), given)
            rows = rows_of_event(one, taken) if isinstance(taken, ChartView) else ()
            if isinstance(taken, ChartView) and one.tool == "results" and not question.around:
                rows = asked_rows(one, taken).rows if question.is_apart else rows
            yield replace(one, is_apart=question.is_apart), rows


def _answer(
    question: ChartQuestion, given: Sequence[tuple[ChartQuestion, Looked]], words: AnswerWords
) -> ChartQuestion | str:
    if question.at_age is not None:
        return _at_that_age(question, given, words)
    if question.around:
        return _around(question, given, words)
    taken = given_for(question, given)
    if taken is None:
        return question
    if isinstance(taken, str):
        return words.failed.format(title=question.tool, problem=taken)
    if may_hold_what_is_left_out(question, taken):
        return _of_all(question, taken, given, words)
    return _of_view(question, taken, given, words)


def _of_all(
    question: ChartQuestion,
    taken: ChartView,
    given: Sequence[tuple[ChartQuestion, Looked]],
    words: AnswerWords,
) -> ChartQuestion | str:
    """Return all rows where none says what is to be left out: the reason of a visit is untold."""
    told = _of_view(replace(question, without=(), aspect="all"), taken, given, words)
    lead = words.unsaid.format(words=", ".join(question.without))
    return told if isinstance(told, ChartQuestion) else f"{lead}\n{told}"


def _of_view(
    question: ChartQuestion,
    taken: ChartView,
    given: Sequence[tuple[ChartQuestion, Looked]],
    words: AnswerWords,
) -> ChartQuestion | str:
    taken, papers = parted(taken) if question.tool == SEARCH else (taken, None)
    absent = told_evidence(taken) or answer_of(question, taken, words)
    if said := told_papers(question, papers, words):
        return f"{absent}\n{said}"
    if letter := letter_asked(question, asked_rows(question, taken).rows):
        read = given_for(letter, given)
        return letter if read is None else told_letter(read) or absent
    if asks_for_treatment(question, taken):
        return _treated(question, taken, absent, given, words)
    if lists := looked_at(question, taken, words):
        looked = [(one, given_for(one, given)) for one in lists]
        if missing := next((one for one, view in looked if view is None), None):
            return missing
        views = [view for _, view in looked if isinstance(view, ChartView)]
        return f"{absent}\n{told_of_day(question, taken, views, words)}".strip()
    if done := done_for(question):
        return _with_done(question, done, taken, given, words)
    if question.tool == "problems" and question.aspect == "count" and question.name:
        return _with_visits(question, taken, given, words)
    return _sought(question, taken, absent, given, words)


def _at_that_age(
    question: ChartQuestion, given: Sequence[tuple[ChartQuestion, Looked]], words: AnswerWords
) -> ChartQuestion | str:
    summary = given_for(BORN, given)
    if summary is None:
        return BORN
    then = of_that_age(question, summary) if isinstance(summary, ChartView) else None
    if then is None:
        return words.failed.format(title=BORN.tool, problem=words.nothing)
    return _answer(then, given, words)


def _treated(
    question: ChartQuestion,
    problems: ChartView,
    told: str,
    given: Sequence[tuple[ChartQuestion, Looked]],
    words: AnswerWords,
) -> ChartQuestion | str:
    """Return the illness as `told`, and behind it what was given or done about it."""
    looked = [(asked, given_for(asked, given)) for asked in LOOKED_AT]
    if missing := next((asked for asked, view in looked if view is None), None):
        return missing
    lists = [(asked, view) for asked, view in looked if isinstance(view, ChartView)]
    return f"{told}\n{told_treatments(question, problems, lists, words)}"


def _with_visits(
    question: ChartQuestion,
    taken: ChartView,
    given: Sequence[tuple[ChartQuestion, Looked]],
    words: AnswerWords,
) -> ChartQuestion | str:
    """Return how often an illness is recorded, and the visits for it where these are more."""
    told = _sought(question, taken, answer_of(question, taken, words), given, words)
    seen = ChartQuestion("encounters", name=question.name, aspect="count")
    seen = seen if question.span is None else with_days(seen, question.span)
    view = given_for(seen, given)
    if isinstance(told, ChartQuestion) or view is None:
        return told if isinstance(told, ChartQuestion) else seen
    if not isinstance(view, ChartView):
        return told
    recorded = sum(len(row.sources) for row in asked_rows(question, taken).rows)
    is_more = len(asked_rows(seen, view).rows) > recorded > 0
    return f"{told}\n{answer_of(seen, view, words)}" if is_more else told


def _with_done(
    question: ChartQuestion,
    done: ChartQuestion,
    taken: ChartView,
    given: Sequence[tuple[ChartQuestion, Looked]],
    words: AnswerWords,
) -> ChartQuestion | str:
    """Return what a list says, and what is recorded of it as procedures behind it."""
    told = _sought(question, taken, answer_of(question, taken, words), given, words)
    view = given_for(done, given)
    if isinstance(told, ChartQuestion) or view is None:
        return told if isinstance(told, ChartQuestion) else done
    if not isinstance(view, ChartView):
        return told
    rows = told_by(done, view)
    found = answer_of(done, view.model_copy(update={"rows": rows}), words)
    return f"{told}\n{words.elsewhere}\n{found}" if rows and found not in told else told


def _sought(
    question: ChartQuestion,
    taken: ChartView,
    absent: str,
    given: Sequence[tuple[ChartQuestion, Looked]],
    words: AnswerWords,
) -> ChartQuestion | str:
    """Return `absent`, what `taken` says, with what is found elsewhere where that says nothing."""
    looked_at = taken if question.tool == SEARCH else None
    for search in () if has_answer(question, taken) else searches_for(question):
        found = given_for(search, given)
        if found is None:
            return search
        record, papers = parted(found) if isinstance(found, ChartView) else (None, None)
        in_papers = told_papers(search, papers, words)
        told = _told_there(question, search, record, given, words)
        if isinstance(told, ChartQuestion):
            return told
        if record is not None and told:
            told = f"{told}\n{in_papers}".strip()
            return led(question, search, taken, absent, told, record, words)
        if in_papers:
            return f"{absent}\n{in_papers}"
        looked_at = record if record is not None and search.name else looked_at
    if looked_at is not None:
        absent = with_parts(question, absent, looked_at, words)
        measured = measured_for(question)
        absent = _named(question, absent, looked_at, words)
        return absent if measured is None else _with_value(measured, absent, given, words)
    absent = _named(question, absent, taken, words)
    return "\n".join([absent, *written_later(question, taken, words)])


def _told_there(
    question: ChartQuestion,
    search: ChartQuestion,
    record: ChartView | None,
    given: Sequence[tuple[ChartQuestion, Looked]],
    words: AnswerWords,
) -> ChartQuestion | str:
    """Return what `search` found, an illness with its treatment where that is asked for."""
    told = "" if record is None else told_elsewhere(question, search, record, words)
    if record is None or not told or not asks_for_treatment(search, record):
        return told
    return _treated(search, record, told, given, words)


def _named(question: ChartQuestion, absent: str, view: ChartView, words: AnswerWords) -> str:
    """Return `absent`, also of a name that nobody knows, where `view` does not hold it."""
    return absent if has_answer(question, view) else said_absent(question, absent, words)


def _with_value(
    measured: ChartQuestion,
    absent: str,
    given: Sequence[tuple[ChartQuestion, Looked]],
    words: AnswerWords,
) -> ChartQuestion | str:
    """Add the value of `measured`, where it is recorded, to what says that an illness is not."""
    found = given_for(measured, given)
    if found is None:
        return measured
    if not isinstance(found, ChartView) or not has_answer(measured, found):
        return absent
    return f"{absent}\n{words.measured} {answer_of(measured, found, words)}"


def _around(
    question: ChartQuestion, given: Sequence[tuple[ChartQuestion, Looked]], words: AnswerWords
) -> ChartQuestion | str:
    """Return what is asked around an event, told before it; of no days where it has none."""
    told: list[str] = []
    for event in question.around:
        answer, view = _answer(event, given, words), given_for(event, given)
        if isinstance(answer, ChartQuestion):
            return answer
        rows = rows_of_event(event, view) if isinstance(view, ChartView) else ()
        if not rows and event.head and isinstance(view, ChartView):  # said without the rest
            rows = rows_of_event(replace(event, name=event.head, head=""), view)
        is_row = bool(rows) and event.tool in ("problems", SEARCH)
        told.append(row_line(rows[0], words) if is_row else answer)
        if question.when in ("during", "within") and any(map(is_of_unknown_end, rows)):
            told[-1] += f"\n{words.no_part.format(part=words.parts['end'])}"
        if days := days_around(question, rows, is_alike=question.tool == event.tool):
            asked = _of_those_days(question, days, given, words)
            return asked if isinstance(asked, ChartQuestion) else f"{told[-1]}\n\n{asked}"
    if question.tool == "timeline":
        return "\n\n".join(told)
    asked = _answer(replace(question, around=()), given, words)
    if isinstance(asked, ChartQuestion):
        return asked
    return "\n\n".join([*dict.fromkeys(told), f"{words.of_all_times}\n{asked}"])


def _of_those_days(
    question: ChartQuestion,
    days: TimeSpan,
    given: Sequence[tuple[ChartQuestion, Looked]],
    words: AnswerWords,
) -> ChartQuestion | str:
    """Return what is asked of the days around an event, and of those that were named besides."""
    days = within(days, question.span)
    if days.since is not None and days.until is not None and days.since > days.until:
        return words.nothing_then.format(name=f": {question.name}" if question.name else "")
    return _answer(with_days(replace(question, around=(), shift=None), days), given, words)
