"""Sorting what was received: whose it is, what of it is meant, and what cannot be read."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from data_models.errors import RecordAmbiguousError, RecordNotFoundError, RecordsUnreadableError
from data_models.plain_yaml import read_yaml
from services.records.resources import entry as fhir
from services.records.resources.entry import KINDS, Raw, many, one, text
from services.records.resources.fhir_types import Patient
from services.records.resources.standing import certainty_of, is_refuted
from services.records.resources.values import decimal_of

# The resource types that Rounds reads (spec page 9.1), and whose they are.

CLINICAL = frozenset(KINDS["clinical"])
"""Belong to one patient and are shown as rows."""

SHARED = frozenset(KINDS["shared"])
"""Give names, texts and authors to what is shown."""

MAY_BE_NOBODYS = frozenset({"Device", "Specimen"})
"""R4 lets them name no patient; then they are shown only where the patient's own point to them."""

OWNED = CLINICAL - MAY_BE_NOBODYS
"""Of these one that names no patient is of nobody known."""

BILLS = frozenset(KINDS["bills"])
"""Read for who insures the patient only: the newest of each insurer."""

OWNING = ("subject", "patient", "beneficiary", "individual")
"""Elements that say whose a resource is; the last is a ResearchSubject's."""

_IN_ERROR = "entered-in-error"
_CANCELLED_IS_NO_FACT = frozenset({"Observation", "DiagnosticReport"})


def owners_of(kind: str, raw: Raw) -> Iterator[Raw]:
    """Yield the References that may say whose the resource is."""
    for name in OWNING:
        if pointer := one(raw, name):
            yield pointer
            return
    if kind == "Appointment":
        yield from (one(person, "actor") for person in many(raw, "participant"))


def insurers_of(raw: Raw) -> tuple[str, ...]:
    """Return who is named as the payer of a bill."""
    held = [one(row, "coverage") for row in many(raw, "insurance")]
    inner = [payor for row in many(raw, "contained") for payor in many(row, "payor")]
    said = (text(row, "display") for row in (*held, one(raw, "insurer"), *inner))
    return tuple(dict.fromkeys(name for name in said if name))


def is_withdrawn(kind: str, raw: Raw) -> bool:
    """Return whether the resource says of itself that it is not so."""
    said = {text(raw, "status"), text(raw, "docStatus"), certainty_of(raw)}
    return _IN_ERROR in said or never_was(kind, raw)


def never_was(kind: str, raw: Raw) -> bool:
    """Return whether what was thought is not so, or what was to be measured was not."""
    is_cancelled = kind in _CANCELLED_IS_NO_FACT and text(raw, "status") == "cancelled"
    return is_cancelled or is_refuted(raw)


NUMBERS_OF_STATE = frozenset(
    {"social security number", "driver's license", "passport number", "mothers maiden name"}
)
"""Told to who asks for them by name, in no summary and for no other words."""


# Which resources are damaged: elements that carry meaning and are of another JSON kind than R4's.
#
# Absent elements are no damage, nor is one object where R4 wants a list: real servers send both.

_ELEMENTS = read_yaml(Path(__file__).with_name("elements.yaml").read_bytes())


def damaged_element(raw: fhir.Raw) -> str | None:
    """Return the first element that carries meaning and is damaged, or None."""
    for name, value in raw.items():
        check = _CHECKS.get(name)
        if check is not None and value is not None and not check(value):
            return f"{name}.value" if check is _is_quantity and isinstance(value, dict) else name
    dates = fhir.DATES.get(str(raw.get("resourceType")), ())
    return next((n for n in dates if n in raw and not isinstance(raw[n], str | dict)), None)


def _is_concept(value: Any) -> bool:
    if isinstance(value, list):  # DSTU2 and R5 differ in which of them repeat
        return all(_is_concept(item) for item in value)
    if not isinstance(value, dict):
        return False
    coded = value.get("coding", [])
    coded = coded if isinstance(coded, list) else [coded]
    return isinstance(value.get("text", ""), str) and all(
        isinstance(row, dict)
        and all(isinstance(row.get(name, ""), str) for name in ("system", "code", "display"))
        for row in coded
    )


