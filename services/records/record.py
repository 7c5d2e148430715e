"""One patient's records, parsed and checked to be this patient's alone."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, TypeVar

from pydantic import ValidationError

from data_models.errors import RecordAmbiguousError, RecordNotFoundError, RecordsUnreadableError
from data_models.identifiers import PatientId
from services.records.documents import ClinicalDocument, note_document, report_document
from services.records.fhir_resources import (
    MODELS,
    AnyResource,
    DiagnosticReport,
    DocumentReference,
    Medication,
    Patient,
    PatientResource,
)
from services.records.passages import PassageIndex

ResourceT = TypeVar("ResourceT", bound=PatientResource)

_WITHDRAWN = frozenset({"entered-in-error", "cancelled", "refuted"})


@dataclass(frozen=True)
class LeftOut:
    """What was received and not used; every reader of the record is told.

    Attributes:
        other_patient: Resources that belong to another patient, or to nobody by name.
        withdrawn: Resources marked as entered in error, cancelled or refuted.
        unreadable: What could not be read, and why: `Observation/x: status: is not as R4 has it`.
        truncated: The server had more than we were willing to read.
        not_offered: Resource types that the server does not serve.
    """

    other_patient: int = 0
    withdrawn: int = 0
    unreadable: tuple[str, ...] = ()
    truncated: bool = False
    not_offered: tuple[str, ...] = ()

    def sentence(self) -> str | None:
        """Return what is missing, for people and models, or None if nothing is."""
        parts = [
            f"{len(self.unreadable)} entries could not be read" if self.unreadable else "",
            f"{self.other_patient} entries that do not name this patient were left out"
            if self.other_patient
            else "",
            "the server holds more than was read" if self.truncated else "",
            f"the server does not offer {', '.join(self.not_offered)}" if self.not_offered else "",
        ]
        said = [part for part in parts if part]
        return f"This record is incomplete: {'; '.join(said)}." if said else None


@dataclass(frozen=True)
class PatientRecord:
    """All that is known about one patient; what is derived from it is computed once.

    Attributes:
        patient_id: The id that Rounds uses.
        patient: The FHIR Patient.
        resources: The patient's other resources by source id (`Observation/ecog-1`), in the
            order received.
        medications: Drugs that medication resources point to, by source id.
    """

    patient_id: PatientId
    patient: Patient
    resources: Mapping[str, PatientResource]
    medications: Mapping[str, Medication]
    left_out: LeftOut

    def of(self, kind: type[ResourceT]) -> tuple[tuple[str, ResourceT], ...]:
        """Return the resources of one type with their source ids."""
        return tuple((ref, r) for ref, r in self.resources.items() if isinstance(r, kind))

    def prepared(self) -> Self:
        """Return this record with its texts decoded and indexed; call it off the event loop."""
        _ = self.passages
        return self

    @cached_property
    def documents(self) -> tuple[ClinicalDocument, ...]:
        """Notes and reports, oldest first, undated last."""
        notes = [note_document(ref, note) for ref, note in self.of(DocumentReference)]
        reports = [report_document(ref, report) for ref, report in self.of(DiagnosticReport)]
        return tuple(
            sorted([*notes, *reports], key=lambda d: (d.date is None, d.date or "", d.ref))
        )

    @cached_property
    def passages(self) -> PassageIndex:
        """The searchable passages of `documents`."""
        return PassageIndex.of(self.documents)


def record_from_resources(
    patient_id: PatientId,
    entries: Iterable[Mapping[str, Any]],
    *,
    patient_ref: str | None = None,
    truncated: bool = False,
    not_offered: tuple[str, ...] = (),
    damaged: tuple[str, ...] = (),
) -> PatientRecord:
    """Return the record in Bundle `entries` (`{"fullUrl", "resource"}`) as one patient's.

    Args:
        patient_id: The id that Rounds uses.
        entries: What was received, of any type and perhaps of other people.
        patient_ref: Which Patient is meant; needed when there may be more than one.
        truncated: Whether the sender had more.
        not_offered: Resource types that the sender does not have.
        damaged: What the sender could not read, and why.

    Raises:
        RecordNotFoundError: there is no Patient among the entries.
        RecordAmbiguousError: there is more than one Patient.
        RecordsUnreadableError: the Patient breaks R4's shapes.
    """
    sorter = _Sorter()
    for entry in entries:
        sorter.add(entry)
    _, patient, names = sorter.the_patient(patient_ref)
    mine = {key: resource for key, resource in sorter.clinical.items() if _owner(resource) in names}
    kept = {key: resource for key, resource in mine.items() if not _is_withdrawn(resource)}
    left_out = LeftOut(
        other_patient=len(sorter.clinical) - len(mine),
        withdrawn=len(mine) - len(kept),
        unreadable=(*damaged, *(why for _, why in sorter.unreadable)),
        truncated=truncated,
        not_offered=not_offered,
    )
    return PatientRecord(patient_id, patient, kept, sorter.medications, left_out)


class _Sorter:
    """Entries sorted by what they are."""

    def __init__(self) -> None:
        self.patients: dict[str, Patient] = {}
        self.clinical: dict[str, PatientResource] = {}
        self.medications: dict[str, Medication] = {}
        self.unreadable: list[tuple[str, str]] = []
        """References, and what is wrong with them."""
        self._names: dict[str, set[str]] = {}
        self._counts: Counter[str] = Counter()

    def add(self, entry: Mapping[str, Any]) -> None:
        """File one entry; types that Rounds does not read are passed over."""
        raw = entry.get("resource")
        if not isinstance(raw, dict):
            return
        kind = str(raw.get("resourceType"))
        model = MODELS.get(kind)
        if model is None:
            return
        self._counts[kind] += 1
        ref = f"{kind}/{_id_of(raw) or f'entry-{self._counts[kind]}'}"
        try:
            self._file(ref, model.model_validate(raw), entry.get("fullUrl"))
        except ValidationError as error:
            self.unreadable.append((ref, f"{ref}: {_element(error)}"))
            rest = _without(raw, error) if model is Patient else raw
            if rest != raw:
                # A person with a broken telephone number is still that person.
                self.add({**entry, "resource": rest})

    def the_patient(self, wanted: str | None) -> tuple[str, Patient, frozenset[str]]:
        """Return the one Patient, its ref and the references that mean it."""
        found = [ref for ref in self.patients if wanted in (None, ref)]
        if len(found) > 1:
            raise RecordAmbiguousError
        if not found:
            damaged = [why for ref, why in self.unreadable if ref.startswith("Patient/")]
            raise RecordsUnreadableError(damaged[0]) if damaged else RecordNotFoundError
        return found[0], self.patients[found[0]], frozenset(self._names[found[0]])

    def _file(self, ref: str, resource: AnyResource, full_url: object) -> None:
        if isinstance(resource, Patient):
            self.patients[ref] = resource
            names = {ref, full_url} if isinstance(full_url, str) else {ref}
            self._names.setdefault(ref, set()).update(names)
        elif isinstance(resource, Medication):
            self.medications[ref] = resource
        else:
            self.clinical[ref] = resource


def _id_of(raw: Mapping[str, Any]) -> str | None:
    found = raw.get("id")
    return found if isinstance(found, str) and 0 < len(found) <= 64 else None


def _element(error: ValidationError) -> str:
    """Return which element is wrong; what it holds is not quoted."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    return f"{'.'.join(str(part) for part in first['loc'])}: is not as R4 has it"


def _without(raw: Mapping[str, Any], error: ValidationError) -> Mapping[str, Any]:
    broken = {str(each["loc"][0]) for each in error.errors(include_input=False)}
    return {name: value for name, value in raw.items() if name not in broken - {"id"}}


def _owner(resource: PatientResource) -> str | None:
    """Return whose the resource is, without the version that a reference may carry."""
    return resource.owner.partition("/_history/")[0] if resource.owner else None


def _is_withdrawn(resource: PatientResource) -> bool:
    return bool(_WITHDRAWN & {resource.status, *resource.verification_codes})
