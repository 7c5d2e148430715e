"""Where a session goes whose step was deleted (M3)."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from data_models.scenario_session import ScenarioSession
from services.scenarios.checkpoint_safety import ahead_again
from services.scenarios.move import Move


@dataclass(frozen=True, slots=True)
class Relocation:
    """The new step, or what else happens."""

    kind: Literal["step", "exit", "stay"]
    step: str | None = None


Check: TypeAlias = Callable[[str], bool]


def relocate(session: ScenarioSession, move: Move) -> Relocation:
    """Return the newest safe anchor of the session's own path, else the nearest one ahead."""
    found = (
        _back_on_path(session, move)
        or _ahead(session, move)
        or _behind_last_checkpoint(session, move)
    )
    if found is not None:
        return Relocation("step", found)
    return Relocation("stay" if session.completed_checkpoints else "exit")


def is_safe_landing(session: ScenarioSession, move: Move, step: str) -> bool:
    """Whether `step` is neither a completed checkpoint nor before one."""
    is_passed = step in move.checkpoint_images(session)
    return not is_passed and ahead_again(session, move, step) is None


def _back_on_path(session: ScenarioSession, move: Move) -> str | None:
    path = session.path
    passed = {one.step_id for one in session.completed_checkpoints}
    first_free = max((index + 1 for index, step in enumerate(path) if step in passed), default=0)
    if passed - set(path):
        return None  # It cannot be told what of the path came before the checkpoint.
    for step in reversed(path[first_free:]):
        landing = move.image.get(step)
        if landing is not None and is_safe_landing(session, move, landing):
            return landing
    return None


def _ahead(session: ScenarioSession, move: Move) -> str | None:
    """Search the old version breadth first from the deleted step."""
    start = session.step
    if start is None:
        return None
    waiting, seen = deque([start]), {start}
    while waiting:
        step = waiting.popleft()
        landing = move.image.get(step)
        if landing is not None and _is_beyond(session, move, step, landing):
            return landing
        for target in move.old.successors[step]:
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return None


def _is_beyond(session: ScenarioSession, move: Move, step: str, landing: str) -> bool:
    """Whether an old `step` lies after every completed checkpoint in both versions."""
    return is_safe_landing(session, move, landing) and all(
        passed.step_id not in move.old.steps or move.old.is_after(step, passed.step_id)
        for passed in session.completed_checkpoints
    )


def _behind_last_checkpoint(session: ScenarioSession, move: Move) -> str | None:
    images = move.checkpoint_images(session)
    last = images[-1] if images else None
    targets = () if last is None else move.new.successors[last]
    if len(targets) == 1 and is_safe_landing(session, move, targets[0]):
        return targets[0]
    return None
