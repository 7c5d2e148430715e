"""The versions a turn needs, read once and kept while the active pointer stands."""

from contextlib import suppress

import structlog

from data_models.clock import Clock
from data_models.errors import CorruptDocumentError, ScenarioInputError, ScenarioNotFoundError
from data_models.scenarios.scenario_session import ScenarioSession
from services.scenarios.definition.graph import Graph
from services.scenarios.migration.plans.move import VersionChain
from services.scenarios.migration.scenario_store import ActivePointer, Held, ScenarioStore

_log = structlog.get_logger()
POINTER_TTL_SECONDS = 5.0
TITLES_TTL_SECONDS = 300.0


class Catalogue:
    """Answers from memory while it may; the pointer is at most five seconds old."""

    def __init__(self, *, store: ScenarioStore, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._pointers: dict[str, tuple[float, Held[ActivePointer]]] = {}
        self._chains: dict[str, tuple[tuple[int, ...], VersionChain]] = {}
        self._titles: tuple[float, dict[str, str]] | None = None

    async def titles(self, *, is_fresh: bool = False) -> dict[str, str]:
        """Return the name of each scenario that can be begun, by id.

        Args:
            is_fresh: Read anew, so that what was published a moment ago is there; else what is
                returned may be minutes old.
        """
        now = self._clock.monotonic()
        if is_fresh or self._titles is None or now - self._titles[0] > TITLES_TTL_SECONDS:
            found: dict[str, str] = {}
            for scenario_id in sorted(await self._store.versions()):
                if (graph := await self._readable(scenario_id)) is not None:
                    found[scenario_id] = graph.scenario.title
            self._titles = now, found
        return self._titles[1]

    async def _readable(self, scenario_id: str) -> Graph | None:
        """Return a scenario's entry version; one that is damaged must not hide the others."""
        try:
            return await self.entry(scenario_id, "")
        except (ScenarioInputError, CorruptDocumentError) as error:
            _log.warning("scenario_unreadable", code=error.code)
            return None

    async def is_current(self, session: ScenarioSession) -> bool:
        """Whether the session is where it belongs: one comparison, seldom a read."""
        pointer = await self._pointer(session.scenario_id)
        if pointer is None or pointer.version == session.version:
            return True
        return not pointer.reaches(session.session_id)

    async def entry(self, scenario_id: str, session_id: str) -> Graph | None:
        """Return the version that a new session begins in; None if none is offered."""
        pointer = await self._pointer(scenario_id)
        if pointer is None or pointer.withdrawn:
            return None
        return await self._store.graph(scenario_id, pointer.version_for(session_id))

    async def is_withdrawn(self, scenario_id: str) -> bool:
        """Whether operators took the scenario back: nobody begins it, and nobody goes on."""
        pointer = await self._pointer(scenario_id)
        return pointer is not None and bool(pointer.withdrawn)

    async def chain(self, scenario_id: str) -> VersionChain | None:
        """Return the deployed versions; None where its active one is not stored."""
        if (pointer := await self._pointer(scenario_id)) is None:
            return None
        known = self._chains.get(scenario_id)
        if known is None or known[0] != pointer.versions:
            with suppress(ScenarioNotFoundError):
                chain = await self._store.chain(scenario_id, pointer.versions, pointer.policies)
                known = self._chains[scenario_id] = pointer.versions, chain
        return known[1] if known is not None and known[0] == pointer.versions else None

    async def graph(self, session: ScenarioSession) -> Graph:
        """Return the session's own version.

        Raises:
            ScenarioNotFoundError: it is not stored any more.
        """
        return await self._store.require_graph(session.scenario_id, session.version)

    async def _pointer(self, scenario_id: str) -> ActivePointer | None:
        now = self._clock.monotonic()
        known = self._pointers.get(scenario_id)
        if known is None or now - known[0] > POINTER_TTL_SECONDS:
            if (held := await self._store.active(scenario_id)) is None:
                return None  # not kept: its first version may be published at any moment
            known = self._pointers[scenario_id] = now, held
        return known[1].value
