"""Whether any values at all make a condition true: a search over the values that it tells apart."""

import re
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from itertools import product
from typing import TypeAlias

from pydantic import JsonValue

from data_models.errors import ScenarioConditionError
from data_models.scenario import FieldDefinition
from services.scenarios.definition.conditions import Condition

TRIES_LIMIT = 5_000
"""So many combinations are tried; a condition that needs more is not judged."""
_PLAIN = frozenset({"&&", "||", "!", "(", ")", "==", "!=", "<", "<=", ">", ">=", "true", "false"})
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_TEXT = re.compile(r"\"([^\"\\]*)\"|'([^'\\]*)'")
Values: TypeAlias = Mapping[str, JsonValue]


def is_never_true(
    condition: Condition, fields: Mapping[str, FieldDefinition], *, before: list[Condition]
) -> bool:
    """Whether no values make `condition` true where all those tried `before` it are false.

    Only conditions that compare fields with constants or with each other are judged: between
    the constants that they name their truth does not change.
    """
    everything = [condition, *before]
    if not all(_is_plain(one, fields) for one in everything):
        return False
    names = list(dict.fromkeys(name for one in everything for name in one.fields))
    tokens = [token for one in everything for token in one.canonical.split(" ")]
    choices = [_choices(fields[name], tokens) for name in names]
    tries = 1
    for choice in choices:
        tries *= len(choice)
    if tries > TRIES_LIMIT:
        return False
    return not any(
        _holds(condition, before, dict(zip(names, values, strict=True)))
        for values in product(*choices)
    )


def _holds(condition: Condition, before: list[Condition], values: Values) -> bool:
    try:
        return condition.judge(values).value is True and not any(
            one.judge(values).value for one in before
        )
    except ScenarioConditionError:
        return True  # whoever cannot judge it does not call it false


def _is_plain(condition: Condition, fields: Mapping[str, FieldDefinition]) -> bool:
    return all(
        token in _PLAIN
        or _NUMBER.fullmatch(token)
        or _TEXT.fullmatch(token)
        or (token in fields and fields[token].value_type != "any")
        for token in condition.canonical.split(" ")
    )


def _choices(field: FieldDefinition, tokens: list[str]) -> list[JsonValue]:
    """Return a value for each stretch of the field's range that the constants tell apart."""
    match field.value_type:
        case "boolean":
            return [True, False]
        case "integer":
            found = {n for one in _numbers(tokens) for n in (int(one) - 1, int(one), int(one) + 1)}
            return [n for n in sorted({*found, *_bounds(field, int)}) if _fits(field, n)]
        case "number":
            near = {n for one in _numbers(tokens) for n in (one - 0.5, one, one + 0.5)}
            return [n for n in sorted({*near, *_bounds(field, float)}) if _fits(field, n)]
        case "date":
            return [day.isoformat() for day in sorted(_days(tokens))]
        case _:
            texts = [match[1] or match[2] or "" for match in map(_TEXT.fullmatch, tokens) if match]
            return list(dict.fromkeys([*texts, "none of these"]))


def _numbers(tokens: list[str]) -> Iterator[float]:
    yield 0.0
    yield from (float(token) for token in tokens if _NUMBER.fullmatch(token))


def _bounds(field: FieldDefinition, kind: type[int] | type[float]) -> list[int | float]:
    return [kind(one) for one in (field.minimum, field.maximum) if one is not None]


def _fits(field: FieldDefinition, value: float) -> bool:
    low, high = field.minimum, field.maximum
    return (low is None or value >= low) and (high is None or value <= high)


def _days(tokens: list[str]) -> set[date]:
    found = {date(2030, 1, 1)}
    for token in tokens:
        match = _TEXT.fullmatch(token)
        try:
            day = date.fromisoformat((match[1] or match[2] or "") if match else "")
        except ValueError:
            continue
        found |= {day - timedelta(days=1), day, day + timedelta(days=1)}
    return found
