"""The guard of charts that the settings ask for."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

import aiohttp
import structlog
from yarl import URL

from data_models.blob_store import BlobStore
from data_models.clock import Clock, IdSource
from data_models.errors import (
    ConfigurationError,
    OnBehalfRefusedError,
    RecordNotFoundError,
    RecordReplacedError,
    RecordsRefusedError,
    RecordsUnavailableError,
    SignInUnavailableError,
)
from data_models.identifiers import PatientId
from services.access.access_factory import key_file_for, read_rate_for
from services.access.api_keys import KeyFile
from services.access.handshake import Authenticator
from services.access.limits import MessageRate
from services.access.on_behalf import OnBehalf
from services.audit.trail import Audit
from services.chart_access.break_glass import BreakGlass
from services.chart_access.chart_guard import AlertKind, ChartGuard
from services.chart_access.policy import AccessPolicy, CareRoster, OpenToAll, read_care_roster
from services.chart_access.practitioners import NotingAuthenticator, PractitionerBook
from services.chart_access.relationship import (
    ByRelationship,
    FileRelations,
    Relations,
    ServerRelations,
)
from services.records.fhir_chosen import checked_base_url, fhir_client_for
from services.records.fhir_client import FhirClient, FhirLimits
from services.records.folder.records import FolderRecords
from services.records.patient_lookup import PatientLookup
from services.records.records_factory import Records
from settings import Settings

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class ChartAccess:
    """What belongs to access to charts.

    Attributes:
        glass: The grants, for operators to review.
        keys: The file of API keys.
        reads: Counts reads over HTTP, and charts opened in talks.
    """

    guard: ChartGuard
    glass: BreakGlass
    book: PractitionerBook
    keys: KeyFile | None
    reads: MessageRate

    def noting(self, authenticator: Authenticator) -> Authenticator:
        """Return the authenticator that notes which Practitioner a sign-in names."""
        return NotingAuthenticator(inner=authenticator, book=self.book)


def chart_access_for(
    settings: Settings,
    *,
    records: Records,
    store: BlobStore,
    audit: Audit,
    session: aiohttp.ClientSession,
    clock: Clock,
    ids: IdSource,
    alert: Callable[[AlertKind], None],
    on_behalf: OnBehalf | None = None,
) -> ChartAccess:
    """Return the guard of the charts of `records`; the log names its policy.

    Args:
        store: Keeps grants, and who is which Practitioner.
        on_behalf: Users' own tokens, where they sign in for them.

    Raises:
        ConfigurationError: what the policy needs is not there or cannot be read.
    """
    keys, reads = key_file_for(settings), read_rate_for(settings, clock=clock)
    book = PractitionerBook(
        store=store,
        named=settings.practitioners,
        of_key=keys.practitioner_of if keys is not None else lambda _: None,
    )
    glass = BreakGlass(store=store, clock=clock, ids=ids, minutes=settings.break_glass_minutes)
    policy = _policy(settings, records, book, session, clock, on_behalf)
    _log.info("access_policy", policy=settings.access_policy, minutes=settings.break_glass_minutes)
    guard = ChartGuard(
        policy=policy,
        audit=audit,
        clock=clock,
        glass=glass,
        is_in_range=keys.is_in_range if keys is not None else lambda *_: True,
        alert=alert,
        reads=reads,
    )
    return ChartAccess(guard=guard, glass=glass, book=book, keys=keys, reads=reads)


def _policy(
    settings: Settings,
    records: Records,
    book: PractitionerBook,
    session: aiohttp.ClientSession,
    clock: Clock,
    on_behalf: OnBehalf | None,
) -> AccessPolicy:
    match settings.access_policy:
        case "open":
            return OpenToAll()
        case "roster":
            return _roster(settings)
        case "relationship":
            relations = _relations(settings, records, session, clock)
            return ByRelationship(relations=relations, book=book, clock=clock)
        case "token":
            if on_behalf is None:
                raise ConfigurationError("ACCESS_POLICY: token needs BOT_SIGN_IN_CONNECTION")
            return ByOwnToken(
                on_behalf=on_behalf,
                scope=settings.fhir_user_scope or "",
                base_url=checked_base_url(settings.fhir_base_url or ""),
                system=next(iter(settings.identifier_systems), None),
                session=session,
                clock=clock,
            )


def _roster(settings: Settings) -> CareRoster:
    if settings.care_roster_file is None:
        raise ConfigurationError(
            "CARE_ROSTER_FILE: is needed with ACCESS_POLICY=roster. "
            "Example: CARE_ROSTER_FILE=./care.yaml"
        )
    read_care_roster(settings.care_roster_file)
    return CareRoster(file=settings.care_roster_file)


def _relations(
    settings: Settings, records: Records, session: aiohttp.ClientSession, clock: Clock
) -> Relations:
    days = settings.relationship_days
    if isinstance(records, FolderRecords):
        return FileRelations(records=records, clock=clock, days=days)
    return ServerRelations(
        client=fhir_client_for(settings, session=session, clock=clock),
        clock=clock,
        system=next(iter(settings.identifier_systems), None),
        days=days,
    )


KEPT_SECONDS = 60.0
_KEPT = 10_000


class ByOwnToken:
    """An `AccessPolicy`: the server is asked for the Patient with the user's own token.

    Args:
        scope: What the directory is asked for on behalf of each user.
        session: Reaches only hosts that may be called.
    """

    def __init__(
        self,
        *,
        on_behalf: OnBehalf,
        scope: str,
        base_url: URL,
        system: str | None,
        session: aiohttp.ClientSession,
        clock: Clock,
    ) -> None:
        self._on_behalf = on_behalf
        self._scope = scope
        self._base_url = base_url
        self._system = system
        self._session = session
        self._clock = clock
        self._kept: OrderedDict[tuple[str, PatientId], tuple[float, bool]] = OrderedDict()

    async def may_open(self, principal_id: str, patient_id: PatientId) -> bool:
        """See `AccessPolicy.may_open`.

        Raises:
            SignInNeededError: the user has no token; who has signed out opens nothing.
            RecordsError: nobody can tell just now.
        """
        token = await self._token(principal_id)
        key, now = (principal_id, patient_id), self._clock.monotonic()
        kept = self._kept.get(key)
        if kept is not None and now - kept[0] < KEPT_SECONDS:
            return kept[1]
        may = await self._reads(token, principal_id, patient_id)
        self._kept[key] = (now, may)
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return may

    async def _token(self, principal_id: str) -> str:
        try:
            return await self._on_behalf.token(principal_id, self._scope)
        except SignInUnavailableError:
            raise RecordsUnavailableError("the directory gave no token of the user") from None
        except OnBehalfRefusedError:
            raise RecordsRefusedError("the directory refused a token of the user") from None

    async def _reads(self, token: str, principal_id: str, patient_id: PatientId) -> bool:
        client = FhirClient(
            base_url=self._base_url,
            token=token,
            session=self._session,
            clock=self._clock,
            limits=FhirLimits(),
        )
        lookup = PatientLookup(client=client, system=self._system, clock=self._clock)
        try:
            await lookup.find(patient_id)
        except (RecordNotFoundError, RecordReplacedError):
            return False
        except RecordsRefusedError as error:
            if error.status != 403:
                self._on_behalf.note_refusal(principal_id, self._scope, token)
                raise
            return False
        return True
