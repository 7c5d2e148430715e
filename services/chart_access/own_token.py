"""`ACCESS_POLICY=token`: a chart is open to whom the records server lets read its Patient."""

from collections import OrderedDict

import aiohttp
from yarl import URL

from data_models.clock import Clock
from data_models.errors import (
    OnBehalfRefusedError,
    RecordNotFoundError,
    RecordReplacedError,
    RecordsRefusedError,
    RecordsUnavailableError,
    SignInUnavailableError,
)
from data_models.identifiers import PatientId
from services.access.on_behalf import OnBehalf
from services.records.fhir_client import FhirClient, FhirLimits
from services.records.patient_lookup import PatientLookup

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
