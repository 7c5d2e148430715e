"""Who the patients of a folder are, and in which files their resources lie. Pure."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any, TypeAlias

from data_models.identifiers import PatientId
from services.records.folder.files import Problem, ResourceFile, Stamp, whole_numbers
from services.records.folder.owners import identifier_keys, names_of, normal, owner_keys
from services.records.resources.canonical import identifiers_of, is_replaced, is_retired, storable
from services.records.resources.entry import Entry
from services.records.resources.ports import ChartPatient
from services.records.visits import VISITS, days_of

CanonicalId: TypeAlias = Callable[[Mapping[str, Any]], PatientId | None]


@dataclass(frozen=True, slots=True)
class PatientEntry:
    """A Patient resource, as JSON without fractions, and the references that mean it."""

    body: Mapping[str, Any]
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class OwnedVisit:
    """A visit or an appointment, and the references by which it says whose it is."""

    entry: Entry
    owners: frozenset[str]


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What one file holds.

    Attributes:
        visits: Those that were not over when the file was read: no later day has the others.
        owned: How many resources of each type belong to whom, by the owner's reference.
        shared: References of what belongs to nobody: drugs, people, places.
    """

    name: str
    stamp: Stamp
    patients: Sequence[PatientEntry]
    owned: Mapping[str, Counter[str]]
    shared: Mapping[str, str]
    problems: Sequence[Problem]
    visits: Sequence[OwnedVisit] = ()


@dataclass(frozen=True, slots=True)
class Chart(ChartPatient):
    """One patient of the folder, by the newest Patient resource.

    Attributes:
        names: References and identifiers by which other resources name the patient.
        files: Where the patient's resources are, with the stamps at which they were read.
        is_ambiguous: Another person has the same id; then neither chart is opened by it.
    """

    names: frozenset[str]
    files: Mapping[Path, Stamp]
    is_ambiguous: bool = False

    @property
    def ref(self) -> str:
        """How resources of the chart name the patient."""
        return f"Patient/{self.body['id']}"


@dataclass(frozen=True, slots=True)
class FolderIndex:
    """All charts of a folder."""

    facts: Mapping[Path, FileFacts] = field(default_factory=dict)
    charts: Mapping[PatientId, Chart] = field(default_factory=dict)
    everybody: Sequence[Chart] = ()
    """Merged and ambiguous ones too."""
    shared: Mapping[str, Path] = field(default_factory=dict)
    ids: Mapping[str, PatientId | None] = field(default_factory=dict)
    """Whom an identifier or a resource id means, in small letters; None: more than one."""
    problems: Sequence[Problem] = ()
    hiding: Sequence[str] = ()
    """Files that could not be read and may hold a patient who is not known from others."""


def facts_of(path: Path, *, name: str, stamp: Stamp, today: date) -> FileFacts:
    """Read a file once and return what it holds."""
    file = ResourceFile(path=path, name=name)
    patients: list[PatientEntry] = []
    owned: dict[str, Counter[str]] = {}
    shared: dict[str, str] = {}
    visits: list[OwnedVisit] = []
    for entry in file.entries():
        resource = entry["resource"]
        kind, full_url = resource["resourceType"], entry.get("fullUrl")
        if kind == "Patient":
            patients.append(_patient_entry(resource, full_url))
            continue
        owners = owner_keys(resource)
        for owner in owners:
            owned.setdefault(owner, Counter())[kind] += 1
        if kind in VISITS and _is_ahead(resource, today):
            visits.append(OwnedVisit(_as_entry(resource), owners))
        if not owners:
            names = names_of(resource, full_url) | identifier_keys(resource)
            shared.update(dict.fromkeys(names, kind))
    return FileFacts(name, stamp, patients, owned, shared, tuple(file.problems), visits)


def _as_entry(resource: Mapping[str, Any]) -> Entry:
    kind = str(resource["resourceType"])
    return Entry(f"{kind}/{resource.get('id')}", kind, resource)


def _is_ahead(resource: Mapping[str, Any], today: date) -> bool:
    """Whether a visit may be on some day from now on, wherever on earth."""
    days = days_of(_as_entry(resource))
    return days is not None and days[1] >= today - timedelta(days=2)


