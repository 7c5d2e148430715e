"""What all clients of Azure Blob Storage share: time limits, retries, and names of errors."""

from typing import Any, cast

from azure.core.exceptions import AzureError, HttpResponseError
from azure.core.pipeline.transport import AioHttpTransport
from azure.storage.blob import BlobProperties
from azure.storage.blob.aio import LinearRetry

from data_models.blob_store import BlobInfo

CONNECT_LIMIT_SECONDS = 2
READ_LIMIT_SECONDS = 5
OPERATION_LIMIT_SECONDS = 8
# What the SDK raises for connections, for answers, and for answers that no storage service gives.
FAILURES = (AzureError, OSError, ValueError, LookupError, TypeError, AttributeError)


def error_code(error: BaseException) -> str:
    """Return the service's own name for the error; empty if it was not the service."""
    if not isinstance(error, HttpResponseError) or error.response is None:
        return ""
    # The SDK's type of the response leaves out the headers that every response has.
    return str(cast(Any, error.response).headers.get("x-ms-error-code", ""))


def client_options() -> dict[str, Any]:
    """Return what every client of the service is made with."""
    return {
        "transport": AioHttpTransport(
            connection_timeout=CONNECT_LIMIT_SECONDS,
            read_timeout=READ_LIMIT_SECONDS,
            # Looking for a proxy in the environment costs a thread and 0.4 ms for each request.
            use_env_settings=False,
        ),
        # Waits 0 to 2 s; the default waits up to 86 s in all.
        "retry_policy": LinearRetry(backoff=1, random_jitter_range=1, retry_total=2),
    }


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
