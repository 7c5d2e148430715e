"""Free times at the clinic: looks with what is known, and says what is missing of the form."""

from calendar import day_name
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from functools import partial
from typing import Any

from pydantic import Field

from data_models.errors import ToolInputError
from data_models.values import ClosedValue
from group_chat.tools.tool import ToolOutput
from group_chat.turn_context import TurnContext, action_key
from services.language.people.names_within import words_of
from services.language.pointing.when import when_of
from services.language.replies.references import place_in
from services.language.requests.appointment_slots import field_in, is_of_field
from services.language.requests.clock import hour_alone_in, part_of_day_in, shift_in
from services.language.requests.requests import refused_doctors
from services.language.words.in_english import in_english
from services.language.words.phrases import says, words_for
from services.language.words.talk_texts import day_text, talk_text
from services.scheduling.clinic import Clinic
from services.scheduling.fhir import Appointment, Doctor, Slot

_WORKDAYS, _DAYS_AHEAD = 5, 7
_WEEKDAYS = frozenset(one[:3].casefold() for one in day_name)


def days_of(text: str, *, now: datetime) -> Sequence[date]:
    """Return the day that `text` means, said `now`, or the working days ahead of a week.

    A weekday is the next one after today; one of a week that is named is that week's.

    Raises:
        ToolInputError: it is no day; the text says what is one.
    """
    said = when_of(text, now, is_ahead=not says(text, "today"))
    if said is None or said.first is None or said.last is None:
        raise ToolInputError("the day must be today, tomorrow, a weekday or YYYY-MM-DD")
    if said.first == said.last:
        return [said.first]
    days = [said.first + timedelta(days=number) for number in range(_WORKDAYS)]
    ahead = [day for day in days if now.date() <= day <= said.last]
    english = in_english(text).casefold()
    return [day for day in ahead if f"{day:%A}".casefold() in english] or ahead


# A user's own sentence may stand for a day or a time.
_WORDS_CHARS = 1_000
_SHOWN, _TIMES_TOLD, _FIRST_HOUR, _HALF_DAY = 16, 6, 7, 12
_TITLES = {"dr", "prof", "doctor"}


