"""Phrases are searched only where a word of theirs stands, and lose nothing by it."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from services.language.words import phrases
from services.language.words.folding import fold
from services.language.words.vocabulary import LANGUAGES
from tests.amounts import amount

LONGEST_CHARS = 200


def _strings_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in [*value, *(value.values() if isinstance(value, dict) else [])]:
            yield from _strings_in(one)


@pytest.mark.slow
@pytest.mark.large
def test_an_expression_that_is_not_searched_would_not_match() -> None:
    files = sorted(Path(__file__).parent.glob("*.yaml"))
    read = [yaml.load(one.read_text("utf-8"), Loader=yaml.CSafeLoader) for one in files]
    said = {text for one in read for text in _strings_in(one)}
    texts = sorted(one for one in said if len(one) <= LONGEST_CHARS)
    every = [
        (needed, re.compile(expression, re.DOTALL))
        for language in LANGUAGES
        for name in phrases._phrases("en")
        for expression, needed in phrases._expressions(language, name)[0]
        if needed is not None
    ]
    for text in texts[:: max(1, len(texts) // amount(by_day=500, by_night=20_000))]:
        plain = fold(text)[0]
        keys = phrases._keys_in(plain)
        missed = [one for needed, one in every if keys.isdisjoint(needed) and one.search(plain)]
        assert not missed, text


@pytest.mark.parametrize(
    ("text", "name", "parts"),
    [
        ("ok, so pause that for now, please", "scenario_leave", {"name": "that"}),
        ("Please leave the intake, thanks!", "scenario_leave", {"name": "intake"}),
        ("bitte brich das Intake ab, danke", "scenario_leave", {"name": "Intake"}),
        ("hold Okonjo apixaban today", "whom_ordered", {"who": "Okonjo", "drug": "apixaban"}),
    ],
)
def test_polite_words_at_the_ends_are_no_part_of_what_is_said(
    text: str, name: str, parts: dict[str, str]
) -> None:
    assert phrases.says(text, name)
    assert phrases.parts_in(text, name) == parts


@pytest.mark.parametrize("language", ["en", "de"])
def test_polite_words_are_written_into_no_anchor(language: str) -> None:
    anchored = [one for one, _ in phrases._expressions(language, "only_opens")[0] if r"\A" in one]

    assert anchored
    assert not [one for one in anchored if "gosh" in one or "danke" in one]
