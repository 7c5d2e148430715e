"""What a message asks the clinic or the office for, where one sentence says it. Pure."""

import re

from services.language.in_english import in_english

_READ_CHARS = 4_000
# "move the ward round to 4 pm": an hour is a goal in a calendar alone.
_MOVES_TO = re.compile(
    r"(?i)\A\W*(?:please |can you |could you )*(?:move|reschedule|postpone|push|shift)\b"
    r"[^.?!\n]{1,60}\bto (?:\d{1,2}(?::\d\d)?\s*(?:am|pm|o['’]clock)|\d{1,2}:\d\d)\b"
)
_NAMED_NUMBER = re.compile(r"\b[A-Z][\w-]+ [A-Z][\w-]+['’]s (?:\w+ )?number\b")
# "not Dr. Smith but Dr. Jones" refuses the first only.
_REFUSED = re.compile(
    r"(?i:\b(?:any(?: ?one|body)?|every(?: ?one|body)|all|somebody|someone)"
    r"(?: doctors?)?(?: else)? but"
    r"|\b(?:except|besides|other than|apart from|rather than|instead of|no|not|never|without|außer"
    r"|nicht|keinesfalls)(?: (?:for|with|by|to|see|bei|zu))*"
    r"|\b(?:don['’]?t|do not|won['’]?t|will not|cannot|can['’]?t)\b[^.,;!?\n]{0,40}?)"
    r"\s+(?:the )?(?:[Dd]r\.?|[Dd]octor)\s+([A-Z][\w'’-]+(?:\s+[A-Z][\w'’-]+)?)"
)


def moves_to_an_hour(text: str) -> bool:
    """Whether `text` moves something to an hour of the day."""
    return _MOVES_TO.search(in_english(text[:_READ_CHARS])) is not None


def names_a_number(text: str) -> bool:
    """Whether `text` names somebody's number, by first and family name."""
    return _NAMED_NUMBER.search(text[:_READ_CHARS]) is not None


def refused_doctors(text: str) -> frozenset[str]:
    """Return the names of doctors whom `text` rules out, as written: "anyone but Dr. Smith"."""
    return frozenset(match[1] for match in _REFUSED.finditer(text[:_READ_CHARS]))
