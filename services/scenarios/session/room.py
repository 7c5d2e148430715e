"""Keeps a session's part of its document small; what it completed always stays."""

from data_models.scenario_session import ScenarioSession

VISITS_LIMIT = 48
EXECUTED_LIMIT = 100


def bounded(session: ScenarioSession) -> ScenarioSession:
    """Return the session with its newest visits; loops over weeks would fill the document.

    The first visit stays, so that the way still begins at the entry; migrations take the route
    between what is left as they take it over steps that a version lost.
    """
    history = session.step_history
    if len(history) <= VISITS_LIMIT and len(session.executed) <= EXECUTED_LIMIT:
        return session
    over = max(0, len(history) - VISITS_LIMIT)
    return session.model_copy(
        update={
            "step_history": [*history[:1], *history[1 + over :]],
            "left_out_visits": session.left_out_visits + over,
            "executed": session.executed[-EXECUTED_LIMIT:],
        }
    )
