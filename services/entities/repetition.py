"""Knows a delta that was just applied, so that it changes nothing the second time (E20).

Most deltas do that by themselves. One after which something left or expired does not always: it
made room for a key that was refused before, and a key removed and set again changes its place.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from data_models.entities.entities import Entities, Provenance
from data_models.entities.entity_queue import Entity, EntityReport
from data_models.entities.entity_values import canonical_json, canonical_key
from data_models.identifiers import hashed
from services.entities.circumstances import MergeReport, Writing
from services.entities.delta import EntityDelta

# Who was shown which state of the entities, so that nobody writes on an older one (E20).


class Readers:
    """What each agent of one turn has read; who was shown nothing is held to nothing."""

    def __init__(self, *, entities: Entities) -> None:
        self._entities = entities
        self._wanted: dict[str, int] = {}
        self._found: dict[str, int] = {}

    def saw_all(self, agent_name: str) -> None:
        """Note that `agent_name` knows the state as it is now."""
        self._wanted[agent_name] = self._entities.conversation.revision
        self._found[agent_name] = self._entities.derived.revision

    def saw_finds(self, agent_name: str) -> None:
        """Note that `agent_name` knows what tools have found up to now: its own did."""
        if agent_name in self._found:
            self._found[agent_name] = self._entities.derived.revision

    def wrote(self, agent_name: str) -> None:
        """Note that `agent_name` knows what it has just written itself."""
        if agent_name in self._wanted:
            self.saw_all(agent_name)

    def revision_for(self, agent_name: str | None, delta: EntityDelta) -> int | None:
        """Return the revision that `delta` of `agent_name` rests on; None if it read nothing."""
        if agent_name is None or agent_name not in self._wanted:
            return None
        wanted = self._wanted[agent_name]
        if delta.entities_to_update or delta.entities_to_remove:
            return wanted
        return max(wanted, self._found[agent_name])


@dataclass(frozen=True, slots=True)
class DeltaWrite:
    """A delta, and what it is applied to."""

    entities: Entities
    delta: EntityDelta
    agent_name: str | None
    source: Provenance
    writing: Writing


def is_repeated(write: DeltaWrite) -> bool:
    """Tell whether the delta is the last one again, and nothing expired since: it might do more."""
    entities, now = write.entities, write.writing.now
    if not entities.last_delta or entities.last_delta != _name(write):
        return False
    managers = (entities.conversation, entities.derived)
    then = max((one.last_updated_at for one in managers if one.last_updated_at), default=now)
    rows = [one for _, queue in entities.queues() for one in queue.values()]
    return all(one.is_expired(now) == one.is_expired(then) for one in rows)


def as_repeated(tried: MergeReport, write: DeltaWrite) -> MergeReport:
    """Return the report of a trial: what it would change again is refused, or unchanged."""
    entities, delta = write.entities, write.delta
    found = entities.derived.agent_entities.get(write.agent_name or "", {})
    _refuse(tried["conversation"], entities.conversation.entities, delta.entities_to_update)
    _refuse(tried["derived"], found, delta.derived_entities_to_update)
    return tried


def _refuse(report: EntityReport, queue: Mapping[str, Entity], sent: Mapping[str, Any]) -> None:
    values = {canonical_key(raw): canonical_json(value) for raw, value in sent.items()}
    for key in (*report["added"], *report["updated"]):
        if key in queue and queue[key].canonical == values.get(key):
            report["unchanged"].append(key)
        else:
            report["rejected"][key] = "repeated"
    report |= {"added": [], "updated": [], "removed": [], "evicted": []}


def remember(write: DeltaWrite, report: MergeReport) -> None:
    """Note the delta if it made something leave or expire; forget the one before."""
    entities = write.entities
    evicted = report["conversation"]["evicted"] or report["derived"]["evicted"]
    queues = entities.derived.agent_entities.values()
    outdated = any(one.is_outdated for queue in queues for one in queue.values())
    matters = bool(evicted or write.delta.entities_to_remove or outdated)
    entities.last_delta = _name(write) if matters else ""


def _name(write: DeltaWrite) -> str:
    conversation, derived = write.entities.conversation, write.entities.derived
    text = canonical_json(write.delta.model_dump()) or ""
    keys = (*write.delta.entities_to_update, "", *write.delta.derived_entities_to_update)
    about = (write.agent_name or "", write.source, *sorted(write.writing.pinned))
    return f"{hashed(*about, text, *keys)}:{conversation.revision}:{derived.revision}"
