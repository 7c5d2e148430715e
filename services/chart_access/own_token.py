"""`ACCESS_POLICY=token`: charts open, and are read, by each user's own token."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from data_models import errors
from data_models.clock import Clock
from data_models.identifiers import PatientId
from data_models.newest import Newest
from services.access.on_behalf import OnBehalf, UserToken
from services.chart_access.break_glass import BreakGlass
from services.own_sign_in import TokenSource
from services.records.fhir_client import FhirClient
from services.records.patient_lookup import PatientLookup
from services.records.reading import ChartReader, current_reader

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
