"""The step of a turn that brings a session to the active version."""

from collections.abc import Mapping

from data_models.clock import Clock
from data_models.scenario_session import Extracted, PatientProfile, ReviewFlag, ScenarioSession
from services.scenarios import landing
from services.scenarios.case import Case
from services.scenarios.catalogue import Catalogue
from services.scenarios.migration_config import MigrationConfig
from services.scenarios.reconciliation import reconcile
from services.scenarios.reconciliation_result import Outcome, ReconciliationResult


class Reconciler:
    """Recomputes everything from the session as it is (M12); the caller stores the outcome."""

    def __init__(self, *, catalogue: Catalogue, clock: Clock, config: MigrationConfig) -> None:
        self._catalogue, self._clock, self._config = catalogue, clock, config

    async def before_turn(
        self,
        session: ScenarioSession,
        profile: PatientProfile,
        *,
        extracted: Mapping[str, Extracted] | None = None,
    ) -> Outcome:
        """Return what happens to `session` before its turn; most often nothing."""
        if await self._catalogue.is_current(session):
            return landing.at_rest(session, profile)
        chain = await self._catalogue.chain(session.scenario_id)
        if chain is None or not chain.has(session.version):
            return self._without_version(session, profile)
        return reconcile(
            Case(
                session=session,
                profile=profile,
                move=chain.move_from(session.version),
                extracted=extracted or {},
                config=self._config,
                now=self._clock.now(),
            )
        )

    def _without_version(self, session: ScenarioSession, profile: PatientProfile) -> Outcome:
        """The archived version is lost: the session stays, and a person must look (M18)."""
        reason = "version_missing"
        result = ReconciliationResult(reason=reason, needs_review=True)
        if session.review is not None and session.review.reason == reason:
            return Outcome(result, session, profile)
        flag = ReviewFlag(target_version=0, reason=reason, flagged_at=self._clock.now())
        kept = session.model_copy(update={"review": flag})
        return Outcome(result, kept, profile, changed=True)
