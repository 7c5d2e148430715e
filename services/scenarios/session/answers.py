"""What a session knows of what was said: taken, replaced, and forgotten. Pure."""

from collections.abc import Collection, Mapping

from pydantic import JsonValue

from data_models.scenario_session import Evidence, ScenarioSession
from services.scenarios.definition.graph import Graph
from services.scenarios.session.facts import takes

SPENT_LIMIT = 40
"""How many quotes are kept of values that hold no more."""


def with_answers(
    session: ScenarioSession,
    answers: Mapping[str, JsonValue],
    graph: Graph,
    evidence: Mapping[str, Evidence] | None = None,
) -> ScenarioSession:
    """Return the session with what the user said, read before reconciliation resumes (M20).

    Null denies a value that was to be confirmed. A value that does not fit its type is none.
    """
    fitting = {
        name: value
        for name, value in answers.items()
        if value is not None and (name not in graph.fields or takes(graph.fields[name], value))
    }
    progress = session.progress
    if progress is not None:
        denied = [n for n in progress.confirming if n in answers and answers[n] is None]
        progress = progress.model_copy(update={"denied": [*progress.denied, *denied]})
    said = {name: (evidence or {}).get(name) or Evidence() for name in fitting}
    return session.model_copy(
        update={
            "variables": session.variables | fitting,
            "evidence": session.evidence | said,
            "spent": _spent(session, said),
            "refused": {n: c for n, c in session.refused.items() if n not in fitting},
            "to_confirm": {n: f for n, f in session.to_confirm.items() if n not in fitting},
            "progress": progress,
        }
    )


def without_values(session: ScenarioSession, names: Collection[str]) -> ScenarioSession:
    """Return the session without the values of fields that are asked again."""
    return session.model_copy(
        update={
            "variables": {n: v for n, v in session.variables.items() if n not in names},
            "evidence": {n: one for n, one in session.evidence.items() if n not in names},
            "spent": _spent(session, names),
        }
    )


def _spent(session: ScenarioSession, names: Collection[str]) -> list[Evidence]:
    """Return the words that give no value a second time: those for `names` too."""
    over = [one for name, one in session.evidence.items() if name in names and one.quote]
    return [*session.spent, *over][-SPENT_LIMIT:]