def index_of(
    facts: Mapping[Path, FileFacts], *, canonical: CanonicalId, today: date
) -> FolderIndex:
    """Return who the patients of all files are."""
    people = _people(facts)
    problems = [problem for one in facts.values() for problem in one.problems]
    hiding = [one.name for one in facts.values() if one.problems and not one.patients]
    everybody: list[Chart] = []
    for person, files in _with_files(people, facts):
        patient_id = canonical(person.body)
        if patient_id is None or "id" not in person.body:
            problems.append(Problem(facts[person.paths[0]].name, "Patient", "id: is missing"))
            hiding.append(facts[person.paths[0]].name)
            continue
        stamps = {path: facts[path].stamp for path in sorted(files)}
        everybody.append(Chart(patient_id, person.body, person.names, stamps))
    charts, clashes = _by_canonical_id(everybody)
    shared = {ref: path for path, one in facts.items() for ref in one.shared}
    ids = _ids(everybody, today)
    found = (*problems, *clashes)
    return FolderIndex(facts, charts, tuple(everybody), shared, ids, found, tuple(hiding))


def _people(facts: Mapping[Path, FileFacts]) -> Mapping[str, Sequence["_Person"]]:
    people: dict[str, list[_Person]] = {}
    for path, one in facts.items():
        for entry in one.patients:
            rivals = people.setdefault(str(entry.body.get("id")), [])
            same = next((each for each in rivals if each.is_same(entry)), None)
            if same is None:
                rivals.append(_Person([entry], [path]))
            else:
                same.entries.append(entry)
                same.paths.append(path)
    return people


def _with_files(
    people: Mapping[str, Sequence["_Person"]], facts: Mapping[Path, FileFacts]
) -> Iterator[tuple["_Person", Collection[Path]]]:
    holders: dict[str, list[Path]] = {}
    for path, one in facts.items():
        for owner in one.owned:
            holders.setdefault(owner, []).append(path)
    for rivals in people.values():
        for person in rivals:
            held = (path for name in person.names for path in holders.get(name, ()))
            # Where two people share a resource id, a reference means the one of its own file.
            yield person, {*person.paths, *(held if len(rivals) == 1 else ())}


@dataclass(slots=True)
class _Person:
    entries: list[PatientEntry]
    paths: list[Path]

    def is_same(self, other: PatientEntry) -> bool:
        """Tell whether two Patient resources of one resource id are one person."""
        mine, theirs = _traits(self.body), _traits(other.body)
        return bool(mine & theirs) or not mine or not theirs

    @property
    def body(self) -> Mapping[str, Any]:
        return max((one.body for one in self.entries), key=updated)

    @property
    def names(self) -> frozenset[str]:
        return frozenset().union(*(one.names for one in self.entries))


def _traits(body: Mapping[str, Any]) -> frozenset[str]:
    """Return what tells people apart: their identifiers, or their names with the birth date."""
    found = {f"{row.get('system', '')}|{row['value']}" for row in identifiers_of(body)}
    names = body.get("name")
    for name in names if isinstance(names, list) else ():
        if isinstance(name, dict) and body.get("birthDate"):
            found.add(f"{name.get('family')} {name.get('given')} {body['birthDate']}".casefold())
    return frozenset(found)


def updated(body: Mapping[str, Any]) -> str:
    """Return when a resource was written last; "" where it does not say."""
    meta = body.get("meta")
    return str(meta.get("lastUpdated") or "") if isinstance(meta, dict) else ""


def _by_canonical_id(
    everybody: Iterable[Chart],
) -> tuple[Mapping[PatientId, Chart], Sequence[Problem]]:
    charts: dict[PatientId, Chart] = {}
    problems: list[Problem] = []
    for chart in everybody:
        rival = charts.get(chart.patient_id)
        if rival is None or is_replaced(rival.body):
            charts[chart.patient_id] = chart
        elif not is_replaced(chart.body):
            # Not opened by that id: nobody can say whose it is.
            charts[chart.patient_id] = replace(rival, is_ambiguous=True)
            name = next(iter(chart.files)).name
            problems.append(Problem(name, chart.ref, "has the same id as another Patient"))
    return charts, problems


def _ids(charts: Iterable[Chart], today: date) -> Mapping[str, PatientId | None]:
    found: dict[str, PatientId | None] = {}
    for chart in charts:
        rows = [row for row in identifiers_of(chart.body) if not is_retired(row, today)]
        values = {chart.patient_id, str(chart.body["id"]), *(str(row["value"]) for row in rows)}
        for key in {value.lower() for value in values}:
            is_first = found.setdefault(key, chart.patient_id) == chart.patient_id
            found[key] = chart.patient_id if is_first else None
    return found


def _patient_entry(resource: Mapping[str, Any], full_url: object) -> PatientEntry:
    body: dict[str, Any] = whole_numbers(resource)
    if not isinstance(body.get("id"), str):
        body.pop("id", None)
        if isinstance(full_url, str):
            body["id"] = normal(full_url).rpartition("/")[2].rpartition(":")[2]
        elif identifier_keys(body):
            body["id"] = storable("|".join(sorted(identifier_keys(body))))
    return PatientEntry(body, names_of(body, full_url) | identifier_keys(body))
