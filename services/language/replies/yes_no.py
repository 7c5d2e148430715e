"""Whether a message says yes or no, the same for every question. Rules over words; pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, lru_cache
from typing import Literal, TypeAlias

from services.language.replies.addressing import without_address
from services.language.replies.corrections import place_of
from services.language.utterance import YesNo
from services.language.words.folding import words_of
from services.language.words.vocabulary import LANGUAGES, folded, replies

_Kind: TypeAlias = Literal["yes", "soft_yes", "go_on", "no", "fillers"]
_KINDS: tuple[_Kind, ...] = ("yes", "soft_yes", "go_on", "no", "fillers")
_SAYS_YES: frozenset[_Kind] = frozenset({"yes", "soft_yes", "go_on"})
_AGREES_LAST: frozenset[_Kind | None] = frozenset({"yes", "soft_yes", "fillers"})
_LONGEST_CHARS = 80
_LONGEST_CHANGE_CHARS = 500
_ALSO_CONSENT = ("book it", "book that", "cancel it", "cancel that", "move it", "move that")
_ASIDES = frozenset({"wait", "hold on", "hang on", "moment", "halt", "warte"})
_QUOTED = re.compile('"[^"]*"?|“[^”]*”?|„[^“]*“?|«[^»]*»?|`[^`]*`?')
_CONDITIONS = frozenset({"if", "unless", "once", "when", "wenn", "falls", "sobald", "si", "cuando"})
_JOINS = frozenset({"and", "und", "et", "y"})
_CLAUSE_END = re.compile(r"[,.;:!\n—–]")


@lru_cache(maxsize=256)
def yes_no_in(text: str) -> YesNo | None:
    """Return what `text` answers to a yes-or-no question: None where it says more or neither."""
    words = words_of(text)
    if ("?" in text and words != ("why", "not")) or text.endswith("+"):
        return None  # "K+" is potassium
    said, rest = _read(words, _phrases())
    if rest:
        to_change = (one for each in LANGUAGES for one in replies(each).changes)
        changes = bool(said & _SAYS_YES) and "no" not in said and _begins(rest, to_change)
        return "yes_with_changes" if changes and len(text) <= _LONGEST_CHANGE_CHARS else None
    if len(text) > _LONGEST_CHARS or not said - {"fillers"}:
        return None
    if "no" in said:
        return None if said & {"yes", "go_on"} else "no"
    return "yes"


def says_yes(text: str, *, also: AbstractSet[str] = frozenset()) -> bool:
    """Whether `text` agrees to what was asked, and says nothing else.

    Stricter than `yes_no_in`: "continue" and "looks good" may be said of a plan or of an answer,
    and a yes may archive or delete.

    Args:
        also: Phrases that agree to this question only, as "book it".
    """
    if len(text) > _LONGEST_CHARS or "?" in text or text.endswith("+"):
        return False
    phrases = {**_phrases(), **{folded(each): "yes" for each in also}} if also else _phrases()
    said, rest = _read(words_of(text), phrases)
    return not rest and "no" not in said and bool(said & {"yes", "soft_yes"})


def says_no(text: str) -> bool:
    """Whether `text` says no to a question or drops a plan, and nothing else."""
    return yes_no_in(text) == "no"


def behind_answer(text: str) -> str:
    """Return what waited behind the answer that lets it go on: "1: …", "yes: …"; else `text`."""
    head, _, waited = text.partition(": ")
    return waited if waited and (head.isdecimal() or yes_no_in(head) is not None) else text


def behind_yes_or_no(text: str) -> str:
    """Return the words of `text`, folded, without what agrees or refuses first or agrees last."""
    phrases = _phrases()
    _, rest = _read(words_of(text), phrases)
    while rest and phrases.get((rest[-1],)) in _AGREES_LAST:
        rest = rest[:-1]
    return " ".join(rest)


def names_a_deed(text: str) -> bool:
    """Whether an answer is an order where nothing was asked, as "cancel it"."""
    return any(each in " ".join(words_of(text)) for each in _ALSO_CONSENT)


def is_consent(text: str) -> bool:
    """Whether `text` begins by agreeing and holds no if or but: "yes, book it for ten"."""
    words = words_of(without_address(text))
    said, _ = _read(words, {**_phrases(), **{folded(each): "yes" for each in _ALSO_CONSENT}})
    objections = (one for each in LANGUAGES for one in (*replies(each).no, *replies(each).changes))
    objects = place_of(words, set(objections).difference(_ALSO_CONSENT)) is not None
    return bool(said & _SAYS_YES) and "no" not in said and not objects


def truth_in(text: str) -> bool | None:
    """Return what a reply about a person begins with: "no, never" is False, "I'm not sure" None."""
    words = words_of(text)
    lists = [replies(language) for language in LANGUAGES]
    if any(place_of(words, each.unsure) is not None for each in lists):
        return None
    denies = {one for each in lists for one in (*each.no, *each.also_false)}
    if _begins(words, denies.difference(_ASIDES)):
        return False
    agrees = (one for each in lists for one in (*each.yes, *each.soft_yes, *each.also_true))
    return True if _begins(words, agrees) else None


@cache
def _phrases() -> Mapping[tuple[str, ...], _Kind]:
    """Return every phrase of every language with what it says; the first language decides."""
    found: dict[tuple[str, ...], _Kind] = {}
    for language in LANGUAGES:
        lists = replies(language)
        each_kind = (lists.yes, lists.soft_yes, lists.go_on, lists.no, lists.fillers)
        for kind, phrases in zip(_KINDS, each_kind, strict=True):
            for phrase in phrases:
                found.setdefault(folded(phrase), kind)
    return found


def _read(
    words: Sequence[str], phrases: Mapping[tuple[str, ...], str]
) -> tuple[set[str], Sequence[str]]:
    """Return what the phrases say that `words` begin with, and the words behind them."""
    said: set[str] = set()
    at = 0
    while at < len(words):
        size = next((n for n in range(6, 0, -1) if tuple(words[at : at + n]) in phrases), 0)
        if not size or (at and len(words[at]) == 1 and words[at - 1] in _JOINS):
            break  # "and k" asks for potassium
        said.add(phrases[tuple(words[at : at + size])])
        at += size
    return said, words[at:]


def _begins(words: Sequence[str], phrases: Iterable[str]) -> bool:
    start = tuple(words[:6])
    return any(start[: len(folded(one))] == folded(one) for one in phrases)


def consent_in(text: str) -> Literal["yes", "no"] | None:
    """Return what `text` says in its writer's own words, outside of quotes; None if neither.

    A question agrees to nothing, and neither does a yes with an if or a but.
    """
    lines = (line for line in text.splitlines() if not line.lstrip().startswith(">"))
    own = _QUOTED.sub("", "\n".join(lines))
    if "?" in own or _CONDITIONS.intersection(words_of(own)):
        return None
    if yes_no_in(own) == "yes" or (is_consent(own) and yes_no_in(own) is None):
        return "yes"
    return "no" if says_no(own) or says_no(_CLAUSE_END.split(own, maxsplit=1)[0]) else None
