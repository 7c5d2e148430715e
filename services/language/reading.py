"""Reads one message into an `Utterance`, by exact rules alone. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from typing import TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from services.language.addressing import addressee_in
from services.language.chart_questions import chart_questions
from services.language.chart_vocabulary import measured_nouns
from services.language.commands import command_in
from services.language.detection import language_of
from services.language.folding import words_of
from services.language.follow_ups import followed_up, is_of_its_kind, leans_in
from services.language.held_statements import held_statements
from services.language.phrases import says
from services.language.references import numbers_in, place_in, references_in
from services.language.requests import orders_drug
from services.language.tools_named import SEARCH
from services.language.utterance import ChartQuestion, Situation, TeamMember, Utterance
from services.language.vocabulary import LANGUAGES, read_words
from services.language.work import as_reports, doer_of, work_in
from services.language.yes_no import yes_no_in

# Whether a message tells something and asks nothing: "she gets short of breath on stairs". Pure.
#
# What is told is kept as the user's words; it is no question to the record. Only plain sentences
# of a subject with its verb behind it count: "her potassium" and "is she dizzy" ask.

_Openers: TypeAlias = tuple[tuple[str, ...], ...]
_LONGEST_SUBJECT = 5
_ADVERBS_LIMIT = 2


class TellingWords(BaseModel):
    """The words of one language that a told sentence begins with; the English file explains."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    leads: tuple[str, ...]
    persons: tuple[str, ...]
    owners: tuple[str, ...]
    verbs: tuple[str, ...]
    endings: tuple[str, ...] = Field(description="Of further verbs, right behind a person.")
    own_persons: tuple[str, ...]
    own_verbs: tuple[str, ...]
    adverbs: tuple[str, ...]
    asking: tuple[str, ...]


_PATIENT = "patient"
"""What stands where the name of the subject stood."""
_NOBODY = frozenset({"there", "es"})
_LEAST_ASKED = 2


def is_told(text: str) -> bool:
    """Whether `text` is a sentence that tells something of the patient, in any language."""
    if "?" in text:
        return False
    words = words_of(text)
    return any(_tells(words, _phrases(language)) for language in LANGUAGES)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Phrases:
    """The words of one language, folded."""

    leads: _Openers
    persons: _Openers
    owners: _Openers
    verbs: _Openers
    endings: tuple[str, ...]
    own_persons: _Openers
    own_verbs: _Openers
    adverbs: _Openers
    asking: _Openers


def _folded(phrases: Sequence[str]) -> _Openers:
    return tuple(sorted((tuple(words_of(each)) for each in phrases), key=len, reverse=True))


@cache
def _phrases(language: str) -> _Phrases:
    words = read_words(language, "telling", TellingWords)
    return _Phrases(
        leads=_folded(words.leads),
        persons=_folded(words.persons),
        owners=_folded(words.owners),
        verbs=_folded(words.verbs),
        endings=words.endings,
        own_persons=_folded(words.own_persons),
        own_verbs=_folded(words.own_verbs),
        adverbs=_folded(words.adverbs),
        asking=_folded(words.asking),
    )


def _tells(words: Sequence[str], phrases: _Phrases) -> bool:
    words = _without(words, phrases.leads, most=len(words))
    if not words or (words[0],) in phrases.asking:
        return False
    if (words[-1],) in phrases.asking and (words[-1],) not in phrases.verbs:
        return False  # "…, right" asks; "…, dass sie es nicht nimmt" ends with its verb
    if (behind := _behind(words, phrases.own_persons)) is not None:
        return _behind(_without(behind, phrases.adverbs), phrases.own_verbs) is not None
    if (behind := _behind(words, phrases.persons)) is not None:
        if words[0] == _PATIENT and _asks_of_them(behind, phrases):
            return False
        rest = _without(behind, phrases.adverbs)
        return _behind(rest, phrases.verbs) is not None or _ends_as_verb(rest, phrases)
    owned = _behind(words, phrases.owners)
    return owned is not None and _has_verb(owned, phrases)


