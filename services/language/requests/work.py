"""Whose work a message asks for, where its words alone would mislead. Tables over phrases; pure."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Literal, TypeAlias

from services.language.charts.tools_named import SEARCH
from services.language.pointing.clauses import read_clauses
from services.language.pointing.folding import plain
from services.language.requests import requests
from services.language.requests.appointment_slots import names_a_time, slots_in
from services.language.requests.clock import day_in, part_of_day_in
from services.language.requests.tool_requests import as_move
from services.language.told.held_statements import asks_to_hold
from services.language.utterance import ChartQuestion, TeamMember, Utterance
from services.language.words.in_english import in_english
from services.language.words.phrases import parts_in, says, without
from services.language.words.text_words import asks_question, mail_addresses_in

Work: TypeAlias = Literal["own", "persons", "visits", "orders", "document"]
_WORKS: tuple[Work, ...] = ("own", "persons", "visits")
_TOOLS: Mapping[Work, str] = {
    "own": "list_events",
    "persons": "register_person",
    "visits": "available_slots",
    "orders": "draft_order",
    "document": "create_report",
}
"""Who has this tool does such work."""
_TIMES = {"date_preference", "time_preference"}
_ORDERS = ("orders_test", "asks_whether_drafted", "withdraws_order", "lists_order_drafts")
_REPORTS = (("topic_pathology", "pathology_reports"), ("topic_imaging", "imaging_reports"))
_OWN_NOUNS = ("contact", "task", "named_number", "email", "document", "calendar_event")
_WRITES_TO = ("draft", "send", "writes_mail")
BEYOND_US = (
    "prints", "removes_paper", "closes_chart", "puts_back", "takes_back", "reaches_people",
    "asks_duty", "asks_of_deed", "marks_mail", "only_read",
)  # fmt: skip
_NOBODYS = (
    "no_series", "writes_letter", *BEYOND_US[:-1], "says_wrong", "asks_language", "goes_back",
    "wants_more",
    "asks_research", "asks_todays_list", "asks_cohort", "sums_up_talk", "same_question", "rewords",
    "why_open", "adds_people", "asks_plan_open",
    "points_to_report", "same_of_day",
)  # fmt: skip
"""Wishes that nobody here can carry out; our text about each has its name."""
_LONGEST_WISH_WORDS, _SHORT_ANSWER_WORDS = 12, 6
LONG_CHARS = 1_500
"""What is longer is a letter, and asks for nothing."""
REQUEST_LIMIT_CHARS = 2_000
"""What is longer is not kept with the question whose it is."""


@lru_cache(maxsize=256)
def work_in(text: str) -> Work | None:
    """Return whose work `text` is that asks for nothing of the record; None for any other.

    `own` the user's own mail, tasks and days, `persons` who is registered or insured, `visits`
    appointments and who sees patients.
    """
    if requests.asks_number_of(text) or requests.names_alone(text, "name_who_wrote"):
        return "own"
    wanted = behind_switch(text)
    return next((work for work in _WORKS if says(wanted, f"work_{work}")), None)


def behind_switch(text: str) -> str:
    """Return what is wanted behind "open Ann Doe and remind me …"; else the whole of `text`."""
    return (parts_in(text, "opens_and") or {}).get("rest", text)


def doer_of(text: str, team: Sequence[TeamMember], *, is_of_chart: bool) -> str | None:
    """Return who of the team does what `text` asks for; None where that is a look at the chart.

    Args:
        is_of_chart: Whether it asks for something that a chart holds.
    """
    if is_of_chart:
        work: Work | None = "orders" if says(text, *_ORDERS[1:]) else None
    else:
        wanted = behind_switch(text)
        work = next((kind for kind, is_so in _RULES if is_so(wanted)), None)
    return next((one.name for one in team if work and _TOOLS[work] in one.tools), None)


def impossible_wish(text: str) -> str | None:
    """Return the name of our text about a wish that nobody here can carry out; None for another."""
    if len(text.split()) > _LONGEST_WISH_WORDS:
        return None
    if (wish := next((one for one in _NOBODYS if says(text, one)), None)) is not None:
        return wish
    changes = says(text, "writes_record", "orders_test") or requests.orders_care(text)
    return "only_read" if changes and not (says(text, "timetable") or own_kind_in(text)) else None


def _says(*names: str) -> Callable[[str], bool]:
    return lambda text: says(text, *names)


def does_deeds(tools: Collection[str]) -> bool:
    """Whether who has `tools` makes and changes what is the user's own, visits and orders too."""
    return not set(_TOOLS.values()).isdisjoint(tools)


def points_only(text: str) -> bool:
    """Whether the request only points: what it means was said before, and no list helps."""
    return says(text, "points") and day_in(text) is None


def asks_overview(text: str) -> bool:
    """Whether `text` asks who the patient is, or for everything on record."""
    return says(text, "overview") or (says(text, "record") and not says(text, "on_record"))


def asks_record(text: str, read: Utterance | None = None) -> bool:
    """Whether `text` asks for, or is to be held as, what is one patient's alone."""
    is_asked = asks_question(text)  # "allergies?"; "creat trend" without one, and no "nearly done"
    of_chart = [one for one in (read.about if read is not None else ()) if one.tool != SEARCH]
    names = any(is_asked or (one.tool == "results" and one.name) for one in of_chart)
    names = names or asks_to_hold(text) or (len(text.split()) > 1 and says(text, "wish_of_record"))
    return names and len(text) <= REQUEST_LIMIT_CHARS and not says(text, "asks_of_deed")


