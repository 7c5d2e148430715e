"""The entries of one chart, gathered from its files. Blocking: call it off the event loop."""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from services.records.folder.files import Entry, Problem, ResourceFile
from services.records.folder.index import Chart, FolderIndex, updated
from services.records.folder.owners import (
    identifier_keys,
    keys_of,
    names_of,
    normal,
    owner_keys,
    references_in,
)
from services.records.resources.entry import many, one
from services.records.resources.sorting import OWNED, OWNING

_STEPS = 3
"""From an entry over a drug or a role to who made it; references may go in circles."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """Entries of one patient, whose owner reads `Patient/{id}` in each, and what was damaged."""

    entries: list[Entry]
    problems: list[Problem]


def gathered(index: FolderIndex, chart: Chart) -> Gathered:
    """Read the files of a chart."""
    reading = _Reading(index=index, chart=chart)
    for path in chart.files:
        reading.read(path)
    return Gathered(list(reading.result()), reading.problems)


def groups_of(index: FolderIndex) -> list[Mapping[str, Any]]:
    """Read the Groups of the folder, which are of no one chart."""
    paths = [path for path, facts in index.facts.items() if "Group" in facts.shared.values()]
    entries = (
        entry["resource"]
        for path in paths
        for entry in ResourceFile(path=path, name=index.facts[path].name).entries()
    )
    return [resource for resource in entries if resource["resourceType"] == "Group"]


@dataclass(slots=True)
class _Reading:
    index: FolderIndex
    chart: Chart
    problems: list[Problem] = field(default_factory=list)
    _mine: dict[str, Entry] = field(default_factory=dict)
    _unowned: dict[str, Entry] = field(default_factory=dict)
    _written: list[Entry] = field(default_factory=list)

    def read(self, path: Path) -> None:
        facts = self.index.facts[path]
        file = ResourceFile(path=path, name=facts.name)
        is_alone = len(facts.patients) == 1
        for number, entry in enumerate(file.entries()):
            resource = entry["resource"]
            owners = owner_keys(resource)
            key = f"{resource['resourceType']}/{resource.get('id', f'{facts.name}#{number}')}"
            if resource["resourceType"] == "Patient":
                continue
            if resource["resourceType"] == "Provenance":
                self._written.append(entry)
                continue
            if owners & self.chart.names:
                patients = frozenset().union(*(each.names for each in facts.patients))
                self._keep(key, facts.name, {**entry, "resource": self._named(resource, patients)})
            elif not owners:
                if is_alone and resource["resourceType"] in OWNED:
                    self._mine.setdefault(key, entry)  # it is counted as left out, too
                names = names_of(resource, entry.get("fullUrl")) | identifier_keys(resource)
                self._unowned.update(dict.fromkeys(names or {key}, entry))
            elif is_alone:
                # It names nobody of this file: the record counts it as left out.
                self._mine.setdefault(key, entry)
        self.problems += file.problems

    def result(self) -> Iterator[Entry]:
        """Yield the Patient, what is the patient's, and what that points to."""
        yield {"resource": dict(self.chart.body)}
        known = {*self._mine, *(normal(str(one.get("fullUrl"))) for one in self._mine.values())}
        # Who wrote something is of the chart where what was written is.
        said = [one for one in self._written if owner_keys(one["resource"]) & known]
        yield from self._mine.values()
        yield from said
        yield from self._pointed_to([*self._mine.values(), *said]).values()

    def _keep(self, key: str, name: str, entry: Entry) -> None:
        kept = self._mine.get(key)
        if kept is None or kept == entry or updated(entry["resource"]) > updated(kept["resource"]):
            self._mine[key] = entry
        elif updated(entry["resource"]) == updated(kept["resource"]):
            reason = "another file has other content under this id; the later one is shown"
            self.problems.append(Problem(name, key, reason))
            self._mine[key] = entry

    def _named(self, resource: Mapping[str, Any], patients: AbstractSet[str]) -> Mapping[str, Any]:
        """Return the resource with the reference that the record knows its patient by.

        Of an appointment of several patients the others are left out.
        """
        ref = {"reference": self.chart.ref}
        if resource["resourceType"] == "Appointment":
            told = []
            for row in many(resource, "participant"):
                names = {*keys_of(one(row, "actor"))}
                mine = {"actor": {**one(row, "actor"), **ref}} if names & self.chart.names else {}
                told += [{**row, **mine}] if mine or not names & patients else []
            return {**resource, "participant": told}
        for name in OWNING:
            if isinstance(resource.get(name), dict):
                return {**resource, name: {**resource[name], **ref}}
        return resource

    def _pointed_to(self, waiting: list[Entry]) -> Mapping[int, Entry]:
        found: dict[int, Entry] = {}
        if not self._unowned and not self.index.shared:
            return found
        seen: set[str] = set()
        for _ in range(_STEPS):
            wanted = {ref for entry in waiting for ref in references_in(entry["resource"])} - seen
            seen |= wanted
            self._fetch(wanted)
            waiting = [self._unowned[ref] for ref in wanted if ref in self._unowned]
            found |= {id(entry): entry for entry in waiting}
        return found

    def _fetch(self, wanted: set[str]) -> None:
        """Read what is wanted from files that hold nothing of the chart itself."""
        missing = {ref for ref in wanted if ref not in self._unowned and ref in self.index.shared}
        for path in sorted({self.index.shared[ref] for ref in missing} - self.chart.files.keys()):
            file = ResourceFile(path=path, name=self.index.facts[path].name)
            for entry in file.entries():
                resource = entry["resource"]
                names = names_of(resource, entry.get("fullUrl")) | identifier_keys(resource)
                if names & missing:
                    self._unowned.update(dict.fromkeys(names, entry))
