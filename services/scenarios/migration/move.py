"""Everything about a jump between two versions that does not depend on one session."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from data_models.scenario_session import CompletedCheckpoint, ExecutedAction
from services.scenarios.definition.graph import Graph
from services.scenarios.migration.migration_plan import AnchorMigrationPolicy

Images = Mapping[str, str]


@dataclass(frozen=True)
class Move:
    """The way from one version to another.

    Attributes:
        image: New step ids by old ones, the whole chain of versions considered (M14).
        images_of: The same from any version, for what was done in earlier ones.
        policies: By old step id; `default_policy` for all others.
        plan_ids: The plans of the chain, oldest first.
    """

    old: Graph
    new: Graph
    image: Images
    images_of: Callable[[int], Images]
    policies: Mapping[str, AnchorMigrationPolicy] = field(default_factory=dict)
    default_policy: AnchorMigrationPolicy = field(default_factory=AnchorMigrationPolicy)
    plan_ids: tuple[str, ...] = ()

    def policy_at(self, step: str) -> AnchorMigrationPolicy:
        """The operator's choice for sessions at the old `step`."""
        return self.policies.get(step, self.default_policy)

    def image_of(self, done: CompletedCheckpoint | ExecutedAction) -> str | None:
        """Where the step of what is done is now; None if it has no step any more."""
        return self.images_of(done.version).get(done.step_id)

    def leads_as_before(self, step: str) -> bool:
        """Whether the new `step` has the old one's conditions, order and targets (M5)."""
        former = self.preimage.get(step)
        if former is None:
            return False
        before = [(self.image.get(b.target), b.text) for b in self.old.branches(former)]
        return before == [(branch.target, branch.text) for branch in self.new.branches(step)]

    @cached_property
    def preimage(self) -> Images:
        """Old step ids by new ones."""
        return {right: left for left, right in self.image.items()}
