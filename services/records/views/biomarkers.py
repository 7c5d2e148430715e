"""Tumour markers and genetic findings."""

from datetime import timedelta

from services.records.dates import day_text
from services.records.entry import Entry, codes, label, one
from services.records.facts import Bounded, Fact, Source, bounded
from services.records.observations import has_marker, is_biomarker, name_of, value_of
from services.records.record import PatientRecord
from services.records.resolve import SAME_TIME, resolve

BIOMARKER_LIMIT = 40


def biomarkers(record: PatientRecord, *, limit: int = BIOMARKER_LIMIT) -> Bounded[Fact]:
    """Return one fact per marker, in name order; an empty list means none is in the record."""
    facts = list(record.derived(_facts))
    return bounded(facts, limit, incomplete=record.left_out.sentence())


def _facts(record: PatientRecord) -> tuple[Fact, ...]:
    groups: dict[str, list[Entry]] = {}
    for entry in record.entries_of("Observation"):
        if _may_be_marker(entry) and is_biomarker(entry.raw):
            groups.setdefault(name_of(entry.raw).casefold(), []).append(entry)
    return tuple(_fact(group) for _, group in sorted(groups.items()))


def _may_be_marker(entry: Entry) -> bool:
    """Look at the code first: a gene that is studied stands in a component of few."""
    concept = one(entry.raw, "code")
    return has_marker(label(concept), codes(concept))


def observation_source(entry: Entry) -> Source:
    """Return the observation as a source."""
    return Source(ref=entry.ref, date=day_text(entry.date), title=name_of(entry.raw))


def _fact(group: list[Entry]) -> Fact:
    said = [(value, observation_source(entry)) for entry in group if (value := value_of(entry.raw))]
    # A quantity differs from day to day by nature.
    measured = all("valueQuantity" in entry.raw for entry in group)
    return resolve(name_of(group[0].raw), said, same_time=timedelta(0) if measured else SAME_TIME)
