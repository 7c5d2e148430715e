"""The words by which people point at things. Data, and the expressions built of it."""

import re
from collections.abc import Iterable, Mapping

from data_models.tool_memory import EntityType
from services.language.phrases import words_for
from services.language.pointing.folding import listed

TYPE_NOUNS: Mapping[str, EntityType] = {
    "event": "calendar_event",
    "meeting": "calendar_event",
    "mtg": "calendar_event",
    "appointment": "calendar_event",
    "appt": "calendar_event",
    "call": "calendar_event",
    "booking": "calendar_event",
    "invite": "calendar_event",
    "invitation": "calendar_event",
    "contact": "contact",
    "email": "email",
    "mail": "email",
    "message": "email",
    "document": "document",
    "doc": "document",
    "file": "document",
    "pdf": "document",
    "task": "task",
    "todo": "task",
    "plan": "plan",
    "location": "location",
    "place": "location",
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
        """
    move reschedule postpone push shift change delay bring update edit rename extend shorten
    adjust modify make set put
    """
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
STOP_WORDS = frozenset(
    listed("""
    a an the my our your his her their its of in on at for with from to by about regarding re
    concerning and or but so then now just please pls plz kindly can could would will shall should
    may might must i we me us you he she they is are was were be been being am im ive id ill do
    does did done doing have has had having want wants need needs like let lets go going ahead
    thanks thank hi hello hey ok okay yes no yeah yep sure there here that this it one ones thing
    things which who whom what when where how why some any called named titled labelled labeled
    entitled subject again back up out off over asap immediately right away actually maybe instead
    too also as well still already only even really very anymore after all if into onto than
    upcoming entry item stuff slot scheduled planned currently mine calendar schedule inbox list
    agenda diary mr mrs ms dr prof sir madam t s re ll ve d m don other another same last first
    next recent latest newest sent received dated due thinking think guess supposed time o clock
    afternoon evening morning not myself him them those these both every each great good wait hmm
    um uh oh sorry look think know said says regarding until till because since also
    cancelled canceled moved wrong everything others several multiple rest remaining first second
    third fourth fifth sixth seventh eighth ninth tenth former latter both anything either
    day week month today happening happen taking held rid whichever
    """)
) | words_for("filler")

# Places count from 1, from the end from -1; 0 is the middle of three, or of any odd number.
ORDINALS: Mapping[str, int] = {
    "first": 1,
    "second": 2,
    "third": 3,
    "fourth": 4,
    "fifth": 5,
    "sixth": 6,
    "seventh": 7,
    "eighth": 8,
    "ninth": 9,
    "tenth": 10,
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
        listed(
            """
    one two three four five six seven eight nine ten eleven twelve
    """
        ),
        1,
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
