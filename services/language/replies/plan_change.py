"""How a user changes a plan, read exactly or not at all. Rules over words; pure."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import dropwhile
from typing import Literal, TypeAlias, TypeVar

from services.language.words.expressions import expressions

_PART = re.compile(r"[^\W_a-z]*[^\W_A-Z]+|[^\W_]+")
LIMIT_CHARS, _TELLING_CHARS = 200, 5
_V = TypeVar("_V")
Place: TypeAlias = Literal["first", "last", "before", "after", "before_close"]
Target: TypeAlias = int | str
"""A step's number, or an agent's name."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A step that is to have another place, or a new one.

    Attributes:
        place: `before_close` is before a last step that waits for all others.
        beside: The step before or after which, for those places.
        is_new: The user said to add it.
        text: What a new step is to do, in the user's own words.
    """

    target: Target
    place: Place = "last"
    beside: Target | None = None
    is_new: bool = False
    text: str = ""


@dataclass(frozen=True, slots=True)
class PlanChange:
    """What a message changes in the plan that is open.

    Attributes:
        skipped: Steps that are not to run.
        only: If there are any, no others run.
        moved: Steps with another place and new ones, in the order said.
        texts: New tasks of steps, in the user's own words, by number.
    """

    skipped: tuple[Target, ...] = ()
    only: tuple[Target, ...] = ()
    moved: tuple[Moved, ...] = ()
    texts: Mapping[int, str] = field(default_factory=dict)


_Verb: TypeAlias = Literal["skip", "only", "add", "move", "first"]
_WORDS = expressions("plan_change")
_AMONG = frozenset(_WORDS.words("among"))
_DOES: tuple[_Verb, ...] = ("skip", "only", "add", "move")
_TO: tuple[Place, ...] = ("first", "last", "before", "after")
_VERBS: Mapping[tuple[str, ...], _Verb] = {
    **{tuple(said.split()): verb for verb in _DOES for said in _WORDS.words(verb)},
    **{tuple(said.split()): "first" for said in _WORDS.words("begin")},
}
_PLACES: Mapping[tuple[str, ...], Place] = {
    tuple(said.split()): place for place in _TO for said in _WORDS.words(f"to_{place}")
}
_SKIPS_BEHIND = {tuple(said.split()): None for said in _WORDS.words("skip_behind")}
_ORDINALS = {word: place for place, word in enumerate(_WORDS.words("ordinals"), 1)}
_FILLERS = frozenset(_WORDS.words("fillers"))
_PARTS = ("report", "history", "pathology", "radiology", "trials")
_REFUSALS = frozenset(_WORDS.words("refusals"))
_EDITS = frozenset({"change", "edit", "make", "reword"})


def plan_change_in(
    text: str, *, names: Iterable[str], tasks: Mapping[int, str]
) -> PlanChange | None:
    """Return the change that `text` asks for; None unless every word of it is understood.

    Args:
        names: The team.
        tasks: What each of the plan's steps says, by its number, in the order shown.
    """
    numbers = list(tasks)
    if len(text) > LIMIT_CHARS or text.rstrip().endswith("?"):
        return None
    if (edited := _edited(text, numbers)) is not None:
        return edited
    aliases = _aliases(names, tasks)
    reader = _Reader(_without_refusal(_words(text), text), aliases, numbers)
    return _added(text, aliases) or reader.read()


def begins_change(text: str) -> bool:
    """Whether `text` sets out to change a plan, whether or not the rest of it is understood."""
    words = _words(text)
    if words[:1] and words[0] in _REFUSALS:
        del words[0]
    while words and words[0] in _FILLERS:
        del words[0]
    if len(words) < 2 or text.rstrip().endswith("?"):
        return False
    starts = [tuple(words[:size]) for size in (1, 2)]
    changes = any(_VERBS.get(start) in ("skip", "first") for start in starts) or words[0] == "add"
    changes &= words[0] not in ("not", "nicht")
    edits = words[0] in _EDITS and words[1] in ("step", "the", "plan")
    return changes or edits or (words[0] in ("move", "put"))


def agents_wanted(text: str, names: Iterable[str]) -> list[str]:
    """Return whom alone a wish for a plan wants, in its order: "board, but only pathology".

    Of several behind "with" nobody else is wanted; "a board with trials" wants them, too.
    """
    words = _words(text)
    listed = next((at for at, one in enumerate(words) if one in _AMONG), len(words))
    if len(several := agents_named(" ".join(words[listed:]), names := [*names])) > 1:
        return several
    does = [_VERBS.get((one,)) or _PLACES.get((one,)) for one in words]
    led = (at for at, one in enumerate(does) if one in ("only", "first"))
    return agents_named(" ".join(words[next(led, len(words)) :]), names)


def agents_named(text: str, names: Iterable[str]) -> list[str]:
    """Return whom `text` names in any of their names: "the imaging" is Radiology's."""
    aliases = _aliases(names, {})
    return list(dict.fromkeys(str(aliases[one,]) for one in _words(text) if (one,) in aliases))


