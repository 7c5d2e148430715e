"""What a user may say about scenarios themselves; whole messages only. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

CommandKind: TypeAlias = Literal["where", "leave", "resume", "list", "start"]
_LONGEST_CHARS = 160
_WHERE = re.compile(r"(?:so |ok |and )?where (?:are|were) we(?: now| in (?:the|this) .+)?")
_LIST = re.compile(
    r"(?:which|what|list|show)(?: me)?(?: all)?(?: the)? scenarios(?: are there| do you have"
    r"| can you do| can (?:we|i) (?:start|do))?"
)
_LEAVE = re.compile(r"(?:leave|exit|pause|stop)(?: (?:the|this))? (?P<name>.+)")
_RESUME = re.compile(
    r"(?:resume|go on with|continue with|return to)(?:(?: the| this)? (?P<name>.+))?"
)
_START = re.compile(
    r"(?:(?:please|now|let'?s|let us|we|i|i'd|can|could|should|you|want to|need to|like to|would)"
    r" )*(?:start|begin|open|run|do|launch)(?: with)?(?: an?| the| a new)? (?P<name>.+)"
)
_ANY = frozenset({"scenario", "it", "this", "intake", "workflow"})
_TAIL = re.compile(
    r" (?:please|now|again|scenario|workflow|for (?:this |the )?patient(?:[ _]\S+)?|for \S+_\d+)$"
)


@dataclass(frozen=True, slots=True)
class Command:
    """What is wanted.

    Attributes:
        name: As it was said; "" for whichever is open or was left.
        is_bare: The message may be no command at all, only words.
    """

    kind: CommandKind
    name: str = ""
    is_bare: bool = False


def command_in(text: str) -> Command | None:
    """Return the command that `text` may be; a name has still to be a scenario's."""
    if len(text) > _LONGEST_CHARS:
        return None
    words = " ".join(re.sub(r"[^\w\s'-]", " ", text.casefold()).split())
    if _WHERE.fullmatch(words):
        return Command("where")
    if _LIST.fullmatch(words):
        return Command("list")
    patterns: tuple[tuple[CommandKind, re.Pattern[str]], ...] = (
        ("leave", _LEAVE),
        ("resume", _RESUME),
        ("start", _START),
    )
    for kind, pattern in patterns:
        found = pattern.fullmatch(words)
        if found is not None:
            return Command(kind, _plain(found["name"] or ""))
    return Command("start", _plain(words), is_bare=True) if len(words.split()) <= 8 else None


def named(name: str, titles: Mapping[str, str]) -> str | None:
    """Return the id of the scenario that `name` is, by title or id; None if it is none."""
    said = _words(name)
    for scenario_id, title in titles.items():
        if said and said in (_words(title), _words(scenario_id)):
            return scenario_id
    return None


def is_any(name: str) -> bool:
    """Whether `name` means whichever scenario is open or was left."""
    return name in _ANY or not name


def _plain(name: str) -> str:
    while (cut := _TAIL.sub("", name)) != name:
        name = cut
    return name.strip()


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold().replace("_", " ").replace("-", " ")))
