"""What all clients of Azure Blob Storage share: time limits, retries, and names of errors."""

import asyncio
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from azure.core.credentials_async import AsyncTokenCredential
from azure.core.exceptions import AzureError, HttpResponseError
from azure.core.pipeline.transport import AioHttpTransport
from azure.storage.blob import BlobProperties
from azure.storage.blob.aio import BlobServiceClient, LinearRetry

from data_models.errors import ConfigurationError, StoreUnavailableError
from data_models.storage.blob_store import BlobInfo

if TYPE_CHECKING:
    from azure.storage.queue.aio import QueueClient  # 0.3 s, only where there is a queue

CONNECT_LIMIT_SECONDS = 2
READ_LIMIT_SECONDS = 5
OPERATION_LIMIT_SECONDS = 8.0
# What the SDK raises for connections, for answers, and for answers that no storage service gives.
FAILURES = (AzureError, OSError, ValueError, LookupError, TypeError, AttributeError)
_MALFORMED_STRING = (
    "AZURE_STORAGE_CONNECTION_STRING is malformed; it looks like "
    "DefaultEndpointsProtocol=https;AccountName=...;AccountKey=...;EndpointSuffix=core.windows.net"
)
_MALFORMED_ENDPOINT = (
    "APP_BLOB_STORAGE_ENDPOINT is malformed; it looks like https://ACCOUNT.blob.core.windows.net"
)
T = TypeVar("T")


def error_code(error: BaseException) -> str:
    """Return the service's own name for the error; empty if it was not the service."""
    if not isinstance(error, HttpResponseError) or error.response is None:
        return ""
    # The SDK's type of the response leaves out the headers that every response has.
    return str(cast(Any, error.response).headers.get("x-ms-error-code", ""))


def client_options(account: str) -> dict[str, Any]:
    """Return what every client of the service is made with.

    Args:
        account: A connection string; or an endpoint, where this machine or user signs in.
    """
    options: dict[str, Any] = {
        "transport": AioHttpTransport(
            connection_timeout=CONNECT_LIMIT_SECONDS,
            read_timeout=READ_LIMIT_SECONDS,
            # Looking for a proxy in the environment costs a thread and 0.4 ms for each request.
            use_env_settings=False,
        ),
        # Waits 0 to 2 s; the default waits up to 86 s in all.
        "retry_policy": LinearRetry(backoff=1, random_jitter_range=1, retry_total=2),
    }
    if is_endpoint(account):
        from azure.identity.aio import DefaultAzureCredential  # 0.4 s, only where it signs in

        options["credential"] = DefaultAzureCredential()
    return options


def is_endpoint(account: str) -> bool:
    """Whether an account is named by its address, and not by a connection string."""
    return account.startswith(("https://", "http://"))


def blob_service(account: str) -> BlobServiceClient:
    """Return the client of an account, named as `client_options` takes it.

    Raises:
        ConfigurationError: it is no HTTPS address and no connection string.
    """
    named = is_endpoint(account)
    make = BlobServiceClient if named else BlobServiceClient.from_connection_string
    try:
        return make(account, **client_options(account))
    except ValueError:
        # Not `from error`: it holds the account's key, or somebody pasted a signed address.
        raise ConfigurationError(_MALFORMED_ENDPOINT if named else _MALFORMED_STRING) from None


async def close_client(client: "BlobServiceClient | QueueClient") -> None:
    """Release its connections, and those of the identity that signs in."""
    await client.close()
    if isinstance(client.credential, AsyncTokenCredential):
        await client.credential.close()


async def run_bounded(work: Awaitable[T], *, service: str = "Azure Blob Storage") -> T:
    """Return what `work` gives within the time of one operation.

    Raises:
        StoreUnavailableError: it gave nothing, or the service failed.
    """
    try:
        async with asyncio.timeout(OPERATION_LIMIT_SECONDS):
            return await work
    except FAILURES as error:
        kind = error_code(error) or type(error).__name__
    # Outside the handler: Azure's messages name the blob, and with it the conversation.
    raise StoreUnavailableError(f"{service} failed: {kind}")


def quoted_etag(etag: str) -> str:
    """Return the ETag as headers carry it; listings leave out the quotes.

    Raises:
        ValueError: the answer had none, so it is not from a storage service.
    """
    if not etag:
        raise ValueError("no ETag")
    return etag if etag.endswith('"') else f'"{etag}"'


def blob_info(item: BlobProperties) -> BlobInfo:
    """Return a listing's row."""
    return BlobInfo(item.name, quoted_etag(item.etag), item.size, item.last_modified)
