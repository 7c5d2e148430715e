"""Reads one message into an `Utterance`, by exact rules alone. Pure."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import lru_cache, partial

from services.language.charts.chart_entries import measured_nouns
from services.language.charts.chart_words import lexicon
from services.language.charts.known_words import names_in, unknown_in
from services.language.charts.tools_named import SEARCH
from services.language.figures.full_dates import with_whole_years
from services.language.follow_ups.asked_otherwise import is_of_its_kind
from services.language.follow_ups.follow_ups import followed_up, leans_in
from services.language.people.whom_about import headings_of
from services.language.questions.chart_questions import chart_questions, unread_besides
from services.language.replies.addressing import addressee_in, behind_introduction, sends_several
from services.language.replies.commands import behind_retraction, command_in
from services.language.replies.corrections import correction_in
from services.language.replies.references import numbers_in, place_in, references_in
from services.language.replies.yes_no import yes_no_in
from services.language.requests.appointment_slots import names_a_time, slots_in
from services.language.requests.clock import hour_alone_in
from services.language.requests.requests import asks_number_of, orders_care
from services.language.requests.tool_requests import as_move, is_time_alone
from services.language.requests.work import as_reports, doer_of, own_kind_in, work_in
from services.language.several_requests import apart, orders_task
from services.language.told.held_statements import asks_to_hold, behind_corrections, held_statements
from services.language.told.other_figures import is_other_figure
from services.language.told.pasted_letters import asks_of_letter
from services.language.told.telling import (
    is_told,
    likely_kinds,
    may_ask,
    puts_right_what_was_told,
    told_in,
)
from services.language.utterance import ChartQuestion, Situation, Task, TeamMember, Utterance
from services.language.words.detection import WELL_READ, language_of
from services.language.words.folding import fold, words_of
from services.language.words.in_english import spelt
from services.language.words.people_words import in_one_letter, of_people
from services.language.words.phrases import says
from services.language.words.text_words import says_words
from services.language.words.vocabulary import LANGUAGES

_MESSAGES = (
    "What does the latest imaging show?",
    "Go back to the last one and tell me the stage.",
    "She says that her pain is worse today.",
    "Book a slot with Dr. Lee tomorrow at 10 and remind me to call her.",
)
_OF_WHOM = ("patient_beside", "child_of_a_chart", "another_patient")
"""What is looked for in each message about an open chart."""
LONGEST_READ_CHARS = 4_000
"""What is longer is a document: its beginning is read."""


def make_ready() -> None:
    """Make the words and expressions of what users ask, tell and order, so that nobody waits."""
    for one in _MESSAGES:
        read(one, Situation(now=datetime(2026, 1, 1, tzinfo=UTC)))
        says(one, *_OF_WHOM)
        headings_of(one)
        held_statements(one.removesuffix("?"))
        told_in(one)


@lru_cache(maxsize=256)
def reading_of(message: str, situation: Situation) -> Utterance:
    """Return what `message` says; the short ones that follow go on from what it was read as."""
    return read(message, situation)


def read(message: str, situation: Situation) -> Utterance:
    """Return what `message` says; what rules cannot tell is left at its default."""
    text = message[:LONGEST_READ_CHARS]
    addressee, words = addressee_in(text, situation.team)
    words = behind_introduction(spelt(in_one_letter(words), default=situation.language))
    words = with_whole_years(words, today=situation.now.date())
    yes_no, command = yes_no_in(words), command_in(words)
    yes_no = None if yes_no == "yes" and _asks_on(words, situation) else yes_no
    is_reply = yes_no is not None or command not in (None, "compare")
    is_bare = says(words, "bare", "roster") and not _asks_on(words, situation)  # "ok?"
    is_reply = is_reply or is_bare or says(words, "greeting", "thanks")
    words = next((one for one in apart(words) if not is_told(one)), words)
    language, about = _asked_of_record(words, situation) if not is_reply else ("", ())
    told = behind_retraction(words) or words
    is_deed = work_in(words) == "own" and says(words, "done")  # "the first one is done"
    is_statement = not (is_reply or is_deed) and (is_told(told) or _puts_right(words, situation))
    if is_statement:
        # What somebody tells is no question to the record, but for what may be either.
        about = about if may_ask(told) else ()
        if not about and language not in likely_kinds(told):
            language = situation.language  # "abdomen soft"
    elif not is_reply and situation.asked_before and not _is_of_what_was_done(words, situation):
        language, about = _goes_on(words, language, about, situation)
    doer = None
    is_own = is_reply or is_statement or situation.plan_is_open or addressee is not None
    is_for_several = not is_own and sends_several(words, situation.team)
    if is_for_several:
        about = ()  # one agent after the other, as a plan says
    elif not (is_reply or is_statement):
        doer = doer_of(words, situation.team, is_of_chart=bool(about))
        about = () if doer is not None else about
    return Utterance(
        text=message,
        language=_answered_in(words if about else text, language, situation, is_asked=bool(about)),
        yes_no=yes_no,
        command=command,
        task=_task(is_statement=is_statement, is_plan=is_for_several, is_answered=bool(about)),
        addressee=addressee,
        agent=addressee or doer or _first_for(about, situation.team),
        about=about,
        references=references_in(words),
        times=tuple(question.span for question in about[:1] if question.span is not None),
        numbers=numbers_in(words),
    )


def _asked_of_record(words: str, situation: Situation) -> tuple[str, tuple[ChartQuestion, ...]]:
    language, about = _asked(words, situation)
    if says(words, "shortens") and _sums_up_last(situation):
        return language, about
    is_of_letter = asks_of_letter(words, about, situation.asked_before)
    is_elsewhere = is_of_letter or _is_of_plan(words, situation) or _is_of_no_record(words, about)
    return language, () if is_elsewhere else as_reports(words, about)


def _sums_up_last(situation: Situation) -> bool:
    last = [reading_of(one, Situation(now=situation.now)) for one in situation.asked_before[-1:]]
    return any(each.tool == "chart_summary" for one in last for each in one.about)


def _is_of_plan(words: str, situation: Situation) -> bool:
    return situation.plan_is_open and says(words, "asks_plan")


def _answered_in(words: str, language: str, situation: Situation, *, is_asked: bool) -> str:
    """Return in which language is answered: a talk goes on in its own: "CA 19-9?", "2 sprays"."""
    told = language_of(words, default="") and language_of(words, default=situation.language)
    is_open = bool(situation.asked_before and language) and not told
    pieces = lexicon(language).pieces(fold(words)[0]) if is_open else ()
    spoken = situation.language or language  # "Diabetes?" is a word of either
    is_own = is_open and not (names_in(words, spoken) or unknown_in(words, language))
    is_of_any = any(one.of("name") for one in pieces) and not is_own
    said = (language or told) if is_asked else (told or language)
    return spoken if is_of_any else said or situation.language


def _asks_on(words: str, situation: Situation) -> bool:
    """Whether what else agrees goes on from a question to the record: "why not?"."""
    is_asked = "?" in words or says(words, "reason")
    is_open = situation.plan_is_open or not is_asked or not situation.asked_before
    return not is_open and bool(_goes_on(words, "", (), situation)[1])


def _task(*, is_statement: bool, is_plan: bool, is_answered: bool) -> Task:
    if is_statement:
        return "tell"
    return "plan" if is_plan else "answer" if is_answered else "talk"


def _puts_right(words: str, situation: Situation) -> bool:
    """Whether it puts right what was told just before, and is no order: "no, one bottle".

    "Not kiwi, it is banana" tells what is so, whatever was asked.
    """
    put_right = correction_in(words)
    old = words_of("" if put_right is None or yes_no_in(put_right.new) else put_right.old)
    if put_right is not None and old and put_right.new and says(words, "sets_right"):
        both, owners = f"{put_right.old} {put_right.new}", of_people("definite", "owners")
        return all(one.isdisjoint(words_of(both)) for one in (measured_nouns(), owners))
    before = [*map(behind_introduction, situation.asked_before[-3:])]
    orders = [
        n for n, s in enumerate(before, 1) if says(s, "orders", "new_task") or names_a_time(s)
    ]
    told = list(filter(is_told, before[max(orders, default=0) :]))  # "book 9:00", "make it 10"
    is_next = bool(told) and told[-1] == before[-1]
    is_right = is_next and (
        puts_right_what_was_told(words) or (bool(old) and says_words(told[-1], old))
    )
    # "No wait, 3 weeks not 2", behind a question as well, where the 2 was told.
    wrong = words_of("" if put_right is None else put_right.old.partition(", ")[0])
    is_right = is_right or (bool(wrong) and any({*wrong} <= {*words_of(one)} for one in told))
    if not is_right and not any(is_other_figure(words, one) for one in told):
        return False
    said = list(behind_corrections(words))
    return not any(own_kind_in(one) or says(one, "orders", "wants_booking") for one in said)


def _is_of_what_was_done(words: str, situation: Situation) -> bool:
    """Whether it is of a deed, and goes on from no question: "put it back", behind one "at 8"."""
    if _is_of_plan(words, situation):
        return True
    before = situation.asked_before[-1]
    is_hour = place_in(words) is not None and bool(slots_in(before, is_booking=True))
    is_time = is_hour or as_move(words, before) != words or says(words, "when_is_it")
    is_time = is_time or hour_alone_in(words) is not None  # and "the second" of some hours
    is_own = is_time and not reading_of(before, replace(situation, asked_before=())).about
    is_own |= work_in(words) in ("own", "visits") or orders_care(words)  # "mark it done"
    is_own |= says(words, "orders", "asks_source") and says(words, "points")  # "move it a week on"
    return is_own or says(words, *_OF_DEEDS, *_OF_THE_TALK)


def _is_of_no_record(words: str, about: Sequence[ChartQuestion]) -> bool:
    """Whether the words ask for no rows, whatever words of the chart they have.

    "Anna Keller's number" stands in an address book; "the task call the lab is done", "prescribe
    aspirin" and "cancel the first two" are orders, "what did I say about pain?" is asked of the
    talk, "when is Dr. Smith free?" of the clinic, and "what does CEA mean?" of a dictionary.
    """
    if not about or place_in(words) is not None or asks_number_of(words):
        return True
    is_contact = _OF_A_PERSON.search(words) and not any(map(_is_of_a_chart, about))
    is_task = orders_task(words)
    is_order = says(words, "writes_record", "orders_test", "reaches_people")
    is_order &= not words.rstrip().endswith("?") or says(words, "asks_you")
    is_order = is_order or orders_care(words)
    is_vague = all(one.tool == SEARCH for one in about)
    is_source = (is_vague or says(words, "makes_it")) and as_move(words) != words
    is_hour = is_time_alone(words) or as_move(words, None) != words
    is_source |= is_hour and "time_preference" in slots_in(words, is_booking=True)
    is_source = is_source or (is_vague and says(words, "asks_source", "calendar_event"))
    is_term = any(one.aspect == "average" for one in about) and says(words, "term")
    is_of_others = is_contact or is_task or is_order or is_source or is_term
    return bool(is_of_others) or work_in(words) is not None or says(words, *_NO_LOOK_UP)


def _goes_on(
    words: str, language: str, about: Sequence[ChartQuestion], situation: Situation
) -> tuple[str, tuple[ChartQuestion, ...]]:
    """Return what a short question asks, by what was asked just before it."""
    *earlier, last = [one for one in situation.asked_before if not asks_to_hold(one)] or [""]
    today, told = situation.now.date(), language_of(words, default="")
    own = [told, situation.language] if told else [situation.language, *LANGUAGES]
    sure = [language] if about else own
    if (spoken := leans_in(words, today=today, languages=dict.fromkeys(sure))) is None:
        return language, tuple(about)
    before = reading_of(last, replace(situation, asked_before=tuple(earlier)))
    if before.task == "tell" and not before.about:
        named, is_value = _named_in(last, before.language or "en", today)
        if is_value and not about:  # "weight 70.2", "before?"
            course = replace(named[0], aspect="trend", around=(), unread="")
            return before.language or spoken, (course,)
        before = replace(before, about=named)  # "started taz 4.5 g": it is that
        if earlier and not named:
            return _goes_on(words, language, about, replace(situation, asked_before=tuple(earlier)))
    if not told and not about:
        spoken = leans_in(words, today=today, languages=(before.language,)) or spoken
    found = followed_up(words, (*about,), before.about, today=today, language=spoken)
    is_older = not before.about or is_of_its_kind(words, today=today, language=spoken)
    is_older &= not any(one.tool == SEARCH and one.name for one in before.about)  # it is of that
    if not found and earlier and is_older:
        return _goes_on(words, language, about, replace(situation, asked_before=tuple(earlier)))
    found = unread_besides(found, words, today=today, language=spoken)
    return (spoken if found else language), found


def _named_in(told: str, language: str, today: date) -> tuple[tuple[ChartQuestion, ...], bool]:
    """Return the questions for what was told names, and whether it is one value."""
    found = chart_questions(told, today=today, language=language)
    named = tuple(one for one in found if one.name and one.tool != SEARCH)
    is_value = named == found and [one.tool for one in named] == ["results"]
    return named, is_value and any(map(str.isdigit, named[0].unread))


_OF_THE_TALK = (
    "updates_report",
    "sums_up_talk",
    "prints",
    "starts_plan",
    "asks_plan_open",
    "rewords",
)
_NO_LOOK_UP = (
    *_OF_THE_TALK, "adds_people", "agrees_send", "another_hour", "asks_cohort", "asks_language",
    "asks_of_deed", "asks_reminders", "asks_research", "asks_whether_drafted", "earliest", "orders",
    "new_task", "points_to_report", "puts_back", "recalls", "same_question", "why_open",
    "writes_letter",
)  # fmt: skip
_OF_DEEDS = ("agrees_send", "puts_back", "asks_of_deed", "new_task", "thanks")
_OF_A_PERSON = re.compile(r"\b[A-Z][\w-]+ [A-Z][\w-]+['\u2019]s\b")
_OF_ADDRESS_BOOKS = frozenset({"phone", "address"})


def _is_of_a_chart(question: ChartQuestion) -> bool:
    """Whether a question that names a person is plainly about a chart."""
    is_vague = question.tool in (SEARCH, "results") and " " in question.name
    return not is_vague and question.name not in _OF_ADDRESS_BOOKS


def _asked(words: str, situation: Situation) -> tuple[str, tuple[ChartQuestion, ...]]:
    """Return what is asked of the chart, and in which language.

    "Gewicht in Pfund" in a German talk: a small word of another language tells no language.
    """
    told = language_of(words, default="") and language_of(words, default=situation.language)
    language, found = _asked_in(told, words, situation)
    if told and told != situation.language and words.isascii():
        today, own = situation.now.date(), situation.language
        known = chart_questions(words, today=today, language=own, is_guess=True)
        is_told = found and names_in(words, told) and not names_in(words, own)
        return (own, known) if known and not is_told else (language, found)
    return language, found


def _asked_in(told: str, words: str, situation: Situation) -> tuple[str, tuple[ChartQuestion, ...]]:
    """Return what is asked in the language that small words have `told`.

    Where none does, it is that in which the message asks something known.
    """
    today = situation.now.date()
    every = (situation.language, *LANGUAGES)
    spoken = told or next((one for one in every if names_in(words, one)), situation.language)
    if unknown := unknown_in(words, spoken):
        best = min(WELL_READ if told in WELL_READ else LANGUAGES, key=partial(unknown_in, words))
        least = unknown_in(words, best)  # the "a" of "Hepatitis A Impfung" is no English
        is_best = least == 0 and names_in(words, best) >= names_in(words, spoken)
        spoken = best if is_best or (2 * least <= unknown and not told) else spoken
    # Where every word is known in one of them it is that one.
    sure = () if told else dict.fromkeys((spoken, *LANGUAGES))
    found: tuple[ChartQuestion, ...] = ()
    for language, is_guess in (*((each, True) for each in sure), (spoken, False)):
        found = chart_questions(words, today=today, language=language, is_guess=is_guess)
        if found and (told or is_guess or found[0].tool != SEARCH or not found[0].name):
            return language, found
    return spoken, found if told else ()


def _first_for(about: Sequence[ChartQuestion], team: Sequence[TeamMember]) -> str | None:
    """Return whose work the first question is: who answers such, else who has the tool."""
    if not about:
        return None
    tool = about[0].tool
    able = (member for member in team if tool in member.tools and not member.is_facilitator)
    first = sorted(able, key=lambda member: tool not in member.answers)
    return next((member.name for member in first), None)
