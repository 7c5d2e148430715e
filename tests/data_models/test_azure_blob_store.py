"""What of Azure needs no service: how a store is configured."""

import pytest

from data_models.errors import ConfigurationError
from data_models.storage.azure_blob_store import AzureBlobStore
from tests.fakes import CountingIds


@pytest.mark.parametrize("wrong", ["", "secret", "AccountKey=secret", "AccountName=;x"])
def test_a_malformed_connection_string_is_named_and_not_shown(wrong: str, ids: CountingIds) -> None:
    with pytest.raises(ConfigurationError, match="AZURE_STORAGE_CONNECTION_STRING") as caught:
        AzureBlobStore(wrong, container="chat-sessions", ids=ids)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("wrong", ["https://", "http://account.blob.core.windows.net"])
async def test_an_endpoint_that_is_no_https_address_is_named(wrong: str, ids: CountingIds) -> None:
    with pytest.raises(ConfigurationError, match="APP_BLOB_STORAGE_ENDPOINT"):
        AzureBlobStore(wrong, container="chat-sessions", ids=ids)


async def test_an_endpoint_is_not_called_before_it_is_used(ids: CountingIds) -> None:
    endpoint = "https://account.blob.core.windows.net"
    store = AzureBlobStore(endpoint, container="chat-sessions", ids=ids)
    await store.close()
