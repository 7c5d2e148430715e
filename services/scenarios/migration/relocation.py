"""Where a session may go that cannot stay at its own step (M3, M10)."""

from data_models.scenario_session import CompletedCheckpoint
from services.scenarios.definition.graph import levels
from services.scenarios.migration.case import Case
from services.scenarios.migration.move import Move


def forbidding_redirect(case: Case, target: str) -> CompletedCheckpoint | None:
    """Return the first checkpoint that `target` does not lie strictly after, if any."""
    for passed in case.session.completed_checkpoints:
        image = case.move.image_of(passed)
        if image is None or not case.way.is_after(target, image):
            return passed
    return None


def ahead_again(case: Case, landing: str) -> CompletedCheckpoint | None:
    """Return the first checkpoint that would come a second time after `landing`, if any."""
    for passed in case.session.completed_checkpoints:
        image = case.move.image_of(passed)
        if image is not None and case.way.comes_again(image, landing):
            return passed
    return None


def relocate(case: Case) -> str | None:
    """Return the newest safe anchor of the session's own path, else the nearest one ahead."""
    return _back_on_path(case) or _ahead(case) or _behind_last_checkpoint(case)


def _safe_image(case: Case, step: str) -> str | None:
    """Return where an old `step` is now, unless a checkpoint was completed there or behind it."""
    landing = case.move.image.get(step)
    return landing if landing is not None and _is_safe(case, landing) else None


def _is_safe(case: Case, landing: str) -> bool:
    passed = map(case.move.image_of, case.session.completed_checkpoints)
    return landing not in passed and ahead_again(case, landing) is None


def _back_on_path(case: Case) -> str | None:
    path = case.session.path
    passed = {one.step_id for one in case.session.completed_checkpoints}
    if passed - set(path):
        return None  # It cannot be told what of the path came before the checkpoint.
    first_free = max((index + 1 for index, step in enumerate(path) if step in passed), default=0)
    safe = (_safe_image(case, step) for step in reversed(path[first_free:]))
    return next(filter(None, safe), None)


def _ahead(case: Case) -> str | None:
    """Search the old version from the deleted step, one distance after the other."""
    start, move = case.session.step or "", case.move
    for level in levels(start, move.old.successors, but={*case.session.path}):
        if found := [step for step in level if _is_beyond(case, step)]:
            return move.image[_first_of(found, move)]
    return None


def _first_of(steps: list[str], move: Move) -> str:
    """Return the one that leads to most of the others, however the fork before them is written.

    Of steps that lead to one another what they do decides, then what lies ahead of them.
    """

    def rank(step: str) -> tuple[int, str, str, list[list[str]]]:
        old = move.old
        led_to = old.reached_from(step).intersection(steps)
        ahead = [sorted(old.hashes[one] for one in level) for level in levels(step, old.successors)]
        return -len(led_to), old.hashes[step], old.steps[step].title, ahead

    return min(steps, key=rank)


def _is_beyond(case: Case, step: str) -> bool:
    """Whether an old `step` has an image, after every completed checkpoint in both versions."""
    return _safe_image(case, step) is not None and all(
        passed.step_id not in case.move.old.steps or case.way.is_after_in_old(step, passed.step_id)
        for passed in case.session.completed_checkpoints
    )


def _behind_last_checkpoint(case: Case) -> str | None:
    completed = case.session.completed_checkpoints
    last = case.move.image_of(completed[-1]) if completed else None
    targets = () if last is None else case.move.new.successors[last]
    return targets[0] if len(targets) == 1 and _is_safe(case, targets[0]) else None
