"""What users said of the patient that a question about the chart is about: shown beside the rows.

It is no part of the record and is never mixed with it (spec page 12.1).
"""

from collections.abc import Iterable, Iterator, Sequence, Set
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from data_models.chat_context import Turn
from services.language.chart_questions import chart_questions
from services.language.commands import is_retracted, takes_back
from services.language.corrections import correction_in
from services.language.detection import language_of
from services.language.folding import words_of
from services.language.held_forms import StatementKind
from services.language.held_statements import (
    HeldStatement,
    behind_corrections,
    stated_in,
    withdrawn_value,
)
from services.language.telling import (
    is_other_figure,
    is_told,
    puts_right_what_was_told,
    told_in,
)
from services.language.text_words import telling_words
from services.language.utterance import ChartQuestion
from services.language.vocabulary import LANGUAGES
from services.language.work import own_kind_in
from services.records.answers.allergens import kinds_with
from services.records.concepts.table import concept_table

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
    """Return those of `held` that are about what `questions` ask or the words of `text` name."""
    stated = [(quote, one) for quote in held for one in stated_in(quote)]
    asked = _words_asked(questions, text) if stated else frozenset()
    fitting = dict.fromkeys(
        quote
        for quote, one in stated
        if any(_is_of_its_kind(one, each) for each in questions)
        or (one.kind == "note" and _fits(one.value, asked, questions, _ANY_DAY))
    )
    return tuple(one for one in fitting if not any(one != each and one in each for each in fitting))


def held_about(text: str, held: Sequence[str]) -> tuple[str, ...]:
    """Return the sentences of `held` that are about what `text` names: "his blood pressure"."""
    each = (chart_questions(text, today=_ANY_DAY, language=one) for one in LANGUAGES)
    asked = next(filter(None, each), ())
    said, stated = set(_words(text)), [(quote, one) for quote in held for one in stated_in(quote)]
    same = dict.fromkeys(quote for quote, one in stated if said & set(_words(one.about)))
    return said_of(asked, held, text) or tuple(same)


class Told(NamedTuple):
    """What a user told in passing, and no memory holds, with what put it right; who, and when."""

    sentences: tuple[str, ...]
    on: date
    by: str = ""


def told_before(turns: Sequence[Turn]) -> list[Told]:
    """Return what users told in the last of `turns`, without what they said not to be so."""
    found: list[Told] = []
    was_told = False
    for said, turn in _lines_before(turns):
        told = _not_noted(said, tuple(told_in(said))) if len(said) <= _TOLD_CHARS else ()
        is_behind = (bool(told) or was_told) and puts_right_what_was_told(said)
        at = _place_put_right(found, said, is_behind=is_behind)
        was_told = bool(told) or at is not None
        if takes_back(said):
            found = found[:-1] if found and found[-1].by == turn.user else found
            told = told if is_retracted(said) else ()
        elif (withdrawn := withdrawn_value(said)) is not None:
            found, told = without_what_is_forgotten(found, withdrawn), ()
        elif at is not None:
            found[at], told = found[at]._replace(sentences=(*found[at].sentences, said)), ()
        found += [Told((one,), turn.timestamp.date(), turn.user) for one in told]
    return found


@lru_cache(maxsize=1_000)
def _not_noted(said: str, told: Sequence[str]) -> Sequence[str]:
    """Return what was told beside the notes of a line: these are held as they are."""
    noted = _noted(said) if told else []
    return [one for one in told if not any(one in quote for quote in noted)]


def _noted(said: str) -> list[str]:
    only = (one for one in stated_in(said) if not (one.corrects or one.only_if_held))
    return [one.quote for one in only if one.kind == "note"]


