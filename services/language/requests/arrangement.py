"""What is said of one arrangement at the clinic, over several messages: the fields of one form.

Pure. A move is read from what was said in it; a new one from what was noted of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from services.language.figures.full_dates import full_dates
from services.language.replies.references import number_alone_in, references_in
from services.language.replies.yes_no import is_consent
from services.language.requests import clock
from services.language.requests.appointment_slots import slots_in
from services.language.words.in_english import in_english
from services.language.words.own_texts import is_own_choice
from services.language.words.phrases import says, words_for
from services.language.words.talk_texts import ends_with_text, told_in
from services.language.words.text_words import all_words

NOTED_AS: Mapping[str, str] = {
    "doctor": "doctor_preference",
    "day": "date_preference",
    "time": "time_preference",
}
"""The entity that keeps each field of the form."""
_NAME_WORDS, _TELLING_CHARS = 4, 3
_TELL_A_DAY = ("free_are", "time_is_taken", "day_is_full")


@dataclass(frozen=True, slots=True)
class Arranging:
    """The talk that an arrangement stands in.

    Attributes:
        asked: The user's message.
        shown: What was said to the user just before it.
        past: The user's earlier messages and what was answered to each, oldest first.
        wishes: What was noted of it, by entity key.
    """

    asked: str
    shown: str = ""
    past: Sequence[tuple[str, str]] = ()
    wishes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_move(self) -> bool:
        """Whether an appointment is moved, in this message or in what it answers.

        "Move it to Thursday" changes the new one that is being arranged.
        """
        others = ("cancel", "book", "list_appointments")
        is_other = says(self.asked, *others) and not says(self.asked, "move_or_change")
        said = self._said()
        moves = [text for text in said if says(text, "timetable")]
        moves += [] if self._is_new else said[-1:]
        return not is_other and any(says(text, "move_or_change") for text in moves)

    @property
    def _is_new(self) -> bool:
        """Whether what was shown last is of a new appointment, and its first wish is gone."""
        is_shown = offers_new(self.shown) or asks_for(self.shown) is not None
        return is_shown and len(self._said()) == 1

    @property
    def is_dropped(self) -> bool:
        """Whether the message drops what is arranged; "cancel that" drops a new form, no move."""
        is_move = says(self._said()[-1], "move_or_change")
        is_new = asks_for(self.shown) is not None and not is_move
        drops = ("drops_arrangement", "lets_it_be")
        return says(self.asked, *drops) or (is_new and says(self.asked, "drops_form"))

    @property
    def is_of_other_cancelled(self) -> bool:
        """Whether another one is to be cancelled than the one that was proposed."""
        is_shown = any(told_in("proposed_cancel", one) is not None for one in _proposed(self.shown))
        return is_shown and not says(self.asked, "book", "move_or_change", "list_appointments")

    def picked(self) -> dict[str, str]:
        """Return which row of what was shown the message names: "tuesday", "the last"."""
        wanted = asks_for(self.shown)
        if wanted == "doctor" and not self.is_move and says(self.asked, "move"):  # "make it 11"
            wished = slots_in(self.asked, is_booking=True)
            return {name: wished[key] for name, key in NOTED_AS.items() if key in wished}
        is_other = says(self.asked, "of_a_week")  # "wed next week"
        rows = [] if wanted is None or is_other else _rows_in(self.shown, wanted)
        places = [place for one in references_in(self.asked) for place in one.places]
        places = [1] if wanted != "doctor" and says(self.asked, "earliest") else places
        if len(places) == 1 and number_alone_in(self.asked) is None:
            at = places[0] - 1 if places[0] > 0 else places[0]
            named = [rows[at]] if -len(rows) <= at < len(rows) else []
        else:
            said = [word.strip(".,;!?") for word in in_english(self.asked).casefold().split()]
            words = [*filter(str.isalpha, said)]  # "Thursday 9" is no 9th
            each = [[row for row in rows if _is_named(row, rows, one)] for one in (words, said)]
            named = each[0] or each[1]
        return {wanted: named[0]} if wanted is not None and len(named) == 1 else {}

    def known(self) -> dict[str, str]:
        """Return what is known of the form; a field may be the message itself, for its tool."""
        said, is_move, wanted = self._said(), self.is_move, asks_for(self.shown)
        told = [slots_in(text, is_booking=True) for text in reversed(said)] if is_move else []
        of_move = {key: value for one in told for key, value in one.items()}
        wished = slots_in(self.asked, is_booking=True)
        changed = wished if says(self.asked, "move") else {}
        wishes = of_move if is_move else {**self.wishes, **changed}
        known = {name: str(wishes[key]) for name, key in NOTED_AS.items() if key in wishes}
        known |= self._other_day(said)
        is_none = clock.says_impossible_clock(self.asked) or says(self.asked, "another_hour")
        if is_none or (clock.part_of_day_in(self.asked) and NOTED_AS["time"] not in wished):
            known.pop("time", None)  # "rather in the afternoon" takes back what was proposed
        parts = (s for s in said if clock.part_of_day_in(s) or says(s, "after_an_hour"))
        if part := next(parts, ""):
            known.setdefault("time", part)
        if wanted == "day" and says(self.asked, "earliest"):
            known["day"] = "today"  # on a day that is full or over, the next free ones are told
        if wanted == "time" and clock.hour_alone_in(self.asked) is not None:
            known["time"] = self.asked
        if is_move and not any(says(one, "to_doctor") for one in said):
            known.pop("doctor", None)  # it says which one is moved
        elif wanted == "doctor" and _may_be_name(self.asked):
            known["doctor"] = self.asked
        return known

    def _other_day(self, said: Sequence[str]) -> dict[str, str]:
        """Return the day by what was said or shown: "in 2 weeks", "a Tuesday", "the week after"."""
        shift, shown = clock.shift_in(self.asked), _told(self.shown, "day")
        if self.is_move:
            return {"day": self.asked} if shift is not None else {}
        if shift and shown and (":" in shown or not shift % timedelta(days=1)):
            goal = datetime.fromisoformat(shown) + shift
            return {"day": f"{goal:%Y-%m-%d}"} | ({"time": f"{goal:%H:%M}"} if goal.hour else {})
        days = [slots_in(one, is_booking=True).get("date_preference", "") for one in said]
        day, week, *_ = (*filter(None, days), "", "")
        is_of_week = week.startswith("in ") or says(week, "of_a_week")
        is_of_week = is_of_week and day in words_for("weekday")
        found = f"{day} {week}" * is_of_week if days[0] or not shown else shown[:10]
        return {"day": found} if found else {}

    def _said(self) -> list[str]:
        """Return the user's messages that it goes on in, the newest first."""
        said = [self.asked]
        for asked, answered in reversed(self.past):
            is_choice = any(is_own_choice(one, "Move {name}?") for one in answered.splitlines())
            if asks_for(answered) is None and not is_choice and not offers_new(answered):
                break
            said.append(asked)
        return said


