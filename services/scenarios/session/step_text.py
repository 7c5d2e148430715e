"""How a step is put to agents and people, and a version played with made-up answers. Pure."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, TypeAlias

from pydantic import JsonValue

from data_models.errors import ScenarioConditionError
from data_models.scenarios.scenario import SLOT, FieldDefinition, Step
from data_models.scenarios.scenario_session import ScenarioPlace, ScenarioSession
from services.language.replies.field_answers import readings_in, taken_by
from services.language.words.talk_texts import talk_text
from services.language.words.text_words import quoted_in
from services.scenarios.definition.graph import Graph
from services.scenarios.session.commands import Decided
from services.scenarios.session.progress import missing_of, needed_at, next_branch
from services.scenarios.session.recording import unfit

GROUNDING_MARK = "SCENARIO_JSON:"


def speaks(step: Step) -> bool:
    """Whether a step only says something: the session stays in it until the user heard it."""
    is_silent = step.acts or bool(step.collects_profile_fields)
    return bool(step.instructions) and not is_silent


def place_of(
    graph: Graph, session: ScenarioSession, values: Mapping[str, JsonValue]
) -> ScenarioPlace:
    """Return what clients show of the session."""
    step = graph.steps[session.step or ""]
    behind = {visit.step_id for visit in session.step_history[:-1] if not visit.skipped}
    return ScenarioPlace(
        scenario=graph.scenario.title,
        step=step.title,
        done=len(behind - {session.step}),
        total=len(graph.steps),
        needs=[graph.fields[name].label for name in needed_at(graph, step, values)],
        keys=[*dict.fromkeys((*step.collects_profile_fields, *step.uses))],
    )


def where_text(graph: Graph, session: ScenarioSession, values: Mapping[str, JsonValue]) -> str:
    """Return the answer to "where are we?"."""
    place = place_of(graph, session, values)
    progress = f"{place.scenario}: {place.step} ({place.done} of {place.total} steps done)."
    return f"{progress} Still needed: {', '.join(place.needs)}." if place.needs else progress


def grounding_of(
    graph: Graph,
    session: ScenarioSession,
    values: Mapping[str, JsonValue],
    *,
    failed_tool: str = "",
    taken: Collection[str] = (),
    is_asking: bool = False,
) -> str:
    """Return the system message about the step: a line for programs, then the author's text."""
    step = graph.steps[session.step or ""]
    missing = needed_at(graph, step, values)
    used = (*step.uses, *step.collects_profile_fields)
    facts: dict[str, object] = {
        "scenario": graph.scenario.title,
        "step": step.title,
        "asked": session.step_history[-1].spoken,
        "ask_for": [_shown(graph.fields[name], values) for name in missing],
        "known": {name: values[name] for name in used if name in values},
        "says": step.instructions or step.description if speaks(step) else "",
        "is_last": not graph.branches(step.id),
    }
    if failed_tool:
        facts["failed_tool"] = failed_tool
    if is_asking:
        facts["asks_itself"] = True
    if taken:
        facts["message_answered"] = sorted(taken)
    lines = [f"{GROUNDING_MARK} {json.dumps(facts, ensure_ascii=False)}"]
    lines += [f"You guide the user through the scenario {graph.scenario.title}."]
    lines += [f"Step {step.title}. {step.description}".strip(), step.instructions]
    lines += [f"- {rule.text}" for rule in step.rules]
    return "\n".join(
        line for line in [*lines, _duty(missing, failed_tool, is_asking=is_asking)] if line
    )


def _asked_as(field: FieldDefinition, values: Mapping[str, JsonValue]) -> str:
    """Return the field's own question with the values that it names; "" where one is missing."""
    if any(name not in values for name in SLOT.findall(field.question)):
        return ""
    return SLOT.sub(lambda found: str(values[found[1]]), field.question)


def question_for(
    graph: Graph, names: Sequence[str], values: Mapping[str, JsonValue] | None = None
) -> str:
    """Return the question for several fields: their authors' own, else one made of the labels.

    Args:
        values: What authors' own questions may name.
    """
    fields = [graph.fields[name] for name in names]
    own = [question for field in fields if (question := _asked_as(field, values or {}))]
    plain = [field.label for field in fields if not _asked_as(field, values or {})]
    if plain and any(_is_clause(label) for label in plain):
        own.append(f"Please say {joined(plain)}.")
    elif plain:
        own.append(f"What {'is' if len(plain) == 1 else 'are'} your {joined(plain)}?")
    return " ".join(own)