def _place_put_right(found: Sequence[Told], said: str, *, is_behind: bool) -> int | None:
    """Return which of `found` is put right: what has the old value, else what stands before."""
    correction = correction_in(said)
    old = frozenset(words_of(correction.old) if correction is not None else ())
    for at in reversed(range(len(found)) if old or any(behind_corrections(said)) else ()):
        told = " ".join(found[at].sentences)
        if (old and old <= {*words_of(told)}) or is_other_figure(said, told):
            return at
    return len(found) - 1 if found and is_behind else None


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
            is_answer = is_answer and is_told(waited) and not is_told(said) and not _noted(said)
            yield (waited if is_answer else said), each


def told_of(
    questions: Sequence[ChartQuestion], told: Sequence[Told], text: str = ""
) -> tuple[str, ...]:
    """Return what of `told` is of what is asked: the record's answer must not pass over it."""
    asked = _words_asked(questions, text) if told else frozenset()
    fitting = (
        each.sentences
        for each in told
        if any(_fits(one, asked, questions, each.on) for one in each.sentences)
    )
    return tuple(dict.fromkeys(sentence for sentences in fitting for sentence in sentences))


def without_what_is_forgotten(told: Iterable[Told], value: str) -> list[Told]:
    """Return what of `told` is not of `value`, which the user wanted forgotten."""
    named = frozenset(_words(value))
    return [
        each
        for each in told
        if not any(_fits(one, named, _asked_in(value, each.on), each.on) for one in each.sentences)
    ]


def _words_asked(questions: Sequence[ChartQuestion], text: str) -> Set[str]:
    """Return how the words begin that are asked about: typed, or of what is looked for."""
    names = [one.name for one in questions]
    names += [f"{one.said} {one.arguments.get('query', '')}" for one in questions]
    names += [each for one in questions for each in concept_table().also_called(one.name)]
    names += [each for one in questions if one.tool == "allergies" for each in kinds_with(one.name)]
    typed = {word[:_TELLING_CHARS] for each in telling_words(text) for word in words_of(each)}
    return typed.union(_words(" ".join(names)))


def _fits(sentence: str, asked: Set[str], questions: Sequence[ChartQuestion], on: date) -> bool:
    """Whether it has words that are asked about, or would ask for the same: "K was 6" for "K?"."""
    if not asked.isdisjoint(word[:_TELLING_CHARS] for word in words_of(sentence)):
        return True
    same = {each for one in questions for each in _things(one)}
    told = _asked_in(sentence, on) if same else ()
    return any(not same.isdisjoint({*_things(one), (one.tool, ""), _head(one)}) for one in told)


def _head(question: ChartQuestion) -> tuple[str, str]:
    return question.tool, question.head.casefold()  # "he fell out of bed" is a fall


def _things(question: ChartQuestion) -> Iterator[tuple[str, str]]:
    for name in (question.name, *question.arguments.get("names", ())):
        if name or question.tool in _TOLD_OF:  # "any allergies?"
            yield question.tool, name.casefold()


@lru_cache(maxsize=1_000)
def _asked_in(words: str, on: date) -> Sequence[ChartQuestion]:
    language = language_of(words, default=LANGUAGES[0])
    clauses = dict.fromkeys((words, *words.split(", ")))  # "DNR as of today, family meeting done"
    return [one for each in clauses for one in chart_questions(each, today=on, language=language)]


def _is_of_its_kind(statement: HeldStatement, question: ChartQuestion) -> bool:
    if statement.kind not in _KINDS_OF.get(question.tool, frozenset()):
        return False
    name = question.name.casefold()
    about, called = statement.about, concept_table().also_called(name)
    kinds = {name, *(kinds_with(name) if question.tool == "allergies" else ())}
    is_of_kind = not kinds_with(about).isdisjoint(kinds)  # aspirin is said of ibuprofen
    return name in _WHOLE_KINDS or about in name or name in about or about in called or is_of_kind


def _words(text: str) -> Iterator[str]:
    return (word[:_TELLING_CHARS] for word in words_of(text) if len(word) >= _TELLING_CHARS)
