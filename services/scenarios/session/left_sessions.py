"""What a patient's document keeps of runs: bounded ones, and those left for another one."""

from data_models.chat_context import ChatContext
from data_models.errors import ToolInputError
from data_models.scenario_session import ScenarioSession
from services.scenarios.session.progress import put_anew

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


LEFT_LIMIT = 4


def set_aside(document: ChatContext) -> None:
    """Make way for another session; one that has ended keeps only what it completed.

    Raises:
        ToolInputError: too many are left unfinished.
    """
    session = document.scenario
    if session is None:
        return
    unfinished = [one for one in document.left_scenarios if one.step is not None]
    if session.step is None:
        session = session.model_copy(
            update={"step_history": [], "variables": {}, "evidence": {}, "spent": []}
        )
    elif len(unfinished) >= LEFT_LIMIT:
        raise ToolInputError("too many scenarios are unfinished; resume or finish one first")
    else:
        session = session.model_copy(update={"is_left": True})
    others = [one for one in document.left_scenarios if one.step is None]
    finished = [one for one in others if one.scenario_id != session.scenario_id]
    document.left_scenarios = [*finished[-LEFT_LIMIT:], *unfinished, session]
    document.scenario = None


def taken_up(document: ChatContext, scenario_id: str | None) -> bool:
    """Open a session that was left, the newest if none is named; False if there is none."""
    current = document.scenario
    meant = [one for one in _left(document) if scenario_id in (None, one.scenario_id)]
    if not meant:
        return False
    chosen = meant[0]
    if chosen is not current:
        document.left_scenarios.remove(chosen)
        set_aside(document)
    # What the step asks or says is said again: much may have been spoken of since.
    document.scenario = put_anew(chosen.model_copy(update={"is_left": False}))
    return True


def describe_left(document: ChatContext) -> str:
    """Return the answer to "where are we?" while no scenario is open."""
    names = [one.place.scenario for one in reversed(_left(document)) if one.place is not None]
    if not names:
        return "No scenario is open here."
    return f'No scenario is open; left for later: {", ".join(names)}. Say "resume" to go on.'


def _left(document: ChatContext) -> list[ScenarioSession]:
    current = document.scenario
    everything = [*document.left_scenarios, *([] if current is None else [current])]
    return [one for one in everything if one.is_left and one.step is not None]
