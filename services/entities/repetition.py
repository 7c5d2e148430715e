"""Knows a delta that was just applied, so that it changes nothing the second time (E20).

Most deltas do that by themselves. One after which something left or expired does not always: it
made room for a key that was refused before, and a key removed and set again changes its place.
"""

from dataclasses import dataclass

from data_models.entities.conversation_entities import Provenance
from data_models.entities.entities import Entities
from data_models.entities.entity_queue import EntityReport
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


class Repetition:
    """A delta, compared to the last one."""

    def __init__(self, *, write: DeltaWrite) -> None:
        self._entities, self._delta, self._write = write.entities, write.delta, write
        last = self._entities.last_delta
        self.is_one = bool(last) and last == self._name() and not self._has_aged()

    def report_of(self, tried: MergeReport) -> MergeReport:
        """Return `tried`, the report of a trial, with what it wanted to change as refused."""
        for report in (tried["conversation"], tried["derived"]):
            for key in (*report["added"], *report["updated"]):
                report["rejected"][key] = "repeated"
            for kind in ("added", "updated", "removed", "evicted"):
                report[kind] = []
        self._confirm(tried["conversation"], self._wanted())
        self._confirm(tried["derived"], self._found())
        return tried

    def remember(self, report: MergeReport) -> None:
        """Note the delta if it made something leave or expire; forget the one before."""
        evicted = report["conversation"]["evicted"] or report["derived"]["evicted"]
        queues = self._entities.derived.agent_entities.values()
        outdated = any(one.is_outdated for queue in queues for one in queue.values())
        matters = bool(evicted or self._delta.entities_to_remove or outdated)
        self._entities.last_delta = self._name() if matters else ""

    def _name(self) -> str:
        conversation, derived = self._entities.conversation, self._entities.derived
        text = canonical_json(self._delta.model_dump()) or ""
        keys = (*self._delta.entities_to_update, "", *self._delta.derived_entities_to_update)
        write = self._write
        about = (write.agent_name or "", write.source, *sorted(write.writing.pinned))
        name = hashed(*about, text, *keys)
        return f"{name}:{conversation.revision}:{derived.revision}"

    def _has_aged(self) -> bool:
        """Tell whether something expired since: then the delta may well do more."""
        now = self._write.writing.now
        conversation, derived = self._entities.conversation, self._entities.derived
        times = [one for one in (conversation.last_updated_at, derived.last_updated_at) if one]
        then = max(times, default=now)
        queues = derived.agent_entities.values()
        rows = [one for queue in queues for one in queue.values()]
        return any(one.is_expired(now) != one.is_expired(then) for one in rows)

    def _wanted(self) -> dict[str, str]:
        return {key: one.canonical for key, one in self._entities.conversation.entities.items()}

    def _found(self) -> dict[str, str]:
        queue = self._entities.derived.agent_entities.get(self._write.agent_name or "", {})
        return {key: one.canonical for key, one in queue.items()}

    def _confirm(self, report: EntityReport, held: dict[str, str]) -> None:
        """Call unchanged what the trial would have set again to what it is."""
        sent = self._delta.entities_to_update | self._delta.derived_entities_to_update
        values = {canonical_key(raw): canonical_json(value) for raw, value in sent.items()}
        for key in [key for key, why in report["rejected"].items() if why == "repeated"]:
            if held.get(key) == values.get(key):
                del report["rejected"][key]
                report["unchanged"].append(key)