def _is_quantity(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    amount = value.get("value")
    return amount is None or decimal_of(amount) is not None


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_component(value: Any) -> bool:
    return _are_objects(value) and all(
        damaged_element(row) is None for row in (value if isinstance(value, list) else [value])
    )


def _are_objects(value: Any) -> bool:
    if isinstance(value, list):
        return all(isinstance(item, dict) for item in value)
    return isinstance(value, dict)


_CHECKS: Mapping[str, Callable[[Any], bool]] = {
    "status": _is_text,
    "valueQuantity": _is_quantity,
    "valueString": _is_text,
    **dict.fromkeys(_ELEMENTS["concepts"], _is_concept),
    **dict.fromkeys(
        _ELEMENTS["references"],
        lambda one: isinstance(one, dict) and isinstance(one.get("reference", ""), str),
    ),
    **dict.fromkeys(_ELEMENTS["lists"], _are_objects),
    "component": _is_component,
}


@dataclass(frozen=True, slots=True)
class Sorted:
    """What is one patient's.

    Attributes:
        entries: The patient's resources by source id, in the order received.
        names: Those and the shared ones, by every way in which references name them.
        other_patient: How many resources are somebody else's or nobody's.
        refuted: The patient's that say of what was thought that it is not so.
        withdrawn: How many of the patient's say of themselves that they are not so.
    """

    patient: Patient
    entries: Mapping[str, fhir.Entry]
    names: Mapping[str, fhir.Entry]
    other_patient: int
    refuted: Mapping[str, fhir.Entry]
    withdrawn: int


class Sorter:
    """Entries sorted by what they are."""

    def __init__(self) -> None:
        self.patients: dict[str, Patient] = {}
        self.clinical: dict[str, fhir.Entry] = {}
        self.names: dict[str, fhir.Entry] = {}
        self.unreadable: list[tuple[str, str]] = []
        """References, and what is wrong with them."""
        self.unknown: Counter[str] = Counter()
        self._patient_names: dict[str, set[str]] = {}
        self._merged_into: dict[str, str] = {}
        self._counts: Counter[str] = Counter()
        self._bills: dict[tuple[str, ...], fhir.Entry] = {}

    def add(self, entry: Mapping[str, Any]) -> None:
        """File one entry; those of types that Rounds does not read are counted."""
        raw = entry.get("resource")
        if not isinstance(raw, dict):
            return
        kind = str(raw.get("resourceType"))
        if kind not in CLINICAL and kind not in SHARED and kind != "Patient":
            self.unknown[kind] += kind.isidentifier()
            if kind in BILLS:
                self._keep_bill(kind, raw, entry.get("fullUrl"))
            return
        self._counts[kind] += 1
        url = entry.get("fullUrl")
        ref = f"{kind}/{_id_of(raw, url) or f'entry-{self._counts[kind]}'}"
        if kind == "Patient":
            self._file_patient(ref, raw, url)
        elif (broken := damaged_element(raw)) is not None:
            self.unreadable.append((ref, f"{ref}: {broken}: is not as R4 has it"))
        else:
            self._file(fhir.Entry(ref, kind, raw), url)

    def _keep_bill(self, kind: str, raw: fhir.Raw, url: object) -> None:
        """Keep the newest bill of each insurer: there are as many bills as visits."""
        found = fhir.Entry(f"{kind}/{_id_of(raw, url) or 'entry'}", kind, raw)
        if is_withdrawn(kind, raw) or not insurers_of(raw) or damaged_element(raw) is not None:
            return
        owners = ",".join(fhir.text(pointer, "reference") for pointer in owners_of(kind, raw))
        key = (owners, *(name.casefold() for name in insurers_of(raw)))
        kept = self._bills.get(key)
        if kept is None or fhir.instant(found.date) > fhir.instant(kept.date):
            self._bills[key] = found

    def of_patient(self, wanted: str | None) -> Sorted:
        """Return what belongs to the one Patient, or to that of the reference `wanted`.

        Raises:
            RecordNotFoundError: there is no such Patient.
            RecordAmbiguousError: there is more than one.
            RecordsUnreadableError: the Patient is damaged.
        """
        patient, names = self._the_patient(wanted)
        numbers = frozenset((row.system, row.value) for row in patient.identifier if row.value)
        bills = [entry for entry in self._bills.values() if _is_of(entry, names, numbers)]
        mine = {ref: entry for ref, entry in self.clinical.items() if _is_of(entry, names, numbers)}
        kept = {ref: each for ref, each in mine.items() if not is_withdrawn(each.kind, each.raw)}
        others = [entry for ref, entry in self.clinical.items() if ref not in mine]
        pointed = {
            name: entry
            for name, entry in self.names.items()
            if entry.kind in SHARED or entry.ref in kept or _is_nobodys(entry)
        }
        return Sorted(
            patient=patient,
            entries=kept | {entry.ref: entry for entry in bills},
            names=pointed,
            other_patient=sum(not _is_nobodys(entry) for entry in others),
            refuted={ref: each for ref, each in mine.items() if never_was(each.kind, each.raw)},
            withdrawn=len(mine) - len(kept),
        )

    def _the_patient(self, wanted: str | None) -> tuple[Patient, frozenset[str]]:
        """Return the one Patient and the references that mean it."""
        found = [ref for ref in self.patients if wanted in (None, ref)]
        if wanted is None:
            found = [ref for ref in found if self._merged_into.get(ref) not in found]
        if len(found) > 1:
            raise RecordAmbiguousError
        if not found:
            damaged = [why for ref, why in self.unreadable if ref.startswith("Patient/")]
            raise RecordsUnreadableError(damaged[0]) if damaged else RecordNotFoundError
        merged = [old for old, new in self._merged_into.items() if new == found[0]]
        names = {name for ref in (found[0], *merged) for name in self._patient_names[ref]}
        return self.patients[found[0]], frozenset(names)

    def _file_patient(self, ref: str, raw: Mapping[str, Any], url: object) -> None:
        try:
            self.patients[ref] = Patient.model_validate(raw)
        except ValidationError as error:
            self.unreadable.append((ref, f"{ref}: {_element(error)}"))
            broken = {str(each["loc"][0]) for each in error.errors(include_input=False)}
            rest = {name: value for name, value in raw.items() if name not in broken - {"id"}}
            if rest != raw:
                # A person with a broken telephone number is still that person.
                self._file_patient(ref, rest, url)
            return
        self._patient_names.setdefault(ref, set()).update(_names_of(ref, url))
        for link in fhir.many(raw, "link"):
            if raw.get("active") is False and fhir.text(link, "type") == "replaced-by":
                self._merged_into[ref] = fhir.text(fhir.one(link, "other"), "reference")

    def _file(self, entry: fhir.Entry, url: object) -> None:
        known = self.names.get(entry.ref)
        if known is not None and _updated(known.raw) > _updated(entry.raw):
            return  # an older version of what is there already
        for name in _names_of(entry.ref, url):
            self.names[name] = entry
        if entry.kind in CLINICAL:
            self.clinical[entry.ref] = entry
        if is_withdrawn(entry.kind, entry.raw):
            return
        for key, inner in fhir.contained_results(entry.raw):
            self.add({"resource": {**inner, "id": key}})


def _names_of(ref: str, url: object) -> set[str]:
    return {ref, url.partition("/_history/")[0]} if isinstance(url, str) and url else {ref}


def _id_of(raw: Mapping[str, Any], url: object) -> str | None:
    found = raw.get("id")
    if isinstance(found, str) and 0 < len(found) <= 64:
        return found
    if isinstance(url, str) and url.startswith("urn:uuid:"):
        return url.removeprefix("urn:uuid:")[:64] or None
    return None


def _element(error: ValidationError) -> str:
    """Return which element is wrong; what it holds is not quoted."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    return f"{'.'.join(str(part) for part in first['loc'])}: is not as R4 has it"


def _updated(raw: fhir.Raw) -> str:
    return fhir.instant(fhir.text(fhir.one(raw, "meta"), "lastUpdated"))


def _is_of(
    entry: fhir.Entry, names: frozenset[str], numbers: frozenset[tuple[str | None, str | None]]
) -> bool:
    """Return whether the entry names the patient: by reference, else by a record number."""
    for pointer in owners_of(entry.kind, entry.raw):
        target = fhir.text(pointer, "reference").partition("/_history/")[0]
        if target:
            if target in names:
                return True
            continue
        number = fhir.one(pointer, "identifier")
        if number and (fhir.text(number, "system") or None, fhir.text(number, "value")) in numbers:
            return True
    return False


def _is_nobodys(entry: fhir.Entry) -> bool:
    return entry.kind in MAY_BE_NOBODYS and not any(owners_of(entry.kind, entry.raw))
