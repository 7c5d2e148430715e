"""Items of a user's own as lines: what tools list, and what they changed. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from group_chat.tools.personal.personal import ABOUT_ANOTHER
from group_chat.turn_context import TurnContext
from services.language.charts.answer_words import answer_words
from services.language.words.folding import words_of
from services.language.words.own_texts import in_own_language, problem_told
from services.language.words.talk_texts import day_text, has_text, talk_text
from services.records.answers.choosing.row_line import DIFFER
from services.tool_memory.session import FinishedRun

_LISTING = ("list_", "search_", "find_", "recall")
_WITH_TEXT = ("read_mail", "read_own_document")
# Of results that are no views: what tells a reader nothing.
_SILENT = ("patient_id", "media_type", "artifact_id", "size_bytes", "generated_at", "shortened")
_CHANGED = ("created", "added", "moved", "done", "changed", "draft")


def item_line(row: Mapping[str, Any], language: str, *, year: int) -> str:
    """Return an appointment, a mail, a task and the like as a line, read in `year`; 0: any."""
    called = ("title", "subject", "name", "doctor")
    name = next((str(row[one]) for one in called if row.get(one)), "")
    name = talk_text(language, "about_another") if name == ABOUT_ANOTHER else name
    when = next((str(row[one]) for one in ("start", "received", "due") if row.get(one)), "")
    listed = ("sender", "location", "organization", "email", "phone", "reason")
    details = ", ".join(str(row[one]) for one in listed if row.get(one))
    to = ", ".join(row["to"]) if row.get("folder") == "drafts" and row.get("to") else ""
    rest = talk_text(language, "to_somebody", names=to) if to else f"({details})" if details else ""
    has_time = ":" in when and not row.get("is_all_day")
    at = datetime.fromisoformat(when) if when else None
    # A task may be due in a year, and a mail be of the last: it would read as one of this week.
    has_year = bool(row.get("due")) or (at is not None and year not in (0, at.year))
    day = ""
    if at is not None:
        day = day_text(language, at, has_time=has_time, has_year=has_year)
    if has_time and (end := row.get("end")):
        day += f"–{datetime.fromisoformat(end):%H:%M}"
    return " ".join(filter(None, (day, name, rest)))


def items_in(data: Mapping[str, Any]) -> list[Any]:
    """Return what a tool listed or changed: the first list of its result."""
    return next((one for one in data.values() if isinstance(one, list)), [])


def told_result(language: str, tool: str, data: Mapping[str, Any], *, now: datetime | None) -> str:
    """Return what a tool gave that lists or changes something, as a user reads it `now`."""
    say, rows, year = partial(talk_text, language), items_in(data), now.year if now else 0
    error = str(data.get("error") or "")
    if "asked which" in error:
        return say("please_choose")
    if error:
        said, is_order, _ = error.partition("; nothing is prepared")
        problem = said.rstrip(".") if is_order else problem_told(said, language)
        return say("changed_nothing", problem=problem)
    told = str(data.get("told", "")) or ("asked" in data and say("please_confirm"))
    if told:
        return told
    lines = [one if isinstance(one, str) else item_line(one, language, year=year) for one in rows]
    if tool in _WITH_TEXT:
        text = next((str(data[one]) for one in ("text", "withheld") if data.get(one)), "")
        text = text or next((row["body"] for row in rows if row.get("body")), "")
        quoted = (text or say("holds_no_text")).splitlines()
        return "\n".join([*lines, "", *(f"> {line}" for line in quoted)])
    if not rows and tool.startswith(_LISTING):
        return say(f"none_{tool}", count=data.get("turns_searched", 0))
    more, day = [say("and_more_rows")] * bool(data.get("more")), data.get("day")
    title = f"**{say(f'title_{tool}')}**"
    title += f" {item_line({'start': day}, language, year=year)}" if day else ""
    return "\n".join([title, *(f"- {line}" for line in lines), *more])


def plain_rows(language: str, data: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a tool gave that gives no rows of the chart, a field each."""
    for key, value in data.items():
        plain = ("no", "yes")[value] if isinstance(value, bool) else str(value)
        said = map(str, value) if isinstance(value, list) else [plain]
        told = ", ".join(in_own_language(one, language) for one in said)
        if key not in _SILENT and told:
            own = f"field_{key}"
            name = talk_text(language, own) if has_text(own) else key.replace("_", " ")
            yield f"- {name[:1].upper()}{name[1:]}: {told}"


def changes_told(turn: TurnContext, runs: Sequence[FinishedRun]) -> str:
    """Return what `runs` made and changed as it is now, whatever a model says of it; "" for none.

    A model may give a tool other words than it was given, and tell of the user's.
    """
    changed = [(run.tool, row) for run in runs for row in _rows_changed(run)]
    return "\n".join(_told(turn, tool, row) for tool, row in changed)


def disputes_told(turn: TurnContext, text: str, *, of_all: bool = False) -> str:
    """Return where sources differ on what `text` tells, or on anything, but for what it shows."""
    rows = {row.name: row for view in turn.views for row in view.rows if row.status == DIFFER}
    answer, told = answer_words(turn.language), {*words_of(text if rows else "")}
    lines = list[str]()
    for name, row in rows.items():
        # `2 (2025-05-21) [a/b] versus 1 (2025-05-20) [c/d]; earlier: 0 (2024-09-18) [e/f]`
        sides = [one.partition(" (")[0] for one in row.detail.partition("; ")[0].split(" versus ")]
        is_named = any(told.issuperset(words_of(one)) for one in (name, answer.word(name)))
        if (of_all or is_named) and not told.issuperset(words_of(" ".join(sides))):
            told_name, state = answer.word(name), answer.word(DIFFER)
            lines.append(f"**{told_name}**: {state}: {answer.in_words(row.detail)}")
    return "\n".join(lines)


def _told(turn: TurnContext, tool: str, row: Mapping[str, Any]) -> str:
    line = item_line(row, turn.language, year=turn.request.now.year)
    return f"**{turn.text(f'title_{tool}')}**\n- {line}"


def _rows_changed(run: FinishedRun) -> list[Mapping[str, Any]]:
    data = run.data if has_text(f"title_{run.tool}") else None
    return [row for one in _CHANGED for row in (data or {}).get(one, ())]
