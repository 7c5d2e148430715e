"""How the crisis rules fare with labelled sentences: no call for help is missed."""

from collections import defaultdict
from typing import get_args

import pytest

from evals.cases import SUITES, read_cases
from services.language.crisis.rules import CrisisKind, load_rules

SENTENCES: dict[str, list[str]] = defaultdict(list)
for case in read_cases(SUITES / "crisis" / "rules.yaml", suite="crisis"):
    SENTENCES[case.tags[0]].append(case.say[0])
KINDS: tuple[str, ...] = get_args(CrisisKind)
CALLS = [(kind, sentence) for kind in KINDS for sentence in SENTENCES[kind]]
RULES = load_rules()


def test_there_are_enough_sentences_of_both_sides_and_none_twice() -> None:
    everything = [sentence for sentences in SENTENCES.values() for sentence in sentences]
    assert len(CALLS) >= 120
    assert len(SENTENCES["clinical"]) >= 120
    assert len(set(everything)) == len(everything)


@pytest.mark.parametrize(("kind", "sentence"), CALLS)
def test_no_call_for_help_is_missed(kind: str, sentence: str) -> None:
    assert RULES.crisis_in(sentence) == kind


@pytest.mark.parametrize("sentence", SENTENCES["clinical"])
def test_clinical_and_harmless_talk_is_let_through(sentence: str) -> None:
    assert RULES.crisis_in(sentence) is None


@pytest.mark.parametrize("sentence", SENTENCES["false_positives"])
def test_the_list_of_false_alarms_is_honest(sentence: str) -> None:
    assert RULES.crisis_in(sentence) is not None


@pytest.mark.parametrize("sentence", SENTENCES["let_through"])
def test_the_list_of_calls_that_are_let_through_is_honest(sentence: str) -> None:
    assert RULES.crisis_in(sentence) is None


@pytest.mark.parametrize(("kind", "sentence"), CALLS[::3])
def test_a_call_is_heard_among_other_words(kind: str, sentence: str) -> None:
    assert RULES.crisis_in(f"Thank you for the report. {sentence}. What now?") is not None
    assert RULES.crisis_in(sentence.upper()) == kind
    assert RULES.crisis_in(sentence.replace("'", "\N{RIGHT SINGLE QUOTATION MARK}")) == kind
