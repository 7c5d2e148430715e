"""How one of the steps ended that agents work on side by side."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from data_models.errors import ModelError
from group_chat.turn_context import TurnContext

Outcome: TypeAlias = Literal["done", "failed", "asked", "broke"]


@dataclass(frozen=True, slots=True)
class StepResult:
    """One step's end.

    Attributes:
        outcome: `failed`: every tool failed, or nothing was said; `asked`: the agent asks the user;
            `broke`: the model could not be had.
        turn: The turn as the step's agent had it, to be taken in.
    """

    number: int
    agent: str
    outcome: Outcome
    turn: TurnContext
    error: ModelError | None = None
