"""Reads a definition that is to be published: sound, and without faults."""

from data_models.errors import ScenarioDefinitionError
from services.scenarios.definition.definition_reader import read_definition
from services.scenarios.definition.faults import Fault, faults_of
from services.scenarios.definition.graph import Graph
from services.scenarios.definition.step_tools import step_tools

IN_RECORDS = frozenset(
    (
        *("date_of_birth", "birth_date", "birthdate", "dob", "age", "age_years", "patient_age"),
        *("sex", "gender", "name", "full_name", "patient_name"),
    )
)
"""Fields that the patient's record may answer."""


def read_publishable(source: str) -> Graph:
    """Return the version that `source` defines.

    Raises:
        ScenarioDefinitionError: with everything that is wrong, and every fault.
    """
    graph = read_definition(source)
    if faults := faults_in(graph):
        raise ScenarioDefinitionError(tuple(map(str, faults)))
    return graph


def faults_in(graph: Graph) -> list[Fault]:
    """Return the faults of a version with the tools and records of this product."""
    return faults_of(graph, tools=step_tools(), in_records=IN_RECORDS)
