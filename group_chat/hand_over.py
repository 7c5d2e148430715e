"""What the last line of an agent's message asks for (spec pages 1.7 and 7, R25)."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

LAST_LINE_LIMIT_CHARS = 1_000

_MENTION = r"\*{1,2}[A-Za-z][\w-]{0,63}\*{1,2}"
_GROUP = rf"{_MENTION}(?:\s*(?:,\s*and|,|and|&|\+|/)\s*{_MENTION})*"
_SENTENCE = r"(?:^|[.!?:;]\s+)"
_ADDRESS = re.compile(
    rf"(?P<by>{_SENTENCE}|\bto\s+)(?P<group>{_GROUP})(?=\s*(?:[,:;.!…–—-]|$|please\b))"
)
_NAME = re.compile(r"\*{1,2}([A-Za-z][\w-]{0,63})\*{1,2}")
_BACK = re.compile(
    rf"(?i:{_SENTENCE}back to you),?\s+(?P<stars>\*{{0,2}})(?P<name>[A-Za-z][\w-]{{0,63}})"
    r"(?P=stars)\s*[.!]?$"
)
_LIST_MARK = re.compile(r"^(?:[-•>#]\s+|\*\s+|\d{1,3}[.)]\s+)+")
_CLOSERS = " \t*_\"'`)]}”’»"


@dataclass(frozen=True, slots=True)
class HandsBack:
    """The line "Back to you *Agent*."."""

    agent: str


@dataclass(frozen=True, slots=True)
class Addresses:
    """One agent or several are asked to go on; in the order of the text, never empty."""

    agents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AsksUser:
    """The line is a question that no agent is asked to answer."""


@dataclass(frozen=True, slots=True)
class HandsToNobody:
    """The line is just text."""


HandOver: TypeAlias = HandsBack | Addresses | AsksUser | HandsToNobody


def read_hand_over(text: str, *, speaker: str, names: Iterable[str]) -> HandOver:
    """Return what the last line of `speaker`'s message asks for.

    Only agents of the team can be asked, by `*Name*` where an address can stand: at the start
    of a sentence or after "to", followed by punctuation, "please" or the end. A speaker who
    addresses nobody but itself hands to nobody.
    """
    line = last_line(text)
    known = {name.casefold(): name for name in names}
    back = _BACK.search(line)
    if back is not None and (agent := known.get(back["name"].casefold())) is not None:
        return HandsToNobody() if agent == speaker else HandsBack(agent)
    addressed = _addressed(line, known, speaker)
    if addressed:
        return Addresses(addressed)
    return AsksUser() if is_question(line) else HandsToNobody()


def last_line(text: str) -> str:
    """Return the last line with text, without list marks, at most its last 1,000 characters."""
    lines = [line for line in text.splitlines() if line.strip()]
    return _LIST_MARK.sub("", lines[-1].strip())[-LAST_LINE_LIMIT_CHARS:] if lines else ""


def is_question(line: str) -> bool:
    """Return whether `line` ends with a question mark, whatever closes after it."""
    return line.rstrip(_CLOSERS).endswith(("?", "？"))  # noqa: RUF001  # Chinese and Japanese use it


def _addressed(line: str, known: dict[str, str], speaker: str) -> tuple[str, ...]:
    asks = is_question(line)
    found: list[str] = []
    for address in _ADDRESS.finditer(line):
        # "Shall I hand over to *Radiology*?" asks the user; "*Radiology*, is it new?" does not.
        if asks and address["by"].strip() == "to":
            continue
        found += [known.get(name.casefold(), speaker) for name in _names(address["group"])]
    return tuple(dict.fromkeys(name for name in found if name != speaker))


def _names(group: str) -> Sequence[str]:
    return _NAME.findall(group)
