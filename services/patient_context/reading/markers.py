"""How the server's own marks, the snapshot's and the footer's, can be imitated."""

import re

SNAPSHOT_PREFIX = "PATIENT_CONTEXT_JSON:"
FOOTER_MARK = "*PT_CTX:*"

# All patterns read folded text (`folding.fold`).
_BETWEEN = r"[ \t_\-*`~\\.]{0,4}"
_BEFORE = r"[*_`~\\]{0,3}"
_LEAD = r"[\s>*_`~\\#|\"'\-+=\[({.,:;]"
LEAD_LIMIT_CHARS = 80

_SNAPSHOT = [*"patient", _BETWEEN, *"context", _BETWEEN, *"json"]
_FOOTER = [*"pt", r"[*`~\\\-]{0,3}", "_", r"[*`~\\_]{0,3}", *"ctx"]
_LABELS = ("patient id", "session patients", "conversation id", "no active patient")


# Its colon tells it from a sentence that begins with the word.
_PATIENT_LINE = [*"patient", r"[*_`\\]{0,3}", ":"]


def _beginning_of(elements: list[str]) -> str:
    """Return a pattern for every beginning of what `elements` match, the empty one included."""
    pattern = ""
    for element in reversed(elements):
        pattern = f"(?:{element}{pattern})?"
    return pattern


def _label(text: str) -> list[str]:
    return [r"[ _]" if character == " " else character for character in text]


_MARKS = f"(?:(?P<snapshot>{''.join(_SNAPSHOT)})|(?P<footer>{''.join(_FOOTER)}))"
_BEGINNINGS = f"(?:{_beginning_of(_SNAPSHOT)}|{_beginning_of(_FOOTER)})"

MARK = re.compile(_BEFORE + _MARKS)
"""A mark anywhere in a line; group `snapshot` or `footer` tells which."""

MARK_ENDS = ("json", "ctx")
"""What a mark ends with: where neither is, none need be searched for."""

MARK_BEGINNING = re.compile(rf"{_BEFORE}{_BEGINNINGS}\Z")
"""The end of a text that may still become a mark; searched, so the leftmost one is found."""

LINE_MARK = re.compile(rf"{_LEAD}{{0,{LEAD_LIMIT_CHARS}}}{_MARKS}")
"""A line that begins with a mark, behind quotes, bullets or emphasis at most."""

LINE_MARK_BEGINNING = re.compile(rf"{_LEAD}{{0,{LEAD_LIMIT_CHARS}}}{_BEGINNINGS}\Z")
"""A line of which all that is known may still become one that begins with a mark."""

RULE = re.compile(r"\s*(?:-{3,}|\*{3,}|_{3,})\s*")
"""A horizontal rule, such as the footer's first line."""

FOOTER_ITEM = re.compile(
    rf"{_LEAD}{{0,{LEAD_LIMIT_CHARS}}}"
    rf"(?:(?:{'|'.join(''.join(_label(one)) for one in _LABELS)})\b|{''.join(_PATIENT_LINE)})"
)
"""A line below the footer's mark that belongs to it."""

FOOTER_ITEM_BEGINNING = re.compile(
    rf"{_LEAD}{{0,{LEAD_LIMIT_CHARS}}}"
    rf"(?:{'|'.join(_beginning_of(_label(one)) for one in _LABELS)}"
    rf"|{_beginning_of(_PATIENT_LINE)})\Z"
)
"""A line of which all that is known may still become a footer's item."""