def confirmed_text(field: FieldDefinition, value: JsonValue) -> str:
    """Return a value as it is put to the user to be confirmed: "your age is 41"."""
    said = held_text(field, value)
    return said if _is_clause(field.label) else f"your {said}"


def corrected_text(
    graph: Graph, session: ScenarioSession, names: Sequence[str], decided: Decided
) -> str:
    """Return what the user is told of a correction, and of where it leads."""
    sentences = [
        f"Corrected: {held_text(graph.fields[name], session.variables[name])}." for name in names
    ]
    if decided.blocked_by is not None:
        done = decided.blocked_by.description or decided.blocked_by.step_id
        target = graph.steps[decided.blocked_target].title
        sentences.append(
            f"By it we would go to “{target}”, but “{done}” is completed and cannot be undone, so "
            "we stay where we are."
        )
    elif decided.left:
        now = graph.steps[decided.session.step or ""].title
        sentences.append(
            f"That changes the way: from “{graph.steps[decided.left].title}” to “{now}”."
        )
    return " ".join(sentences)


def held_text(field: FieldDefinition, value: JsonValue) -> str:
    """Return a field with its value as it is read out: "age is 41"."""
    said = {True: "yes", False: "no"}[value] if isinstance(value, bool) else value
    return f"{field.label} is {said}" if not _is_clause(field.label) else f"{field.label}: {said}"


def joined(labels: Sequence[str]) -> str:
    """Return labels as they are read out."""
    return labels[0] if len(labels) == 1 else f"{', '.join(labels[:-1])} and {labels[-1]}"


def _is_clause(label: str) -> bool:
    return label.partition(" ")[0] in ("whether", "if", "that", "what", "when", "how")


def finished_text(title: str) -> str:
    """Return the system message once the last step is over."""
    facts = json.dumps({"scenario": title, "finished": True}, ensure_ascii=False)
    return f"{GROUNDING_MARK} {facts}\nThe scenario {title} is complete. Say so."


def _duty(missing: list[str], failed_tool: str, *, is_asking: bool) -> str:
    if is_asking:
        return "The user is asked to confirm what the tool proposes; add nothing to it."
    if failed_tool:
        return f"The tool {failed_tool} of this step failed. Say so; it runs again next time."
    if missing:
        return (
            "When the user has said a value, call record_fields with the user's own words as its "
            "quote; then say what its result asks for. Ask now, in one question, for: "
            f"{', '.join(missing)}. Never make up a value; what was not said is asked."
        )
    return "Say what this step says; the user's next message goes on to the next step."


def _shown(field: FieldDefinition, values: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    row: dict[str, JsonValue] = {"name": field.name, "label": field.label, "type": field.value_type}
    more: dict[str, JsonValue] = {
        "question": _asked_as(field, values),
        "unit": field.unit,
        "examples": [*field.examples],
    }
    more |= {"minimum": field.minimum, "maximum": field.maximum}
    return row | {name: value for name, value in more.items() if value not in ("", [], None)}


def told_step(step: Mapping[str, Any], language: str) -> str:
    """Return what the data of `grounding_of` or `finished_text` say to whoever is guided."""
    say = partial(talk_text, language)
    if step.get("finished"):
        return say("scenario_complete", scenario=step["scenario"])
    head, go_on, told = f"**{step['scenario']}**, {step['step']}", "", ""
    if "failed_tool" in step:
        told = say("try_again", tool=step["failed_tool"])
    elif not step.get("asks_itself") and step["ask_for"]:
        own = [row["question"] for row in step["ask_for"] if "question" in row]
        names = ", ".join(row["label"] for row in step["ask_for"] if "question" not in row)
        told = " ".join([f"{names[:1].upper()}{names[1:]}?", *own] if names else own)
    elif not step.get("asks_itself"):
        # The rest of the text is the author's word to an agent, not to whoever reads this.
        told = " ".join(quoted_in(str(step["says"])))
        go_on = "" if step.get("is_last") else f" {say('go_on')}"
    return (f"{head}: {told}" if told else f"{head}.") + go_on


STEPS_LIMIT = 200
Who: TypeAlias = Literal["step", "says", "asks", "tool", "you", "problem", "end"]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the play."""

    who: Who
    text: str


# A version played before anybody can start it: no tool runs. Steps, questions, ranges and forks
# are decided by the code that conversations run.


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
