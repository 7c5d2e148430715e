"""A version is played with made-up answers before anybody can start it."""

from pathlib import Path

import pytest

from services.scenarios.definition.graph import Graph
from services.scenarios.migration.plans.difference import Difference, sentences_of
from services.scenarios.migration.plans.move import match_anchors
from services.scenarios.session.step_text import Played, played
from tests.services.definitions import definition_in

SAMPLES = Path(__file__).parents[3] / "samples" / "scenarios"


def sample(name: str) -> Graph:
    return definition_in(SAMPLES / name)


def told_of(old: Graph, new: Graph) -> list[str]:
    return sentences_of(Difference(old, new, match_anchors(old, new)))


def to_the_end(graph: Graph) -> tuple[Played, list[str]]:
    answers: list[str] = []
    while not (play := played(graph, answers)).is_over:
        assert len(answers) < 60
        answers.append(play.suggestion)
    return play, answers


@pytest.mark.parametrize("name", sorted(path.name for path in SAMPLES.glob("*.yaml")))
def test_every_sample_plays_to_its_end_with_what_is_suggested(name: str) -> None:
    play, _ = to_the_end(sample(name))
    assert play.lines[-1].who == "end"
    assert not [line for line in play.lines if line.who == "problem"]


def test_an_answer_out_of_range_is_asked_again_with_the_reason() -> None:
    graph = sample("oncology_intake.yaml")
    answers = ["go on", "yes", "1961-03-09, 0151 2345678", "a lump", "9, yes"]
    play = played(graph, answers)
    assert play.lines[-2].text == "ECOG performance status is a whole number from 0 to 5"
    assert play.step == "General condition"
    assert "ecog" not in play.known


def test_the_fork_that_an_answer_decides_is_taken() -> None:
    graph = sample("oncology_intake.yaml")
    answers = ["go on", "no"]
    assert played(graph, answers).step == "Intake without records"


def test_no_answers_show_the_first_question() -> None:
    play = played(sample("age_note.yaml"), [])
    assert play.suggestion
    assert not play.is_over


def test_the_differences_of_two_versions_are_told_in_words() -> None:
    old, new = sample("appointment_booking.yaml"), sample("appointment_booking_v2.yaml")
    told = told_of(old, new)
    assert any("“Age” is new, which asks for" in one for one in told)
    assert any("where age < 18, it goes to" in one for one in told)
    assert any(one.startswith("There is a new answer: ") for one in told)
    assert told_of(old, old) == []
