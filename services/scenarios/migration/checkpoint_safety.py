"""What a completed checkpoint forbids (M10)."""

from data_models.scenario_session import CompletedCheckpoint, ScenarioSession
from services.scenarios.migration.move import Move
from services.scenarios.migration.own_way import OwnWay


def forbidding_redirect(
    session: ScenarioSession, move: Move, way: OwnWay, target: str
) -> CompletedCheckpoint | None:
    """Return the first checkpoint that `target` does not lie strictly after, if any."""
    for passed in session.completed_checkpoints:
        image = move.checkpoint_image(passed)
        if image is None or not way.is_after(target, image):
            return passed
    return None


def ahead_again(
    session: ScenarioSession, move: Move, way: OwnWay, landing: str
) -> CompletedCheckpoint | None:
    """Return the first checkpoint that would come a second time after `landing`, if any."""
    for passed in session.completed_checkpoints:
        image = move.checkpoint_image(passed)
        if image is not None and way.comes_again(image, landing):
            return passed
    return None
