"""A type of step as one file: in it a task is noted, whatever else its author writes."""

from data_models.scenarios.scenario import STEP_TYPES, StepType

STEP_TYPES["reminder"] = StepType(acts=True, tool="add_task")
