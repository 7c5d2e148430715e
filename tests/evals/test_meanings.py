"""The figures on held sentences and taken references, on cases whose right answer is known."""

import pytest

from evals.cases import Case, Expect, Memory
from evals.scoring.checks import Row
from evals.scoring.meanings import Part, held, measured, referred
from tests.tables import with_cases


def _case(memory: Memory | None) -> Case:
    return Case(id="one", suite="memory", say=("x",), expect=Expect(memory=memory))


@pytest.mark.parametrize(
    ("wanted", "rows", "part"),
    [
        (Memory(has=("nuts",)), [], "held"),
        (Memory(has=("nuts",)), [Row("memory", "")], "missed"),
        (Memory(nothing=True), [Row("false_memory", "")], "held_wrongly"),
        (Memory(nothing=True), [], "held_nothing"),
        (None, [], None),
    ],
)
def test_a_sentence_is_held_missed_or_held_wrongly(
    wanted: Memory | None, rows: list[Row], part: Part | None
) -> None:
    assert held(_case(wanted), rows) == part


@with_cases("found", "wanted", "part")
def test_a_reference_is_taken_rightly_wrongly_or_asked_about(
    found: object, wanted: object, part: Part
) -> None:
    assert referred(found, wanted) == part


def test_the_lines_say_precision_recall_and_what_went_wrong() -> None:
    parts: list[Part] = ["held", "held", "held_wrongly", "missed", "meant", "asked_needlessly"]
    sentences, references = measured(parts)
    assert "precision 2/3 = 66.7%" in sentences
    assert "recall 2/3" in sentences
    assert "acted on the wrong thing 0, asked needlessly 1 (50.0%)" in references
    assert measured([]) == []