def asks_for(shown: str) -> str | None:
    """Return for what of the form a text of ours asks."""
    return next((name for name in NOTED_AS if ends_with_text(shown, f"which_{name}")), None)


def offers_new(shown: str) -> bool:
    """Whether a text of ours proposes a new appointment."""
    books = any(told_in("proposed_book", one) is not None for one in _proposed(shown))
    return books or any(is_own_choice(line, "Book {name}?") for line in shown.splitlines())


def _proposed(shown: str) -> list[str]:
    told = (told_in("i_propose", line) for line in shown.splitlines())
    return [one["proposed"] for one in told if one is not None]


def _rows_in(shown: str, wanted: str) -> list[str]:
    if wanted == "time":
        return [one for one in _told(shown, "times").split(", ") if one]
    return [line[2:].partition(": ")[0] for line in shown.splitlines() if line.startswith("- ")]


def _told(shown: str, part: str) -> str:
    """Return the day that a text of ours told, or the times that are free then; "" for none."""
    lines = [(one, line) for line in shown.splitlines() for one in _TELL_A_DAY]
    lines += [("proposed_book", one) for one in _proposed(shown)]
    told = (told_in(name, line) for name, line in lines)
    return next((one.get(part) or one.get("start", "") for one in told if one is not None), "")


def _may_be_name(text: str) -> bool:
    wished = slots_in(text, is_booking=True).keys() - {"doctor_preference"}
    says_when = bool(wished) or says(text, "another_hour", "orders", "question") or "?" in text
    return 0 < len(all_words(text)) <= _NAME_WORDS and not is_consent(text) and not says_when


def _is_named(row: str, rows: Sequence[str], said: Sequence[str]) -> bool:
    """Whether somebody says a word that this row alone has: "tuesday" for Tue 24 Nov 2026."""
    words = [_words_of(one) for one in rows if one != row]
    own = _words_of(row).difference(*words)
    telling = tuple(one for one in own if len(one) >= _TELLING_CHARS and one.isalpha())
    numbers = {word.rstrip("stndrh") for word in said}
    return not own.isdisjoint(numbers) or any(word.startswith(telling) for word in said)


def _words_of(row: str) -> set[str]:
    days = (min(one.readings) for one in full_dates(row))
    return set(" ".join((row, *map("{:%A}".format, days))).casefold().split())
