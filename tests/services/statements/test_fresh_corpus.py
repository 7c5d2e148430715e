"""Hand-written sentences, untrue in many ways, against all that the tools say of their charts."""

from collections import Counter

import pytest

from data_models.plain_yaml import read_yaml
from tests.services.statements.fresh import SENTENCES, Judged, judged

pytestmark = pytest.mark.slow
_FEW = 3  # of the samples alone, where the public charts are not there


@pytest.fixture(scope="module")
def found() -> list[Judged]:
    return list(judged())


def test_the_corpus_holds_many_kinds_in_two_languages() -> None:
    written = read_yaml(SENTENCES.read_text(encoding="utf-8"))
    counts = Counter(dict.fromkeys(("wrong", "right"), 0))
    for kinds in written.values():
        counts.update({kind: len(set(sentences)) for kind, sentences in kinds.items()})
    assert counts["wrong"] >= 320
    assert counts["right"] >= 230


def test_what_is_untrue_is_marked_or_withheld(found: list[Judged]) -> None:
    wrong = [one for one in found if not one.is_right]
    missed = [one for one in wrong if not one.is_marked]
    assert len(missed) <= max(_FEW, 0.03 * len(wrong)), missed


def test_what_is_true_is_not_marked(found: list[Judged]) -> None:
    right = [one for one in found if one.is_right]
    marked = [one for one in right if one.is_marked]
    assert len(marked) <= max(_FEW, 0.03 * len(right)), marked