def _asks_of_them(behind: Sequence[str], phrases: _Phrases) -> bool:
    """Whether a question stands behind the name of whom it is of: "Ada Byron is her hb low"."""
    if tuple(behind[:1]) not in phrases.asking or len(behind) <= _LEAST_ASKED:
        return False
    is_person = behind[1] in _NOBODY or _behind(behind[1:], phrases.persons) is not None
    owned = _behind(behind[1:], phrases.owners)
    return is_person or (owned is not None and {*owned[:1]} <= measured_nouns())


def _has_verb(owned: Sequence[str], phrases: _Phrases) -> bool:
    """Whether a verb stands behind a noun of at most five words: "her left leg is swollen"."""
    asking = (at for at, word in enumerate(owned) if (word,) in phrases.asking)
    longest = min(_LONGEST_SUBJECT, next(asking, len(owned)))  # "his eGFR when CKD was found"
    return any(
        _behind(_without(owned[size:], phrases.adverbs), phrases.verbs) is not None
        for size in range(1, longest + 1)
    )


def _ends_as_verb(words: Sequence[str], phrases: _Phrases) -> bool:
    return len(words) > 1 and words[0].endswith(phrases.endings)


def _behind(words: Sequence[str], openers: _Openers) -> Sequence[str] | None:
    """Return what stands behind the first of `openers` that begins `words`, if one does."""
    for opener in openers:
        if tuple(words[: len(opener)]) == opener:
            return words[len(opener) :]
    return None


def _without(
    words: Sequence[str], openers: _Openers, *, most: int = _ADVERBS_LIMIT
) -> Sequence[str]:
    for _ in range(most):
        behind = _behind(words, openers)
        if behind is None:
            break
        words = behind
    return words


LONGEST_READ_CHARS = 4_000
"""What is longer is a document: its beginning is read."""


def make_ready() -> None:
    """Make the words and expressions of the languages now, so that no user waits for them."""
    question = "What does the latest imaging show?"
    read(question, Situation(now=datetime(2026, 1, 1, tzinfo=UTC)))
    held_statements(question.removesuffix("?"))


def read(message: str, situation: Situation) -> Utterance:
    """Return what `message` says; what rules cannot tell is left at its default."""
    text = message[:LONGEST_READ_CHARS]
    addressee, words = addressee_in(text, situation.team)
    yes_no, command = yes_no_in(words), command_in(words)
    is_reply = yes_no is not None or command not in (None, "compare")
    words = question_before_deed(words) or words
    language, about = _asked(words, situation) if not is_reply else ("", ())
    about = () if _is_of_no_record(words, about) else as_reports(words, about)
    is_statement = not is_reply and is_told(words)
    if is_statement:
        about = ()  # what somebody tells is no question to the record
    elif not is_reply and situation.asked_before:
        language, about = _goes_on(words, language, about, situation)
    doer = None
    if not (is_reply or is_statement):
        doer = doer_of(words, situation.team, is_of_chart=bool(about))
        about = () if doer is not None else about
    return Utterance(
        text=message,
        language=language or language_of(words, default=situation.language),
        yes_no=yes_no,
        command=command,
        task="tell" if is_statement else "answer" if about else "talk",
        addressee=addressee,
        agent=addressee or doer or _first_for(about, situation.team),
        about=about,
        references=references_in(words),
        times=tuple(question.span for question in about[:1] if question.span is not None),
        numbers=numbers_in(words),
    )


def question_before_deed(text: str) -> str:
    """Return the question that stands before an order about tasks; "" where none does.

    Of "latest PSA? And delete all tasks" the question is answered; what it changes is asked alone.
    """
    question, mark, order = text.partition("?")
    is_both = bool(mark) and _orders_task(order) and not says(question, "task")
    return f"{question}?" if is_both and len(question.split()) > 1 else ""


def _orders_task(text: str) -> bool:
    return says(text, "task") and says(text, *_DEEDS_ON_TASKS)


