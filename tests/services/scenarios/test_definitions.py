"""Definitions: every mistake of an author is named with its step and field."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_models.errors import ScenarioDefinitionError
from services.scenarios.definition.definition_reader import read_definition
from tests.services.definitions import definition_in
from tests.tables import with_cases

SAMPLES = sorted((Path(__file__).parents[3] / "samples" / "scenarios").glob("*.yaml"))
HEAD = "id: it\nentry_step: a\nfields: [{name: age, value_type: integer}]\nsteps:\n"


def problems(source: str) -> str:
    with pytest.raises(ScenarioDefinitionError) as caught:
        read_definition(source)
    return "\n".join(caught.value.problems)


@with_cases("steps", "named")
def test_a_mistake_is_named_with_step_and_field(steps: str, named: str) -> None:
    assert named in problems(HEAD + steps)


def test_all_mistakes_are_named_at_once() -> None:
    found = problems(HEAD + "- {id: a, uses: [x], transitions: [{target: z}]}")
    assert len(found.splitlines()) == 2


@with_cases("source")
def test_what_is_no_definition_is_refused(source: str) -> None:
    assert problems(source)


def test_a_tag_is_refused_where_it_stands() -> None:
    assert problems("id: !!timestamp soon") == "line 1, column 5: tags are not used"


@pytest.mark.slow
@given(st.text(max_size=60))
def test_no_short_text_is_a_definition(source: str) -> None:
    assert problems(source)


def test_transitions_are_tried_in_their_order_and_else_comes_last() -> None:
    graph = read_definition(
        HEAD
        + "- id: a\n  transitions: [{target: b}, {target: c, condition: age > 1, order: 2},"
        + " {target: d, condition: age > 2, order: 1}]\n- {id: b}\n- {id: c}\n- {id: d}"
    )
    assert [branch.target for branch in graph.branches("a")] == ["d", "c", "b"]


def test_json_is_read_like_yaml() -> None:
    graph = read_definition('{"id": "it", "entry_step": "a", "steps": [{"id": "a"}]}')
    assert graph.entry == "a"


LARGE = [path for path in SAMPLES if path.stem != "age_note"]
"""All but the smallest one that an author may begin with."""


@pytest.mark.parametrize("path", LARGE, ids=lambda path: path.stem)
def test_the_samples_are_sound_and_large_enough(path: Path) -> None:
    graph = definition_in(path)
    assert len(graph.steps) >= 8
    assert any(len(graph.branches(step)) > 1 for step in graph.steps)
    assert any(step.is_checkpoint for step in graph.steps.values())
    assert any(step.collects_profile_fields for step in graph.steps.values())


def test_there_are_three_sample_scenarios() -> None:
    graphs = [definition_in(path) for path in SAMPLES]
    assert len({graph.scenario.id for graph in graphs}) >= 3
