"""Reads a definition that is to be published: sound, and without faults."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter

from data_models.errors import ScenarioDefinitionError
from services.scenarios.definition.definition_reader import read_definition
from services.scenarios.definition.faults import Fault, faults_of
from services.scenarios.definition.graph import Graph

# The tools that steps may run, with their arguments; generated from the team's catalogue.

_FILE = Path(__file__).with_name("step_tools.json")
_SHAPE = TypeAdapter(dict[str, dict[str, bool]])


@cache
def step_tools() -> Mapping[str, Mapping[str, bool]]:
    """Return by tool the arguments it takes, and whether each one has to be given."""
    return _SHAPE.validate_json(_FILE.read_bytes())


BIRTH_DATE = frozenset({"date_of_birth", "birth_date", "birthdate", "dob"})
AGE = frozenset({"age", "age_years", "patient_age"})
SEX = frozenset({"sex", "gender"})
NAME = frozenset({"name", "full_name", "patient_name"})
IN_RECORDS = BIRTH_DATE | AGE | SEX | NAME
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
