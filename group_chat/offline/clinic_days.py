"""What the offline rules make of days and hours when an appointment is arranged. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from group_chat.offline.prompt import Prompt
from services.language.clock import (
    days_of_month_in,
    hour_alone_in,
    says_impossible_clock,
    week_ahead_in,
)
from services.language.in_english import in_english
from services.language.own_texts import is_own_choice
from services.language.references import number_alone_in, place_in, references_in
from services.language.talk_texts import in_every_language

# The names of our questions.
WHICH_DOCTOR = "which_doctor"
WHICH_DAY = "which_day"
WHICH_TIME = "which_time"
WHICH_APPOINTMENT = "which_appointment"
_QUESTIONS = (WHICH_DOCTOR, WHICH_DAY, WHICH_TIME, WHICH_APPOINTMENT)
_DAY_FORM = "%a %d %b %Y"
_FIRST_HOUR = 7
_WORKDAYS = 5
_TIME_CHARS = len("09:00")
_TIMES_OF_A_DAY = 6


@dataclass(frozen=True, slots=True)
class Link:
    """A message of the user's, and what it answers; "" for the first."""

    text: str
    answers: str = ""

    @property
    def picks(self) -> bool:
        """Whether it says which appointment is moved, not where to."""
        return self.answers.endswith(in_every_language(WHICH_APPOINTMENT))


def chain_of(prompt: Prompt) -> list[Link]:
    """Return the user's messages that one arrangement goes on in, the newest last."""
    links: list[Link] = []
    text = prompt.asked
    for each in reversed(prompt.past):
        answered = each.answered.rstrip()
        if not _asks_one(answered) and not _proposes_move(answered):
            break
        links.insert(0, Link(text, answered))
        text = each.asked
    return [Link(text), *links]


def _asks_one(answered: str) -> bool:
    return any(answered.endswith(in_every_language(one)) for one in _QUESTIONS)


def _proposes_move(answered: str) -> bool:
    return any(is_own_choice(line, "Move {name}?") for line in answered.splitlines())


def asks(prompt: Prompt, question: str) -> bool:
    """Whether the last thing said ends with `question`."""
    return bool(prompt.earlier) and prompt.earlier[-1].text.rstrip().endswith(
        in_every_language(question)
    )


def asks_one(prompt: Prompt) -> bool:
    """Whether the last thing said ends with any of our questions."""
    return any(asks(prompt, one) for one in _QUESTIONS)


def listed_in(prompt: Prompt) -> str | None:
    """Return what stands at the place of the list just shown that the message says: "the first"."""
    lines = prompt.earlier[-1].text.splitlines() if prompt.earlier else []
    rows = [line.removeprefix("- ") for line in lines if line.startswith("- ")]
    return _at_place(prompt.asked, rows)


def _listed_time_in(prompt: Prompt) -> str | None:
    """Return the time at the place that the message says by an ordinal; a figure is an hour."""
    if number_alone_in(prompt.asked) is not None:
        return None
    words = (word.strip(",.") for word in prompt.earlier[-1].text.split())
    times = [word for word in words if len(word) == _TIME_CHARS and word[2] == ":"]
    return _at_place(prompt.asked, times)


def _at_place(text: str, rows: Sequence[str]) -> str | None:
    places = {one for each in references_in(text) for one in each.places}
    place = place_in(text) or (places.pop() if len(places) == 1 else 0)
    from_start = place - 1 if place > 0 else place
    is_there = place and -len(rows) <= from_start < len(rows)
    return rows[from_start] if is_there else None


def hour_in(prompt: Prompt) -> str | None:
    """Return the time that a bare number answers, `15:00` for 3: nobody is seen in the night."""
    if asks(prompt, WHICH_TIME) and (listed := _listed_time_in(prompt)) is not None:
        return listed
    hour = hour_alone_in(prompt.asked) if asks(prompt, WHICH_TIME) else None
    if hour is None:
        return None
    return f"{hour + 12 if hour < _FIRST_HOUR else hour:02}:00"


def names_no_time(prompt: Prompt) -> bool:
    """Whether the message names a time that no day has, such as 25:00."""
    return says_impossible_clock(prompt.asked)


def week_in(prompt: Prompt) -> Sequence[str]:
    """Return the working days of the week that the message names; none if it names no week."""
    today = _today(prompt)
    weeks_ahead = week_ahead_in(prompt.asked)
    if today is None or weeks_ahead is None:
        return ()
    monday = today + timedelta(days=7 * weeks_ahead - today.weekday())
    days = [monday + timedelta(days=number) for number in range(_WORKDAYS)]
    return [day.isoformat() for day in days if day >= today]


def listed_day_in(prompt: Prompt) -> str | None:
    """Return which of the days just listed the message names: "Tuesday", "the 24th"."""
    if not asks(prompt, WHICH_DAY):
        return None
    if number_alone_in(prompt.asked) is None and (row := listed_in(prompt)) is not None:
        return _day_listed(row)
    text = in_english(prompt.asked).casefold()
    numbers = days_of_month_in(text)
    for line in prompt.earlier[-1].text.splitlines():
        listed = _day_listed(line.removeprefix("- ")) if line.startswith("- ") else None
        if listed is None:
            continue
        day = date.fromisoformat(listed)
        if f"{day:%A}".casefold() in text or day.day in numbers:
            return listed
    return None


def _day_listed(row: str) -> str | None:
    """Return the day, ISO, that a row of free times begins with."""
    listed, is_day, _ = row.partition(": ")
    if not is_day:
        return None
    return datetime.strptime(listed, _DAY_FORM).replace(tzinfo=UTC).date().isoformat()


def week_lines(prompt: Prompt, answers: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the free times of several days, and the question which day."""
    by_day = sorted((one for one in answers if one.get("slots")), key=lambda one: str(one["day"]))
    lines = [_day_line(prompt, one) for one in by_day]
    doctor = next(
        (str(one["doctor"]) for one in answers if one.get("doctor")), prompt.text("the_doctor")
    )
    if not lines:
        return [prompt.text("week_is_full", doctor=doctor), prompt.text(WHICH_DAY)]
    return [prompt.text("week_is_free", doctor=doctor), *lines, "", prompt.text(WHICH_DAY)]


def _day_line(prompt: Prompt, answer: Mapping[str, Any]) -> str:
    day = date.fromisoformat(str(answer["day"]))
    times = [str(slot["start"])[-5:] for slot in answer["slots"]]
    more = len(times) - _TIMES_OF_A_DAY
    shown = ", ".join(times[:_TIMES_OF_A_DAY]) + (
        prompt.text("and_more", count=more) if more > 0 else ""
    )
    return f"- {day:%a %-d %b %Y}: {shown}"


def _today(prompt: Prompt) -> date | None:
    made = str(prompt.snapshot.get("today") or prompt.snapshot.get("generated_at", ""))[:10]
    try:
        return date.fromisoformat(made)
    except ValueError:
        return None
