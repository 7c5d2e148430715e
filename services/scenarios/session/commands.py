"""What a user may say about scenarios themselves; whole messages only. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from services.language.words.folding import words_of
from services.language.words.phrases import parts_in, says, without
from services.language.words.text_words import words_as_written

CommandKind: TypeAlias = Literal[
    "where", "question", "noted", "back", "skip", "leave", "resume", "list", "start"
]
_LONGEST_CHARS = 160
_PLAIN_KINDS: tuple[CommandKind, ...] = ("where", "question", "noted", "list", "back", "skip")
_KINDS: tuple[CommandKind, ...] = ("leave", "resume", "start")
_ANY = frozenset({"scenario", "szenario", "it", "this", "that", "das", "intake", "workflow"})


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
    for kind in _PLAIN_KINDS:
        if says(text, f"scenario_{kind}"):
            return Command(kind)
    for kind in _KINDS:
        if (found := parts_in(text, f"scenario_{kind}")) is not None:
            return Command(kind, _plain(found.get("name", "")))
    words = " ".join(words_as_written(text.casefold()))
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
    name = name.casefold()
    while (shorter := without(name, "scenario_tail").strip()) != name:
        name = shorter
    return name


def _words(text: str) -> str:
    return " ".join(words_of(text))
