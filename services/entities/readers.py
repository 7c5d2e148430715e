"""Who was shown which state of the entities, so that nobody writes on an older one (E20)."""

from data_models.entities import Entities
from services.entities.delta import EntityDelta


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
