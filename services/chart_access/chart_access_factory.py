"""The guard of charts that the settings ask for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import structlog

from data_models import errors
from data_models.clock import Clock
from data_models.errors import ConfigurationError, TooManyReadsError
from data_models.identifiers import PatientId
from data_models.values import Newest
from services.access.access_factory import key_file_for, rate_for
from services.access.authenticators import KeyFile
from services.access.limits import MessageRate
from services.access.on_behalf import OnBehalf, UserToken
from services.audit.trail import Audit
from services.basis import Basis
from services.chart_access import chart_guard, relationship
from services.chart_access.break_glass import BreakGlass
from services.chart_access.relationship import PractitionerBook
from services.own_sign_in import TokenSource
from services.records.fhir.fhir_chosen import fhir_client_for, fhir_client_with
from services.records.fhir.fhir_client import FhirClient
from services.records.fhir.patient_lookup import PatientLookup
from services.records.fhir.reading import ChartReader, current_reader
from services.records.folder.records import FolderRecords
from services.records.records_factory import Records, records_for

KEPT_SECONDS = 60.0
_KEPT = 10_000

ClientWith = Callable[[TokenSource], FhirClient]
"""Returns a client of the records server that shows the token."""


_ERRORS: Mapping[type[errors.AccessError], type[errors.RecordsError]] = {
    errors.OnBehalfRefusedError: errors.RecordsRefusedError,
    errors.SignInUnavailableError: errors.RecordsUnavailableError,
}


@dataclass(slots=True, kw_only=True)
class UserReaders:
    """Reads each chart with the token of the user for whom the server works just now.

    Attributes:
        own: The server's own client, which reads what a user opened in an emergency.
        glass: Knows of emergencies.
    """

    on_behalf: OnBehalf
    scope: str
    client_with: ClientWith
    own: FhirClient
    glass: BreakGlass

    def token_of(self, principal_id: str) -> UserToken:
        """Return what has the principal's token."""
        return UserToken(
            on_behalf=self.on_behalf, principal_id=principal_id, scope=self.scope, errors=_ERRORS
        )

    def client_of(self, principal_id: str) -> FhirClient:
        """Return the client that has the principal's rights."""
        return self.client_with(self.token_of(principal_id))

    async def current(self, patient_id: PatientId) -> ChartReader:
        """Return who reads the chart now: see `ReaderOf`."""
        if not (principal_id := current_reader()):
            raise errors.RecordsRefusedError("a chart was asked for in nobody's name")
        try:
            grant = await self.glass.current(principal_id, patient_id)
        except errors.StoreError:
            grant = None
        if grant is not None:
            return ChartReader(name="", client=self.own)
        return ChartReader(name=principal_id, client=self.client_of(principal_id))


class ByOwnToken:
    """An `AccessPolicy`: the server is asked for the Patient with the user's own token."""

    def __init__(self, *, readers: UserReaders, system: str | None, clock: Clock) -> None:
        self._readers = readers
        self._system = system
        self._clock = clock
        self._kept = Newest[tuple[str, PatientId], tuple[float, bool]](limit=_KEPT)

    async def may_open(self, principal_id: str, patient_id: PatientId) -> bool:
        """See `AccessPolicy.may_open`.

        Raises:
            SignInNeededError: the user has no token; who has signed out opens nothing.
            RecordsError: nobody can tell just now.
        """
        await self._readers.token_of(principal_id).token()
        key, now = (principal_id, patient_id), self._clock.monotonic()
        kept = self._kept.get(key)
        if kept is not None and now - kept[0] < KEPT_SECONDS:
            return kept[1]
        may = await self._reads(self._readers.client_of(principal_id), patient_id)
        self._kept[key] = (now, may)
        return may

    async def _reads(self, client: FhirClient, patient_id: PatientId) -> bool:
        lookup = PatientLookup(client=client, system=self._system, clock=self._clock)
        try:
            await lookup.find(patient_id)
        except (errors.RecordNotFoundError, errors.RecordReplacedError):
            return False
        except errors.RecordsRefusedError as error:
            if error.status != 403:
                raise
            return False
        return True


