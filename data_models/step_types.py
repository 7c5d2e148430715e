"""The types of steps that a scenario can be made of.

A type is one entry: its file adds it here, and authors write its name as the `kind` of a step.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class StepType:
    """How a session goes through steps of a type.

    Attributes:
        acts: Whether a tool runs in the step, which is left once that has succeeded; such a step
            says nothing to the user.
        tool: The tool that always runs in it; "" for the one that the author names.
    """

    acts: bool = False
    tool: str = ""


STEP_TYPES: dict[str, StepType] = {"chat": StepType(), "tool": StepType(acts=True)}
