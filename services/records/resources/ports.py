"""What Rounds needs from a store of patient records, said without naming one."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Protocol

from data_models.identifiers import PatientId
from services.records.resources.record import PatientRecord

# What of a chart a reader needs; a store gives that, and may give more.


@dataclass(frozen=True, slots=True)
class Need:
    """Which resources are read.

    What narrows counts for Observations, and only where a server holds more of them than its
    newest page.

    Attributes:
        kinds: FHIR types; None: all that Rounds reads.
        asides: Types that add a word to a row, such as its reason: a server without them lacks
            nothing that was asked for.
        codes: Codes of what was measured.
        category: As FHIR codes it, such as `laboratory`.
        since: First day.
        until: Last day.
        has_texts: Whether documents are read.
        document: Only this one is, by its source id.
    """

    kinds: frozenset[str] | None = None
    asides: frozenset[str] = frozenset()
    codes: tuple[str, ...] = ()
    category: str = ""
    since: date | None = None
    until: date | None = None
    has_texts: bool = True
    document: str = ""


EVERYTHING = Need()
PERSON = Need(kinds=frozenset(), has_texts=False)
"""The Patient alone."""


def need_of(*kinds: str, asides: Iterable[str] = (), has_texts: bool = False) -> Need:
    """Return the need of some types, and of `asides`."""
    beside = frozenset(asides)
    return Need(kinds=beside.union(kinds), asides=beside, has_texts=has_texts)


def together(needs: Iterable[Need]) -> Need:
    """Return the need of all types that any of them reads, whole."""
    every = list(needs)
    kinds = [need.kinds for need in every if need.kinds is not None]
    whole = None if len(kinds) < len(every) else frozenset[str]().union(*kinds)
    wanted = {kind for need in every for kind in (need.kinds or ()) if kind not in need.asides}
    asides = frozenset().union(*(need.asides for need in every)) - wanted
    has_texts = any(need.has_texts for need in every)
    return Need(kinds=whole, asides=asides, has_texts=has_texts)


@dataclass(frozen=True, slots=True)
class ChartPatient:
    """A Patient resource as received, and the id of its chart.

    Merged (`active`, `link`) and retired identifiers (`use`, `period`) are in `body`: whoever
    looks a person up decides by them.
    """

    patient_id: PatientId
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AllPatients:
    """Every patient of the records; not all of them where `is_complete` is False."""

    patients: Sequence[ChartPatient]
    is_complete: bool = True


class PatientRecords(Protocol):
    """Reads patients' records; never writes."""

    async def load(self, patient_id: PatientId, need: Need = EVERYTHING) -> PatientRecord:
        """Return what is known about the patient, at least what is needed.

        The answer may be some seconds old. A failure is never an empty record.

        Raises:
            RecordNotFoundError: no patient carries the id.
            RecordAmbiguousError: more than one does.
            RecordsUnavailableError: the records do not answer; trying again may help.
            RecordsRefusedError: our credentials were refused.
            RecordsUnreadableError: the answer is not FHIR R4 or over a limit.
        """
        ...