_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class ChartAccess:
    """What belongs to access to charts.

    Attributes:
        glass: The grants, for operators to review.
        keys: The file of API keys.
        reads: Counts reads over HTTP, and charts opened in talks.
    """

    guard: chart_guard.ChartGuard
    glass: BreakGlass
    book: PractitionerBook
    keys: KeyFile | None
    reads: MessageRate


def charts_for(
    basis: Basis,
    *,
    audit: Audit,
    alert: Callable[[chart_guard.AlertKind], None],
    on_behalf: OnBehalf | None,
) -> tuple[Records, ChartAccess]:
    """Return the patients' charts, and the guard before them; the log names its policy.

    Args:
        on_behalf: Users' own tokens, where they sign in for them.

    Raises:
        ConfigurationError: what the policy or the records need is not there or cannot be read.
    """
    settings, store, clock = basis.settings, basis.users, basis.clock
    minutes = settings.break_glass_minutes
    glass = BreakGlass(store=store, clock=clock, ids=basis.ids, minutes=minutes)
    readers = _user_readers(basis, glass, on_behalf)
    records = records_for(basis, reader_of=None if readers is None else readers.current)
    keys = key_file_for(settings)
    reads = rate_for(basis, settings.reads_per_minute, TooManyReadsError)
    book = PractitionerBook(
        store=store,
        named=settings.practitioners,
        of_key=keys.practitioner_of if keys is not None else lambda _: None,
    )
    policy = _policy(basis, records, book, readers)
    _log.info("access_policy", policy=settings.access_policy, minutes=minutes)
    guard = chart_guard.ChartGuard(
        policy=policy,
        audit=audit,
        clock=clock,
        glass=glass,
        is_in_range=keys.is_in_range if keys is not None else lambda *_: True,
        alert=alert,
        reads=reads,
    )
    return records, ChartAccess(guard=guard, glass=glass, book=book, keys=keys, reads=reads)


def _user_readers(
    basis: Basis, glass: BreakGlass, on_behalf: OnBehalf | None
) -> UserReaders | None:
    """Return what reads charts with users' own tokens; None where the server's own reads all."""
    if basis.settings.access_policy != "token" or on_behalf is None:
        return None
    return UserReaders(
        on_behalf=on_behalf,
        scope=basis.settings.fhir_user_scope or "",
        client_with=partial(fhir_client_with, basis),
        own=fhir_client_for(basis),
        glass=glass,
    )


def _policy(
    basis: Basis, records: Records, book: PractitionerBook, readers: UserReaders | None
) -> chart_guard.AccessPolicy:
    settings, clock = basis.settings, basis.clock
    match settings.access_policy:
        case "open":
            return chart_guard.OpenToAll()
        case "roster":
            if settings.care_roster_file is None:
                raise ConfigurationError(
                    "CARE_ROSTER_FILE: is needed with ACCESS_POLICY=roster. "
                    "Example: CARE_ROSTER_FILE=./care.yaml"
                )
            chart_guard.read_care_roster(settings.care_roster_file)
            return chart_guard.CareRoster(file=settings.care_roster_file)
        case "relationship":
            relations = _relations(basis, records)
            return relationship.ByRelationship(relations=relations, book=book, clock=clock)
        case "token":
            if readers is None:
                raise ConfigurationError("ACCESS_POLICY: token needs BOT_SIGN_IN_CONNECTION")
            system = next(iter(settings.identifier_systems), None)
            return ByOwnToken(readers=readers, system=system, clock=clock)


def _relations(basis: Basis, records: Records) -> relationship.Relations:
    days, clock = basis.settings.relationship_days, basis.clock
    if isinstance(records, FolderRecords):
        return relationship.FileRelations(records=records, clock=clock, days=days)
    return relationship.ServerRelations(
        client=fhir_client_for(basis),
        clock=clock,
        system=next(iter(basis.settings.identifier_systems), None),
        days=days,
    )
