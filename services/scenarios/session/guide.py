"""A scenario in the conversation (5.2): begin, hear fields, go on, say where we are."""

from dataclasses import dataclass

from pydantic import JsonValue

from data_models.clock import Clock, IdSource
from data_models.errors import ScenarioPlanError
from data_models.scenario import Step
from data_models.scenario_session import PatientProfile, ScenarioSession
from services.scenarios.definition.graph import Graph
from services.scenarios.migration.catalogue import Catalogue
from services.scenarios.migration.migration_config import GapFillConfig
from services.scenarios.session.facts import Facts, gather_facts
from services.scenarios.session.progress import advanced, begun, next_branch
from services.scenarios.session.step_text import done_of, missing_of, needed_at


@dataclass(frozen=True, slots=True)
class Advance:
    """What became of the wish to go on.

    Attributes:
        missing: The fields without which the step cannot be left; empty if it was left.
        is_finished: The step was the last one.
    """

    session: ScenarioSession
    missing: tuple[str, ...] = ()
    is_finished: bool = False


class ScenarioGuide:
    """Leads sessions through their own version; values in, values out, the caller stores them.

    Bring a session to the active version first (`Reconciler.before_turn`).
    """

    def __init__(
        self,
        *,
        catalogue: Catalogue,
        clock: Clock,
        ids: IdSource,
        config: GapFillConfig | None = None,
    ) -> None:
        self._catalogue, self._clock, self._ids = catalogue, clock, ids
        self._config = config or GapFillConfig()

    async def titles(self, *, is_fresh: bool = False) -> dict[str, str]:
        """Return the name of each scenario that can be begun, by id; see `Catalogue.titles`."""
        return await self._catalogue.titles(is_fresh=is_fresh)

    async def begin(self, scenario_id: str, *, channel: str) -> ScenarioSession:
        """Return a new session at the active version's entry.

        Raises:
            ScenarioPlanError: no version of the scenario is deployed.
        """
        session_id = self._ids.new_id("scenario")
        graph = await self._catalogue.entry(scenario_id, session_id)
        if graph is None:
            raise ScenarioPlanError("the scenario has no active version")
        now = self._clock.now()
        return begun(graph, session_id=session_id, channel=channel, now=now)

    async def go_on(
        self, session: ScenarioSession, profile: PatientProfile, *, tool_ran: bool = False
    ) -> Advance:
        """Leave the current step if it is complete, by the first branch whose condition holds.

        Args:
            session: As it is stored now.
            profile: What is known about the patient.
            tool_ran: Whether the step's tool has run; a tool step is not left before.

        Raises:
            ScenarioConditionError: a condition cannot be decided from values of these types.
        """
        graph = await self.graph(session)
        step = _current(graph, session)
        if step.acts and not tool_ran:
            return Advance(session)
        values = self.values(graph, session, profile)
        missing = tuple(missing_of(step, values))
        if missing:
            return Advance(session, missing)
        branch, undecided = next_branch(graph, step.id, values)
        if branch is None:
            return Advance(session, undecided, is_finished=not graph.branches(step.id))
        return Advance(advanced(session, graph, branch.target, self._clock.now()))

    async def where(self, session: ScenarioSession, profile: PatientProfile) -> str:
        """Return the answer to "where are we?"."""
        graph = await self.graph(session)
        step = _current(graph, session)
        done = done_of(session)
        values = self.values(graph, session, profile)
        missing = [graph.fields[name].label for name in needed_at(graph, step, values)]
        progress = (
            f"{graph.scenario.title}: {step.title} ({done} of {len(graph.steps)} steps done)."
        )
        return f"{progress} Still needed: {', '.join(missing)}." if missing else progress

    def values(
        self, graph: Graph, session: ScenarioSession, profile: PatientProfile
    ) -> dict[str, JsonValue]:
        """Return what is known surely enough to be used, by field."""
        return self._facts(graph, session, profile).values

    def likely(
        self, graph: Graph, session: ScenarioSession, profile: PatientProfile
    ) -> dict[str, JsonValue]:
        """Return what the user has to confirm before it is used, by field."""
        facts = self._facts(graph, session, profile)
        return {name: fact.value for name, fact in facts.likely.items()}

    def _facts(self, graph: Graph, session: ScenarioSession, profile: PatientProfile) -> Facts:
        return gather_facts(
            session,
            profile,
            extracted=session.progress.extracted if session.progress else {},
            graph=graph,
            config=self._config,
            now=self._clock.now(),
        )

    async def graph(self, session: ScenarioSession) -> Graph:
        """Return the session's own version.

        Raises:
            ScenarioPlanError: it is not stored any more.
        """
        graph = await self._catalogue.graph(session.scenario_id, session.version)
        if graph is None:
            raise ScenarioPlanError(f"version {session.version} is not stored")
        return graph


def _current(graph: Graph, session: ScenarioSession) -> Step:
    if session.step is None or session.step not in graph.steps:
        raise ScenarioPlanError("the scenario has ended")
    return graph.steps[session.step]