def _is_of_no_record(words: str, about: Sequence[ChartQuestion]) -> bool:
    """Whether the words ask for no rows, whatever words of the chart they have.

    "Anna Keller's number" stands in an address book; "the task call the lab is done", "prescribe
    aspirin" and "cancel the first two" are orders, "what did I say about pain?" is asked of the
    talk, "when is Dr. Smith free?" of the clinic, and "what does CEA mean?" of a dictionary.
    """
    if not about:
        return True
    if place_in(words) is not None:
        return True
    is_contact = _OF_A_PERSON.search(words) and not any(map(_is_of_a_chart, about))
    is_task = _orders_task(words)
    is_order = says(words, "writes_record", "orders_test") and not words.rstrip().endswith("?")
    is_order = is_order or orders_drug(words)
    is_source = all(one.tool == SEARCH for one in about) and says(words, "asks_source")
    is_term = any(one.aspect == "average" for one in about) and says(words, "term")
    is_of_others = is_contact or is_task or is_order or is_source or is_term
    return bool(is_of_others) or work_in(words) is not None or says(words, *_NO_LOOK_UP)


def _goes_on(
    words: str, language: str, about: Sequence[ChartQuestion], situation: Situation
) -> tuple[str, tuple[ChartQuestion, ...]]:
    """Return what a short question asks, by what was asked just before it."""
    *earlier, last = situation.asked_before
    today, told = situation.now.date(), language_of(words, default="")
    sure = [language] if about else [told] if told else [situation.language, *LANGUAGES]
    spoken = leans_in(words, today=today, languages=dict.fromkeys(sure))
    if spoken is None:
        return language, tuple(about)
    before = read(last, replace(situation, asked_before=tuple(earlier)))
    if not told and not about:
        spoken = leans_in(words, today=today, languages=(before.language,)) or spoken
    found = followed_up(words, (*about,), before.about, today=today, language=spoken)
    if not found and earlier and is_of_its_kind(words, today=today, language=spoken):
        return _goes_on(words, language, about, replace(situation, asked_before=tuple(earlier)))
    return spoken, found


_NO_LOOK_UP = ("orders", "prints", "recalls", "starts_plan")
_DEEDS_ON_TASKS = ("delete", "move", "done", "add")
_OF_A_PERSON = re.compile(r"\b[A-Z][\w-]+ [A-Z][\w-]+['\u2019]s\b")
_OF_ADDRESS_BOOKS = frozenset({"phone", "address"})


def _is_of_a_chart(question: ChartQuestion) -> bool:
    """Whether a question that names a person is plainly about a chart."""
    is_vague = question.tool in (SEARCH, "results") and " " in question.name
    return not is_vague and question.name not in _OF_ADDRESS_BOOKS


def _asked(words: str, situation: Situation) -> tuple[str, tuple[ChartQuestion, ...]]:
    """Return what is asked of the chart, and in which language.

    Where no small word tells the language, it is that in which the message asks something known.
    """
    told = language_of(words, default="")
    today = situation.now.date()
    spoken = told or situation.language
    # Where every word is known in one of them it is that one.
    sure = () if told else dict.fromkeys((spoken, *LANGUAGES))
    found: tuple[ChartQuestion, ...] = ()
    for language, is_guess in (*((each, True) for each in sure), (spoken, False)):
        found = chart_questions(words, today=today, language=language, is_guess=is_guess)
        if found and (told or is_guess or found[0].tool != SEARCH):
            return language, found
    return spoken, found if told else ()


def _first_for(about: Sequence[ChartQuestion], team: Sequence[TeamMember]) -> str | None:
    """Return whose work the first question is: who answers such, else who has the tool."""
    if not about:
        return None
    tool = about[0].tool
    able = [member for member in team if tool in member.tools and not member.is_facilitator]
    first = [member for member in able if tool in member.answers]
    return next((member.name for member in (*first, *able)), None)
