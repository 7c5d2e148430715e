"""What is different between two versions, in words for people who read no graph. Pure."""

from collections.abc import Iterator

from data_models.scenarios.scenario import FieldDefinition, Step
from services.scenarios.definition.graph import Graph
from services.scenarios.migration.plans.difference import Difference


def sentences_of(difference: Difference) -> list[str]:
    """Return one sentence for each difference; none where the versions mean the same."""
    old, new = difference.old, difference.new
    return [*_entry(difference), *_steps(difference), *_ways(difference), *_fields(old, new)]


def _entry(difference: Difference) -> Iterator[str]:
    old, new = difference.old, difference.new
    if difference.anchors.image.get(old.entry) != new.entry:
        before, after = _title(old, old.entry), _title(new, new.entry)
        yield f"It begins with “{after}” instead of “{before}”."


def _steps(difference: Difference) -> Iterator[str]:
    old, new = difference.old, difference.new
    for gone in (step for step in old.steps if step not in difference.anchors.image):
        yield f"The step “{_title(old, gone)}” is gone."
    for step in new.steps.values():
        if (former := difference.move.preimage.get(step.id)) is None:
            what = f", which {_does(new, step)}" if _does(new, step) else ""
            yield f"The step “{step.title}” is new{what}."
        else:
            yield from _changes(old.steps[former], step, new)


def _changes(before: Step, after: Step, graph: Graph) -> Iterator[str]:
    name = f"“{after.title}”"
    if before.title != after.title:
        yield f"“{before.title}” is called {name} now."
    yield from _asked(name, before, after, graph)
    if (before.tool, before.parameters) != (after.tool, after.parameters):
        yield f"{name} {f'now runs {after.tool}' if after.tool else 'runs no tool any more'}."
    if before.is_checkpoint != after.is_checkpoint:
        yield f"{name} {'is now a checkpoint' if after.is_checkpoint else 'is no checkpoint now'}."
    if before.is_required_action != after.is_required_action:
        word = "runs for everybody now" if after.is_required_action else "runs for newcomers only"
        yield f"{name} {word}."
    if (before.instructions, before.rules) != (after.instructions, after.rules):
        yield f"What is said at {name} is different."


def _asked(name: str, before: Step, after: Step, graph: Graph) -> Iterator[str]:
    asked, asks = set(before.collects_profile_fields), set(after.collects_profile_fields)
    for one in after.collects_profile_fields:
        if one not in asked:
            yield f"{name} now asks for {graph.fields[one].label}."
    for one in before.collects_profile_fields:
        if one not in asks:
            yield f"{name} asks for {one.replace('_', ' ')} no more."


def _ways(difference: Difference) -> Iterator[str]:
    old, new, move = difference.old, difference.new, difference.move
    for step in new.steps:
        if (former := move.preimage.get(step)) is None:
            yield from (f"{one}." for one in _ways_in_words(new, step))
        elif not move.leads_as_before(step):
            before = sorted((move.image.get(b.target, ""), b.text) for b in old.branches(former))
            if before == sorted((b.target, b.text) for b in new.branches(step)):
                yield f"The ways out of “{_title(new, step)}” are tried in another order."
            else:
                yield from (f"{one} now." for one in _ways_in_words(new, step))


def _ways_in_words(graph: Graph, step: str) -> Iterator[str]:
    for branch in graph.branches(step):
        target = f"to “{_title(graph, branch.target)}”"
        if branch.condition is not None:
            yield f"After “{_title(graph, step)}”, where {branch.text}, it goes {target}"
        else:
            word = "else" if graph.is_fork(step) else "always"
            yield f"After “{_title(graph, step)}” it {word} goes {target}"


def _fields(old: Graph, new: Graph) -> Iterator[str]:
    for name, one in new.fields.items():
        if name not in old.fields:
            yield f"There is a new answer: {one.label} ({_kind(one)})."
        elif _kind(old.fields[name]) != _kind(one):
            yield f"{one.label} is {_kind(one)}, before {_kind(old.fields[name])}."
    for name, one in old.fields.items():
        if name not in new.fields:
            yield f"The answer {one.label} is not used any more."


def _kind(one: FieldDefinition) -> str:
    bounds = [
        f"{word} {bound:g}"
        for word, bound in (("at least", one.minimum), ("at most", one.maximum))
        if bound is not None
    ]
    kept = f"kept for {one.valid_for.days} days" if one.valid_for is not None else ""
    return ", ".join(part for part in [one.value_type, *bounds, one.unit, kept] if part)


def _does(graph: Graph, step: Step) -> str:
    asks = [graph.fields[name].label for name in step.collects_profile_fields]
    parts = [
        f"asks for {', '.join(asks)}" if asks else "",
        f"runs {step.runs}" if step.runs else "",
    ]
    parts += ["is a checkpoint" if step.is_checkpoint else ""]
    return " and ".join(part for part in parts if part)


def _title(graph: Graph, step: str) -> str:
    return graph.steps[step].title
