"""What users said of the patient that a question about the chart is about: shown beside the rows.

It is no part of the record and is never mixed with it (spec page 12.1).
"""

from collections.abc import Iterable, Iterator, Sequence

from services.language.folding import words_of
from services.language.held_forms import StatementKind
from services.language.held_statements import HeldStatement, stated_in
from services.language.utterance import ChartQuestion
from services.language.value_questions import values_told

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


def said_of(questions: Sequence[ChartQuestion], held: Iterable[str]) -> tuple[str, ...]:
    """Return the sentences of `held` that are about what `questions` ask, each once, in order."""
    stated = [(quote, one) for quote in held for one in stated_in(quote)]
    fitting = (quote for quote, one in stated if any(_is_about(one, each) for each in questions))
    return tuple(dict.fromkeys(fitting))


def told_of(
    questions: Sequence[ChartQuestion], answer: str, told: Iterable[str]
) -> tuple[str, ...]:
    """Return what of `told` names what is asked, or what the answer is about; each once.

    It is held by no memory: somebody told it in passing, such as that a drug was stopped, and the
    answer from the record must not pass over it.
    """
    measured = {name for one in questions for name in one.arguments.get("names", ())}
    values = [each for each in told if measured & values_told(each)] if measured else []
    if not any(one.tool in _TOLD_OF for one in questions):
        return tuple(dict.fromkeys(values))
    things = (each.partition("(")[0] for each in answer.split("**")[1::2])
    named = set(_words(" ".join([*(one.name for one in questions), *things])))
    return tuple(dict.fromkeys([*values, *(one for one in told if named & set(_words(one)))]))


def held_of_same(text: str, held: Iterable[str]) -> tuple[str, ...]:
    """Return the sentences of `held` that speak of something that `text` speaks of as well."""
    said = set(_words(text))
    stated = [(quote, one) for quote in held for one in stated_in(quote)]
    return tuple(dict.fromkeys(quote for quote, one in stated if said & set(_words(one.about))))


def _is_about(statement: HeldStatement, question: ChartQuestion) -> bool:
    if statement.kind == "note":
        return bool(set(_words(statement.value)) & set(_words(question.name)))
    if statement.kind not in _KINDS_OF.get(question.tool, frozenset()):
        return False
    name = question.name.casefold()
    return name in _WHOLE_KINDS or statement.about in name or name in statement.about


def _words(text: str) -> Iterator[str]:
    return (word[:_TELLING_CHARS] for word in words_of(text) if len(word) >= _TELLING_CHARS)
