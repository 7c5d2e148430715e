"""One row of the chart as a line: name, value, status, dates, details and source. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate

from data_models.chart_view import ChartView, ViewRow
from services.language.charts.answer_words import AnswerWords, answer_words
from services.language.figures.full_dates import full_dates
from services.language.utterance import Part
from services.language.words.talk_texts import talk_text, told_in
from services.records.answers.choosing.asked_rows import concept_of
from services.records.answers.choosing.row_parts import (
    MARKS,
    day_of,
    flag_of,
    moment_of,
    sources_of,
    value_of,
)
from services.records.resources.standing import DOUBTFUL
from services.records.rows.measurements import NOTED

LONGEST_CHARS = 5_000
"""Of one list, with room for what the group chat says around it."""
DETAIL_CHARS = 160
PASSAGE_CHARS = 260
ROWS_SHOWN = 12
BRIEF_FROM = 14
"""So many rows are told without their details."""
DIFFER = "sources differ"
_PLANNED = frozenset({"care plan", "goal", "order", "medication"})
"""Kinds of which it tells something that they are completed."""
_USUAL = frozenset({"", "final", "finished", "current", "available", "confirmed", "completed"})


def row_line(
    row: ViewRow, words: AnswerWords, *, is_brief: bool = False, detail_chars: int = DETAIL_CHARS
) -> str:
    """Return one row: name, value, status, dates, details and source."""
    is_born = row.kind == "patient" and not is_brief  # as the detail says
    when = "" if is_born else day_of(row)
    if row.end and row.end[:10] != row.date[:10]:
        when = words.say("between", first=when or "?", last=row.end[:10])
    is_usual = row.status in _USUAL and row.kind not in _PLANNED
    status = "" if is_usual else words.in_words(row.status)
    value = words.in_words(value_of(row))
    name = f"**{words.word(row.name)}**"
    means = concept_of("vaccine", row) if row.kind == "immunization" else ""
    if means and means.casefold() not in row.name.casefold():
        name = f"{name} ({words.word(means)})"
    head = f"{name}: {value}{flag_of(row, words)}" if value else name
    # Where sources differ no side is left out.
    is_disputed = row.status == DIFFER
    told = " ".join(row.detail.split())
    if is_brief and not is_disputed:  # what is not certain is told so, however short
        told = "; ".join(part for part in told.split("; ") if part in DOUBTFUL)
    detail = words.in_words(told)
    if len(detail) > detail_chars and not is_disputed:
        detail = f"{detail[:detail_chars].rstrip()}…"
    parts = ", ".join(part for part in (head, status, when) if part)
    told = f"; {words.in_words(detail)}" if detail else ""
    if "[" in detail:  # what it tells of earlier days or other sides has its own sources
        return f"{parts} {sources_of(row)}{told}".strip()
    return f"{parts}{told} {sources_of(row)}".strip()


def grouped_lines(rows: Sequence[ViewRow], words: AnswerWords) -> str:
    """Return one line for all rows that tell the same, with their dates, the newest first."""
    groups: dict[tuple[str, ...], list[ViewRow]] = {}
    is_many = len({row.name for row in rows}) > BRIEF_FROM
    for row in rows:
        told = (row.name, row.value, row.status, "" if is_many else row.detail)
        groups.setdefault(told, []).append(row)
    lines = []
    for each in groups.values():
        line = row_line(each[0], words, is_brief=len(groups) > BRIEF_FROM)
        others = ", ".join(day_of(row) for row in each[1:ROWS_SHOWN])
        more = f" … {day_of(each[-1])} ({len(each)})" if len(each) > ROWS_SHOWN else ""
        lines.append(f"- {line}{f'; {others}{more}' if others else ''}")
    return "\n".join(lines)


def value_sentence(row: ViewRow, words: AnswerWords, *, with_range: bool = False) -> str:
    """Return `**Potassium**: 4.2 mmol/L (3.5–5.1), high, 2020-03-04 [Observation/k-7]`."""
    head = f"**{row.name}**: {words.in_words(value_of(row))}{flag_of(row, words)}"
    parts = [head, words.word(row.status), day_of(row)]
    if with_range and not row.flag:
        parts.append(words.say("unflagged") if row.range else words.say("no_range"))
    _, mark, note = row.detail.partition(NOTED)  # "haemolysed" is part of what a value says
    parts.append(words.in_words(f"{mark}{note[:DETAIL_CHARS]}"))
    return f"{', '.join(part for part in parts if part)} {sources_of(row)}".strip()


def value_table(rows: Sequence[ViewRow], words: AnswerWords, *, most: int = ROWS_SHOWN) -> str:
    """Return a line with date, value and source for each row, the newest first."""
    days = [day_of(row) for row in rows]
    hours = (
        f" {row.date[11:16]}" if "T" in row.date and days.count(day) > 1 else ""
        for row, day in zip(rows, days, strict=True)
    )
    lines = [
        f"- {day_of(row)}{hour} {value_of(row)}{flag_of(row, words)}"
        f"{f', {words.word(row.status)}' if row.status else ''} {sources_of(row)}"
        for row, hour in zip(rows[:most], hours, strict=False)
    ]
    more = len(rows) - len(lines)
    return "\n".join([*lines, *([f"- {words.say('older', count=more)}"] if more else [])])


def seen_by(part: Part, tool: str, rows: Sequence[ViewRow], words: AnswerWords) -> list[str]:
    """Return a line for each person or place of visits, or who wrote, the last seen first."""
    seen: dict[str, list[ViewRow]] = {}
    for row in sorted(rows, key=moment_of, reverse=True):
        for said in row.detail.split("; "):
            if said.startswith(MARKS[part]):
                seen.setdefault(said.partition(" ")[2], []).append(row)
    what = words.things_of[tool]
    return [
        f"- **{who}**: {words.say('things', count=len(each), what=what, span='')}, "
        f"{day_of(each[-1])} – {day_of(each[0])} {sources_of(each[0])}"
        for who, each in seen.items()
    ]


_ROWS_OF_EACH_AGENT = 6
NOT_RECORDED = "not in the record"
_OF_PERSON = "[Patient/"  # age and sex head every sheet
_DETAIL_CHARS, _ROWS_SHOWN = 420, 30


def summary_of(reports: Mapping[str, str], language: str) -> str:
    """Return what agents found, by the text of each one's report."""
    say, differ = partial(talk_text, language), answer_words(language).word(DIFFER)
    each = {agent: text.splitlines() for agent, text in reports.items()}
    rows = {
        agent: [one for one in own if one.startswith("- ") and _OF_PERSON not in one]
        for agent, own in each.items()
    }
    lines = [say("summary")]
    for agent in (agent for agent in rows if rows[agent]):
        lines += ["", f"**{agent}**", *_newest(rows[agent], language)]
    if gaps := [gap for agent, text in reports.items() for gap in _gaps(agent, text)]:
        lines += ["", say("missing"), *dict.fromkeys(gaps)]
    if differing := [row for each in rows.values() for row in each if differ in row]:
        lines += ["", say("to_settle"), *dict.fromkeys(differing)]
    return "\n".join([*lines, "", say("steps_done")])


