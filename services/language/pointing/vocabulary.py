"""The words by which people point at things. Data, and the expressions built of it."""

import re
from collections.abc import Iterable, Mapping

from data_models.tool_memory import EntityType
from services.language.phrases import words_for
from services.language.pointing.folding import listed

_NOUNS: Mapping[EntityType, str] = {
    "calendar_event": "event meeting mtg appointment appt call booking invite invitation",
    "contact": "contact",
    "email": "email mail message",
    "document": "document doc file pdf",
    "task": "task todo",
    "plan": "plan",
    "location": "location place",
}
TYPE_NOUNS: Mapping[str, EntityType] = {
    noun: kind for kind, nouns in _NOUNS.items() for noun in nouns.split()
}
PLURAL_NOUNS: Mapping[str, EntityType] = {f"{noun}s": kind for noun, kind in TYPE_NOUNS.items()}

_TARGET = (
    "cancel delete remove drop scrap erase clear decline reject discard trash archive move "
    "reschedule postpone push shift change delay bring update edit rename extend shorten swap "
    "adjust modify send forward share reply respond answer attach mark complete finish close "
    "confirm accept approve snooze make set invite add skip ditch axe nix abandon tick untick "
    "dismiss void undo"
)
MOVING = frozenset(
    listed(
        "move reschedule postpone push shift change delay bring update edit rename extend shorten "
        "adjust modify make set put"
    )
)
GIVING = frozenset(["send", "forward", "share", "mark"])
ADDING = frozenset(["add", "invite", "attach", "include"])
_LOOKING = (
    "show open read view find get display see tell check give print describe explain summarize "
    "summarise download save pin flag star join keep leave use take pick choose select put book "
    "schedule create call email mail message text phone ring contact copy let inform notify "
    "remind ask look hear want meet include say miss"
)
TARGET_VERBS = frozenset(_TARGET.split())
VERBS = TARGET_VERBS | frozenset(_LOOKING.split())

CALENDAR_WORDS = frozenset({"agenda", "diary", "schedule", "list"})
"""Where something stands; behind "about", what it is about."""
STOP_WORDS = words_for("filler")

_IN_ORDER = "first second third fourth fifth sixth seventh eighth ninth tenth"
# Places count from 1, from the end from -1; 0 is the middle of three, or of any odd number.
ORDINALS: Mapping[str, int] = {
    **{word: place for place, word in enumerate(listed(_IN_ORDER), 1)},
    "former": 1,
    "top": 1,
    "latter": 2,
    "bottom": -1,
    "penultimate": -2,
    "middlemost": 0,
}
NUMBER_WORDS: Mapping[str, int] = {
    word: number
    for number, word in enumerate(
        listed("one two three four five six seven eight nine ten eleven twelve"), 1
    )
}


def any_of(words: Iterable[str]) -> str:
    """Return an expression for one of `words`, longest first."""
    return "(?:" + "|".join(sorted(map(re.escape, words), key=len, reverse=True)) + ")"


def forms_of(verb: str) -> tuple[str, ...]:
    """Return the verb and its -ing forms."""
    stem = verb.removesuffix("e")
    doubled = (f"{verb}{verb[-1]}ing",) if verb[-1] in "lpt" else ()
    return verb, f"{stem}ing", f"{verb}ing", *doubled


VERB_FORMS = frozenset(form for verb in VERBS for form in forms_of(verb))
TARGET_FORMS = frozenset(form for verb in TARGET_VERBS for form in forms_of(verb))
MOVING_FORMS = frozenset(form for verb in MOVING for form in forms_of(verb))
CALLING_FORMS = frozenset(form for verb in ("call", "phone", "ring") for form in forms_of(verb))
ADDING_FORMS = frozenset(form for verb in ADDING for form in forms_of(verb))
GIVING_FORMS = frozenset(form for verb in GIVING for form in forms_of(verb))
