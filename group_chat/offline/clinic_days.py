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


def hour_in(prompt: Prompt) -> str | None:
    """Return the time that a bare number answers, `15:00` for 3: nobody is seen in the night."""
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
    text = in_english(prompt.asked).casefold()
    numbers = days_of_month_in(text)
    for line in prompt.earlier[-1].text.splitlines():
        listed, is_day, _ = line.removeprefix("- ").partition(": ")
        if not line.startswith("- ") or not is_day:
            continue
        day = datetime.strptime(listed, _DAY_FORM).replace(tzinfo=UTC).date()
        if f"{day:%A}".casefold() in text or day.day in numbers:
            return day.isoformat()
    return None


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