@dataclass(slots=True)
class _Reader:
    words: list[str]
    aliases: Mapping[tuple[str, ...], Target]
    numbers: Sequence[int]
    at: int = 0
    verb: _Verb | None = None
    skipped: list[Target] = field(default_factory=list)
    only: list[Target] = field(default_factory=list)
    moved: list[Moved] = field(default_factory=list)
    waiting: list[Target] = field(default_factory=list)

    def read(self) -> PlanChange | None:
        while self.at < len(self.words):
            if not (
                self._verb_behind()
                or self._verb()
                or self._place()
                or self._target()
                or self._filler()
            ):
                return None
        if not self._close():
            return None
        change = PlanChange(tuple(self.skipped), tuple(self.only), tuple(self.moved))
        return None if change == PlanChange() else change

    def _verb_behind(self) -> bool:
        found = self._longest(_SKIPS_BEHIND)
        if found is None or not self.waiting or self.verb not in (None, "skip"):
            return False
        self.at += found[0]
        self.verb = "skip"
        return self._close()

    def _verb(self) -> bool:
        if (found := self._longest(_VERBS)) is None:
            return False
        size, verb = found
        if not self._close():
            return False
        self.at += size
        self.verb = verb
        return True

    def _place(self) -> bool:
        found = self._longest(_PLACES)
        if found is None or not self.waiting or self.verb in ("skip", "only"):
            return False
        size, place = found
        self.at += size
        beside: Target | None = None
        if place in ("before", "after"):
            while self._filler():
                pass
            if (beside := self._next_target()) is None:
                return False
        is_new = self.verb == "add"
        self.moved += [Moved(target, place, beside, is_new) for target in self.waiting]
        self.waiting.clear()
        self.verb = None
        return True

    def _target(self) -> bool:
        if (target := self._next_target()) is None:
            return False
        self.waiting.append(target)
        return True

    def _filler(self) -> bool:
        if self.at < len(self.words) and self.words[self.at] in _FILLERS:
            self.at += 1
            return True
        return False

    def _next_target(self) -> Target | None:
        if (named := self._longest(self.aliases)) is not None:
            self.at += named[0]
            return named[1]
        if self.at >= len(self.words):
            return None
        word = self.words[self.at]
        number = int(word) if word.isdecimal() and len(word) < 3 else self._ordinal(word)
        if number not in self.numbers:
            return None
        self.at += 1
        return number

    def _ordinal(self, word: str) -> int | None:
        following = self.words[self.at + 1 : self.at + 2]
        if following not in (["step"], ["one"]):
            return None
        if word == "last" and self.numbers:
            return self.numbers[-1]
        place = _ORDINALS.get(word, 0)
        return self.numbers[place - 1] if 0 < place <= len(self.numbers) else None

    def _close(self) -> bool:
        """End the clause before; False if it names something and does not say what to do."""
        waiting, verb = list(self.waiting), self.verb
        self.waiting.clear()
        self.verb = None
        match verb:
            case "skip":
                self.skipped += waiting
            case "only":
                self.only += waiting
            case "add":
                self.moved += [Moved(target, "before_close", is_new=True) for target in waiting]
            case "first":
                self.moved += [Moved(target, "first") for target in reversed(waiting)]
            case _:
                return not waiting
        return bool(waiting)

    def _longest(self, phrases: Mapping[tuple[str, ...], _V]) -> tuple[int, _V] | None:
        for size in (4, 3, 2, 1):
            phrase = tuple(self.words[self.at : self.at + size])
            if len(phrase) == size and phrase in phrases:
                return size, phrases[phrase]
        return None


def _without_refusal(words: list[str], text: str) -> list[str]:
    """Return `words` without a "no" that a change follows, for "no pathology" as "skip pathology".

    "No, pathology" stays: it may name whom the user wants instead.
    """
    if not words or words[0] not in _REFUSALS:
        return words
    behind = [*dropwhile(_FILLERS.__contains__, words[1:])]  # "no wait, only radiology"
    if any(tuple(behind[:size]) in _VERBS for size in (3, 2, 1)):
        return behind
    is_one_phrase = text.strip()[len(words[0]) :][:1] == " "
    return ["skip", *words[1:]] if is_one_phrase else words


def _edited(text: str, numbers: Sequence[int]) -> PlanChange | None:
    """Return the new task of one step, where `text` is "change step 3 to …"."""
    verb, _, rest = text.strip().partition(" ")
    step, _, task = rest.partition(" to ")
    number = {f"step {one}": one for one in numbers}.get(" ".join(step.casefold().split()))
    if verb.casefold() not in _EDITS or not task.strip() or number is None:
        return None
    return PlanChange(texts={number: task.strip()})


def _added(text: str, aliases: Mapping[tuple[str, ...], Target]) -> PlanChange | None:
    """Return the new step of "add a step: check the trials", where one agent alone is named."""
    head, _, task = text.partition(":")
    verb = tuple(one for one in _words(head) if one not in _FILLERS)
    agents = {aliases[(one,)] for one in _words(task) if isinstance(aliases.get((one,)), str)}
    if _VERBS.get(verb) != "add" or len(agents) != 1:
        return None
    return PlanChange(moved=(Moved(agents.pop(), "before_close", is_new=True, text=task.strip()),))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _of_one(words: Mapping[_V, Collection[str]]) -> dict[tuple[str, ...], _V]:
    """Return the words that only one has, each for that one: "just the timeline"."""
    said = [word for each in words.values() for word in each]
    return {(word,): one for one, each in words.items() for word in each if said.count(word) == 1}


def _aliases(names: Iterable[str], tasks: Mapping[int, str]) -> Mapping[tuple[str, ...], Target]:
    """Return what steps may be called: their agent's name, or words that only one has."""
    parts = {name: tuple(dict.fromkeys(map(str.casefold, _PART.findall(name)))) for name in names}
    told: dict[Target, Collection[str]] = {
        number: {one for one in _words(task) if len(one) >= _TELLING_CHARS}
        for number, task in tasks.items()
    }
    own = _of_one(parts)
    own |= {(one,): n for (word,), n in own.items() if word in _PARTS for one in _WORDS.words(word)}
    whole = {words: name for name, words in parts.items()}
    return {**_of_one(told), **own, **whole, **{(name.casefold(),): name for name in parts}}
