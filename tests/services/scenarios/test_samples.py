"""The samples, from start to end, and the typed door for fields (5.2)."""

from pathlib import Path

import pytest
from pydantic import JsonValue

from data_models.errors import ToolInputError
from data_models.scenarios.scenario_session import ScenarioSession
from services.scenarios.definition.graph import Graph
from services.scenarios.session.facts import with_answers
from services.scenarios.session.progress import begun, gone_on, needed_at
from services.scenarios.session.recording import checked_values
from services.scenarios.session.step_text import where_text
from tests.given import present
from tests.services.definitions import definition_in
from tests.services.scenarios.worlds import NOW
from tests.tables import tables_beside, with_cases

SAMPLES = Path(__file__).parents[3] / "samples" / "scenarios"
ANSWERS: dict[str, JsonValue] = tables_beside(Path(__file__))["answers"]


def graph_of(name: str) -> Graph:
    plain = Path(__file__).parent / f"{name}.yaml"
    path = plain if plain.exists() else SAMPLES / f"{name}.yaml"
    return definition_in(path)


def begin(graph: Graph) -> ScenarioSession:
    return begun(graph, session_id="one", channel="web", now=NOW)


def walked(graph: Graph) -> ScenarioSession:
    session = begin(graph)
    for _ in range(60):
        if session.step is None:
            return session
        needed = needed_at(graph, graph.steps[session.step], session.variables)
        session = with_answers(session, {name: ANSWERS[name] for name in needed}, graph)
        after = present(gone_on(session, graph, session.variables, NOW))
        # A restart between any two turns loses nothing.
        session = ScenarioSession.model_validate_json(after.model_dump_json())
    raise AssertionError("the scenario does not end")


@with_cases("name", "last", "checkpoint", "visited")
def test_a_sample_runs_from_start_to_end(
    name: str, last: str, checkpoint: str, visited: str
) -> None:
    session = walked(graph_of(name))
    assert session.path[-1] == last
    assert [passed.description for passed in session.completed_checkpoints] == [checkpoint]
    assert visited in session.path


def test_where_are_we_names_the_step_and_what_is_missing() -> None:
    graph = graph_of("oncology_intake")
    session = begin(graph)
    assert where_text(graph, session, {}) == "Oncology intake: Welcome (0 of 13 steps done)."
    after = present(gone_on(session, graph, {}, NOW))
    assert where_text(graph, after, {}) == (
        "Oncology intake: Consent (1 of 13 steps done). Still needed: consent to share records."
    )


@with_cases("values", "problem")
def test_a_value_of_another_type_is_not_recorded(
    values: dict[str, JsonValue], problem: str
) -> None:
    graph = graph_of("oncology_intake")
    session = begin(graph)
    if "nonsense" in values:
        with pytest.raises(ToolInputError, match=problem):
            checked_values(graph, session, values, {}, [])
        return
    checked = checked_values(graph, session, values, {}, [])
    assert problem in str(checked.problems)
    assert (checked.taken, checked.unfit) == ({}, [*values])
    assert "three" not in str(checked.problems)
