"""Tumour markers and genetic findings."""

from datetime import timedelta

from services.records.dates import day_text
from services.records.entry import Entry, codes, label, one
from services.records.facts import Bounded, Fact, Source, bounded
from services.records.fhir_resources import Observation
from services.records.observations import has_marker, is_biomarker, is_measured, name_of, value_of
from services.records.record import PatientRecord
from services.records.resolve import SAME_TIME, resolve

BIOMARKER_LIMIT = 40


def biomarkers(record: PatientRecord, *, limit: int = BIOMARKER_LIMIT) -> Bounded[Fact]:
    """Return one fact per marker, in name order; an empty list means none is in the record."""
    facts = list(record.derived(_facts))
    return bounded(facts, limit, incomplete=record.left_out.sentence())


def _facts(record: PatientRecord) -> tuple[Fact, ...]:
    groups: dict[str, list[tuple[str, Observation]]] = {}
    for ref, observation in record.of(Observation, _may_be_marker):
        if is_biomarker(observation):
            key = name_of(observation).casefold()
            groups.setdefault(key, []).append((ref, observation))
    return tuple(_fact(group) for _, group in sorted(groups.items()))


def _may_be_marker(entry: Entry) -> bool:
    """Look at names and codes before a model is made, which takes long for a large chart."""
    concept = one(entry.raw, "code")
    return has_marker(label(concept), codes(concept))


def observation_source(ref: str, observation: Observation) -> Source:
    """Return the observation as a source."""
    return Source(ref=ref, date=day_text(observation.clinical_date), title=name_of(observation))


def _fact(group: list[tuple[str, Observation]]) -> Fact:
    said = [
        (value, observation_source(ref, observation))
        for ref, observation in group
        if (value := value_of(observation))
    ]
    measured = all(is_measured(observation) for _, observation in group)
    same_time = timedelta(0) if measured else SAME_TIME
    return resolve(name_of(group[0][1]), said, same_time=same_time)
