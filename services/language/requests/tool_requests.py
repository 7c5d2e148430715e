"""Requests that one tool does: by which phrases each is known, and what the tool is given. Tables.

Of the user's own things, of persons, of drafts of orders, and of what was said before.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from textwrap import shorten
from typing import Any, TypeAlias

from services.language.figures.full_dates import birth_date_in
from services.language.pointing.when import When, when_of
from services.language.replies.addressing import without_address
from services.language.requests.clock import day_in, hour_alone_in, hours_told, lasting_in, shift_in
from services.language.words import text_words
from services.language.words.folding import words_of
from services.language.words.in_english import in_english, with_months
from services.language.words.phrases import parts_in, says, without, words_for
from services.language.words.talk_texts import tells_made

Given: TypeAlias = Mapping[str, Any]
_Reader: TypeAlias = Callable[[str], Given | None]
_BY_NAME = ("named", "name_to_reach", "name_who_wrote", "asks_event")
_QUERY_CHARS, _SUBJECT_CHARS, _LONGEST_TIME, _LAST_HOUR, _NOON, _DAWN = 400, 60, 8, 24, 12, 7
_DOTTED = re.compile(r"^(\d{1,2})\.([0-5]\d)$")
_CLOCK = re.compile(r"(?:at )?\d{1,2}(?::\d\d| ?[ap]m)")
_BARE_HOURS = re.compile(
    r"(?<![\w:./-])(\d{1,2})(?: (?:to|until|bis) | ?[-–] ?)(\d{1,2})(?![\w:./-])(?! ?[ap]m)"
)
_ANY_MOMENT = datetime(2026, 8, 17, 9, tzinfo=UTC)  # whether words tell a time hangs on no day
_WHEN_CHARS = 48  # "Friday at 3"; what is longer has more in it than a time
_TITLE_ENDS = re.compile(r"^[\s\"'“„«,;:.]+|[\s\"'”“»,;:.]+$")


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """One kind of request.

    Attributes:
        tool: What does it.
        said: It has a phrase of one of these names; of any, where there are none.
        unless: It has no phrase of these.
        given: Reads what the tool is given; None where the request does not say all of it.
        asks: Our text that asks for it then.
        looks_with: What is done first where the tool does not know what is meant.
    """

    tool: str
    said: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    given: _Reader = lambda _: {}
    asks: str = "not_understood"
    looks_with: "ToolRequest | None" = None

    def fits(self, text: str) -> bool:
        """Whether `text` is such a request."""
        return (not self.said or says(text, *self.said)) and not says(text, *self.unless)


def _parts(kind: str, **names: str) -> _Reader:
    """Return what reads the parts of such a sentence, by the names that the tool has for them."""

    def read(text: str) -> Given | None:
        words = in_english(text) if kind == "goal" else without_address(text)
        new = parts_in(words, kind) or {}
        return {names[one]: new[one] for one in new if one in names} or None

    return read


def _new_task(text: str) -> Given | None:
    """Return what is to be done and by when; only words that tell a time are no part of the title.

    "Order a PET for Grant by Monday" is due on Monday, "call him tomorrow at 10" at that hour.
    """
    text = with_months(text if says(text, "new_task") else without_address(text))  # "Task: …"
    new = parts_in(text, "new_task") or {}
    title, when = new.get("title", ""), new.get("when", "")
    if not title or says(title, "points_alone") or is_time_alone(title):
        return None  # "remind me tomorrow at 9" does not say of what
    start, end = text.find(title), text.find(when) + len(when)
    between = " ".join(words_of(text[start + len(title) : end - len(when)]))
    if text[:start].endswith(tuple('"“„«')) or (when and between not in words_for("before_due")):
        return {"title": title} | ({"due": _with_hour(when)} if when else {})
    whole = text[start:end] if when else title
    words, told = whole.split(), when_of(whole, _ANY_MOMENT)
    run = None if told is None else _run_of(words, told)
    if run is None:
        return {"title": whole}
    first, behind = run.start, " ".join(words[run.stop :])
    while first and _is_of(words[first - 1], "before_due"):
        first -= 1
    if not first and behind and "'" not in words[0]:
        # "erinnere mich am Montag um 9, die Tochter anzurufen", "remind me Fri 4pm ward list"
        return {"title": behind, "due": " ".join(words[: run.stop]).rstrip(",:")}
    if first and says(behind, "deed_alone"):  # "Leberwerte Montag kontrollieren"
        return {"title": " ".join([*words[:first], behind]), "due": " ".join(words[run])}
    if behind or says(words[first - 1], "after_which"):  # "nothing to eat after midnight"
        return {"title": whole}
    return {"title": " ".join(words[: first or 1]).rstrip(","), "due": " ".join(words[run])}


def _with_hour(when: str) -> str:
    """Return a time that begins with a figure as one: "at 8 tomorrow" of "8 tomorrow", "in 2h"."""
    read = ((lead, _when([lead, when])) for lead in ("in", "at") if when[:1].isdigit())
    return next((f"{lead} {when}" for lead, at in read if at and at.minute is not None), when)


def as_move(text: str, shown: str | None = "") -> str:
    """Return "make it 12" and "no, at 12" as "move it to 12:00"; what makes it no time stays.

    Args:
        shown: What was told last: "10 instead of 8" and "no, 10" mean an hour where it told of one,
            a time alone is of what was just added; None where it is known that something moves.
    """
    if (behind := parts_in(text, "cancels_behind")) is not None:
        return f"cancel the {behind['which']} one"  # "the second one cancel"
    if shown and tells_made(shown) and is_time_alone(text):
        return f"move it to {in_english(text)}"
    if (doctor := parts_in(text, "another_doctor")) is not None:
        return f"move it to {doctor['goal']}"  # "with Dr. Smith instead"
    made, told = (parts_in(with_months(text), one) or {} for one in ("makes_it", "another_time"))
    if not (made or told):
        return text
    goal, other, old = _with_span(made.get("goal", "")), told.get("goal", ""), told.get("old", "")
    hours = None if shown is None else hours_told(shown)
    is_hour = other.isdigit() and int(other) <= _LAST_HOUR and (old.isdigit() or not old)
    is_of_shown = is_hour and (hours is None or (int(old) in hours if old else bool(hours)))
    goal = goal or (other if is_of_shown or is_time_alone(other) or shift_in(other) else "")
    goal = f"in {goal}" if says(goal, "span_of_days") else goal
    if past := "30" * says(goal, "half_past") or "15" * says(goal, "quarter_past"):
        return f"move it to {f'{min(hours)}:{past}' if hours else goal}"
    hour = hour_alone_in(goal := _DOTTED.sub(r"\1:\2", goal))  # "make it 9.30"
    told_by = (lambda: shift_in(goal), lambda: lasting_in(goal, timedelta()), lambda: _when([goal]))
    is_time = bool(goal) and (hour is not None or any(one() is not None for one in told_by))
    if goal and not is_time and is_time_alone(at := in_english(f"at {goal}")):
        return f"move it to {at}"  # "half 11"
    return f"move it to {in_english(goal) if hour is None else f'{hour}:00'}" if is_time else text


def is_time_alone(text: str) -> bool:
    """Whether `text` is a day, an hour of a day or both: no figure alone, and no word besides."""
    english = without(in_english(text), "same_time")
    left = without(english, "day").casefold().strip(" ,")
    is_day = left != english.casefold()
    while left and _is_of(first := left.split()[0], "before_due") and not _CLOCK.fullmatch(left):
        left = left.removeprefix(first).strip(" ,")
    has_hour = hour_alone_in(left) is not None or _CLOCK.fullmatch(left) is not None
    return not text.isdigit() and (has_hour or (is_day and not left))


def _when(words: Sequence[str]) -> When | None:
    return when_of(" ".join(words), _ANY_MOMENT)


def _days(text: str) -> dict[str, str]:
    day = day_in(without(text, "goal") if says(text, "move") else text)
    return {} if day is None else {"since": day, "until": day}


def _on_day(text: str) -> Given:
    return {"day": day_in(text) or ""}


def _half_an_hour(text: str) -> Given:
    return {"day": day_in(text) or "today", "minutes": 30}


def _words(text: str) -> dict[str, str]:
    """Return the name of what is looked for: quoted, called so, or behind a word such as "from"."""
    named = next((one["name"] for key in _BY_NAME if (one := parts_in(text, key))), "")
    if quoted := text_words.quoted_in(text) or ([without(named, "day")] if named else []):
        return {"words": " ".join(quoted[0].rstrip(". ").split())}
    words = text_words.owner_in(text) or text_words.named_after(text, "about") or ""
    kept = [word for word in words.split() if word.casefold() not in words_for("idle_in_lists")]
    return {"words": " ".join(kept)} if kept else {}


def _words_and_days(text: str) -> Given:
    return _words(text) | _days(text)


def _new_event(text: str) -> Given | None:
    """Return what is new in the calendar: all that stands beside the one time is its title."""
    is_noted = says(text, "noted_in_calendar")
    text = without(with_months(without_address(text)), "in_own_calendar")
    new = parts_in(text, "new_event") or ({"title": text} if is_noted else {})
    said = _with_span(new.get("title", ""))
    told = when_of(said, _ANY_MOMENT)
    words = said.split() if told is None else _side_by_side(said.split(), told)
    if told is None or (found := _run_of(words, told)) is None:
        return None
    first, last = found.start, found.stop
    while first and _is_of(words[first - 1], "before_time"):
        first -= 1
    before, start = words[:first], " ".join(words[first:last]).strip(" ,;:")
    while before and _is_of(before[-1], "before_due"):
        before.pop()
    named = without(" ".join([*before, *words[last:]]), "names_no_event")
    title = next(iter(text_words.quoted_in(said)), "") or _TITLE_ENDS.sub("", named)
    long = {"minutes": told.minutes_long} if told.minutes_long else {}
    return {"title": title, "start": start, **long} if title and len(start) <= _WHEN_CHARS else None


def _run_of(words: Sequence[str], told: When) -> slice | None:
    """Return where the shortest run of `words` stands that tells just that; "Uhr" with it."""
    sizes = range(1, min(len(words), _LONGEST_TIME + 2) + 1)
    runs = (slice(at, at + size) for size in sizes for at in range(len(words) - size + 1))
    if (run := next((one for one in runs if _when(words[one]) == told), None)) is None:
        return None
    behind = takewhile(lambda one: _is_of(one, "behind_time"), words[run.stop :])
    return slice(run.start, run.stop + len([*behind]))


def _side_by_side(words: list[str], told: When) -> list[str]:
    """Return `words` with their day, hour and length last: "2-3 pm rota meeting tomorrow"."""
    if told.minutes_long:
        long = timedelta(minutes=told.minutes_long)
        first = (slice(at, at + 2) for at in range(2))
        is_long = (one for one in first if lasting_in(" ".join(words[one]), timedelta()) == long)
        if (apart := next(is_long, None)) is not None:
            words = [*words[: apart.start], *words[apart.stop :], "for", *words[apart]]
    whole, day = _run_of(words, told), _run_of(words, When(told.first, told.last, None))
    if whole is None or day is None or told.minute is None:
        return words
    led = day.start > 0 and _is_of(words[day.start - 1], "before_due")
    others = [*words[: day.start - led], *words[day.stop :]]
    hour = _run_of(others, replace(told, first=None, last=None))
    between = [*words[whole.start : day.start], *words[day.stop : whole.stop]]
    beside = words_for("before_span").union(*map(words_of, others[hour or slice(0)]))
    if hour is None or beside.issuperset(words_of(" ".join(between))):
        return words
    return [*others[: hour.start], *others[hour.stop :], *words[day], *others[hour]]


def _with_span(said: str) -> str:
    """Return `said` with the hours beside its day as such: "14 to 15 tomorrow", "12-1 for me"."""
    span = _BARE_HOURS.search(said)
    first, last = map(int, span.groups()) if span else (0, 0)
    if span is None or not (first < last <= _LAST_HOUR or last < _DAWN < first <= _NOON):
        return said
    before, behind = said[: span.start()], said[span.end() :]
    rest, told = _when([before, behind]), when_of(said, _ANY_MOMENT)
    is_alone = not before.strip() and (not behind.strip() or says(behind, "for_what"))
    is_beside = rest == told and (is_alone if rest is None else rest.minute is None)
    return f"{before}from {span[1]} to {span[2]}{behind}" if is_beside else said


def _is_of(word: str, name: str) -> bool:
    return " ".join(words_of(word)) in words_for(name)


def _new_mail(text: str) -> Given | None:
    """Return a mail; its own words are its subject where the user gives none."""
    if (answer := parts_in(text, "answers_mail")) is not None:
        return {"to": [], "title": "", "text": answer["text"], "answers": "it"}
    new = parts_in(text, "new_mail") or {}
    to = text_words.mail_addresses_in(text.partition(":")[0]) or [*filter(None, [new.get("to")])]
    subject = new.get("subject") or shorten(new.get("text", ""), _SUBJECT_CHARS, placeholder=" …")
    return {"to": to, "title": subject, "text": new["text"]} if new and to else None


def _new_contact(text: str) -> Given | None:
    named = (parts_in(text, "new_contact") or {}).get("name", "")
    name = text_words.without_ways_to_reach(named).strip(" ,;.")
    reached = _reached_by(text)
    is_unread = not reached and any(map(str.isdigit, text))  # a number that is none is not dropped
    return {"name": name, **reached} if name and not is_unread else None


def _reached_by(text: str) -> dict[str, Any]:
    email = next(iter(text_words.mail_addresses_in(text)), None)
    found = {"email": email, "phone": text_words.phone_number_in(text)}
    return {name: value for name, value in found.items() if value}


def _person(text: str) -> Given | None:
    name, born = text_words.full_name_in(text), birth_date_in(text)
    return None if name is None or born is None else {"name": name, "birth_date": born.isoformat()}


def _said(text: str) -> Given:
    told = text_words.telling_words(without(without_address(text), "frame_of_recall"))
    return {"query": " ".join(told)[:_QUERY_CHARS] or text[:_QUERY_CHARS]}


RECALL = ToolRequest("recall", ("remember",), ("roster", "sums_up_talk", "wants_more"), given=_said)
OF_THE_HOUSE = (
    ToolRequest("find_person", ("is_registered",), given=_person, asks="missing_to_look"),
    ToolRequest("register_person", ("registers",), given=_person, asks="missing_of_person"),
    ToolRequest("withdraw_order_draft", ("withdraws_order",)),
    ToolRequest("order_drafts_of", ("lists_order_drafts",)),
    ToolRequest(
        "order_drafts_of",
        ("asks_whether_drafted",),
        given=_parts("asks_whether_drafted", test="test"),
        asks="which_test",
    ),
    ToolRequest("draft_order", given=_parts("orders_test", test="test"), asks="which_test"),
)
LISTS_APPOINTMENTS = (
    ToolRequest("list_appointments", ("list_appointments", "when_is_it"), given=_on_day),
    ToolRequest("list_appointments", ("next_visit",), ("book", "free")),
)
_EVENTS = ToolRequest("list_events", given=_words_and_days)
_TASKS = ToolRequest("list_tasks", given=_days)
_CONTACTS = ToolRequest("search_contacts", given=_words)
_MAILS = ToolRequest("search_mail", given=_words_and_days)
_DOCUMENTS = ToolRequest("search_documents", given=_words_and_days)
OF_OWN_THINGS: Mapping[str, Sequence[ToolRequest]] = {
    "calendar_event": (
        ToolRequest(
            "cancel_event", ("delete",), given=lambda _: {"event_id": ""}, looks_with=_EVENTS
        ),
        ToolRequest(
            "move_event", ("move",), given=_parts("goal", goal="start"), looks_with=_EVENTS
        ),
        ToolRequest("find_free_time", ("free",), given=_half_an_hour),
        ToolRequest("create_event", ("add", "books_event"), given=_new_event),
        _EVENTS,
    ),
    "email": (
        ToolRequest("draft_mail", ("new_message",), ("looks_for_mail",), given=_new_mail),
        ToolRequest("send_mail", ("send",)),
        ToolRequest("draft_mail", ("writes_mail",), ("looks_for_mail",), given=_new_mail),
        ToolRequest("draft_mail", ("draft",), ("reads", "looks_for_mail"), given=_new_mail),
        ToolRequest("read_mail", ("reads",), looks_with=_MAILS),
        _MAILS,
    ),
    "contact": (
        ToolRequest("delete_contact", ("delete",), looks_with=_CONTACTS),
        ToolRequest(
            "change_contact",
            ("change",),
            given=lambda text: _reached_by(in_english(text).rpartition(" to ")[2]) or None,
            looks_with=_CONTACTS,
        ),
        ToolRequest("add_contact", ("new_contact",), given=_new_contact),
        _CONTACTS,
    ),
    "task": (
        ToolRequest("delete_task", ("delete",), looks_with=_TASKS),
        ToolRequest("add_task", ("new_task",), ("closes_task", "asks_reminders"), given=_new_task),
        ToolRequest("complete_task", ("done",), ("question",), looks_with=_TASKS),
        ToolRequest("move_task", ("move",), given=_parts("goal", goal="due"), looks_with=_TASKS),
        _TASKS,
    ),
    "document": (
        ToolRequest("delete_document", ("delete",), looks_with=_DOCUMENTS),
        ToolRequest("read_own_document", ("reads",), looks_with=_DOCUMENTS),
        _DOCUMENTS,
    ),
}
"""By the kind of thing that is named; the last of each lists what there is."""
