"""What tools gave, as the built-in rules write it down; adds nothing to what rows say."""

from collections.abc import Iterator, Mapping
from datetime import date, datetime
from functools import partial
from typing import Any

from data_models.chart_view import ChartView, ViewRow
from group_chat.offline.prompt import Prompt, ToolAnswer
from services.language.answer_words import AnswerWords, answer_words
from services.language.own_texts import in_own_language
from services.language.talk_texts import day_text
from services.records.answers.row_line import row_line

NOT_RECORDED, DIFFERS = "not in the record", "sources differ"
_DETAIL_CHARS, _ROWS_SHOWN = 420, 30
_TIMES_OF_A_DAY = 6
_DAY_CHARS = len("2026-12-02")
_TITLED = frozenset(
    {"list_events", "search_mail", "search_contacts", "list_tasks", "search_documents",
     "list_appointments", "create_event", "move_event", "draft_mail", "add_contact",
     "change_contact", "add_task", "complete_task", "move_task"}
)  # fmt: skip
# Of results that are no views: what tells a reader nothing.
_SILENT = frozenset(
    {"patient_id", "media_type", "artifact_id", "size_bytes", "generated_at", "source", "sources",
     "incomplete", "shortened"}
)  # fmt: skip

_HEAD = frozenset({"title", "name", "date"})


def problem_of(prompt: Prompt, answer: ToolAnswer) -> str:
    """Return what went wrong; what a tool says behind it is advice for a model."""
    if "asked which" in answer.error:
        return prompt.text("please_choose")
    said, is_order, _ = answer.error.partition("; nothing is prepared")
    problem = said if is_order else said.partition(";")[0]
    told = in_own_language(problem.rstrip("."), prompt.language)
    return prompt.text("changed_nothing", problem=told)


def told_deed(prompt: Prompt, answer: ToolAnswer) -> str:
    """Return the result of a tool that lists or changes something, as a user reads it."""
    data = answer.data
    if answer.error:
        return problem_of(prompt, answer)
    if proposal := data.get("proposal"):
        verb = str(proposal.get("action")).partition("_")[0]
        done = prompt.text(f"proposed_{verb}", start=proposal.get("start", ""))
        return prompt.text("i_propose", proposed=done)
    if "asked" in data:
        return prompt.text("please_confirm")
    if answer.name not in _TITLED:
        return _told_text(prompt, answer)
    rows = items_in(answer)
    if not rows and answer.name.startswith(("list_", "search_")):
        return prompt.text(f"none_{answer.name}")
    more = [prompt.text("and_more_rows")] if data.get("more") else []
    lines = [f"- {item_line(prompt, row)}" for row in rows]
    return "\n".join([f"**{prompt.text(f'title_{answer.name}')}**", *lines, *more])


def told_times(prompt: Prompt, answer: ToolAnswer) -> str:
    """Return free times, or whom to choose from, and the question for what is missing."""
    data, missing = answer.data, f"which_{answer.data.get('missing')}"
    if answer.error:
        return problem_of(prompt, answer)
    doctor, day = data.get("doctor"), data.get("day")
    lines = [item_line(prompt, data["moved"]), ""] if "moved" in data and not day else []
    if missing == "which_doctor":
        unknown = data.get("unknown")
        lines += [prompt.text("no_doctor_called", name=unknown), ""] if unknown else []
        rows = [f"- {row['name']}" for row in data.get("doctors", ())]
        if not rows:
            return prompt.text("no_other_doctor")
        lines += [prompt.text("doctors_here"), *rows, ""]
    elif day is not None:
        times = ", ".join(str(row["start"])[-5:] for row in data.get("slots", ()))
        said = "time_is_taken" if data.get("wanted_time_is_free") is False else "free_are"
        lines += [
            prompt.text(said if times else "day_is_full", doctor=doctor, day=day, times=times)
        ]
    elif "days" in data:
        rows = list(map(partial(_day_row, prompt), data["days"]))
        lines += [prompt.text("week_is_free" if rows else "week_is_full", doctor=doctor), *rows, ""]
    return "\n".join([*lines, prompt.text(missing)])


def _day_row(prompt: Prompt, row: Mapping[str, Any]) -> str:
    times, more = row["times"][:_TIMES_OF_A_DAY], len(row["times"]) - _TIMES_OF_A_DAY
    rest = prompt.text("and_more", count=more) if more > 0 else ""
    return f"- {date.fromisoformat(row['day']):%a %-d %b %Y}: {', '.join(times)}{rest}"


def items_in(answer: ToolAnswer) -> list[Mapping[str, Any]]:
    """Return what a tool listed or changed: the first list of its result."""
    return next((one for one in answer.data.values() if isinstance(one, list)), [])


def item_line(prompt: Prompt, row: Mapping[str, Any]) -> str:
    """Return an appointment, a mail, a task and the like as a line."""
    name = row.get("title") or row.get("subject") or row.get("name") or row.get("doctor") or ""
    when = next((str(row[one]) for one in ("start", "received", "due") if row.get(one)), "")
    listed = ("sender", "location", "organization", "email", "phone", "reason")
    details = ", ".join(str(row[one]) for one in listed if row.get(one))
    to = ", ".join(row["to"]) if row.get("folder") == "drafts" and row.get("to") else ""
    rest = prompt.text("to_somebody", names=to) if to else f"({details})" if details else ""
    return " ".join(filter(None, (when and _day(prompt, when, row), str(name), rest)))


