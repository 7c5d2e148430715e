"""What users said of the patient that a question about the chart is about: shown beside the rows.

It is no part of the record and is never mixed with it (spec page 12.1).
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from data_models.chat_context import Turn
from services.language.chart_questions import chart_questions
from services.language.commands import is_retracted, takes_back
from services.language.detection import language_of
from services.language.folding import words_of
from services.language.held_forms import StatementKind
from services.language.held_statements import HeldStatement, stated_in, withdrawn_value
from services.language.telling import is_told, puts_right_what_was_told, told_in
from services.language.text_words import telling_words
from services.language.utterance import ChartQuestion
from services.language.value_questions import values_told
from services.language.vocabulary import LANGUAGES
from services.language.work import own_kind_in

_KINDS_OF: dict[str, frozenset[StatementKind]] = {
    "allergies": frozenset({"allergy"}),
    "medications": frozenset({"medication"}),
    "care": frozenset({"code status"}),
    "history": frozenset({"social"}),
    "results": frozenset({"measurement", "social"}),
    "current_status": frozenset({"measurement"}),
}
# A question about these asks for all that was said of the kind.
_WHOLE_KINDS = frozenset({"", "directive", "code status", "social"})
_TOLD_OF = frozenset({"allergies", "medications", "problems", "procedures", "immunizations"})
_TELLING_CHARS = 4
_TURNS_READ, _TOLD_CHARS = 20, 300
_ANY_DAY = date(2000, 1, 1)


def said_of(
    questions: Sequence[ChartQuestion], held: Iterable[str], text: str = ""
) -> tuple[str, ...]:
    """Return the sentences of `held` that are about what `questions` ask, each once, in order.

    Args:
        text: The message; a note is also about what its words name: "may his wife be told?".
    """
    stated = [(quote, one) for quote in held for one in stated_in(quote)]
    typed = {word[:_TELLING_CHARS] for each in telling_words(text) for word in words_of(each)}
    fitting = (
        quote
        for quote, one in stated
        if (one.kind == "note" and typed & {word[:_TELLING_CHARS] for word in words_of(one.value)})
        or any(_is_about(one, each) for each in questions)
    )
    return tuple(dict.fromkeys(fitting))


def held_about(text: str, held: Sequence[str]) -> tuple[str, ...]:
    """Return the sentences of `held` that are about what `text` names: "his blood pressure"."""
    each = (chart_questions(text, today=_ANY_DAY, language=one) for one in LANGUAGES)
    asked = next(filter(None, each), ())
    return said_of(asked, held, text) or held_of_same(text, held)


class Told(NamedTuple):
    """What a user told in passing, and no memory holds: their words, the day, and who wrote them.

    With what put it right just behind it, a sentence each.
    """

    sentences: tuple[str, ...]
    on: date
    by: str = ""


def told_before(turns: Sequence[Turn]) -> list[Told]:
    """Return what users told of this patient in the last of `turns`, in their words.

    Without the last thing that a user told before they said that this is not so.
    """
    found: list[Told] = []
    was_told = False
    for said, turn in _lines_before(turns):
        line = _read(said)
        told = line.told
        is_right = bool(found) and (bool(told) or was_told) and line.puts_right
        was_told = bool(told) or is_right
        if line.takes_back:
            found = found[:-1] if found and found[-1].by == turn.user else found
            told = told if line.is_retracted else ()
        elif line.withdrawn is not None:
            found, told = without_what_is_forgotten(found, line.withdrawn), ()
        elif is_right:
            found[-1], told = found[-1]._replace(sentences=(*found[-1].sentences, said)), ()
        found += [Told((one,), turn.timestamp.date(), turn.user) for one in told]
    return found


class _Line(NamedTuple):
    """What a line that a user wrote tells, puts right and takes back."""

    told: Sequence[str]
    puts_right: bool
    takes_back: bool
    is_retracted: bool
    withdrawn: str | None


@lru_cache(maxsize=1_000)
def _read(said: str) -> _Line:
    """Read a line once: it stands before each of the turns that follow."""
    return _Line(
        told=told_in(said) if len(said) <= _TOLD_CHARS else (),
        puts_right=puts_right_what_was_told(said),
        takes_back=takes_back(said),
        is_retracted=is_retracted(said),
        withdrawn=withdrawn_value(said),
    )


def _lines_before(turns: Sequence[Turn]) -> Iterator[tuple[str, Turn]]:
    """Yield what users wrote in the last turns, a line each: also what waited for an answer.

    Nothing of what was said to be about somebody else, nor of the message that said so.
    """
    for each in (one for one in turns[-_TURNS_READ:] if not one.is_taken_back):
        for line in each.user_message.splitlines():
            said = " ".join(line.split())
            head, _, waited = said.partition(": ")  # behind the answer: "yes: her K was 6.1"
            # "Draft a mail to …: she is stable" tells it to somebody else.
            is_answer = bool(waited) and own_kind_in(head) is None
            is_answer = is_answer and is_told(waited) and not is_told(said)
            yield (waited if is_answer else said), each


def told_of(
    questions: Sequence[ChartQuestion], answer: str, told: Iterable[Told]
) -> tuple[str, ...]:
    """Return what of `told` is of what is asked, or names what the answer is about; each once.

    The answer from the record must not pass over it: that a drug was stopped, that the laboratory
    has phoned a value.
    """
    things = (each.partition("(")[0] for each in answer.split("**")[1::2])
    has_names = any(one.tool in _TOLD_OF for one in questions)
    named = set(_words(" ".join([*(one.name for one in questions), *things]))) if has_names else ()
    measured = {name for one in questions for name in one.arguments.get("names", ())}
    fitting = (
        each.sentences
        for each in told
        if any(not set(_words(one)).isdisjoint(named) for one in each.sentences)
        or any(measured & values_told(one) for one in each.sentences)
        or _tells_of_the_same(each, questions)
    )
    return tuple(dict.fromkeys(sentence for sentences in fitting for sentence in sentences))


def without_what_is_forgotten(told: Iterable[Told], value: str) -> list[Told]:
    """Return what of `told` is not of `value`, which the user wanted forgotten."""
    named = set(_words(value))
    return [
        each
        for each in told
        if all(named.isdisjoint(_words(one)) for one in each.sentences)
        and not _tells_of_the_same(each, _asked_in(value, each.on))
    ]


def _tells_of_the_same(told: Told, questions: Sequence[ChartQuestion]) -> bool:
    """Whether the words would ask for the same, were they a question: "his K was 6.1" for "K?"."""
    asked = {
        (one.tool, one.name.casefold())
        for one in questions
        if one.name or one.tool in _TOLD_OF  # "any allergies?"
    }
    return bool(asked) and any(
        not asked.isdisjoint({(one.tool, one.name.casefold()), (one.tool, "")})
        for words in told.sentences
        for one in _asked_in(words, told.on)
    )


@lru_cache(maxsize=1_000)
def _asked_in(words: str, on: date) -> Sequence[ChartQuestion]:
    return chart_questions(words, today=on, language=language_of(words, default=LANGUAGES[0]))


def held_of_same(text: str, held: Iterable[str]) -> tuple[str, ...]:
    """Return the sentences of `held` that speak of something that `text` speaks of as well."""
    said = set(_words(text))
    stated = [(quote, one) for quote in held for one in stated_in(quote)]
    return tuple(dict.fromkeys(quote for quote, one in stated if said & set(_words(one.about))))


def _is_about(statement: HeldStatement, question: ChartQuestion) -> bool:
    if statement.kind == "note":
        of_note = _asked_in(statement.value, _ANY_DAY)
        same = {(one.tool, name) for one in of_note for name in (one.name, one.head)}
        asked = f"{question.name} {question.said} {question.arguments.get('query', '')}"
        is_same = bool(question.name) and (question.tool, question.name) in same
        return is_same or not set(_words(statement.value)).isdisjoint(_words(asked))
    if statement.kind not in _KINDS_OF.get(question.tool, frozenset()):
        return False
    name = question.name.casefold()
    return name in _WHOLE_KINDS or statement.about in name or name in statement.about


def _words(text: str) -> Iterator[str]:
    return (word[:_TELLING_CHARS] for word in words_of(text) if len(word) >= _TELLING_CHARS)
