"""Everything about a jump between two versions that does not depend on one session."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from data_models.scenario_session import CompletedCheckpoint, ScenarioSession
from services.scenarios.definition.graph import Branch, Graph
from services.scenarios.migration.migration_plan import AnchorMigrationPolicy

Images = Mapping[str, str]


@dataclass(frozen=True)
class Move:
    """The way from one version to another.

    Attributes:
        image: New step ids by old ones, the whole chain of versions considered (M14).
        images_of: The same from any earlier version, for checkpoints whose step has gone since.
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

    def checkpoint_images(self, session: ScenarioSession) -> list[str | None]:
        """Where each completed checkpoint is now; None for those that have no step any more."""
        return [self.checkpoint_image(passed) for passed in session.completed_checkpoints]

    def checkpoint_image(self, passed: CompletedCheckpoint) -> str | None:
        """Where a completed checkpoint is now, or None."""
        images = (
            self.image if passed.version == self.old.version else self.images_of(passed.version)
        )
        return images.get(passed.step_id)

    def is_unchanged_fork(self, step: str) -> bool:
        """Whether the new fork `step` has the old one's conditions, order and targets (M5)."""
        former = self.preimage.get(step)
        if former is None:
            return False
        before = [(self.image.get(b.target), b.text) for b in self.old.branches(former)]
        return before == [(branch.target, branch.text) for branch in self.new.branches(step)]

    @cached_property
    def preimage(self) -> Images:
        """Old step ids by new ones."""
        return {right: left for left, right in self.image.items()}


def is_fork(branches: tuple[Branch, ...]) -> bool:
    """Whether there is anything to choose."""
    return len(branches) > 1
