"""What a session must make up for before it lands (M8)."""

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from data_models.scenario_session import ScenarioSession, WorkItem
from services.scenarios.migration.move import Move
from services.scenarios.migration.own_way import OwnWay, way_of


@dataclass(frozen=True, slots=True)
class Gaps:
    """Finds the gaps of one session in one move.

    Attributes:
        visited: New ids of the steps that the session was in or was led past before.
        ran: New ids of the steps whose required action a migration ran already.
    """

    move: Move
    way: OwnWay
    visited: frozenset[str]
    ran: frozenset[str]

    def work_at(self, landing: str, known: Container[str]) -> dict[str, frozenset[str]]:
        """Return what skipping each step leaves to be made up for, if anything."""
        found = {}
        for step in self.move.new.steps:
            items = self.work([step], landing, known)
            if items:
                found[step] = frozenset(item.field or f"{item.step_id}()" for item in items)
        return found

    def work(self, steps: Sequence[str], landing: str, known: Container[str]) -> list[WorkItem]:
        """Return what is to be done for `steps` of a route, in their order, each thing once."""
        needed = self.way.fields_read_from(landing)
        asked: set[str] = set()
        items: list[WorkItem] = []
        for step in dict.fromkeys(steps):
            if step == landing:
                continue
            if self._must_run(step):
                items.append(WorkItem(step_id=step, kind="action"))
            for name in self._fields(step):
                if name in needed and name not in known and name not in asked:
                    asked.add(name)
                    items.append(WorkItem(step_id=step, kind="field", field=name))
        return items

    def _must_run(self, step: str) -> bool:
        required = self.move.new.steps[step].is_required_action
        return required and step not in self.visited and step not in self.ran

    def _fields(self, step: str) -> Iterator[str]:
        """All fields of a step that was skipped; of one that was visited, those added since."""
        collected: frozenset[str] = frozenset()
        if step in self.visited and step in self.move.preimage:
            former = self.move.old.steps[self.move.preimage[step]]
            collected = frozenset(former.collects_profile_fields)
        for name in self.move.new.steps[step].collects_profile_fields:
            if name not in collected:
                yield name


def gaps_of(session: ScenarioSession, move: Move) -> Gaps:
    """Return the gaps of `session`."""
    visited = frozenset(move.image[step] for step in session.path if step in move.image)
    ran = {
        (move.image if done.version == move.old.version else move.images_of(done.version)).get(
            done.step_id
        )
        if done.version != move.new.version
        else done.step_id
        for done in session.executed
    }
    return Gaps(
        move, way_of(session, move), visited, frozenset(step for step in ran if step is not None)
    )
