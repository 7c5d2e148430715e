"""Keeps other patients out of what models see of a clinician's own calendar and mail."""

import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

from services.tool_memory.folding import plain

OTHER_APPOINTMENT = "other appointment"
_TIME_FIELDS = ("id", "kind", "start", "end", "is_all_day", "received", "due")
_WORD = re.compile(r"[^\W_]+")
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ß": "ss", "æ": "ae", "œ": "oe"})
_Form: TypeAlias = tuple[str, ...]


def names_other(row: Mapping[str, Any], others: Collection[str]) -> bool:
    """Whether `row` holds an id or a name of another patient, as whole words.

    Case, accents and what stands between the words make no difference.
    """
    if not others:
        return False
    forms, longest = _forms(others if isinstance(others, frozenset) else frozenset(others))
    return any(_holds(words_of(text), forms, longest) for text in _texts(row))


def with_time_only(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a model may see of an item that names another patient."""
    return {
        "title": OTHER_APPOINTMENT,
        **{name: row[name] for name in _TIME_FIELDS if row.get(name)},
    }


def words_of(text: str) -> _Form:
    """Return the words and numbers of `text` without case and accents."""
    return tuple(_WORD.findall(plain(text).casefold().translate(_LETTERS)))


def _holds(words: _Form, forms: frozenset[_Form], longest: int) -> bool:
    return any(
        words[at : at + length] in forms
        for at in range(len(words))
        for length in range(1, min(longest, len(words) - at) + 1)
    )


def _texts(node: Any) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    elif isinstance(node, Mapping):
        for key, value in node.items():
            yield str(key)
            yield from _texts(value)
    elif isinstance(node, list | tuple):
        for value in node:
            yield from _texts(value)
    elif node is not None:
        yield str(node)


@lru_cache(maxsize=64)
def _forms(others: frozenset[str]) -> tuple[frozenset[_Form], int]:
    forms = frozenset(words_of(one) for one in others) - {()}
    return forms, max(map(len, forms), default=0)