class TimesArguments(ClosedValue):
    """Whose times, and when; what is left out the answer names as missing."""

    doctor: str = Field(default="", max_length=100, description="Name of the doctor.")
    day: str = Field(
        default="",
        max_length=_WORDS_CHARS,
        description="today, a weekday, next week or YYYY-MM-DD.",
    )
    time: str = Field(
        default="", max_length=_WORDS_CHARS, description="HH:MM or morning, if wanted."
    )
    instead_of: str = Field(
        default="",
        max_length=100,
        description="For a move: appointment_id, or 'it' where the user's words say which.",
    )


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is looked for, as far as it is known.

    Attributes:
        days: Several for a week; none where the day is still to be asked for.
        minute: Of the day; None where any will do.
        part: Minutes of the part of the day that suits.
    """

    days: Sequence[date] = ()
    minute: int | None = None
    part: range = range(24 * 60)


@dataclass(frozen=True, slots=True)
class FreeTimes:
    """Looks for times; `zone` is the clinic's, in which "tomorrow" begins."""

    clinic: Clinic
    zone: tzinfo

    async def look(
        self, turn: TurnContext, asked: TimesArguments, *, moved: Appointment | None
    ) -> ToolOutput:
        """Return what is free of what is asked, and the field that is `missing`, if one is.

        Args:
            moved: The appointment that is to give way; its doctor is meant if none is named.
        """
        found = await self._found(turn, asked, moved)
        return {**found, "told": told_times(found, turn.language)}

    async def _found(
        self, turn: TurnContext, asked: TimesArguments, moved: Appointment | None
    ) -> dict[str, Any]:
        wanted = self._wanted(turn, asked, moved)
        name = "" if moved is None else await self.clinic.doctor_name(moved.doctor_id)
        row = {} if moved is None else {"moved": appointment_row(moved, name)}
        doctor: Doctor | Mapping[str, Any]
        if moved is None or asked.doctor:
            doctor = await self._doctor(turn, asked.doctor)
        else:
            doctor = Doctor(moved.doctor_id, name, "")
        if not isinstance(doctor, Doctor):
            if action_key() and "unknown" in doctor:  # a workflow's step asks for its own fields
                raise ToolInputError(f"no doctor here is called {doctor['unknown']}")
            return {**doctor, **row}
        known = {"doctor": doctor.name, "doctor_uuid": doctor.doctor_id, **row}
        if not wanted.days:
            return {**known, "missing": "day"}
        if len(wanted.days) > 1:
            return {**known, "days": await self._week(doctor, wanted), "missing": "day"}
        return {**known, **await self._day(doctor, wanted)}

    def _wanted(
        self, turn: TurnContext, asked: TimesArguments, moved: Appointment | None
    ) -> Wanted:
        now = turn.request.now.astimezone(self.zone)
        shift = None if moved is None else shift_in(asked.day)
        if moved is not None and shift is not None:
            goal = moved.start + shift
            return Wanted([goal.date()], goal.hour * 60 + goal.minute)
        said_at = None
        if (entities := turn.request.entities) is not None:
            said_at = entities.said_at("date_preference", asked.day)
        days = days_of(asked.day, now=now if said_at is None else said_at) if asked.day else ()
        if (
            moved is not None
            and in_english(asked.day).casefold()[:3] in _WEEKDAYS
            and (asked.day.casefold() in words_for("weekday"))
        ):  # "Thursday instead" is that of the week in which the appointment stands
            week = moved.start - timedelta(days=moved.start.weekday() + 1)
            days = days_of(asked.day, now=max(now, week))
        minute, part = _minute_in(asked.time, now), part_of_day_in(asked.time)
        to_another = bool(asked.doctor) and not (asked.day or asked.time)
        if moved is not None and (to_another or says(turn.request.text, "same_time")):
            minute = moved.start.hour * 60 + moved.start.minute
        if moved is not None and not asked.day and minute is not None:
            days = [moved.start.date()]  # "move it to 4" is still that day
        return Wanted(days, minute, range(24 * 60) if part is None else part)

    async def _doctor(self, turn: TurnContext, said: str) -> Doctor | Mapping[str, Any]:
        """Return the doctor who is meant; those to choose from where that is nobody or several."""
        every, refused = await self.clinic.doctors(), refused_doctors(turn.request.text)
        meant = _meant(said, every)
        last_names = {words_of(name)[-1] for name in refused}
        fitting = [one for one in meant or every if last_names.isdisjoint(words_of(one.name))]
        if meant and len(fitting) == 1:
            return fitting[0]
        listed = [
            {"doctor_id": one.doctor_id, "name": one.name, "specialty": one.specialty}
            for one in fitting
        ]
        unknown = {"unknown": said} if said and not meant else {}
        return {"missing": "doctor", "doctors": listed, **unknown}

    async def _day(self, doctor: Doctor, wanted: Wanted) -> dict[str, Any]:
        (day,) = wanted.days
        free = await self.clinic.free_slots(doctor.doctor_id, day)
        exact = [slot for slot in free if _minute(slot) == wanted.minute]
        fitting = [slot for slot in free if _minute(slot) in wanted.part]
        is_free = bool(exact) if wanted.minute is not None else None if fitting else False
        missing = {} if exact else {"missing": "time" if free else "day"}
        return {
            "day": day.isoformat(),
            "days": [] if free else await self._next(doctor, day, wanted.part),
            "wanted_time_is_free": is_free,
            "slots": [slot_row(slot) for slot in (exact or fitting or free)[:_SHOWN]],
            **missing,
        }

    async def _next(self, doctor: Doctor, day: date, part: range) -> list[dict[str, Any]]:
        """Return the first day of the week behind `day` on which something is free."""
        for number in range(1, _DAYS_AHEAD + 1):
            ahead = Wanted([day + timedelta(days=number)], part=part)
            if rows := await self._week(doctor, ahead):
                return rows
        return []

    async def _week(self, doctor: Doctor, wanted: Wanted) -> list[dict[str, Any]]:
        rows = []
        for day in wanted.days:
            free = await self.clinic.free_slots(doctor.doctor_id, day)
            times = [f"{slot.start:%H:%M}" for slot in free if _minute(slot) in wanted.part]
            rows += [{"day": day.isoformat(), "times": times[:_SHOWN]}] if times else []
        return rows


