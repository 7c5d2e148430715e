"""Puts what operators do on record: on the audit trail before it happens, then in the journal."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime

from data_models.errors import BlobChangedError, BlobExistsError, ScenarioConflictError
from services.audit.entry import AuditEntry
from services.audit.trail import Audit
from services.scenarios.operators.journal import Journal, JournalEntry, Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class ActLog:
    """One for both desks."""

    audit: Audit
    journal: Journal
    now: Callable[[], datetime]

    @asynccontextmanager
    async def act(
        self, scenario_id: str, operator: str, action: str, note: str = ""
    ) -> AsyncIterator[None]:
        """Put an act on the trail before it happens, and in the journal how it ended.

        Raises:
            AuditUnavailableError: it is not on record, so it does not happen.
            ScenarioConflictError: somebody else was faster.
        """
        await self.record(scenario_id, operator, action)
        outcome: Outcome = "refused"
        try:
            yield
            outcome = "done"
        except (BlobChangedError, BlobExistsError) as error:
            raise ScenarioConflictError(
                "somebody else changed this scenario at the same moment; look again"
            ) from error
        finally:
            entry = JournalEntry(
                time=self.now(), operator=operator, action=action, note=note, outcome=outcome
            )
            await self.journal.write(scenario_id, entry)

    async def record(self, scenario_id: str, operator: str, action: str) -> None:
        """Put an act that changes nothing on the trail.

        Raises:
            AuditUnavailableError: it is not on record, so it does not happen.
        """
        await self.audit.record(
            AuditEntry(
                principal=operator,
                conversation=f"scenario:{scenario_id}",
                actions=(f"operator.{action}",),
            )
        )
