"""The one guard of charts: every part that shows anything of a patient asks here first."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal, Protocol

import structlog
from pydantic import RootModel

from data_models import errors
from data_models.clock import Clock
from data_models.identifiers import PatientId, hashed
from data_models.operator_files import WatchedFile, read_written
from services.access.limits import MessageRate
from services.audit.trail import Audit, Visitor, record_access
from services.chart_access.break_glass import BreakGlass, Grant

_EVERYBODY = "*"
_EXAMPLE = "Example: CARE_ROSTER_FILE=./care.yaml with `key:alice: [patient_4]`"


class AccessPolicy(Protocol):
    """Decides whether a principal may open a chart."""

    async def may_open(self, principal_id: str, patient_id: PatientId) -> bool:
        """Whether the chart is open to the principal.

        Raises:
            RecordsError: nobody can tell just now; the chart stays closed meanwhile.
            SignInNeededError: nor can anybody before the user has signed in.
        """
        ...


class OpenToAll:
    """An `AccessPolicy` under which any signed-in user may open any chart."""

    async def may_open(self, principal_id: str, patient_id: PatientId) -> bool:
        return True


class CareRoster:
    """An `AccessPolicy` after a YAML file: `principal: [patient_4, …]`, `*` for all of either.

    The file is read again when it changes; one that cannot be read opens nothing.
    """

    def __init__(self, *, file: Path) -> None:
        self._file = WatchedFile[Mapping[str, frozenset[str]]](
            path=file, read=read_care_roster, nothing={}, event="care_roster_unread"
        )

    async def may_open(self, principal_id: str, patient_id: PatientId) -> bool:
        rows = self._file.now()
        mine = rows.get(principal_id, frozenset()) | rows.get(_EVERYBODY, frozenset())
        return patient_id in mine or _EVERYBODY in mine


class _Roster(RootModel[dict[str, frozenset[str]]], coerce_numbers_to_str=True):
    """Lists of patients by principal."""


def read_care_roster(file: Path) -> Mapping[str, frozenset[str]]:
    """Return who may open whom.

    Raises:
        ConfigurationError: the file is not there, or is no list of patients for each principal.
    """
    return read_written(file, _Roster, named="CARE_ROSTER_FILE", example=_EXAMPLE).root


# How many charts each principal opens in an hour: who opens very many is noticed.

ALERT_CHARTS = 200
ALERT_SECONDS = 3_600.0
_TABLE_LIMIT = 10_000


class ChartCounter:
    """Counts the different charts that each principal opened in the last hour, in this process."""

    def __init__(self, *, clock: Clock) -> None:
        self._clock = clock
        self._opened: OrderedDict[str, OrderedDict[PatientId, float]] = OrderedDict()
        self._alerted: dict[str, float] = {}

    def opened(self, principal_id: str, patient_id: PatientId) -> bool:
        """Note an opening; return whether it is the one to alert of, once an hour at most."""
        now = self._clock.monotonic()
        charts = self._opened.setdefault(principal_id, OrderedDict())
        self._opened.move_to_end(principal_id)
        charts[patient_id] = now
        charts.move_to_end(patient_id)
        while charts and now - next(iter(charts.values())) > ALERT_SECONDS:
            charts.popitem(last=False)
        if len(self._opened) > _TABLE_LIMIT:
            gone, _ = self._opened.popitem(last=False)
            self._alerted.pop(gone, None)
        if len(charts) < ALERT_CHARTS:
            return False
        if now - self._alerted.get(principal_id, -ALERT_SECONDS) < ALERT_SECONDS:
            return False
        self._alerted[principal_id] = now
        return True


_REFUSALS = {
    "closed": errors.ChartClosedError,
    "unknown": errors.ChartUncheckedError,
    "unsigned": errors.ChartSignInError,
}
AlertKind = Literal["many_charts", "break_glass", "chart_refused"]
_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Access:
    """What the guard says of a chart.

    Attributes:
        state: `emergency`: open because the glass was broken; `unknown`: nobody can tell just now,
            and it stays closed; `unsigned`: nor before the user has signed in.
        until: When an emergency ends.
        may_break_glass: Whether a closed one can be opened with a reason.
    """

    state: Literal["open", "emergency", "closed", "unknown", "unsigned"]
    until: datetime | None = None
    may_break_glass: bool = False

    @property
    def is_open(self) -> bool:
        """Whether the chart may be shown."""
        return self.state in ("open", "emergency")


@dataclass(kw_only=True, eq=False, repr=False)
class ChartGuard:
    """Asks the range of the caller's key, the policy, and what was granted in an emergency.

    Attributes:
        is_in_range: Whether a principal's own limits let it reach a patient; nothing opens beyond.
        alert: Counts what operators are alerted of.
        reads: Counts what is opened in talks among the caller's reads.
    """

    policy: AccessPolicy
    audit: Audit
    clock: Clock
    glass: BreakGlass | None = None
    is_in_range: Callable[[str, PatientId], bool] = lambda *_: True
    alert: Callable[[AlertKind], None] = lambda _: None
    reads: MessageRate | None = None

    def __post_init__(self) -> None:
        self._counter = ChartCounter(clock=self.clock)

    async def access(self, principal_id: str, patient_id: PatientId) -> Access:
        """Return whether the chart is open to the principal; nothing is counted or recorded."""
        if not self.is_in_range(principal_id, patient_id):
            return Access("closed")
        may_break = self.glass is not None and self.glass.is_allowed
        state: Literal["closed", "unknown", "unsigned"] = "closed"
        try:
            if await self.policy.may_open(principal_id, patient_id):
                return Access("open")
        except (errors.RecordsError, errors.StoreError) as error:
            _log.warning("access_unanswered", error=type(error).__name__)
            state = "unknown"
        except errors.SignInNeededError:
            state = "unsigned"
        if (grant := await self._find_grant(principal_id, patient_id)) is not None:
            return Access("emergency", until=grant.expires_at)
        return Access(state, may_break_glass=may_break)

    async def may_open(self, principal_id: str, patient_id: PatientId) -> bool:
        """Whether the chart may be shown, named or offered; what is not known is closed."""
        return (await self.access(principal_id, patient_id)).is_open

    async def open_to(self, principal_id: str, patients: Iterable[PatientId]) -> list[PatientId]:
        """Return those whose charts may be shown, in their order; all are asked for at once."""
        asked = list(patients)
        if isinstance(self.policy, OpenToAll):  # every turn asks: nothing is to be waited for
            return [one for one in asked if self.is_in_range(principal_id, one)]
        is_open = await asyncio.gather(*(self.may_open(principal_id, one) for one in asked))
        return [one for one, may in zip(asked, is_open, strict=True) if may]

    def count_opening(self, principal_id: str) -> None:
        """Count a chart that is opened in a talk as a read.

        Raises:
            TooManyReadsError: the caller read too much in a minute.
        """
        if self.reads is not None:
            self.reads.take(principal_id)

    async def enter(self, visitor: Visitor, patient_id: PatientId | None) -> None:
        """Return if the chart may be shown, and count it; None is nobody's and open.

        Raises:
            ChartClosedError: it may not; the refusal is on the audit trail.
            ChartUncheckedError: nobody can tell just now.
            AuditUnavailableError: the refusal, or an alert, could not be put on record.
        """
        if patient_id is None:
            return
        who = visitor.principal
        access = await self.access(who, patient_id)
        if not access.is_open:
            await self.refuse(visitor, patient_id)
            raise _REFUSALS[access.state]
        if self._counter.opened(who, patient_id):
            _log.error("charts_opened_alert", principal=hashed(who), charts=ALERT_CHARTS)
            self.alert("many_charts")
            alert = "many_charts_alert"
            await record_access(self.audit, visitor, alert, patient=patient_id, outcome="done")

    async def open_chart(self, visitor: Visitor, patient_id: PatientId | None, action: str) -> None:
        """Return if the chart may be shown, once what is done there is on the audit trail.

        Raises:
            ChartClosedError, ChartUncheckedError: as `enter`.
            AuditUnavailableError: it is not on record, so it must not happen.
        """
        await self.enter(visitor, patient_id)
        await record_access(self.audit, visitor, action, patient=patient_id)

    async def refuse(self, visitor: Visitor, patient_id: PatientId) -> None:
        """Put a refusal on the audit trail."""
        self.alert("chart_refused")
        action = "open_chart"
        await record_access(self.audit, visitor, action, patient=patient_id, outcome="refused")

    async def break_glass(self, visitor: Visitor, patient_id: PatientId, *, reason: str) -> Grant:
        """Open a closed chart for a while; on record and alerted before this returns.

        Raises:
            ChartClosedError: nobody breaks the glass here, or not beyond a key's range.
            StoreError: it could not be kept or put on record; the chart stays closed.
        """
        who, action = visitor.principal, "break_glass"
        if self.glass is None or not self.glass.is_allowed:
            raise errors.ChartClosedError
        if not self.is_in_range(who, patient_id):
            raise errors.ChartClosedError
        await record_access(self.audit, visitor, action, patient=patient_id, outcome="done")
        grant = await self.glass.grant(
            who, patient_id, conversation_id=visitor.conversation, reason=reason
        )
        _log.error("break_glass_alert", principal=hashed(who), patient=hashed(patient_id))
        self.alert("break_glass")
        return grant

    async def _find_grant(self, principal_id: str, patient_id: PatientId) -> Grant | None:
        if self.glass is None:
            return None
        try:
            return await self.glass.current(principal_id, patient_id)
        except errors.StoreError as error:
            _log.warning("break_glass_unread", error=type(error).__name__)
            return None