def told_times(found: Mapping[str, Any], language: str) -> str:
    """Return times that are free, or whom to choose from, and the question for what is missing."""
    say, doctor = partial(talk_text, language), found.get("doctor")
    day, missing = found.get("day"), f"which_{found.get('missing')}"
    rows, lines = [_day_line(row, language) for row in found.get("days", ())], []
    if "moved" in found and not day:
        moved = found["moved"]
        lines += [f"{moved['start']} {moved['doctor']}", ""]
    if missing == "which_doctor":
        every = found["doctors"]
        names = [f"- {': '.join(filter(None, (row['name'], row['specialty'])))}" for row in every]
        said = found.get("unknown", "")
        text = "nobody_of_field" if field_in(said) else "no_doctor_called"
        unknown = [say(text, name=said), ""] if said else []
        lines += [*unknown, say("doctors_here"), *names, ""]
        missing = missing if names else "no_other_doctor"
        lines = lines if names else []
    elif day is not None:
        times = ", ".join(row["start"][-5:] for row in found.get("slots", ()))
        said = "time_is_taken" if found.get("wanted_time_is_free") is False else "free_are"
        lines.append(say(said if times else "day_is_full", doctor=doctor, day=day, times=times))
        lines += [say("next_free"), *rows] if rows else []
    elif "days" in found:
        lines += [say("week_is_free" if rows else "week_is_full", doctor=doctor), *rows, ""]
    return "\n".join([*lines, *([say(missing)] if "missing" in found else [])])


def _day_line(row: Mapping[str, Any], language: str) -> str:
    times, more = row["times"][:_TIMES_TOLD], len(row["times"]) - _TIMES_TOLD
    rest = talk_text(language, "and_more", count=more) if more > 0 else ""
    day = day_text(language, date.fromisoformat(row["day"]), has_year=True)
    return f"- {day}: {', '.join(times)}{rest}"


def _meant(said: str, every: Sequence[Doctor]) -> Sequence[Doctor]:
    """Return whom a name, a part of one ("Smith, please") or a place in the list may mean."""
    if not (words := {*words_of(said)} - _TITLES):
        return ()
    if (place := place_in(said)) is not None:
        return every[place - 1 : place] if place > 0 else ()
    if field := field_in(said):
        return [one for one in every if is_of_field(one.specialty, field)]
    whole = [one for one in every if words.issubset(words_of(one.name))]
    return whole or [one for one in every if words.intersection(words_of(one.name))]


def _minute_in(text: str, now: datetime) -> int | None:
    """Return the minute of the day that `text` says, 15:00 for "3": nobody is seen in the night."""
    if (hour := hour_alone_in(text)) is not None:
        return 60 * (hour + _HALF_DAY if hour < _FIRST_HOUR else hour)
    said = when_of(text, now) if text else None
    return None if said is None else said.minute


def _minute(slot: Slot) -> int:
    return slot.start.hour * 60 + slot.start.minute


def slot_row(slot: Slot) -> Mapping[str, str]:
    """Return a free time as tools give it."""
    return {"slot_id": slot.slot_id, "start": time_text(slot.start)}


def appointment_row(each: Appointment, doctor: str) -> dict[str, str]:
    """Return an appointment as tools give it."""
    return {
        "appointment_id": each.appointment_id,
        "start": time_text(each.start),
        "doctor_id": each.doctor_id,
        "doctor": doctor,
        "reason": each.reason,
    }


def time_text(moment: datetime) -> str:
    """Return a time as tools give it."""
    return f"{moment:%Y-%m-%d %H:%M}"
