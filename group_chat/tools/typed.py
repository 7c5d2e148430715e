"""What the user typed, as opposed to what a model, a record or a tool said."""

from collections.abc import Iterator
from datetime import date

from data_models.errors import ToolInputError
from group_chat.turn_context import TurnContext
from services.language.names_within import words_of

_FULL_NAME_WORDS = 2
_YEAR_DIGITS = 4
_ASK = "the user has not typed that {what}; ask them for the full name and the date of birth"


def refuse_untyped(turn: TurnContext, *, name: str, birth_date: date) -> None:
    """Return if the user typed this person's full name and date of birth, for this patient.

    Else whoever writes into a record could have a model ask about anybody.

    Raises:
        ToolInputError: something is missing; the user is to be asked for it.
    """
    said = [frozenset(words_of(text)) for text in _typed(turn)]
    wanted = frozenset(words_of(name))
    if len(wanted) < _FULL_NAME_WORDS or not any(wanted <= words for words in said):
        raise ToolInputError(_ASK.format(what="full name"))
    if not any(_names_day(words, birth_date) for words in said):
        raise ToolInputError(_ASK.format(what="date of birth"))


def _typed(turn: TurnContext) -> Iterator[str]:
    yield turn.request.text
    for earlier in turn.request.history:
        yield earlier.user_message


def _names_day(words: frozenset[str], day: date) -> bool:
    """Tell whether day and year stand there; the month may be a word of any language."""
    numbers = {int(word) for word in words if word.isdecimal() and len(word) <= _YEAR_DIGITS}
    return day.day in numbers and bool({day.year, day.year % 100} & numbers)
