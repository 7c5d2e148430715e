"""Whom a message calls by name. Pure."""

import re
from collections.abc import Iterator, Sequence

from services.language.replies.plan_change import agents_wanted
from services.language.utterance import TeamMember
from services.language.words.phrases import says

_AT = re.compile(r"^\s*@\s*([^\W\d_][\w-]*)[\s,:.!-]*")
_COLON = re.compile(r"^\s*\*{0,2}([^\W\d_][\w-]*)\*{0,2}\s*:\s*")
_ANYBODY = re.compile(r"^\s*(?:@[\w-]+[\s,:]*|\*{0,2}[\w-]+\*{0,2}\s*:\s*)")
_NAMES = re.compile(r"[^\W\d_][\w-]*")
_PAUSES = re.compile(r"[,:;.!]")
_INTRODUCTION_CHARS = 80
_STARRED = re.compile(r"^\s*\*{1,2}([^\W\d_][\w-]*)\*{1,2}[\s,:.!-]*")


def addressee_in(text: str, team: Sequence[TeamMember]) -> tuple[str | None, str]:
    """Return the agent that `text` begins by calling, if any, and what is said to it."""
    known = {each.name.casefold(): each.name for each in team}
    for called, words in calls_in(text):
        if (name := known.get(called.casefold())) is not None:
            return name, words
    return None, text


def sends_several(text: str, team: Sequence[TeamMember]) -> bool:
    """Whether `text` gives work to agents by name, "have A and B look at it", or plans some."""
    others = [one.name for one in team if not one.is_facilitator]
    if says(text, "plan") and not says(text, "speaks_of_plan") and agents_wanted(text, others):
        return True
    return says(text, "gives_work") and len({*_NAMES.findall(text)} & {*others}) > 1


def calls_in(text: str) -> Iterator[tuple[str, str]]:
    """Yield whom `text` may begin by calling, as written, and what is said to them."""
    for pattern in (_AT, _COLON, _STARRED):
        if (found := pattern.match(text)) is not None:
            yield found[1], text[found.end() :]


def without_address(text: str) -> str:
    """Return `text` without "@Name" or "Name:" at its beginning, whoever that is."""
    return _ANYBODY.sub("", text, count=1)


def behind_introduction(text: str) -> str:
    """Return `text` without what only greets or opens: "Hi, I am Dr. Keller, what …?"."""
    ends = (found.start() for found in _PAUSES.finditer(text, 0, _INTRODUCTION_CHARS))
    end = max((one for one in ends if says(text[:one], "greeting", "only_opens")), default=-1)
    rest = text[end + 1 :].strip() if end >= 0 else ""
    return behind_introduction(rest) if rest else text.strip() or text
