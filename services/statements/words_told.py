"""Whether rows have the words that are told: of themselves, in another form or by a name. Pure."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from services.language.statement_words import statement_words
from services.statements.rows import BEGINNING

INFLECTIONS = ("en", "n", "e", "es", "er", "em")
_FORMS = ("ing", "ed", *INFLECTIONS)
SHORT_FORM, SHORT = 5, 3


def has_all(said: AbstractSet[str], known: AbstractSet[str], initials: Sequence[str] = ()) -> bool:
    """Whether all words that are said are known: of themselves, in another form or by a name."""
    if said <= known:
        return True
    begun = {word[:BEGINNING] for word in known}
    return all(
        word in known
        or word[:BEGINNING] in begun
        or is_named(word, known)
        or _is_of_two(word, known)
        or any(word.removesuffix(ending) in known for ending in _FORMS if len(word) > SHORT_FORM)
        or (len(word) == SHORT and any(word in one for one in initials))
        for word in said
    )


def is_named(word: str, known: AbstractSet[str]) -> bool:
    """Whether a word is of another name of what is known: `Kalium`, `clot`."""
    return any(one <= known for one in statement_words().named.get(word, ()))


def _is_of_two(word: str, known: AbstractSet[str]) -> bool:
    """Whether two known words are written as one: `first-trimester`, whose stem has no hyphen."""
    return any(word[:at] in known and word[at:] in known for at in range(4, len(word) - 1))
