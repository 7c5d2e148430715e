"""What scenarios need from outside."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from data_models.identifiers import hashed
from data_models.scenarios.scenario_session import ScenarioSession


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session as the index knows it; perhaps a little late.

    Attributes:
        step_hash: `services.scenarios.migration.ports.step_key` of its step.
        mark: The version that a deployment marked it for; 0 if none.
        place: Name of the document that holds it.
        review: Why a person must look at it; empty if nobody must.
        pinned: Whether a policy holds it on its version.
    """

    session_id: str
    scenario_id: str
    version: int
    step_hash: str
    channel: str
    created_at: datetime
    mark: int = 0
    place: str = ""
    review: str = ""
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class SessionPage:
    """Some rows, and where to go on.

    Attributes:
        cursor: For the next page's `after`; empty on the last one. Nobody but its index reads it.
    """

    rows: Sequence[SessionRow]
    cursor: str


@dataclass(frozen=True, slots=True)
class Tally:
    """How many sessions are alike."""

    version: int
    step_hash: str
    mark: int
    review: str
    pinned: bool
    number: int


class SessionIndex(Protocol):
    """Finds the sessions of a scenario, eventually consistent."""

    async def put(self, row: SessionRow) -> None:
        """Insert or replace the row of a document that was just written, its mark included."""
        ...

    async def put_many(self, rows: Iterable[SessionRow]) -> None:
        """Insert or replace rows of documents that were not written, as a rebuild does."""
        ...

    async def drop(self, session_id: str) -> None:
        """Forget a session: it ended, or it is no longer stored."""
        ...

    async def page(
        self,
        scenario_id: str,
        *,
        after: str = "",
        limit: int,
        below_version: int | None = None,
        flagged: bool = False,
    ) -> SessionPage:
        """Return the next rows of a scenario after the cursor `after`.

        Args:
            scenario_id: Whose sessions.
            after: `cursor` of the page before; empty for the first one.
            limit: Rows on a page, at most 1,000.
            below_version: Only sessions of versions below this one.
            flagged: Only sessions that a person must look at.
        """
        ...

    async def tally(self, scenario_id: str) -> Sequence[Tally]:
        """Count the sessions of a scenario."""
        ...

    async def mark(self, rows: Sequence[SessionRow], version: int) -> None:
        """Mark those of `rows` that are still at their version; marking again changes nothing."""
        ...

    async def close(self) -> None:
        """Release the file or the connections."""
        ...


# What the index keeps of a session: nothing of what anybody said.


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
