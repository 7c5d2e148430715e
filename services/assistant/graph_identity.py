"""The machine's own identity, which has tokens for Microsoft Graph issued."""

from azure.core.exceptions import AzureError
from azure.identity.aio import DefaultAzureCredential

from data_models.clock import Clock
from data_models.errors import AssistantRefusedError
from services.assistant.graph_tokens import IssuedToken


class IdentityIssue:
    """A `TokenIssue`; the credential's connections live no longer than one question."""

    def __init__(self, *, scope: str, clock: Clock) -> None:
        self._scope = scope
        self._clock = clock

    async def __call__(self) -> IssuedToken:
        """See `TokenIssue`."""
        try:
            async with DefaultAzureCredential() as credential:
                given = await credential.get_token(self._scope)
        except AzureError:
            # `from None`: the cause lists tenants and endpoints that were tried.
            raise AssistantRefusedError("no Azure identity gave a token") from None
        return IssuedToken(given.token, given.expires_on - self._clock.now().timestamp())
