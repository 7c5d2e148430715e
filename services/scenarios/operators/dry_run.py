"""What a plan would do to the sessions stored now, and how far the last answer came true."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pydantic import BaseModel, Field

from data_models.clock import Clock
from data_models.errors import CorruptDocumentError
from data_models.identifiers import hashed
from data_models.scenarios.scenario_session import MigrationAppliedEvent, PatientProfile
from data_models.storage.blob_store import BlobStore, change_blob
from data_models.values import Value, read_value
from services.scenarios.migration.case import Case, ReconciliationResult
from services.scenarios.migration.plans.migration_plan import MigrationPlan
from services.scenarios.migration.plans.move import VersionChain
from services.scenarios.migration.reconciliation import reconcile
from services.scenarios.migration.scenario_store import ScenarioStore
from services.scenarios.migration.session_index import (
    SessionIndex,
    SessionRow,
    StoredSession,
    read_session,
)
from services.scenarios.scenario_settings import MigrationConfig
from services.scenarios.session.facts import lasting

READ_AT_ONCE = 16
Effect: TypeAlias = Literal[
    "clean_graft", "gap_fill", "re_route", "relocate", "exit", "blocked", "pinned", "stays",
    "unchanged", "gone", "unreadable",
]  # fmt: skip


class DryRunRow(Value):
    """What would become of one session; names steps and fields, never a value of a patient.

    Attributes:
        session: Its hashed id, as logs name it.
        effect: `stays`: on its version, for a person to look at; `unchanged`: out of scope,
            ended, pinned before, or at the version already; `gone`: no longer stored.
        why: In words for the operator.
        collect: Fields that the user would be asked for.
        confirm: Fields whose likely value the user would be asked to confirm.
        execute: Steps whose required action would run.
        sources: Where fields that are made up for come from, by field.
        blocked_by: The completed checkpoint that forbids a redirect.
    """

    session: str
    version: int
    step_before: str
    effect: Effect
    why: str
    step_after: str = ""
    collect: tuple[str, ...] = ()
    confirm: tuple[str, ...] = ()
    execute: tuple[str, ...] = ()
    sources: dict[str, str] = Field(default_factory=dict)
    blocked_by: str = ""


class Score(Value):
    """How the dry run for a version came true.

    Attributes:
        met: Sessions that jumped since, of those that were foretold.
        right: Of these, asked and led as foretold.
        wrong: What else happened, with its number.
    """

    to_version: int
    foretold: int
    met: int
    right: int
    wrong: dict[str, int] = Field(default_factory=dict)


class DryRunPage(Value):
    """Some rows, and the cursor of the next page; empty on the last one.

    Attributes:
        score: How the last dry run came true, on the first page.
    """

    rows: tuple[DryRunRow, ...]
    cursor: str
    score: Score | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRun:
    """Replays a plan over stored sessions with the code that turns run, page by page.

    Memory is bounded by one page. What extraction would find is not known without a model; the
    fields it might fill are listed as asked.
    """

    store: ScenarioStore
    index: SessionIndex
    documents: BlobStore
    clock: Clock
    config: MigrationConfig

    async def page(self, plan: MigrationPlan, *, after: str = "", limit: int) -> DryRunPage:
        """Return the next rows behind the cursor `after`.

        Raises:
            ScenarioNotFoundError: a version is not stored.
        """
        chain = await self._chain(plan)
        page = await self.index.page(
            plan.scenario_id, after=after, limit=limit, below_version=plan.to_version
        )
        found: list[DryRunRow] = []
        for start in range(0, len(page.rows), READ_AT_ONCE):
            batch = page.rows[start : start + READ_AT_ONCE]
            found += await asyncio.gather(*(self._row(chain, row) for row in batch))
        return DryRunPage(rows=tuple(found), cursor=page.cursor, score=None)

    async def one(self, plan: MigrationPlan, row: SessionRow) -> DryRunRow:
        """Return what the plan would do to one session.

        Raises:
            ScenarioNotFoundError: a version is not stored.
        """
        return await self._row(await self._chain(plan), row)

    async def _chain(self, plan: MigrationPlan) -> VersionChain:
        """The versions as they will be once the plan is deployed."""
        pointer = (await self.store.require_active(plan.scenario_id)).value
        former = (version for version in pointer.versions if version < plan.to_version)
        versions = (*former, plan.to_version)
        return await self.store.chain(plan.scenario_id, versions, plan.anchor_policies)

    async def _row(self, chain: VersionChain, row: SessionRow) -> DryRunRow:
        try:
            stored = await read_session(self.documents, row)
        except CorruptDocumentError:
            return _without_session(row, "unreadable", "its document cannot be read")
        if stored is None:
            return _without_session(row, "gone", "it is no longer stored")
        if not chain.has(stored.session.version):
            return _without_session(row, "stays", "its version is not stored")
        case = Case(
            session=stored.session,
            profile=PatientProfile(
                fields=lasting(stored.document.profile, chain.active, self.clock.now())
            ),
            move=chain.move_from(stored.session.version),
            config=self.config,
            now=self.clock.now(),
        )
        return _described(stored, reconcile(case))


def _without_session(row: SessionRow, effect: Effect, why: str) -> DryRunRow:
    session = hashed(row.session_id)
    return DryRunRow(session=session, version=row.version, step_before="", effect=effect, why=why)


def _described(before: StoredSession, result: ReconciliationResult) -> DryRunRow:
    after = result.session
    event = after.outbox[-1] if len(after.outbox) > len(before.session.outbox) else None
    blocked = event.checkpoint_description or event.checkpoint_id if event else None
    return DryRunRow(
        session=hashed(before.session.session_id),
        version=before.session.version,
        step_before=before.session.step or "",
        effect=_effect(before, result),
        why=result.checkpoint_warning or result.reason,
        step_after=after.step or "",
        collect=result.collect_fields,
        confirm=result.confirm_fields,
        execute=result.execute_actions,
        sources=result.gap_sources,
        blocked_by=blocked or "",
    )


def _effect(before: StoredSession, result: ReconciliationResult) -> Effect:
    after = result.session
    if result.needs_review:
        return "stays"
    if result.blocked_by_checkpoint:
        return "blocked"
    if result.action == "exit_scenario":
        return "exit"
    if after.pinned_to is not None and after.pinned_to != before.session.pinned_to:
        return "pinned"
    return result.scenario or "unchanged"


# How far the last dry run came true: what it foretold of sessions, against what they met.
#
# A dry run keeps what it foretold beside the scenario; the next one says how that turned out.

KEPT_LIMIT = 2_000
"""Foretold sessions that are kept of a plan."""
READ_LIMIT = 500
"""Events that are read to score them."""


class Foretold(Value):
    """What a dry run said of one session."""

    effect: str
    step_after: str = ""
    asks: tuple[str, ...] = ()


class Prediction(BaseModel):
    """What was foretold of the sessions that one version reaches, by hashed session id."""

    to_version: int
    sessions: dict[str, Foretold] = Field(default_factory=dict)


class ScoreBook:
    """Keeps predictions beside the scenario's events."""

    def __init__(self, *, blobs: BlobStore) -> None:
        self._blobs = blobs

    async def foretell(
        self, scenario_id: str, to_version: int, rows: Iterable[DryRunRow], *, anew: bool
    ) -> None:
        """Keep what was foretold; `anew` where a dry run begins."""
        name = _name(scenario_id, to_version)
        fresh = {
            row.session: Foretold(
                effect=row.effect, step_after=row.step_after, asks=(*row.confirm, *row.collect)
            )
            for row in rows
        }

        def foretold(data: bytes | None) -> bytes | None:
            kept = {} if data is None or anew else read_value(data, Prediction).sessions
            if len(kept) >= KEPT_LIMIT:
                return None
            sessions = dict([*kept.items(), *fresh.items()][:KEPT_LIMIT])
            return Prediction(to_version=to_version, sessions=sessions).model_dump_json().encode()

        await change_blob(self._blobs, name, foretold, what="a prediction")

    async def score(self, scenario_id: str, versions: Iterable[int]) -> Score | None:
        """Return how the newest of `versions` that was foretold came true; None if none was."""
        for version in sorted(versions, reverse=True):
            blob = await self._blobs.read(_name(scenario_id, version))
            if blob is not None:
                return await self._score(scenario_id, read_value(blob.data, Prediction))
        return None

    async def _score(self, scenario_id: str, prediction: Prediction) -> Score:
        wrong: dict[str, int] = {}
        met = right = read = 0
        async for info in self._blobs.list(f"scenarios/{scenario_id}/events/"):
            if read == READ_LIMIT:
                break
            read += 1
            blob = await self._blobs.read(info.name)
            event = None if blob is None else read_value(blob.data, MigrationAppliedEvent)
            said = None if event is None else prediction.sessions.get(hashed(event.session_id))
            if event is None or said is None or event.to_version != prediction.to_version:
                continue
            met += 1
            miss = missed(said, event)
            right += not miss
            if miss:
                wrong[miss] = wrong.get(miss, 0) + 1
        return Score(
            to_version=prediction.to_version,
            foretold=len(prediction.sessions),
            met=met,
            right=right,
            wrong=wrong,
        )


def missed(said: Foretold, event: MigrationAppliedEvent) -> str:
    """Return what came otherwise than foretold; "" if nothing did.

    Where something was to be asked, the way depends on the answer and is not held against it.
    """
    asked, wanted = set(event.fields_collected), set(said.asks)
    if not wanted <= asked:
        return "was not asked what was foretold"
    if asked and not wanted:
        return "was asked, and nothing was foretold"
    if wanted:
        return ""
    if event.blocked_by_checkpoint != (said.effect == "blocked"):
        return "a checkpoint blocked otherwise"
    if (event.step_after or "") != said.step_after:
        return "went to another step"
    return ""


def _name(scenario_id: str, version: int) -> str:
    return f"scenarios/{scenario_id}/predictions/{version}.json"
