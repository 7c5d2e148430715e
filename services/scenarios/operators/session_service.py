"""Where operators look at sessions and act on them, each act on record with its reason."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import datetime

from pydantic import AwareDatetime

from data_models.chat_context import ChatContext
from data_models.chat_context_accessor import ChatContextAccessor
from data_models.errors import (
    BlobChangedError,
    ClaimLostError,
    ConversationBusyError,
    CorruptDocumentError,
    NotFoundError,
    ScenarioConflictError,
    ScenarioInputError,
    ScenarioNotFoundError,
)
from data_models.identifiers import hashed
from data_models.scenarios.scenario_session import ScenarioSession
from data_models.storage.blob_store import BlobStore
from data_models.values import Value
from services.conversations.maintenance_lease import MaintenanceLease
from services.scenarios.definition.graph import Graph
from services.scenarios.migration import session_index
from services.scenarios.migration.scenario_store import ScenarioStore
from services.scenarios.operators import asked
from services.scenarios.operators.dry_run import DryRun, NextView, SessionView, view_of_session
from services.scenarios.operators.journal import ActLog

PAGE_LIMIT = 1_000
SHORTEST_ID = 8
_SHOWN_CHARS = 10


class SessionCard(Value):
    """A session in a list; where it is stored names its patient and stays out of it."""

    session: str
    version: int
    step_hash: str
    channel: str
    created_at: AwareDatetime
    reason: str
    pinned: bool


class SessionCards(Value):
    """Some sessions; `cursor` goes on behind them, empty at the end."""

    rows: tuple[SessionCard, ...]
    cursor: str


class Refusal(Value):
    """A session that an act could not be done to, and why."""

    session: str
    why: str


class BulkResult(Value):
    """What became of the sessions of a filter; `cursor` goes on behind them, empty at the end."""

    done: int = 0
    refused: tuple[Refusal, ...] = ()
    cursor: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionService:
    """Works on the sessions that are stored; each one's conversation is held meanwhile."""

    store: ScenarioStore
    index: session_index.SessionIndex
    documents: BlobStore
    contexts: ChatContextAccessor
    maintenance_lease: MaintenanceLease
    dry_run: DryRun
    log: ActLog
    now: Callable[[], datetime]

    async def show_review(self, scenario_id: str, page: asked.Paging) -> SessionCards:
        """List sessions that a person must look at."""
        return await self.list_sessions(
            scenario_id, asked.SessionQuery(review=asked.ANY, **dict(page))
        )

    async def list_sessions(self, scenario_id: str, wanted: asked.SessionQuery) -> SessionCards:
        """List sessions that fit."""
        rows, cursor = await self._fitting(scenario_id, wanted)
        cards = [
            SessionCard(
                session=hashed(row.session_id),
                version=row.version,
                step_hash=row.step_hash,
                channel=row.channel,
                created_at=row.created_at,
                reason=row.review,
                pinned=row.pinned,
            )
            for row in rows
        ]
        return SessionCards(rows=tuple(cards), cursor=cursor)

    async def _fitting(
        self, scenario_id: str, wanted: asked.SessionQuery
    ) -> tuple[list[session_index.SessionRow], str]:
        """Return the next sessions that fit, and the cursor behind them."""
        found, after, limit = list[session_index.SessionRow](), wanted.after, wanted.limit
        while True:
            page = await self.index.page(
                scenario_id, after=after, limit=limit, flagged=bool(wanted.review)
            )
            found += [row for row in page.rows if wanted.fits(row)]
            after = page.cursor
            if not after or len(found) >= limit:
                return found, after

    async def show_scenario_session(self, scenario_id: str, session: str) -> SessionView:
        """Show a session's way, its fields, and what the next version would do.

        It is on record.

        Raises:
            ScenarioNotFoundError: there is none, or it has ended.
        """
        row = await self._row(scenario_id, session)
        stored = await session_index.read_session(self.documents, row)
        if stored is None or stored.session.step is None:
            raise ScenarioNotFoundError("the session is not stored any more")
        await self._record(stored, "show_session")
        graph = await self._graph(stored.session)
        view = view_of_session(stored.session, graph)
        return view.model_copy(update={"next": await self._next(scenario_id, row)})

    async def act(self, scenario_id: str, session: str, act: asked.Intervention) -> BulkResult:
        """Move, resume, ask again, end or pin one session.

        Raises:
            ScenarioNotFoundError: there is no such session.
            ScenarioInputError: it cannot be done.
            ScenarioConflictError: its user is in the middle of a turn.
        """
        row = await self._row(scenario_id, session)
        note = f"session {hashed(row.session_id)[:_SHOWN_CHARS]}, {act.note}"
        async with self.log.act(scenario_id, f"session_{act.action}", note):
            await self._act_on(row, act)
        return BulkResult(done=1)

    async def act_on_all(self, scenario_id: str, act: asked.BulkIntervention) -> BulkResult:
        """Do the same to every session of a filter, 500 at a time.

        What one session refuses, others do not miss.
        """
        rows, cursor = await self._fitting(scenario_id, act.wanted)
        refused: list[Refusal] = []
        note = f"{len(rows)} sessions, {act.note}"
        async with self.log.act(scenario_id, f"session_{act.action}", note):
            for row in rows:
                try:
                    await self._act_on(row, act)
                except (ScenarioInputError, CorruptDocumentError) as error:
                    is_theirs = isinstance(error, ScenarioInputError)
                    why = str(error) if is_theirs else error.user_message
                    refused.append(Refusal(session=hashed(row.session_id), why=why))
        done = len(rows) - len(refused)
        return BulkResult(done=done, refused=tuple(refused), cursor=cursor)

    async def _act_on(self, row: session_index.SessionRow, act: asked.Intervention) -> None:
        """Do `act` to the session of `row`; see `act` for errors."""
        if (stored := await session_index.read_session(self.documents, row)) is None:
            raise ScenarioNotFoundError("the session is not stored any more")
        await self._intervene(stored.session, act)  # what cannot be done holds no conversation
        await self._record(stored, f"session_{act.action}")
        try:
            async with self.maintenance_lease.holding_document(
                self.contexts,
                stored.document.conversation_id,
                stored.document.patient_id,
                principal_id=self.log.operator,
            ) as held:
                after = await self._intervene(_session_in(held.document, row.session_id), act)
                _put(held.document, after)
                await held.write()
        except (BlobChangedError, ClaimLostError, ConversationBusyError) as error:
            raise ScenarioConflictError("its user is in the middle of a turn; try again") from error
        except NotFoundError as error:
            raise ScenarioNotFoundError("its conversation is not stored any more") from error

    async def _intervene(
        self, session: ScenarioSession, act: asked.Intervention
    ) -> ScenarioSession:
        stored = (await self.store.versions(session.scenario_id)).get(session.scenario_id)
        graph, newest = await self._graph(session), stored[-1] if stored else 0
        return asked.intervened(session, graph, act, newest=newest, now=self.now())

    async def _next(self, scenario_id: str, row: session_index.SessionRow) -> NextView | None:
        """Return what the plan that waits would do, else what the active version will do."""
        pointer = await self.store.active(scenario_id)
        plan = (
            None if pointer is None else await self.store.plan(scenario_id, pointer.value.version)
        )
        if plan is None or plan.value.status not in ("pending", "approved"):
            versions = [] if pointer is None else pointer.value.versions[:-1]
            plan = await self.store.plan(scenario_id, versions[-1]) if versions else None
        if plan is None or row.version >= plan.value.to_version:
            return None
        said = await self.dry_run.one(plan.value, row)
        return NextView(
            version=plan.value.to_version,
            effect=said.effect,
            why=said.why,
            step_after=said.step_after,
            asks=(*said.confirm, *said.collect),
            runs=said.execute,
        )

    async def _row(self, scenario_id: str, session: str) -> session_index.SessionRow:
        """Find a session by its hashed id, or the beginning of it that pages show."""
        if len(session) < SHORTEST_ID:
            raise ScenarioNotFoundError("there is no such session")
        found = [
            row
            async for row in self._rows(scenario_id)
            if hashed(row.session_id).startswith(session)
        ]
        if len(found) != 1:
            raise ScenarioNotFoundError(
                "several sessions begin like that; give more of the id"
                if found
                else "there is no such session"
            )
        return found[0]

    async def _rows(self, scenario_id: str) -> AsyncIterator[session_index.SessionRow]:
        after = ""
        while True:
            page = await self.index.page(scenario_id, after=after, limit=PAGE_LIMIT)
            for row in page.rows:
                yield row
            if not (after := page.cursor):
                return

    async def _record(self, stored: session_index.StoredSession, action: str) -> None:
        one, document = stored.session, stored.document
        await self.log.record(
            action, about=one.scenario_id, session_id=one.session_id, document=document
        )

    async def _graph(self, session: ScenarioSession) -> Graph:
        graph = await self.store.require_graph(session.scenario_id, session.version)
        if session.step not in graph.steps:
            raise ScenarioNotFoundError(f"version {session.version} has no step like its own")
        return graph


def _session_in(document: ChatContext, session_id: str) -> ScenarioSession:
    for one in document.sessions:
        if one.session_id == session_id:
            return one
    raise ScenarioNotFoundError("the session is not stored any more")


def _put(document: ChatContext, session: ScenarioSession) -> None:
    if document.scenario is not None and document.scenario.session_id == session.session_id:
        document.scenario = session
        return
    document.left_scenarios = [
        session if one.session_id == session.session_id else one for one in document.left_scenarios
    ]
