"""Sentences and small tables over the rows of a view, one template for each aspect. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from data_models.chart_view import ChartView, ViewRow
from services.language.charts.answer_words import AnswerWords
from services.language.charts.chart_parts import REPORTS
from services.language.charts.evidence_questions import GUIDELINES, TRIALS
from services.language.utterance import Aspect, ChartQuestion, TimeSpan
from services.records.answers import whole_chart
from services.records.answers.choosing import row_parts, unsaid
from services.records.answers.choosing.allergens import is_named_so, is_of_some
from services.records.answers.choosing.asked_rows import DONE, VISITS_OF_STATE, asked_rows
from services.records.answers.choosing.events import as_of, times_of
from services.records.answers.choosing.excluded_rows import (
    NOT_DONE,
    PLANNED,
    is_taken_out,
    was_never,
)
from services.records.answers.choosing.row_line import (
    BRIEF_FROM,
    DETAIL_CHARS,
    PASSAGE_CHARS,
    grouped_lines,
    newest_that_fit,
    row_line,
    seen_by,
)
from services.records.answers.choosing.said_words import passage
from services.records.answers.value_sentences import told_values
from services.records.concepts.table import words_listed
from services.records.resources.standing import ABSENCES, NOT_KNOWN

_ROWS_SHOWN = 12
_LIST_SHOWN = 60
_REPORT_CHARS = 900
_ENDS = frozenset({"end", "end reason", "end people"})
OVER = frozenset({"resolved", "stopped", "inactive", "remission", "completed", "ended"})
_STATES = frozenset({"problems", "medications"})
_REPEATED = frozenset({"immunizations", "procedures"})
_PASSAGES_SHOWN, _ENTRIES_SHOWN = 5, 8
"""Of what a search found, where none of it is a long text."""
_COURSES = frozenset({"timeline", "changes"})
_IN_TIME = _COURSES | frozenset({"encounters", "documents", "procedures", "immunizations"})
"""What may be cut: it is old, and the rows stand beside the text."""


def answer_of(question: ChartQuestion, view: ChartView, words: AnswerWords) -> str:
    """Return what the rows of `view` say to `question`: a sentence, or a line for each row."""
    found = asked_rows(question, view)
    if (whole := whole_chart.told_whole(question, view, found.rows, words)) is not None:
        return whole
    if not found.rows:
        absent = _absent(question, view, words, is_other_time=found.of_other_time)
        return unsaid.said_none_left(question, view, words) or absent
    of_then = [each for row in found.rows for each in as_of(row, question.span)]
    rows = row_parts.asked_first(question, row_parts.last_visits(question, of_then))
    if question.tool == "results":
        said = told_values(question, rows, words)
        said += unsaid.said_of_older(question, view, words)
        return "\n".join([*said, *row_parts.part_missing(question, rows, words)])
    if question.tool in REPORTS:
        told = _of_reports(question, rows, words)
        return "\n".join([told, *row_parts.part_missing(question, rows, words)])
    is_of_now = question.tool == "medications" and not question.name and not question.arguments
    paused = [row for row in rows if is_of_now and row.status == "on-hold"]
    if question.aspect == "count" and len(paused) < len(rows):
        rows = [row for row in rows if row not in paused]
    told = _told(question, rows, words)
    if len(paused) == len(rows):
        told = f"{words.say('only_paused')}\n{told}"
    behind = unsaid.said_left_out(question, view, words) + row_parts.part_missing(
        question, rows, words
    )
    return "\n".join([told, *behind])


def _told(question: ChartQuestion, rows: list[ViewRow], words: AnswerWords) -> str:
    is_of_passages = question.tool == "search_record" and question.aspect == "count"  # no things
    told = _listed if is_of_passages else _EVENTS.get(question.aspect, _listed)
    if question.tool == "problems" and all(
        whole_chart.is_another(row, question.name) for row in rows
    ):
        not_so = words.say("not_listed", name=words.called(question.name, question.said))
        return f"{not_so}\n{_listed(question, rows, words)}"
    is_of_now = question.part == "status" or question.aspect == "latest"
    is_of_now |= question.aspect == "whether" and not question.is_past
    if question.tool != "care" or question.aspect == "when" or not is_of_now:
        return told(question, rows, words)
    if now := [row for row in rows if row.status not in OVER]:
        return told(question, now, words)
    return f"{words.say('not_now')}:\n{_listed(question, rows, words)}"


_BESIDE_THE_RECORD = frozenset({"changes", GUIDELINES, TRIALS})


def _absent(
    question: ChartQuestion, view: ChartView, words: AnswerWords, *, is_other_time: bool
) -> str:
    if question.tool in _BESIDE_THE_RECORD and view.nothing:
        return words.in_words(view.nothing)  # of a guideline or a study the record says nothing
    if question.aspect == "count" and view.rows and not question.name:
        return _counted(question, [], words)
    if is_other_time:
        nothing = words.not_then(question.name)
        rows = asked_rows(replace(question, span=None), view).rows
        near = row_parts.nearest(rows, question.span or TimeSpan())
        return "\n".join([nothing, *(f"- {row_line(row, words)}" for row in near)])
    if question.name:
        is_one_of_many = question.tool == "care"  # its list is of plans, devices, insurers
        if not view.rows and not is_one_of_many and (nothing := _nothing_of(question, view, words)):
            return nothing
        things = words.things_of.get(question.tool)
        searched = f" ({len(view.rows)} {things})" if things and view.rows else ""
        called = words.called(question.name, question.said)
        absent = words.not_there(called, searched, tool=question.tool)
        if question.tool == "allergies" and view.rows:
            # Which ones are recorded is what the question is asked for.
            return f"{absent}\n{_listed(replace(question, name=''), list(view.rows), words)}"
        return absent
    if question.tool == "search_record":
        # The first of the words that were looked for is what was asked.
        return words.not_there(str(question.arguments["query"]).split()[0])
    return _nothing_of(question, view, words) or words.say("nothing")


def _nothing_of(question: ChartQuestion, view: ChartView, words: AnswerWords) -> str:
    """Return what an empty list means."""
    if words.is_language_of_tools and view.nothing:
        return view.nothing
    is_active = question.arguments.get("status", "active") == "active"
    has_more = bool(question.name or question.arguments)
    is_other = {"medications": has_more, "problems": not is_active}.get(question.tool)
    return "" if is_other else whole_chart.empty_list(question.tool, words)


def _listed(question: ChartQuestion, rows: list[ViewRow], words: AnswerWords) -> str:
    """Return the rows, active ones first as they come; a part that was asked for stands first."""
    part = question.part if question.tool in ("encounters", "documents") else None
    is_seen = part in ("people", "place") and question.span is None and len(rows) > 1
    if is_seen and part and (seen := seen_by(part, question.tool, rows, words)):
        return "\n".join(seen[:_ROWS_SHOWN])
    is_search = question.tool == "search_record"
    is_of_part = bool(question.name) and question.part not in (None, "status", "treatment")
    is_of_part &= question.aspect not in ("change", "trend", "whether") and not is_search
    if is_of_part and question.tool not in _REPEATED and len(rows) <= _ROWS_SHOWN:  # done, not over
        # Of two doses the end is that of the one that ended.
        rows = [one for one in rows if (one.status in OVER) == (question.part in _ENDS)] or rows
    if is_search and question.name:
        rows = sorted(rows, key=row_parts.moment_of, reverse=True)
    is_brief = all(len(row.detail) <= DETAIL_CHARS for row in rows[:_ENTRIES_SHOWN])
    found = _ENTRIES_SHOWN if is_brief else _PASSAGES_SHOWN
    shown = rows[: found if is_search else _LIST_SHOWN]
    if is_search:
        sought = question.name or str(question.arguments.get("query", ""))
        shown = [row.model_copy(update={"detail": passage(row.detail, sought)}) for row in shown]
    is_long = question.aspect == "when" and len(rows) > _ROWS_SHOWN
    if question.tool in _REPEATED and (is_long or question.aspect in ("all", "whether", "trend")):
        return grouped_lines(rows, words)
    is_brief = len(shown) > BRIEF_FROM
    chars = PASSAGE_CHARS if is_search else DETAIL_CHARS
    lines = [f"- {row_line(row, words, is_brief=is_brief, detail_chars=chars)}" for row in shown]
    if question.tool == "timeline":
        rows = row_parts.once_each(rows)
    if question.tool in _IN_TIME and not is_search:
        every = [f"- {row_line(row, words, is_brief=is_brief)}" for row in rows]
        lines = newest_that_fit(every, is_course=question.tool in _COURSES)
    more = len(rows) - len(lines)
    count = f"≥ {more}" if is_search else more  # of passages the tool gives some
    return "\n".join([*lines, *([f"- {words.say('older', count=count)}"] if more else [])])


def _newest(question: ChartQuestion, rows: list[ViewRow], words: AnswerWords) -> str:
    """Return the newest row; of drugs and problems "now" means all that are."""
    if question.tool in _STATES and question.name:
        now = [row for row in rows if row.status not in OVER | NOT_DONE]
        if now:
            again = max(rows, key=lambda row: row.date)
            is_of_last = question.tool == "problems" and again not in now  # "the last time"
            return _listed(question, [*now, again] if is_of_last else now, words)
        last = row_line(max(rows, key=lambda row: max(row.end, row_parts.newest_day(row))), words)
        return last if question.is_past else f"{words.say('not_now')}: {last}"
    if question.tool == "current_status" and question.name == "treatment":
        rows = [row for row in rows if row.status == "active"] or rows
        return _listed(question, rows, words)
    of_all = question.tool in _STATES and question.arguments.get("status") == "all"
    if question.tool in (*_STATES, "allergies", "care", "timeline") and not of_all:
        return _listed(question, rows, words)
    day = row_parts.newest_day if of_all else row_parts.moment_of  # a drug may be renewed
    newest = sorted(rows, key=day, reverse=True)
    if question.back:
        # A study and the report on it are of one day: before it is what another day brought.
        newest = list({row.date[:10]: row for row in reversed(newest)}.values())[::-1]
        if earlier := newest[question.back :][: question.most or 1]:
            return "\n".join(row_line(row, words) for row in earlier)
        return f"{words.say('no_earlier')} {row_line(newest[-1], words)}"
    count = max(question.most, int(question.arguments.get("last", 1)))
    if question.tool == "immunizations" and not question.name:
        # Several are given at one visit: each of them is the last.
        count = max(count, sum(row.date[:10] == newest[0].date[:10] for row in newest))
    return "\n".join(row_line(row, words) for row in newest[:count])


def _oldest(question: ChartQuestion, rows: list[ViewRow], words: AnswerWords) -> str:
    times = sorted((one for row in rows for one in times_of(row)), key=row_parts.moment_of)
    times = list({row.date[:10]: row for row in times if row.date}.values()) or rows
    if question.most:
        return "\n".join(row_line(row, words) for row in times[: question.most])
    if question.back < len(times):
        return row_line(times[question.back], words)
    return _counted(replace(question, part="status"), times, words)  # there is none so late


def _dated(question: ChartQuestion, rows: list[ViewRow], words: AnswerWords) -> str:
    newest = sorted(rows, key=row_parts.moment_of, reverse=True)
    is_list = len(newest) > 1 or question.tool == "search_record"
    return _listed(question, newest, words) if is_list else row_line(newest[0], words)


def _of_reports(question: ChartQuestion, rows: list[ViewRow], words: AnswerWords) -> str:
    """Return one report with what it concludes, or the titles of several, the newest first."""
    newest = sorted(rows, key=row_parts.moment_of, reverse=True)
    each = {(row.date[:10], row.name): row for row in sorted(rows, key=lambda row: len(row.detail))}
    if question.aspect == "count":  # a study and the report on it are one
        return _counted(question, [*each.values()], words)
    if question.aspect == "first" or len(each) == 1:  # … of which the report tells what it showed
        newest = [row for row in newest if row.date[:10] == newest[-1].date[:10]]
        newest = sorted(newest, key=lambda row: len(row.detail))[-1:]
    if question.back or question.most:
        return _newest(question, [*each.values()], words)
    if len(newest) == 1 or question.aspect in ("latest", "first"):
        told = [one for one in newest[1:] if one.kind != "procedure"]  # a report, or images
        shown = [newest[0], *told[: newest[0].kind == "procedure"]]
        return "\n".join(row_line(one, words, detail_chars=_REPORT_CHARS) for one in shown)
    return "\n".join(f"- {row_line(row, words)}" for row in newest[:_ROWS_SHOWN])


def _yes_or_no(question: ChartQuestion, rows: list[ViewRow], words: AnswerWords) -> str:
    if rows[0].kind in ABSENCES:
        is_none = {row.kind for row in rows} <= ABSENCES - {NOT_KNOWN}
        is_none &= not all(map(is_of_some, rows))
        no = f"{words.say('no')}: {row_line(rows[0], words)}"
        return no if is_none else _listed(question, rows, words)
    # That something was put in is no yes to whether it is still in.
    is_of_after = question.tool in _REPEATED and question.part == "status"
    # Nor that somebody was in hospital one to whether they are.
    is_now = question.is_past or any(row.status == "in-progress" for row in rows)
    is_lasting = not words_listed("lasting").isdisjoint(question.name.split())
    is_of_after |= (question.tool == "encounters" or is_lasting) and not is_now
    # Nor is a performance status one to whether somebody is fit for chemotherapy.
    is_of_after |= question.name in (PLANNED, "refused", "ECOG")
    if question.tool == "allergies" and not any(is_named_so(question.name, row) for row in rows):
        return _listed(question, rows, words)  # of its kind
    # What was put in and is out again is no yes to whether it is there.
    is_of_after |= question.tool == "procedures" and is_taken_out(question.name, rows)
    # Rows of the family, of a paid bill or of a marker's value tell more or less: no yes to it.
    is_wider = question.tool in ("search_record", "history", "biomarkers")
    is_wider |= question.name == "coverage" or any(
        whole_chart.is_near_only(row, question) or row.kind == "care plan" for row in rows
    )
    if not question.name or is_of_after or (is_wider and not all(map(was_never, rows))):
        return _listed(question, rows, words)
    now = [row for row in rows if row.status not in OVER | NOT_DONE]
    shown = now or rows
    # What was never done is no yes beside what was broken off.
    lead = _lead(question, [one for one in shown if one.status not in NOT_DONE] or shown, words)
    if len(shown) == 1:
        return f"{lead}: {row_line(shown[0], words)}"
    return f"{lead}:\n{_listed(question, shown[:_ROWS_SHOWN], words)}"


def _lead(question: ChartQuestion, rows: Sequence[ViewRow], words: AnswerWords) -> str:
    """Return yes only where the record says so: what is paused or unclear is called that."""
    states = {row.status for row in rows}
    if states <= NOT_DONE and question.name not in VISITS_OF_STATE:
        return words.say("no")
    # What is suspected, or was begun and broken off, is neither.
    is_broken_off = question.tool == "procedures" and states <= {"stopped", "on-hold", "unknown"}
    if is_broken_off or all(whole_chart.is_doubtful(row) for row in rows):
        return words.say("unclear")
    if question.tool == "medications" and "active" not in states and not states <= OVER:
        return words.say("paused") if "on-hold" in states else words.say("unclear")
    if question.part == "end":  # whether it is over is asked
        return words.say("yes") if states <= OVER else words.say("no")
    if question.tool not in _STATES and not states <= OVER:
        return words.say("yes")
    if states <= OVER:
        return words.say("once") if question.is_past else words.say("not_now")
    return words.say("yes")


def _counted(question: ChartQuestion, rows: list[ViewRow], words: AnswerWords) -> str:
    if question.part == "people" and (people := seen_by("people", question.tool, rows, words)):
        return "\n".join(people)  # "how many doctors": each with what they did
    rows = [row for row in rows if row.kind not in ABSENCES]
    is_none = question.name not in VISITS_OF_STATE and {row.status for row in rows} <= NOT_DONE
    if rows and question.tool in DONE and is_none:
        return f"{words.say('no')}:\n{_listed(question, rows, words)}"
    dates = sorted(row.date for row in rows if row.date)
    span = f" ({' – '.join(dict.fromkeys((dates[0][:10], dates[-1][:10])))})" if dates else ""
    what = words.things_of.get(question.tool, "" if question.name else words.things_of["documents"])
    what = ": ".join(filter(None, (what, words.called(question.name))))
    if question.tool not in _STATES or not question.name:
        said = f"{words.say('things', count=len(rows), what=what, span=span)}."
        each = _listed(question, rows, words) if question.part else ""  # "how many, and why"
        return "\n".join(filter(None, [said, *row_parts.counts_of_years(question, rows), each]))
    lines = [f"- {row_line(row, words)}" for row in rows[:_ROWS_SHOWN]]
    if question.tool == "medications" and len(rows) == 1:
        said = row_line(rows[0], words)  # how often it was prescribed, and is taken
        is_of_all = question.span is None or len(rows[0].sources) == 1
        return said if is_of_all else f"{words.say('of_all_times')}\n{said}"
    # One problem is one row, however often it was recorded.
    is_folded = question.tool == "problems"
    count = (
        sum(row_parts.times_recorded(row, question.span) for row in rows)
        if is_folded
        else len(rows)
    )
    return "\n".join([f"{words.say('things', count=count, what=what, span='')}.", *lines])


_EVENTS: Mapping[Aspect, Callable[[ChartQuestion, list[ViewRow], AnswerWords], str]] = {
    "latest": _newest,
    "first": _oldest,
    "when": _dated,
    "whether": _yes_or_no,
    "count": _counted,
}
