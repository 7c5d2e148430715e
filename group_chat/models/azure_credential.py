"""Tokens for Azure OpenAI from the machine's own identity."""

from collections.abc import Awaitable, Callable

from azure.core.exceptions import AzureError
from azure.identity.aio import DefaultAzureCredential, get_bearer_token_provider

from data_models.errors import ModelUnavailableError

SCOPE = "https://cognitiveservices.azure.com/.default"


class AzureTokens:
    """Gives tokens and renews them before they expire."""

    def __init__(self, *, credential: DefaultAzureCredential | None = None) -> None:
        self._credential = credential or DefaultAzureCredential()
        self._provider: Callable[[], Awaitable[str]] = get_bearer_token_provider(
            self._credential, SCOPE
        )

    async def token(self) -> str:
        """Return a valid token.

        Raises:
            ModelUnavailableError: no identity, or its service cannot be reached.
        """
        try:
            return await self._provider()
        except AzureError:
            # The cause lists tenants and endpoints that were tried.
            raise ModelUnavailableError("no Azure identity gave a token") from None

    async def aclose(self) -> None:
        """Close the credential's own connections."""
        await self._credential.close()
