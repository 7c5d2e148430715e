"""What a session must make up for before it lands (M8)."""

from collections.abc import Container, Iterator, Sequence

from data_models.scenario_session import ScenarioSession, WorkItem
from services.scenarios.migration.move import Move
from services.scenarios.migration.own_way import OwnWay


class Gaps:
    """Finds the gaps of one session in one move.

    Attributes:
        visited: New ids of the steps that the session was in or was led past before.
    """

    def __init__(self, *, session: ScenarioSession, move: Move, way: OwnWay) -> None:
        self._move, self._way = move, way
        self.visited = frozenset(move.image[step] for step in session.path if step in move.image)
        self._ran = frozenset(map(move.image_of, session.executed))

    def work_at(self, landing: str, known: Container[str]) -> dict[str, frozenset[str]]:
        """Return what skipping each step leaves to be made up for, if anything."""
        found = {}
        for step in self._move.new.steps:
            items = self.work([step], landing, known)
            if items:
                found[step] = frozenset(item.field or f"{item.step_id}()" for item in items)
        return found

    def work(self, steps: Sequence[str], landing: str, known: Container[str]) -> list[WorkItem]:
        """Return what is to be done for `steps` of a route, in their order, each thing once."""
        needed = self._way.fields_read_from(landing)
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
        required = self._move.new.steps[step].is_required_action
        return required and step not in self.visited and step not in self._ran

    def _fields(self, step: str) -> Iterator[str]:
        """All fields of a step that was skipped; of one that was visited, those added since."""
        collected: frozenset[str] = frozenset()
        if step in self.visited and step in self._move.preimage:
            former = self._move.old.steps[self._move.preimage[step]]
            collected = frozenset(former.collects_profile_fields)
        for name in self._move.new.steps[step].collects_profile_fields:
            if name not in collected:
                yield name
