"""What the lists of common language take from WordNet: its files, here with five meanings."""

from pathlib import Path
from typing import Any

import pytest

from scripts.wordnet import Sense, WordNet
from tests.tables import tables_beside

_FILES: dict[str, Any] = tables_beside(Path(__file__))["files"]
_NAMES = ("noun", "verb", "adj", "adv")
_ACHE = Sense("n", 20)


@pytest.fixture
def wordnet(tmp_path: Path) -> WordNet:
    for name in _NAMES:
        for file in (f"data.{name}", f"index.{name}", f"{name}.exc"):
            (tmp_path / file).write_text(_FILES.get(file, ""), "utf-8")
    (tmp_path / "cntlist.rev").write_text(_FILES["cntlist.rev"], "utf-8")
    return WordNet(folder=tmp_path)


def test_a_meaning_is_usual_by_how_often_it_was_seen(wordnet: WordNet) -> None:
    assert wordnet.usual("aches", least_share=0.05) == [_ACHE]
    assert wordnet.usual("aches", least_share=0.01) == [_ACHE, Sense("v", 40)]
    assert wordnet.usual("crept", least_share=0.05) == [Sense("v", 50)]


def test_a_meaning_is_of_the_kinds_above_it_and_leads_to_others_by_words(
    wordnet: WordNet,
) -> None:
    assert wordnet.above(_ACHE) == {_ACHE, wordnet.named("condition.n.1")}
    assert list(wordnet.led_to(Sense("v", 40), "+", frozenset({"ache"}))) == [_ACHE]
    assert list(wordnet.led_to(Sense("v", 40), "+", frozenset({"suffer"}))) == []
    assert wordnet.is_name(Sense("n", 30))
