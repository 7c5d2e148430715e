"""How the current step is put to agents and to people. Pure."""

import json
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

from pydantic import JsonValue

from data_models.scenarios.scenario import SLOT, FieldDefinition, Step
from data_models.scenarios.scenario_session import ScenarioPlace, ScenarioSession
from services.language.words.talk_texts import talk_text
from services.language.words.text_words import quoted_in
from services.scenarios.definition.graph import Graph
from services.scenarios.session.commands import Decided
from services.scenarios.session.progress import needed_at

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


def asked_as(field: FieldDefinition, values: Mapping[str, JsonValue]) -> str:
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
    own = [question for field in fields if (question := asked_as(field, values or {}))]
    plain = [field.label for field in fields if not asked_as(field, values or {})]
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
        "question": asked_as(field, values),
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