def wants_plan(text: str) -> bool:
    """Whether `text` asks for what takes several agents; not what a board did, or none wanted."""
    return says(text, "plan") and not says(text, "speaks_of_plan")


def own_kind_in(text: str, *, but: str = "") -> str | None:
    """Return what kind of thing of the user's own `text` names first: a mail, a task."""
    if mail_addresses_in(text.partition(":")[0]) and says(text, *_WRITES_TO):
        return "email"  # "write to ann@example.org about Koepp: …"
    kinds = (kind for kind in _OWN_NOUNS if kind != but)
    named = next((kind for kind in kinds if _names(text, kind)), None)
    return "contact" if named == "named_number" else named


def _names(text: str, kind: str) -> bool:
    if kind == "named_number":
        return requests.asks_how_to_reach(text)
    return says(text, kind) or (kind == "email" and requests.names_alone(text, "name_who_wrote"))


def _is_of_office(text: str) -> bool:
    """Whether the user asks for their own calendar, mail, contacts, tasks or documents."""
    text = without(text, "of_patient")
    kind = own_kind_in(text, but="document")
    if says(text, "record") and kind is None and not says(text, "own_document"):
        return False
    is_day = day_in(text) is not None and says(text, "add", "move", "delete")
    return (
        kind is not None or says(text, "own_document") or requests.moves_to_an_hour(text) or is_day
    )


_RULES: Sequence[tuple[Work | None, Callable[[str], bool]]] = (
    ("orders", lambda text: says(text, *_ORDERS) and not says(text, "task", "names_newcomer")),
    (None, _says("introduces_self")),
    (None, lambda text: impossible_wish(text) is not None or len(text) > LONG_CHARS),
    *((work, _says(f"work_{work}")) for work in _WORKS),
    (None, _says("starts_plan")),
    ("own", _is_of_office),
    (None, wants_plan),
    (None, _says("roster")),
    ("visits", _says("wants_booking", "next_visit", "list_appointments", "of_visits")),
    ("visits", names_a_time),
    ("persons", _says("of_insurance")),
    ("document", _says("document_asked")),
    ("own", lambda text: says(text, "orders") and not points_only(text)),
)
"""The first that fits decides; None for what is nobody's in particular."""


_BESIDE_A_FORM = ("agrees_send", "asks_bookings", "greeting", "help_wanted", "roster", "thanks")


def leaves_question(read: Utterance, waiting: str) -> bool:
    """Whether a message is no answer to what `waiting` asked the user, but somebody else's work."""
    text = read.text
    is_beside = says(text, *_BESIDE_A_FORM) and not says(text, "part_of_day_alone")
    is_others = read.command == "help" or wants_plan(text) or is_beside
    is_others = is_others or any(one.tool == "chart_summary" for one in read.about)  # "for whom?"
    if is_others or _is_of_no_form(text):
        return True
    is_answer = read.agent in (None, waiting) or read.references or as_move(text, None) != text
    if is_answer or says(text, "move_or_change", "another_hour", "earliest"):
        return False
    if work_in(text) == "own" or says(text, "task", "email"):
        return True
    asks_chart = bool(read.about) and (asks_question(text) or read.task == "answer")
    is_part = part_of_day_in(text) is not None and len(text.split()) <= _SHORT_ANSWER_WORDS
    slots = {*slots_in(text, is_booking=True), *(["time_preference"] if is_part else [])}
    slots = slots if slots != {"procedure_preference"} or "?" not in text else set()  # "HPV jab?"
    # "At 3pm" is looked for in the chart by none of its kinds, and answers.
    named = (one for one in read.about if part_of_day_in(one.name) is None)
    is_of_kind = asks_chart and any(one.tool != SEARCH for one in named)
    if is_of_kind and slots <= _TIMES and not says(text, "free"):
        return True
    return not slots and (requests.is_of_own_things(text) or asks_chart)


def orders_work(read: Utterance, waiting: str) -> bool:
    """Whether a message begins with an order of what another agent does: "book a time"."""
    is_theirs = read.task == "talk" and read.agent not in (None, waiting)
    is_order = read_clauses(plain(in_english(read.text))).verb or work_in(read.text)
    return is_theirs and bool(is_order)


def _is_of_no_form(text: str) -> bool:
    """Whether `text` orders, asks of the past, or starts a scenario: "start oncology intake"."""
    asks_past = asks_question(text) and says(text, "tells_of_past")
    asks_past = asks_past and not says(text, "free", "timetable")
    starts = says(text, "scenario_start")
    starts = starts and {*slots_in(text, is_booking=True)} <= {"doctor_preference"}
    others = says(text, "withdraws_order", "updates_report", "new_task", "send")
    return asks_past or starts or others or impossible_wish(text) is not None


def as_reports(text: str, about: Sequence[ChartQuestion]) -> tuple[ChartQuestion, ...]:
    """Return the questions with what a procedure found asked of its report.

    "When was the biopsy?" is answered by the procedures; "what did the biopsy show?" by pathology.
    """
    if not says(text, "asks_findings"):
        return tuple(about)
    return tuple(map(_of_report, about))


def _of_report(question: ChartQuestion) -> ChartQuestion:
    if question.tool != "procedures":
        return question
    tool = next((tool for topic, tool in _REPORTS if says(question.name, topic)), None)
    return question if tool is None else replace(question, tool=tool, arguments={})
