"""What the index keeps of a session: nothing of what anybody said."""

from data_models.identifiers import hashed
from data_models.scenario_session import ScenarioSession
from services.scenarios.migration.ports import SessionRow


def row_of(session: ScenarioSession, *, place: str) -> SessionRow | None:
    """Return the row of a session; None once it has ended.

    Args:
        session: As its document holds it now.
        place: Name of that document.
    """
    if session.step is None:
        return None
    return SessionRow(
        session_id=session.session_id,
        scenario_id=session.scenario_id,
        version=session.version,
        step_hash=step_key(session.step),
        channel=session.channel,
        created_at=session.created_at,
        place=place,
        review=session.review.reason if session.review else "",
        pinned=session.pinned_to is not None,
    )


def step_key(step: str) -> str:
    """Return the name of a step in the index: its id may hold what tags may not."""
    return hashed("step", step)[:16]
