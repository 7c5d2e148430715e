"""The words by which people point at things, as `en/pointing.yaml` has them."""

from collections.abc import Mapping
from typing import get_args

from data_models.tool_memory import EntityType
from services.language.words.expressions import expressions
from services.language.words.phrases import words_for

WORDS = expressions("en/pointing")
TYPE_NOUNS: Mapping[str, EntityType] = {
    noun: kind
    for kind in get_args(EntityType)
    if kind in WORDS.listed
    for noun in WORDS.words(kind)
}
PLURAL_NOUNS: Mapping[str, EntityType] = {f"{noun}s": kind for noun, kind in TYPE_NOUNS.items()}
TARGET_VERBS = frozenset(WORDS.words("targets"))
STOP_WORDS = frozenset(WORDS.words("stop")) | words_for("filler")
NUMBER_WORDS = {word: number for number, word in enumerate(WORDS.words("numbers"), 1)}
# Places count from 1, from the end from -1; 0 is the middle of three, or of any odd number.
ORDINALS: Mapping[str, int] = {
    **{word: place for place, word in enumerate(WORDS.words("ordinals"), 1)},
    "former": 1,
    "top": 1,
    "latter": 2,
    "bottom": -1,
    "penultimate": -2,
    "middlemost": 0,
}
TARGET_FORMS = WORDS.forms("targets")
VERB_FORMS = TARGET_FORMS | WORDS.forms("looking")
MOVING_FORMS = WORDS.forms("moving")
MAKING_FORMS = WORDS.forms("making")
CALLING_FORMS = WORDS.forms("calling")
ADDING_FORMS = WORDS.forms("adding")
GIVING_FORMS = WORDS.forms("giving")
