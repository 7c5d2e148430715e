"""What is told of whole views: where nobody asked for one thing, and where a plan ends. Pure."""

from collections.abc import Iterator, Mapping
from functools import partial

from data_models.chart_view import ChartView, ViewRow
from services.language.answer_words import AnswerWords, answer_words
from services.language.full_dates import full_dates
from services.language.talk_texts import talk_text, told_in
from services.records.answers.row_line import row_line

_DIFFERS = "sources differ"
_ROWS_OF_EACH_AGENT = 8
NOT_RECORDED, _DIFFER = "not in the record", "sources differ"
_DETAIL_CHARS, _ROWS_SHOWN = 420, 30


def summary_of(reports: Mapping[str, str], language: str) -> str:
    """Return what agents found, by the text of each one's report."""
    say, differ = partial(talk_text, language), answer_words(language).word(_DIFFERS)
    rows = {agent: _bullets(text) for agent, text in reports.items()}
    lines = [say("summary")]
    for agent in (agent for agent in rows if rows[agent]):
        lines += ["", f"**{agent}**", *_newest(rows[agent], language)]
    if gaps := [gap for agent, text in reports.items() for gap in _gaps(agent, text)]:
        lines += ["", say("missing"), *dict.fromkeys(gaps)]
    if differing := [row for each in rows.values() for row in each if differ in row]:
        lines += ["", say("to_settle"), *dict.fromkeys(differing)]
    return "\n".join([*lines, "", say("steps_done")])


def _bullets(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("- ")]


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
    if row.status == _DIFFER:  # its sides carry their own sources
        return f"**{row.name}**: {words.word(row.status)}: {row.detail}"
    return row_line(row, words, detail_chars=_DETAIL_CHARS)
