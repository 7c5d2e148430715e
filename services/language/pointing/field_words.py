"""Reads which field of a contact a request changes: "Maria Kern's phone". Pure."""

import re

from services.language.pointing.draft_text import DraftText
from services.language.pointing.request import Request
from services.language.pointing.vocabulary import forms_of

_EDITING = frozenset(
    form
    for verb in ("change", "update", "edit", "modify", "adjust", "set", "make")
    for form in forms_of(verb)
)
_FIELD = (
    r"(?:(?:(?:tele)?phone|mobile|cell|fax|landline)(?: (?:phone|number))*|(?:phone )?number"
    r"|email(?: address)?)"
)
_FIELD_OF = re.compile(
    rf"(?P<owner>'s|(?<=s)')\s+{_FIELD}\s*$|\bthe\s+{_FIELD}\s+(?:of|for)\b", re.IGNORECASE
)


def read_field(text: DraftText, verb: str, found: Request) -> None:
    """Take the field of a contact out of a change.

    It is no part of a name, and nothing but a contact has it: an event or a mail that names the
    same person is not what is meant.
    """
    if verb not in _EDITING:
        return
    match = _FIELD_OF.search(text.rest)
    if match is None:
        return
    text.rest = f"{text.rest[: match.start()]} {text.rest[match.end() :]}"
    found.noun, found.noun_word = "contact", "contact"
