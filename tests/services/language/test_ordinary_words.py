"""Common language has the words of prose, and none that says how a patient fares."""

from pathlib import Path

import pytest
import yaml

from services.language.words.statement_tables import stem
from services.language.words.statement_words import ordinary_words, statement_words
from tests.tables import with_cases

_CLINICAL = yaml.safe_load(Path(__file__).with_name("clinical_words.yaml").read_text("utf-8"))


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_clinical_word_is_a_claim(language: str) -> None:
    words = _CLINICAL[language].split()

    assert [word for word in words if stem(word) in statement_words().neutral] == []


@with_cases("words")
def test_what_sentences_are_built_of_claims_nothing(words: str) -> None:
    assert [word for word in words.split() if stem(word) not in ordinary_words()] == []


def test_what_is_no_word_of_common_language_claims_something() -> None:
    assert ordinary_words().isdisjoint({"leptomeningeal", "brockton", "glargine"})
