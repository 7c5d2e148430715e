"""Words that act as a whole message: the clear command, yes, no and a plan's confirmation."""

import re
from collections.abc import Set as AbstractSet

CLEAR_COMMANDS = frozenset({"clear", "clear patient", "clear context", "clear patient context"})
CONFIRMATIONS = frozenset(
    {"confirm", "yes", "proceed", "continue", "ok", "okay", "sure", "sounds good", "go ahead"}
)
# Narrower than a plan's confirmation: "continue" and "proceed" alone may mean the plan,
# and a yes may archive everything.
YES = frozenset(
    {"yes", "y", "yeah", "yep", "confirm", "ok", "okay", "sure", "go ahead", "do it", "clear it"}
)
NO = frozenset(
    {
        "no",
        "n",
        "nope",
        "cancel",
        "stop",
        "don't",
        "do not",
        "never mind",
        "nevermind",
        "not now",
        "forget it",
        "forget that",
        "forget about it",
    }
)
_FILLERS = frozenset({"please", "pls", "thanks", "thank you"})
_LONGEST_CHARS = 80
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


def is_clear_command(text: str) -> bool:
    """Whether `text` is one of the commands that clear at once (spec page 1.8)."""
    return " ".join(without_outer_punctuation(text).casefold().split()) in CLEAR_COMMANDS


def is_confirmation(text: str) -> bool:
    """Whether `text` lifts a plan's gate: only confirmation words, as in "yes, proceed"."""
    return _consists_of(text, CONFIRMATIONS, needed=CONFIRMATIONS)


def is_yes(text: str, *, also: AbstractSet[str] = frozenset()) -> bool:
    """Whether `text` says yes to an open question, and nothing else.

    Args:
        also: Phrases of at most two words that agree to this question only, as "book it".
    """
    return _consists_of(text, YES | CONFIRMATIONS | also, needed=YES | also)


def is_no(text: str) -> bool:
    """Whether `text` says no to a question or cancels a plan, and nothing else."""
    return _consists_of(text, NO, needed=NO)


def without_outer_punctuation(text: str) -> str:
    """Return `text` without what stands around its first and last letter or digit."""
    # No expression for the end: one that looks for it from every place in a long run is slow.
    start = next((at for at, each in enumerate(text) if each.isalnum()), len(text))
    end = next((at for at, each in enumerate(reversed(text)) if each.isalnum()), 0)
    return text[start : len(text) - end]


def _consists_of(text: str, phrases: AbstractSet[str], *, needed: AbstractSet[str]) -> bool:
    if len(text) > _LONGEST_CHARS:
        return False
    words = _WORD.findall(text.casefold().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))
    said: set[str] = set()
    while words:
        phrase = _leading_phrase(words, phrases | _FILLERS)
        if phrase is None:
            return False
        said.add(phrase)
        del words[: len(phrase.split())]
    return bool(said & needed)


def _leading_phrase(words: list[str], phrases: AbstractSet[str]) -> str | None:
    """Return the phrase of two words or one that `words` begin with."""
    pair = " ".join(words[:2])
    if pair in phrases:
        return pair
    return words[0] if words[0] in phrases else None