def _newest(rows: list[str], language: str) -> list[str]:
    """Return the rows of one agent that count most: the end of a timeline, else the beginning."""
    more = len(rows) - _ROWS_OF_EACH_AGENT
    note = [talk_text(language, "more_above", count=more)] if more > 0 else []
    days = [min(found[0].readings) for row in rows if (found := full_dates(row))]
    if len(days) > 1 and days[0] < days[-1]:
        return [*note, *rows[-_ROWS_OF_EACH_AGENT:]]
    return [*rows[:_ROWS_OF_EACH_AGENT], *note]


def _gaps(agent: str, text: str) -> Iterator[str]:
    for line in text.splitlines():
        if (missing := told_in("not_in_record", line)) is not None:
            yield f"- {missing['names']}"
        elif any(told_in(name, line) is not None for name in ("unreadable", "holds_nothing")):
            yield f"- {agent}: {line.replace('**', '')}"


def bullets_of(view: ChartView, words: AnswerWords) -> list[str]:
    """Return the rows that hold something as Markdown bullets; both ends of many."""
    known = [row for row in view.rows if row.status != NOT_RECORDED]
    rows = [f"- {_line_of(row, words)}" for row in known]
    more, half = len(rows) - _ROWS_SHOWN, _ROWS_SHOWN // 2
    # The newest rows are last in a timeline and first in a list of reports.
    between = f"- … {words.say('older', count=more)} …"
    return rows if more <= 0 else [*rows[:half], between, *rows[-half:]]


def _line_of(row: ViewRow, words: AnswerWords) -> str:
    if row.status == DIFFER:  # its sides carry their own sources
        return f"**{row.name}**: {words.word(row.status)}: {words.in_words(row.detail)}"
    return row_line(row, words, detail_chars=_DETAIL_CHARS)


def newest_that_fit(lines: Sequence[str], *, is_course: bool) -> list[str]:
    """Return as many lines as an answer holds, the newest; a course stays in order of time."""
    newest = lines[::-1] if is_course else lines
    sizes = accumulate(len(line) + 1 for line in newest)
    kept = [line for line, size in zip(newest, sizes, strict=True) if size <= LONGEST_CHARS]
    return kept[::-1] if is_course else kept
