"""One patient's records: what belongs to this patient alone, found by id, by type, by reference."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self, TypeVar, cast

from data_models.identifiers import PatientId
from services.records.resources.documents import KINDS as DOCUMENT_KINDS
from services.records.resources.documents import ClinicalDocument, documents_of
from services.records.resources.entry import Entry, Raw, codes, label, many, one, text
from services.records.resources.fhir_types import Patient
from services.records.resources.sorting import Sorter

DerivedT = TypeVar("DerivedT")
INCOMPLETE = "This record is incomplete"
UNREAD = " could not be read"
UNNAMED = " that do not name this patient were left out"


@dataclass(frozen=True)
class LeftOut:
    """What was received and not used; every reader of the record is told.

    Attributes:
        other_patient: Resources that belong to another patient, or to nobody by name.
        withdrawn: Resources marked as entered in error, refuted or, of results, cancelled.
        unreadable: What could not be read, and why: `Observation/x: status: is not as R4 has it`.
        unknown: How many there are of types that Rounds does not read.
        truncated: The server had more than we were willing to read.
        not_offered: Resource types that the server does not serve.
        narrowed: Of older results only those that were asked for were read.
    """

    other_patient: int = 0
    withdrawn: int = 0
    unreadable: tuple[str, ...] = ()
    unknown: Mapping[str, int] = field(default_factory=dict)
    truncated: bool = False
    not_offered: tuple[str, ...] = ()
    narrowed: bool = False

    def sentence(self) -> str | None:
        """Return what is missing, for people and models, or None if nothing is."""
        count = len(self.unreadable)
        entries = "entry" if count == 1 else "entries"
        parts = [
            f"{count} {entries}{UNREAD}" if count else "",
            f"{self.other_patient} entries{UNNAMED}" if self.other_patient else "",
            "the server holds more than was read" if self.truncated else "",
            "of older results only those of the asked codes, kind or time were read"
            if self.narrowed
            else "",
            f"the server does not offer {', '.join(self.not_offered)}" if self.not_offered else "",
        ]
        said = [part for part in parts if part]
        return f"{INCOMPLETE}: {'; '.join(said)}." if said else None


@dataclass(frozen=True)
class PatientRecord:
    """All that is known about one patient; what is derived from it is computed once.

    Attributes:
        patient_id: The id that Rounds uses.
        patient: The FHIR Patient.
        entries: The patient's other resources by source id (`Observation/ecog-1`), in the order
            received.
        names: Every resource of the record by the ways in which references name it.
        addressed: Refs of those whose server is known: another server's are others.
        refuted: What was thought and is not so, by source id; of no list but by its name.
    """

    patient_id: PatientId
    patient: Patient
    entries: Mapping[str, Entry]
    names: Mapping[str, Entry]
    left_out: LeftOut
    addressed: frozenset[str] = frozenset()
    refuted: Mapping[str, Entry] = field(default_factory=dict)
    _derived: dict[object, object] = field(default_factory=dict, repr=False, compare=False)

    def derived(self, make: Callable[["PatientRecord"], DerivedT]) -> DerivedT:
        """Return what `make` reads out of this record; made once, so it must not change."""
        if make not in self._derived:
            self._derived[make] = make(self)
        return cast(DerivedT, self._derived[make])

    @cached_property
    def _by_kind(self) -> Mapping[str, tuple[Entry, ...]]:
        found: dict[str, list[Entry]] = {}
        for entry in self.entries.values():
            found.setdefault(entry.kind, []).append(entry)
        return {kind: tuple(entries) for kind, entries in found.items()}

    def entries_of(self, *kinds: str) -> tuple[Entry, ...]:
        """Return the entries of some FHIR types, in the order received."""
        return tuple(entry for kind in kinds for entry in self._by_kind.get(kind, ()))

    def resolve(self, reference: Raw, *, within: Raw | None = None) -> Entry | None:
        """Return what a Reference points to: relative, absolute, urn, versioned or contained.

        Args:
            within: The resource that holds the reference, for what it contains.
        """
        if not (target := text(reference, "reference").partition("/_history/")[0]):
            return None
        if target.startswith("#"):
            held = f"Observation/{text(within or {}, 'id')}.{target[1:]}"
            return self.entries.get(held) or _contained(within or {}, target[1:])
        found = self.names.get(target)
        if found is not None or "://" not in target:
            return found
        found = self.names.get("/".join(target.rsplit("/", 2)[-2:]))
        return None if found is None or found.ref in self.addressed else found

    def name_of(self, reference: Raw, *, within: Raw | None = None) -> str:
        """Return what a Reference is called: its display, else a name of what it points to."""
        if shown := text(reference, "display"):
            return shown
        found = self.resolve(reference, within=within)
        return named(found.raw, self) if found is not None else ""

    def prepared(self) -> Self:
        """Return this record with its texts decoded; call it off the event loop."""
        _ = self.documents
        return self

    @cached_property
    def documents(self) -> tuple[ClinicalDocument, ...]:
        """Notes, reports and answered questionnaires, oldest first, undated last."""

        def name(reference: Raw, within: Raw) -> str:
            return self.name_of(reference, within=within)

        written_by = _authors(self)
        return tuple(
            replace(one, author=one.author or written_by.get(one.ref))
            for one in documents_of(self.entries_of(*DOCUMENT_KINDS), name)
        )


def _authors(record: PatientRecord) -> Mapping[str, str]:
    """Return by source id who wrote a resource, as its Provenance says."""
    found: dict[str, str] = {}
    said = {id(entry): entry for entry in record.names.values() if entry.kind == "Provenance"}
    for entry in said.values():
        agents = many(entry.raw, "agent")
        agents = sorted(
            agents, key=lambda agent: "author" in codes(one(agent, "type")), reverse=True
        )
        names = (record.name_of(one(agent, "who"), within=entry.raw) for agent in agents)
        name = next(filter(None, names), "")
        for pointer in many(entry.raw, "target"):
            target = record.resolve(pointer, within=entry.raw)
            if target is not None and name:
                found.setdefault(target.ref, name)
    return found


def named(raw: Raw, record: PatientRecord | None = None) -> str:
    """Return the name of a person, an organization, a place or a drug, else what a code says."""
    name = raw.get("name")
    if isinstance(name, str):
        return name.strip()
    if rows := many(raw, "name"):
        row = rows[0]
        given = [part for part in row.get("given") or () if isinstance(part, str)]
        prefix = [part for part in row.get("prefix") or () if isinstance(part, str)]
        whole = " ".join([*prefix, *given, text(row, "family")]).strip()
        return text(row, "text") or whole
    if record is not None and (pointer := one(raw, "practitioner")):
        return record.name_of(pointer)
    called = label(one(raw, "code") or one(raw, "type")) or text(raw, "title")
    return called or text(one(raw, "deviceName"), "name")


def record_from_resources(
    patient_id: PatientId,
    entries: Iterable[Mapping[str, Any]],
    *,
    patient_ref: str | None = None,
    truncated: bool = False,
    narrowed: bool = False,
    not_offered: tuple[str, ...] = (),
    damaged: tuple[str, ...] = (),
) -> PatientRecord:
    """Return the record in Bundle `entries` (`{"fullUrl", "resource"}`) as one patient's.

    Args:
        patient_id: The id that Rounds uses.
        entries: What was received, of any type and perhaps of other people.
        patient_ref: Which Patient is meant; needed when there may be more than one.
        truncated: Whether the sender had more.
        narrowed: Whether only some of its older results were asked for.
        not_offered: Resource types that the sender does not have.
        damaged: What the sender could not read, and why.

    Raises:
        RecordNotFoundError: there is no Patient among the entries.
        RecordAmbiguousError: there is more than one Patient.
        RecordsUnreadableError: the Patient breaks R4's shapes.
    """
    sorter = Sorter()
    for entry in entries:
        sorter.add(entry)
    sorted_out = sorter.of_patient(patient_ref)
    left_out = LeftOut(
        other_patient=sorted_out.other_patient,
        withdrawn=sorted_out.withdrawn,
        unreadable=(*damaged, *(why for _, why in sorter.unreadable)),
        unknown=dict(sorter.unknown),
        truncated=truncated,
        not_offered=not_offered,
        narrowed=narrowed,
    )
    names = sorted_out.names
    addressed = frozenset(entry.ref for name, entry in names.items() if name.startswith("http"))
    return PatientRecord(
        patient_id,
        sorted_out.patient,
        sorted_out.entries,
        names,
        left_out,
        addressed,
        sorted_out.refuted,
    )


def _contained(raw: Raw, key: str) -> Entry | None:
    for inner in many(raw, "contained"):
        if text(inner, "id") == key:
            return Entry(f"#{key}", text(inner, "resourceType"), inner)
    return None
