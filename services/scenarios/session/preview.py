"""Plays a version with made-up answers, before anybody can start it. Pure: no tool runs.

Steps, questions, ranges and forks are decided by the code that conversations run.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from pydantic import JsonValue

from data_models.errors import ScenarioConditionError
from data_models.scenarios.scenario import FieldDefinition, Step
from services.language.replies.field_answers import readings_in, taken_by
from services.scenarios.definition.graph import Graph
from services.scenarios.session.progress import missing_of, next_branch
from services.scenarios.session.recording import unfit
from services.scenarios.session.step_text import question_for, speaks

STEPS_LIMIT = 200
Who: TypeAlias = Literal["step", "says", "asks", "tool", "you", "problem", "end"]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the play."""

    who: Who
    text: str


@dataclass(slots=True)
class Played:
    """How far the answers led.

    Attributes:
        suggestion: An answer that the next question takes; "" where nothing is asked.
    """

    lines: list[Line] = field(default_factory=list)
    known: dict[str, JsonValue] = field(default_factory=dict)
    step: str = ""
    suggestion: str = ""
    is_over: bool = False


def played(graph: Graph, answers: Sequence[str]) -> Played:
    """Return what happens with `answers`, one for each question, from the beginning."""
    play = _Play(graph=graph, answers=list(answers))
    step: str | None = graph.entry
    for _ in range(STEPS_LIMIT):
        if (step := play.through(graph.steps[step or ""])) is None:
            return play.played
    play.say("problem", f"stopped after {STEPS_LIMIT} steps: does this loop end?")
    return play.played


class _Play:
    def __init__(self, *, graph: Graph, answers: list[str]) -> None:
        self.played = Played()
        self._graph, self._answers = graph, answers
        self._visited: set[str] = set()

    def say(self, who: Who, text: str) -> None:
        """Add a line."""
        self.played.lines.append(Line(who, text))

    def through(self, step: Step) -> str | None:
        """Go through one step; None where an answer is needed, or the end is reached."""
        self.played.step = step.title
        self.say("step", step.title)
        if step.id in self._visited:  # a step that is entered again asks again
            for name in step.gives:
                self.played.known.pop(name, None)
        self._visited.add(step.id)
        is_last = not self._graph.branches(step.id)
        if step.runs and not self._tool(step):
            return None
        if not self._asked(missing_of(step, self.played.known)):
            return None
        if speaks(step):
            self.say("says", step.instructions)
            if not is_last and self._answer([]) is None:
                return None
        if is_last:
            self.say("end", f"{self._graph.scenario.title} is complete.")
            self.played.is_over, self.played.suggestion = True, ""
            return None
        return self._onwards(step)

    def _onwards(self, step: Step) -> str | None:
        try:
            branch, missing = next_branch(self._graph, step.id, self.played.known)
            while branch is None and missing:
                if not self._asked(missing):
                    return None
                branch, missing = next_branch(self._graph, step.id, self.played.known)
        except ScenarioConditionError as error:
            self.say("problem", str(error))
            return None
        if branch is None:
            self.say("problem", "no way out of this step holds")
            return None
        return branch.target

    def _tool(self, step: Step) -> bool:
        """Tell what would run; what it would give is an answer like any other."""
        given = {name: self.played.known.get(name, "?") for name in step.slots}
        shown = ", ".join(f"{name} = {value}" for name, value in given.items())
        self.say("tool", f"{step.runs} would run{f' with {shown}' if shown else ''}")
        return self._asked([n for n in step.results if n not in self.played.known], "It gives")

    def _asked(self, names: Sequence[str], words: str = "") -> bool:
        """Ask for fields until they are known; False where the answers are used up."""
        left = list(names)
        while left:
            fields = [self._graph.fields[name] for name in left]
            labels = ", ".join(one.label for one in fields)
            self.say("asks", f"{words}: {labels}?" if words else question_for(self._graph, left))
            if (text := self._answer(fields)) is None:
                return False
            found = readings_in(text, fields)
            for one in fields:
                if (reading := found.get(one.name)) is None:
                    self.say("problem", f"{one.label} takes {taken_by(one)}")
                elif (why := unfit(one, reading.value)) is not None:
                    self.say("problem", why)
                else:
                    self.played.known[one.name] = reading.value
            left = [name for name in left if name not in self.played.known]
        return True

    def _answer(self, fields: Sequence[FieldDefinition]) -> str | None:
        if not self._answers:
            self.played.suggestion = ", ".join(map(_made_up, fields)) or "go on"
            return None
        text = self._answers.pop(0)
        self.say("you", text)
        return text


def _made_up(one: FieldDefinition) -> str:
    low = one.minimum if one.minimum is not None else min(1, one.maximum or 1)
    match one.value_type:
        case "boolean":
            return "yes"
        case "integer" | "number":
            return f"{low:g}"
        case "date":
            return "2030-01-31"
        case _:
            kind = taken_by(one)
            usual = {"an e-mail address": "jo@example.org", "a phone number": "0151 2345678"}
            return usual.get(kind) or (one.examples[0] if one.examples else "something")