def _day(prompt: Prompt, when: str, row: Mapping[str, Any]) -> str:
    if len(when) == _DAY_CHARS:
        return day_text(prompt.language, date.fromisoformat(when))
    has_time = not row.get("is_all_day")
    return day_text(prompt.language, datetime.fromisoformat(when), has_time=has_time)


def _told_text(prompt: Prompt, answer: ToolAnswer) -> str:
    """Return times that are free, or one mail or document with its text quoted."""
    if "free" in answer.data:
        spans = [(str(row["from"])[11:16], str(row["to"])[11:16]) for row in answer.data["free"]]
        gaps = [prompt.text("gap", since=since, until=until) for since, until in spans]
        return "\n".join([prompt.text("free_times"), *gaps] if gaps else [prompt.text("not_free")])
    found = answer.data.get("message") or answer.data.get("document") or [{}]
    row = found[0] if isinstance(found, list) else found
    kept = (answer.data.get("text"), row.get("body"), answer.data.get("withheld"))
    text = next((str(one) for one in kept if one), prompt.text("holds_no_text"))
    return "\n".join([item_line(prompt, row), "", *(f"> {line}" for line in text.splitlines())])


def told_rows(prompt: Prompt, answer: ToolAnswer) -> list[str]:
    """Return the rows of a tool of the record as Markdown bullets; both ends of many."""
    view, words = view_of(prompt, answer), answer_words(prompt.language)
    if view is None:
        rows = list(_plain_rows(answer.data))
    else:
        known = [row for row in view.rows if row.status != NOT_RECORDED]
        rows = [f"- {_told_row(row, words)}" for row in known]
    more, half = len(rows) - _ROWS_SHOWN, _ROWS_SHOWN // 2
    # The newest rows are last in a timeline and first in a list of reports.
    return rows if more <= 0 else [*rows[:half], f"- … {more} further entries …", *rows[-half:]]


def _told_row(row: ViewRow, words: AnswerWords) -> str:
    if row.status == DIFFERS:  # its sides carry their own sources
        return f"**{row.name}**: {words.word(row.status)}: {row.detail}"
    return row_line(row, words, detail_chars=_DETAIL_CHARS)


def missing_in(prompt: Prompt, answer: ToolAnswer) -> list[str]:
    """Return the names of what the answer says is not in the record."""
    view = view_of(prompt, answer)
    return [row.name for row in view.rows if row.status == NOT_RECORDED] if view else []


def notes_on(prompt: Prompt, answer: ToolAnswer) -> list[str]:
    """Return what the answer says about its own gaps."""
    view = view_of(prompt, answer)
    if view is None:
        said = (answer.data.get(key) for key in ("incomplete", "shortened"))
        notes = [one for one in said if isinstance(one, str)]
    else:
        notes = [*view.notes, *(f"{one.count} {one.what} are not shown" for one in view.left_out)]
    return [f"*{_capital(note.rstrip('.'))}.*" for note in notes]


def view_of(prompt: Prompt, answer: ToolAnswer) -> ChartView | None:
    """Return the last view of that tool in this turn; None where the answer is none."""
    views = () if answer.error else reversed(prompt.views)
    return next((view for view in views if view.tool == answer.name), None)


def _plain_rows(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a tool that gives no view returned, such as one of an operator's own."""
    for key, value in data.items():
        rows = value if isinstance(value, list) else [value]
        if rows and all(isinstance(row, Mapping) for row in rows):
            yield from (f"- {_plain_row(row)}" for row in rows)
        elif key not in _SILENT and value not in (None, "", []):
            yield f"- {_capital(_spoken(key))}: {_plain(value)}"


def _plain_row(row: Mapping[str, Any]) -> str:
    title = row.get("title") or row.get("name")
    told = {key: value for key, value in row.items() if value not in (None, "", [])}
    rest = [f"{_spoken(key)} {_plain(told[key])}" for key in told if key not in _SILENT | _HEAD]
    named = told.get("sources")
    sources = named if isinstance(named, list) else [told.get("source")]
    refs = [one.get("ref") for one in sources if isinstance(one, Mapping)]
    cited = (f"[{ref}]" for ref in dict.fromkeys(filter(None, refs)))
    head = (_plain(told.get("date", "")), f"**{_plain(title)}**" if title else "")
    return " ".join(filter(None, (*head, ", ".join(rest), *cited)))


def _spoken(key: object) -> str:
    return str(key).replace("_", " ").strip().lower()


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_plain(one)}" for key, one in value.items())
    if isinstance(value, list):
        return ", ".join(map(_plain, value))
    flat = " ".join(str(value).split())
    return flat if len(flat) <= _DETAIL_CHARS else f"{flat[:_DETAIL_CHARS].rsplit(' ', 1)[0]} …"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
