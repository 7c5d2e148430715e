"""Checks what a model takes for statements about the patient against the user's words. Pure.

A model says which sentences state something; each is held word for word or not at all. What it
says in words of its own, a question, a possibility, hearsay, somebody else's matter and what no
guard of ours can read stays out (spec page 12.1).
"""

from collections.abc import Collection, Iterable, Iterator

from services.language.told.held_forms import LANGUAGES
from services.language.told.held_statements import HeldStatement, plain_sentence
from services.language.words.detection import language_of

_SHORTEST_WORDS = 3
STATED_LIMIT = 3


def statements_read(
    quotes: Iterable[str], text: str, names: Collection[str] = ()
) -> tuple[HeldStatement, ...]:
    """Return those of `quotes` that are sentences of `text` about the patient, in order."""
    if language_of(text, default="") not in LANGUAGES:
        return ()
    return tuple(dict.fromkeys(_checked(list(quotes)[:STATED_LIMIT], text, names)))


def _checked(quotes: Iterable[str], text: str, names: Collection[str]) -> Iterator[HeldStatement]:
    for quote in quotes:
        said = plain_sentence(quote, text, names)
        if said is not None and len(said.split()) >= _SHORTEST_WORDS:
            words = said.rstrip(" .!;")
            yield HeldStatement("note", words, "present", words.casefold(), said, read_by="model")
