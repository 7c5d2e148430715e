"""What the last line of an agent's message asks for. Rules over words; pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from services.language.words.phrases import words_for

LAST_LINE_LIMIT_CHARS = 1_000
PROMISE_LIMIT_CHARS = 300

_MENTION = r"(?:\*{1,2}@?[A-Za-z][\w-]{0,63}\*{1,2}|@[A-Za-z][\w-]{0,63})"
_GROUP = rf"{_MENTION}(?:\s*(?:,\s*and|,|and|&|\+|/)\s*{_MENTION})*"
_SENTENCE = r"(?:^|[.!?:;]\s+)"
_ADDRESS = re.compile(
    rf"(?P<by>{_SENTENCE}|\bto\s+)(?P<group>{_GROUP})(?=\s*(?:[,:;.!…–—-]|$|please\b))"
)
_AT_ADDRESS = re.compile(rf"{_SENTENCE}@(?P<name>[A-Za-z][\w-]{{0,63}})\s+\S")
_NAME = re.compile(r"[*@]{1,3}([A-Za-z][\w-]{0,63})")
_WORD = re.compile(r"[A-Za-z][\w-]{0,63}")
_BACK = re.compile(
    rf"(?i:{_SENTENCE}(?:back to you|zurück an)),?\s+@?(?P<stars>\*{{0,2}})@?"
    r"(?P<name>[A-Za-z][\w-]{0,63})(?P=stars)\s*[.!]?$"
)
_LIST_MARK = re.compile(r"^(?:[-•>#]\s+|\*\s+|\d{1,3}[.)]\s+)+")
_BOLD_LINE = re.compile(r"^\*\*(?P<text>[^*]+(?:\*[^*]+\*[^*]*)*)\*\*$")
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+")
_CLOSERS = " \t*_\"'`)]}”’»"
_COURTESY_LIMIT_CHARS = 160


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
    """Return what the last line of `speaker`'s message asks for, courtesies behind it left out.

    Only agents of the team can be asked, by `*Name*` or `@Name` where an address can stand: at
    the start of a sentence or after "to", followed by punctuation, "please" or the end; `@Name`
    at the start of a sentence by whatever follows. A speaker who addresses nobody but itself
    hands to nobody.
    """
    known = {name.casefold(): name for name in names}
    line = _telling_line(text, known)
    back = _BACK.search(line)
    if back is not None and (agent := known.get(back["name"].casefold())) is not None:
        return HandsToNobody() if agent == speaker else HandsBack(agent)
    if addressed := _addressed(line, known, speaker):
        return Addresses(addressed)
    return AsksUser() if is_question(line) else HandsToNobody()


def hands_over(text: str, *, speaker: str, names: Iterable[str]) -> bool:
    """Whether a message asks somebody else to go on."""
    return isinstance(read_hand_over(text, speaker=speaker, names=names), Addresses)


def hands_back(text: str) -> bool:
    """Whether a message is but the line "Back to you *Agent*.", whoever says it."""
    return "\n" not in text.strip() and _BACK.match(_plain(text)) is not None


def promised_agent(text: str, *, speaker: str, names: Iterable[str]) -> str | None:
    """Return the one agent that a short message names without handing over to it, if it does.

    "I will ask Radiology to summarise the CT." tells the user what nobody does: a message that
    opens an answer, names one colleague and says little else promises that colleague's work.
    """
    known = {name.casefold(): name for name in names}
    if read_hand_over(text, speaker=speaker, names=known.values()) != HandsToNobody():
        return None
    named = [known.get(word.casefold()) for word in _WORD.findall(text)]
    others = list(dict.fromkeys(name for name in named if name is not None and name != speaker))
    return others[0] if len(others) == 1 else None


def last_line(text: str) -> str:
    """Return the last line with text, without list marks, at most its last 1,000 characters."""
    lines = [line for line in text.splitlines() if line.strip()]
    return _plain(lines[-1]) if lines else ""


def is_question(line: str) -> bool:
    """Return whether `line` ends with a question mark, whatever closes after it."""
    return line.rstrip(_CLOSERS).endswith(("?", "？"))  # noqa: RUF001  # Chinese and Japanese use it


def _telling_line(text: str, known: dict[str, str]) -> str:
    """Return the last line that is no courtesy, without the courtesies at its end."""
    for line in reversed([line for line in text.splitlines() if line.strip()][-8:]):
        sentences = _SENTENCE_END.split(_plain(line))
        while sentences and _is_courtesy(sentences[-1], known):
            sentences.pop()
        if sentences:
            return " ".join(sentences)
    return ""


def _plain(line: str) -> str:
    line = _LIST_MARK.sub("", line.strip())[-LAST_LINE_LIMIT_CHARS:]
    bold = _BOLD_LINE.match(line)
    return bold["text"].strip() if bold is not None and " " in bold["text"] else line


def _is_courtesy(sentence: str, known: dict[str, str]) -> bool:
    folded = sentence.casefold()
    if len(sentence) > _COURTESY_LIMIT_CHARS or not any(
        one in folded for one in words_for("courtesies")
    ):
        return False
    return not any(word in known for word in _WORD.findall(folded))


def _addressed(line: str, known: dict[str, str], speaker: str) -> tuple[str, ...]:
    asks = is_question(line)
    found: list[str] = []
    for address in _ADDRESS.finditer(line):
        # "Shall I hand over to *Radiology*?" asks the user; "*Radiology*, is it new?" does not.
        if asks and address["by"].strip() == "to":
            continue
        found += [known.get(name.casefold(), speaker) for name in _NAME.findall(address["group"])]
    found += [known.get(at["name"].casefold(), speaker) for at in _AT_ADDRESS.finditer(line)]
    return tuple(dict.fromkeys(name for name in found if name != speaker))
