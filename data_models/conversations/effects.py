"""What tools change outside our documents, so that it happens once however often it is tried."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from data_models.document import Part
from data_models.identifiers import PatientId


@dataclass(frozen=True, slots=True)
class Effect:
    """One change outside, as a back end is told of it.

    Attributes:
        key: The same at every attempt at the same change, and no other change has it.
        is_repeated: An earlier attempt may have made the change: look before making it.
    """

    key: str
    is_repeated: bool = False


@dataclass(frozen=True, slots=True)
class Begun:
    """A run that may go on now.

    Attributes:
        arguments: What to run with.
        is_other: Whether that is what an earlier attempt had begun, and not what was called.
    """

    effect: Effect
    arguments: Mapping[str, Any]
    is_other: bool = False


class OutsideChange(Part):
    """A tool's run that changes something outside, on record before it begins.

    Attributes:
        arguments: As the tool took them; None where they are too long to keep.
        message: How many messages of its turn were finished before it; -1 for a run that has a
            key of its own and that no agent asked for.
        patient_id: In whose turn; its arguments are shown in no other's.
    """

    key: str
    tool: str
    arguments: dict[str, Any] | None = None
    message: int = -1
    patient_id: PatientId | None = None
