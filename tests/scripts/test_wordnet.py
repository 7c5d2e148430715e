"""What the lists of common language take from WordNet: its files, here with five meanings."""

from pathlib import Path

import pytest

from scripts.wordnet import Sense, WordNet

_FILES = {
    "data.noun": """  1 The licence.
00000010 26 n 01 condition 0 000 | a state
00000020 26 n 01 ache 0 001 @ 00000010 n 0000 | a dull pain
00000030 15 n 01 Boston 0 000 | a city
""",
    "data.verb": """00000040 29 v 02 ache 0 suffer 0 001 + 00000020 n 0101 00 | feel pain
00000050 38 v 01 creep 0 000 00 | move slowly
""",
    "index.noun": """condition n 1 0 1 1 00000010
ache n 1 1 @ 1 1 00000020
boston n 1 0 1 0 00000030
""",
    "index.verb": """ache v 1 1 + 1 0 00000040
suffer v 1 1 + 1 0 00000040
creep v 1 0 1 1 00000050
""",
    "verb.exc": "crept creep\n",
    "cntlist.rev": "ache%1:26:00:: 1 24\nache%2:29:00:: 1 1\n",
}
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


def test_a_meaning_is_of_the_kinds_above_it_and_leads_to_others_by_words(wordnet: WordNet) -> None:
    assert wordnet.above(_ACHE) == {_ACHE, wordnet.named("condition.n.1")}
    assert list(wordnet.led_to(Sense("v", 40), "+", frozenset({"ache"}))) == [_ACHE]
    assert list(wordnet.led_to(Sense("v", 40), "+", frozenset({"suffer"}))) == []
    assert wordnet.is_name(Sense("n", 30))
