"""The guard of charts that the settings ask for."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import aiohttp
import structlog

from data_models.blob_store import BlobStore
from data_models.clock import Clock, IdSource
from data_models.errors import ConfigurationError, TooManyReadsError
from services.access.access_factory import key_file_for, rate_for
from services.access.api_keys import KeyFile
from services.access.handshake import Authenticator
from services.access.limits import MessageRate
from services.access.on_behalf import OnBehalf
from services.audit.trail import Audit
from services.chart_access import relationship
from services.chart_access.break_glass import BreakGlass
from services.chart_access.chart_guard import AlertKind, ChartGuard
from services.chart_access.own_token import ByOwnToken, UserReaders
from services.chart_access.policy import AccessPolicy, CareRoster, OpenToAll, read_care_roster
from services.chart_access.practitioners import NotingAuthenticator, PractitionerBook
from services.records.fhir_chosen import fhir_client_for, fhir_client_with
from services.records.folder.records import FolderRecords
from services.records.records_factory import Records, records_for
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


def charts_for(
    settings: Settings,
    *,
    store: BlobStore,
    audit: Audit,
    session: aiohttp.ClientSession,
    clock: Clock,
    ids: IdSource,
    alert: Callable[[AlertKind], None],
    on_behalf: OnBehalf | None,
) -> tuple[Records, ChartAccess]:
    """Return the patients' charts, and the guard before them; the log names its policy.

    Args:
        store: Keeps grants, and who is which Practitioner.
        on_behalf: Users' own tokens, where they sign in for them.

    Raises:
        ConfigurationError: what the policy or the records need is not there or cannot be read.
    """
    glass = BreakGlass(store=store, clock=clock, ids=ids, minutes=settings.break_glass_minutes)
    readers = _user_readers(settings, glass, session, clock, on_behalf)
    reader_of = None if readers is None else readers.current
    records = records_for(settings, session=session, clock=clock, reader_of=reader_of)
    keys = key_file_for(settings)
    reads = rate_for(settings, settings.reads_per_minute, TooManyReadsError, clock=clock)
    book = PractitionerBook(
        store=store,
        named=settings.practitioners,
        of_key=keys.practitioner_of if keys is not None else lambda _: None,
    )
    policy = _policy(settings, records, book, session, clock, readers)
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
    return records, ChartAccess(guard=guard, glass=glass, book=book, keys=keys, reads=reads)


def _user_readers(
    settings: Settings,
    glass: BreakGlass,
    session: aiohttp.ClientSession,
    clock: Clock,
    on_behalf: OnBehalf | None,
) -> UserReaders | None:
    """Return what reads charts with users' own tokens; None where the server's own reads all."""
    if settings.access_policy != "token" or on_behalf is None:
        return None
    return UserReaders(
        on_behalf=on_behalf,
        scope=settings.fhir_user_scope or "",
        client_with=partial(fhir_client_with, settings, session=session, clock=clock),
        own=fhir_client_for(settings, session=session, clock=clock),
        glass=glass,
    )


def _policy(
    settings: Settings,
    records: Records,
    book: PractitionerBook,
    session: aiohttp.ClientSession,
    clock: Clock,
    readers: UserReaders | None,
) -> AccessPolicy:
    match settings.access_policy:
        case "open":
            return OpenToAll()
        case "roster":
            if settings.care_roster_file is None:
                raise ConfigurationError(
                    "CARE_ROSTER_FILE: is needed with ACCESS_POLICY=roster. "
                    "Example: CARE_ROSTER_FILE=./care.yaml"
                )
            read_care_roster(settings.care_roster_file)
            return CareRoster(file=settings.care_roster_file)
        case "relationship":
            relations = _relations(settings, records, session, clock)
            return relationship.ByRelationship(relations=relations, book=book, clock=clock)
        case "token":
            if readers is None:
                raise ConfigurationError("ACCESS_POLICY: token needs BOT_SIGN_IN_CONNECTION")
            system = next(iter(settings.identifier_systems), None)
            return ByOwnToken(readers=readers, system=system, clock=clock)


def _relations(
    settings: Settings, records: Records, session: aiohttp.ClientSession, clock: Clock
) -> relationship.Relations:
    days = settings.relationship_days
    if isinstance(records, FolderRecords):
        return relationship.FileRelations(records=records, clock=clock, days=days)
    return relationship.ServerRelations(
        client=fhir_client_for(settings, session=session, clock=clock),
        clock=clock,
        system=next(iter(settings.identifier_systems), None),
        days=days,
    )
