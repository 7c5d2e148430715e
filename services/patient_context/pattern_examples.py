"""Derives examples from the operator's pattern, so that no text names a form by hand."""

import importlib
import itertools
import string
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

_parser: Any = importlib.import_module("re._parser")  # where `re` keeps it since Python 3.11

ALTERNATIVES_LIMIT = 16
# Digits and letters take turns where both may stand; 4 comes first, as in patient_4.
_LETTERS = zip(string.ascii_uppercase, string.ascii_lowercase, strict=True)
PREFERRED = "4A7B2C9D1E5F3G8H6a0b" + "".join(upper + lower for upper, lower in _LETTERS) + "_-."

# Each is a row of slots; a slot lists the characters that may stand there, best first.
Row: TypeAlias = tuple[str, ...]


def example_ids(source: str) -> Iterator[str]:
    """Yield texts that `source`, a valid regular expression, should match whole.

    One for each alternative, with optional parts once, not at all, and several times. Look-around
    and back-references are not understood: the caller checks what it takes.
    """
    tree = _parser.parse(source)
    for repeats in (1, 0, 6):
        rows = itertools.islice(_rows(tree, repeats), ALTERNATIVES_LIMIT)
        yield from filter(None, map(_filled, rows))


def _rows(tree: Any, repeats: int) -> Iterator[Row]:
    """Yield the rows of a sequence of parsed nodes, alternatives one after the other."""
    nodes = list(tree)
    if not nodes:
        yield ()
        return
    name, argument = str(nodes[0][0]), nodes[0][1]
    for first in _node_rows(name, argument, repeats):
        for rest in _rows(nodes[1:], repeats):
            yield first + rest


def _node_rows(name: str, argument: Any, repeats: int) -> Iterator[Row]:
    match name:
        case "SUBPATTERN":
            yield from _rows(argument[-1], repeats)
        case "ATOMIC_GROUP":
            yield from _rows(argument, repeats)
        case "BRANCH":
            for branch in argument[1]:
                yield from _rows(branch, repeats)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            yield from _repeated(argument, repeats)
        case _:
            yield _slots(name, argument)


def _slots(name: str, argument: Any) -> Row:
    match name:
        case "LITERAL":
            return (chr(argument),)
        case "NOT_LITERAL":
            return (_allowed(lambda one: ord(one) != argument),)
        case "ANY":
            return (PREFERRED,)
        case "IN":
            return (_allowed(lambda one: _is_in(argument, one)),)
        case _:  # anchors and look-around take no room
            return ()


def _repeated(argument: Any, repeats: int) -> Iterator[Row]:
    least, most, body = argument
    count = min(max(int(least), repeats), int(most))
    for row in _rows(body, repeats):
        yield row * min(count, 256)


def _allowed(accepts: Callable[[str], bool]) -> str:
    return "".join(one for one in PREFERRED if accepts(one))


def _is_in(items: Sequence[tuple[Any, Any]], character: str) -> bool:
    negated = bool(items) and str(items[0][0]) == "NEGATE"
    return negated != any(_is_item(str(name), value, character) for name, value in items)


def _is_item(name: str, value: Any, character: str) -> bool:
    match name:
        case "LITERAL":
            return bool(ord(character) == value)
        case "RANGE":
            return bool(value[0] <= ord(character) <= value[1])
        case "CATEGORY":
            return _is_of(str(value), character)
        case _:
            return False


def _is_of(category: str, character: str) -> bool:
    kinds = {
        "DIGIT": character.isdigit(),
        "WORD": character.isalnum() or character == "_",
        "SPACE": character.isspace(),
    }
    held = kinds[category.rsplit("_", maxsplit=1)[-1]]
    return held != ("_NOT_" in category)


def _filled(row: Row) -> str:
    """Fill free slots with varied characters: `mrn-[A-Z0-9]{6}` gives `mrn-4A7B2C`."""
    free = itertools.count()
    return "".join(_best(slot, free) for slot in row)


def _best(slot: str, free: Iterator[int]) -> str:
    if len(slot) <= 1:
        return slot
    return slot[next(free) % len(slot)]
