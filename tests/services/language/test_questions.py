"""What questions ask of the chart.

A row holds what was said, the last of which is read, and what is read of it: fields of the one
question that it asks, or a list of all that it asks.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import zip_longest
from operator import attrgetter
from typing import Any

from services.language.reading import read
from services.language.utterance import Situation
from tests.tables import with_cases

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


@with_cases("cases")
def test_questions_ask_for(cases: Sequence[Sequence[Any]]) -> None:
    for *said, about in cases:
        assert asked_of(said, about) == about


def asked_of(said: Sequence[str], like: object) -> object:
    """Return what the last of `said` asks for behind the others, as far as `like` names it.

    One question stands as itself where one is meant.
    """
    *before, text = said
    about = read(text, Situation(now=NOON, asked_before=tuple(before))).about
    return part_of(about[0] if len(about) == 1 and isinstance(like, Mapping) else about, like)


def part_of(value: Any, like: object) -> object:
    """Return of `value` what `like` names, in its form: fields by name, and items by place."""
    if isinstance(like, Mapping) and value is not None:
        by_key = value.get if isinstance(value, Mapping) else None
        return {
            name: part_of(by_key(name) if by_key else attrgetter(name)(value), part)
            for name, part in like.items()
        }
    if isinstance(like, list) and not isinstance(value, str):
        return [part_of(one, part) for one, part in zip_longest(value, like)]
    return value
