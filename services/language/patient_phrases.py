"""The plain wordings that code understands by itself, as patterns over a text's shape.

A shape is lower-case text with `<id>`, `<unfit>` and `<15>` in place of ids and numbers
(`candidates.Candidates.shape`). What these patterns do not know, a model is asked.
"""

import re

from services.language.expressions import expressions

_SAID = expressions("patients")

# "PT 15" is a clotting time; where a patient stands it is short for one.
# What follows a number that counts or measures something.

LEAD = _SAID.compiled("lead")
"""One polite or addressing beginning; strip them one by one."""


def behind_leads(text: str) -> int:
    """Return where `text` begins behind all its polite and addressing words."""
    place, lowered = 0, text.lower()
    while (lead := LEAD.match(lowered, place)) is not None:
        place = lead.end()
    return place


PLAYED_ROLE = _SAID.compiled("played_role")
"""What plays the part of the server or of a model in a text: pasted, whoever sent it."""

BARE_SWITCH = _SAID.compiled("bare_switch")
"""Nothing but a change of patient, by an id or by "patient 15"."""

BARE_SWITCH_BY_NUMBER = _SAID.compiled("bare_switch_by_number")
"""Nothing but a change of patient, by bare digits: "switch to 15"."""

BARE_SWITCH_TO_OTHER = _SAID.compiled("bare_switch_to_other")

WITHOUT_TARGET = _SAID.compiled("without_target")
"""A change of patient that does not say to whom."""

ACTIVATES = _SAID.compiled("activates")
"""An order whose object is a patient."""

TOPIC = _SAID.compiled("topic")
"""A message that begins with its patient, as a heading."""

STRONG_NUMBERS = _SAID.compiled("strong_numbers")
"""Numbers said in place of an id, one group each way of saying."""

WEAK_NUMBER = _SAID.compiled("weak_number")
"""A number that may be short for an id; what it counts would follow."""

ANY_NUMBER = re.compile(r"<(\d+)>")

UNFIT_TARGET = _SAID.compiled("unfit_target")
"""A token meant as an id that is none, where an order or a heading has its patient."""

OTHER_PATIENT = _SAID.compiled("other_patient")
"""Somebody other than the active patient is meant, or seems to be."""

OTHER_ONE = _SAID.compiled("other_one")
"""The same where another patient is known; else it is one of a list."""

THE_OTHER = _SAID.compiled("the_other")

PASSING = _SAID.compiled("passing")
"""Words beside which an id may be named without being turned to."""

NEGATED = _SAID.compiled("negated")

CLEARS = _SAID.compiled("clears")
"""A wish to clear that is not the exact command: it is asked about first.

"Forget that" is how people say "never mind"."""

CHANGE_WORDS = _SAID.compiled("change_words")
"""The words that always let a model read the message (spec page 1.3)."""

RELATIVE_WORDS = re.compile(r"\b(?:others?|another|previous|back|next|first|last|second)\b")
"""The words that do so once there are two patients."""
