"""Signing in to a FHIR server as the platform's own identity."""

from azure.core.exceptions import AzureError
from azure.identity.aio import DefaultAzureCredential

from data_models.clock import Clock
from data_models.errors import RecordsRefusedError
from services.records.fhir_sign_in import Issued


class ManagedIdentity:
    """A `SignIn` by the platform's own identity, as Azure has it."""

    def __init__(self, *, scope: str, clock: Clock) -> None:
        self._scope = scope
        self._clock = clock

    async def __call__(self) -> Issued:
        """See `SignIn`."""
        try:
            async with DefaultAzureCredential() as credential:
                found = await credential.get_token(self._scope)
        except AzureError as error:
            reason = f"the managed identity gave no token ({type(error).__name__})"
            raise RecordsRefusedError(reason) from None
        return Issued(found.token, found.expires_on - self._clock.now().timestamp())
