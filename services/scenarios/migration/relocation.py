"""Where a session goes whose step was deleted (M3)."""

from dataclasses import dataclass
from typing import Literal

from data_models.scenario_session import CompletedCheckpoint, ScenarioSession
from services.scenarios.migration.move import Move
from services.scenarios.migration.own_way import OwnWay

# What a completed checkpoint forbids (M10).


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


@dataclass(frozen=True, slots=True)
class Relocation:
    """The new step, or what else happens."""

    kind: Literal["step", "exit", "stay"]
    step: str | None = None


def relocate(session: ScenarioSession, move: Move, way: OwnWay) -> Relocation:
    """Return the newest safe anchor of the session's own path, else the nearest one ahead."""
    found = (
        _back_on_path(session, move, way)
        or _ahead(session, move, way)
        or _behind_last_checkpoint(session, move, way)
    )
    if found is not None:
        return Relocation("step", found)
    return Relocation("stay" if session.completed_checkpoints else "exit")


def is_safe_landing(session: ScenarioSession, move: Move, way: OwnWay, step: str) -> bool:
    """Whether `step` is neither a completed checkpoint nor before one."""
    is_passed = step in move.checkpoint_images(session)
    return not is_passed and ahead_again(session, move, way, step) is None


def _back_on_path(session: ScenarioSession, move: Move, way: OwnWay) -> str | None:
    path = session.path
    passed = {one.step_id for one in session.completed_checkpoints}
    first_free = max((index + 1 for index, step in enumerate(path) if step in passed), default=0)
    if passed - set(path):
        return None  # It cannot be told what of the path came before the checkpoint.
    for step in reversed(path[first_free:]):
        landing = move.image.get(step)
        if landing is not None and is_safe_landing(session, move, way, landing):
            return landing
    return None


def _ahead(session: ScenarioSession, move: Move, way: OwnWay) -> str | None:
    """Search the old version from the deleted step, one distance after the other."""
    start = session.step
    if start is None:
        return None
    level, seen = [start], {*session.path, start}
    while level:
        found = [step for step in level if _is_beyond(session, move, way, step)]
        if found:
            return move.image[_first_of(found, move)]
        following = dict.fromkeys(target for step in level for target in move.old.successors[step])
        level = [step for step in following if step not in seen]
        seen.update(level)
    return None


def _first_of(steps: list[str], move: Move) -> str:
    """Return the one that leads to most of the others, however the fork before them is written.

    Of steps that lead to one another what they do decides, then what lies ahead of them.
    """

    def rank(step: str) -> tuple[int, str, str, list[list[str]]]:
        led_to = move.old.reached_from(step).intersection(steps)
        return (
            -len(led_to),
            move.old.hashes[step],
            move.old.steps[step].title,
            _contents_ahead(step, move),
        )

    return min(steps, key=rank)


def _contents_ahead(start: str, move: Move) -> list[list[str]]:
    """Return what the steps ahead do, by distance: the same in whatever order forks are written."""
    ahead, level, seen = [], {start}, {start}
    while level:
        level = {target for step in level for target in move.old.successors[step]} - seen
        seen |= level
        ahead.append(sorted(move.old.hashes[step] for step in level))
    return ahead


def _is_beyond(session: ScenarioSession, move: Move, way: OwnWay, step: str) -> bool:
    """Whether an old `step` has an image, after every completed checkpoint in both versions."""
    landing = move.image.get(step)
    return (
        landing is not None
        and is_safe_landing(session, move, way, landing)
        and all(
            passed.step_id not in move.old.steps or way.is_after_in_old(step, passed.step_id)
            for passed in session.completed_checkpoints
        )
    )


def _behind_last_checkpoint(session: ScenarioSession, move: Move, way: OwnWay) -> str | None:
    images = move.checkpoint_images(session)
    last = images[-1] if images else None
    targets = () if last is None else move.new.successors[last]
    if len(targets) == 1 and is_safe_landing(session, move, way, targets[0]):
        return targets[0]
    return None
