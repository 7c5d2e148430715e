"""What short answers mean by what an arrangement asked or listed just before. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, TypeVar

from group_chat.offline.prompt import Prompt, ends_with
from services.language.appointment_slots import slots_in
from services.language.clock import (
    days_of_month_in,
    hour_alone_in,
    part_of_day_in,
    shift_in,
    week_ahead_in,
)
from services.language.in_english import in_english
from services.language.own_texts import is_own_choice
from services.language.phrases import words_for
from services.language.references import number_alone_in, place_in, references_in
from services.language.talk_texts import told_in
from services.language.text_words import all_words
from services.language.yes_no import is_consent

# The names of our questions.
WHICH_DOCTOR = "which_doctor"
WHICH_DAY = "which_day"
WHICH_TIME = "which_time"
WHICH_APPOINTMENT = "which_appointment"
QUESTIONS = (WHICH_DOCTOR, WHICH_DAY, WHICH_TIME, WHICH_APPOINTMENT)
_DAY_FORM = "%a %d %b %Y"
_FIRST_HOUR, _WORKDAYS, _NAME_WORDS = 7, 5, 4
Row = TypeVar("Row")


def chain_of(prompt: Prompt) -> list[tuple[str, str]]:
    """Return the user's messages that one arrangement goes on in, the newest last.

    Each stands with what it answers; "" for the first.
    """
    links: list[tuple[str, str]] = []
    text = prompt.asked
    for each in reversed(prompt.past):
        lines = each.answered.splitlines()
        is_asked = any(ends_with(each.answered, one) for one in QUESTIONS)
        if not is_asked and not any(is_own_choice(line, "Move {name}?") for line in lines):
            break
        links.insert(0, (text, each.answered))
        text = each.asked
    return [(text, ""), *links]


def name_in(prompt: Prompt) -> str:
    """Return the name that answers which doctor, as people say it: "Smith, please", "the first"."""
    if not prompt.was_asked(WHICH_DOCTOR):
        return ""
    if references_in(prompt.asked):
        return _at_place(prompt.asked, list(_listed(prompt))) or ""
    words = all_words(prompt.asked)
    says_when = slots_in(prompt.asked, is_booking=True).keys() - {"doctor_preference"}
    if len(words) > _NAME_WORDS or is_consent(prompt.asked) or says_when:
        return ""
    return " ".join(word for word in words if word.casefold() not in words_for("before_a_name"))


def day_in(prompt: Prompt) -> str | None:
    """Return which of the days just listed the message names: "Tuesday", "the 24th"."""
    if not prompt.was_asked(WHICH_DAY):
        return None
    days = [day for row in _listed(prompt) if (day := _day_of(row)) is not None]
    is_number = number_alone_in(prompt.asked) is not None
    found = None if is_number else _at_place(prompt.asked, days)
    text = in_english(prompt.asked).casefold()
    numbers = days_of_month_in(text)
    named = (day for day in days if f"{day:%A}".casefold() in text or day.day in numbers)
    found = found or next(named, None)
    return None if found is None else found.isoformat()


def time_in(prompt: Prompt) -> str | None:
    """Return the time that a bare answer means, `15:00` for 3: nobody is seen in the night."""
    if not prompt.was_asked(WHICH_TIME):
        return None
    told = (told_in(name, line) for line in prompt.earlier[-1].text.splitlines() for name in _TIMES)
    times = next((one["times"].split(", ") for one in told if one is not None), [])
    is_number = number_alone_in(prompt.asked) is not None
    if not is_number and (listed := _at_place(prompt.asked, times)) is not None:
        return listed
    hour = hour_alone_in(prompt.asked)
    return None if hour is None else f"{hour + 12 if hour < _FIRST_HOUR else hour:02}:00"


_TIMES = ("free_are", "time_is_taken")


def times_in_part(prompt: Prompt, times: Sequence[str]) -> list[str]:
    """Return those of `times` that lie in the part of the day that was wished last, if any was.

    Args:
        times: As `15:00`.
    """
    said = (part_of_day_in(text) for text, _ in reversed(chain_of(prompt)))
    part = next(filter(None, said), range(24 * 60))
    return [one for one in times if int(one[:2]) * 60 + int(one[3:]) in part]


def week_in(prompt: Prompt) -> Sequence[str]:
    """Return the working days of the week that the message names; none if it names no week."""
    made = str(prompt.snapshot.get("today") or prompt.snapshot.get("generated_at", ""))[:10]
    weeks_ahead = week_ahead_in(prompt.asked)
    if not made or weeks_ahead is None:
        return ()
    today = date.fromisoformat(made)
    monday = today + timedelta(days=7 * weeks_ahead - today.weekday())
    days = [monday + timedelta(days=number) for number in range(_WORKDAYS)]
    return [day.isoformat() for day in days if day >= today]


def appointment_in(prompt: Prompt, rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the one appointment that the user names, None where several may be meant."""
    chain = chain_of(prompt)
    for picked in reversed(
        [text for text, answers in chain if ends_with(answers, WHICH_APPOINTMENT)]
    ):
        place, text = place_in(picked), in_english(picked).casefold()
        if place is not None and 0 < place <= len(rows):
            return rows[place - 1]
        days = [row for row in rows if f"{_start_of(row):%A}".casefold() in text]
        if len(days) == 1:
            return days[0]
    said = {word.casefold() for text, _ in chain for word in all_words(text)}
    named = [row for row in rows if said.intersection(str(row.get("doctor")).casefold().split())]
    return named[0] if len(named) == 1 else None


def goal_in(prompt: Prompt, row: Mapping[str, Any]) -> dict[str, str]:
    """Return the day and time to which the appointment of `row` is moved, as far as is said."""
    if (shift := shift_in(prompt.asked)) is not None:
        goal = _start_of(row) + shift
        return {"day": f"{goal:%Y-%m-%d}", "time": f"{goal:%H:%M}"}
    chain = [
        text for text, answers in chain_of(prompt) if not ends_with(answers, WHICH_APPOINTMENT)
    ]
    said = [slots_in(text, is_booking=True) for text in chain]
    found = {"day": day_in(prompt), "time": time_in(prompt)}
    for name, key in (("day", "date_preference"), ("time", "time_preference")):
        found[name] = found[name] or next((one[key] for one in reversed(said) if key in one), None)
    return {name: value for name, value in found.items() if value}


def _start_of(row: Mapping[str, Any]) -> datetime:
    return datetime.fromisoformat(str(row["start"]))


def _listed(prompt: Prompt) -> Iterator[str]:
    """Yield the rows of the list that was shown last."""
    lines = prompt.earlier[-1].text.splitlines()
    return (line.removeprefix("- ") for line in lines if line.startswith("- "))


def _at_place(text: str, rows: Sequence[Row]) -> Row | None:
    places = {one for each in references_in(text) for one in each.places}
    place = place_in(text) or (places.pop() if len(places) == 1 else 0)
    from_start = place - 1 if place > 0 else place
    return rows[from_start] if place and -len(rows) <= from_start < len(rows) else None


def _day_of(row: str) -> date | None:
    """Return the day that a row of free times begins with."""
    listed, is_day, _ = row.partition(": ")
    try:
        return datetime.strptime(listed, _DAY_FORM).replace(tzinfo=UTC).date() if is_day else None
    except ValueError:
        return None


def day_line(day: str, times: Sequence[str], more: str) -> str:
    """Return a row of free times that `day_in` reads."""
    return f"- {date.fromisoformat(day):%a %-d %b %Y}: {', '.join(times)}{more}"
