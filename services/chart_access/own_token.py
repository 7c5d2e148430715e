"""`ACCESS_POLICY=token`: the records server decides, by the user's own token."""

from collections.abc import Callable
from typing import Protocol

from data_models.clock import Clock
from data_models.errors import RecordNotFoundError, RecordReplacedError, RecordsRefusedError
from data_models.identifiers import PatientId
from services.records.fhir_client import FhirClient
from services.records.patient_lookup import PatientLookup


class UserTokens(Protocol):
    """Has the tokens with which users read a FHIR server: SMART's, or on behalf of them."""

    async def token_of(self, principal_id: str) -> str | None:
        """Return the user's token, None if there is none that is valid.

        Raises:
            RecordsError: it cannot be had just now.
        """
        ...


class ByOwnToken:
    """An `AccessPolicy` that reads the Patient as the user; who has no token opens nothing.

    Args:
        client_of: Returns a client of the records server that shows the token.
    """

    def __init__(
        self,
        *,
        tokens: UserTokens,
        client_of: Callable[[str], FhirClient],
        clock: Clock,
        system: str | None,
    ) -> None:
        self._tokens = tokens
        self._client_of = client_of
        self._clock = clock
        self._system = system

    async def may_open(self, principal_id: str, patient_id: PatientId) -> bool:
        """See `AccessPolicy.may_open`."""
        token = await self._tokens.token_of(principal_id)
        if token is None:
            return False
        lookup = PatientLookup(
            client=self._client_of(token), system=self._system, clock=self._clock
        )
        try:
            await lookup.find(patient_id)
        except (RecordsRefusedError, RecordNotFoundError, RecordReplacedError):
            return False
        return True
