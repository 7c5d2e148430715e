"""Orders that are a whole message: clear, stop, help, wrong patient … Pure."""

from collections.abc import Mapping
from functools import cache, lru_cache

from services.language.folding import words_of
from services.language.phrases import says
from services.language.utterance import Command
from services.language.vocabulary import LANGUAGES, folded, replies

_LONGEST_CHARS = 80


def is_clear_command(text: str) -> bool:
    """Whether `text` is one of the exact commands that clear at once, nothing around them."""
    said = " ".join(without_outer_punctuation(text).casefold().split())
    return said in _clear_commands()


@lru_cache(maxsize=256)
def command_in(text: str) -> Command | None:
    """Return the order that `text` is, with "please", "no," and the like around it."""
    if is_clear_command(text):
        return "clear"
    words = words_of(text)
    if not words or len(text) > _LONGEST_CHARS:
        return None
    commands, around = _commands(), _around()
    starts = [at for at in range(len(words)) if all(each in around for each in words[:at])]
    ends = [at for at in range(len(words), 0, -1) if all(each in around for each in words[at:])]
    for start in starts:
        for end in ends:
            if (found := commands.get(tuple(words[start:end]))) is not None:
                return found
    if says(text, "what_is_held"):
        return "known"
    return "compare" if _compares(words) else None


def is_retracted(text: str) -> bool:
    """Whether `text` says, alone or before something else, that what was said is not so."""
    at = next((at for at, each in enumerate(text) if each in ",;:."), len(text))
    return "?" not in text and "retract" in (command_in(text), command_in(text[:at]))


def without_outer_punctuation(text: str) -> str:
    """Return `text` without what stands around its first and last letter or digit."""
    # No expression for the end: one that looks for it from every place in a long run is slow.
    start = next((at for at, each in enumerate(text) if each.isalnum()), len(text))
    end = next((at for at, each in enumerate(reversed(text)) if each.isalnum()), 0)
    return text[start : len(text) - end]


@cache
def _clear_commands() -> frozenset[str]:
    return frozenset(
        phrase.casefold()
        for language in LANGUAGES
        for phrase in replies(language).commands.get("clear", ())
    )


@cache
def _commands() -> Mapping[tuple[str, ...], Command]:
    """Return all but `clear`, which allows of nothing around it."""
    found: dict[tuple[str, ...], Command] = {}
    for language in LANGUAGES:
        for command, phrases in replies(language).commands.items():
            if command != "clear":
                for phrase in phrases:
                    found.setdefault(folded(phrase), command)
    return found


@cache
def _around() -> frozenset[str]:
    """Return the single words that may stand around an order."""
    one_word = {
        folded(phrase)[0]
        for language in LANGUAGES
        for phrase in (*replies(language).fillers, *replies(language).soft_yes)
        if len(folded(phrase)) == 1
    }
    return frozenset(one_word | {"no", "nein", "non", "sorry"})


def _compares(words: list[str]) -> bool:
    return any(tuple(words[: len(one)]) == one for one in _comparing())


@cache
def _comparing() -> frozenset[tuple[str, ...]]:
    return frozenset(folded(one) for language in LANGUAGES for one in replies(language).compares)
