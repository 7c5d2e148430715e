"""Index tags of blobs in Azure Blob Storage: finding blobs by them, and setting them."""

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any, Self, TypeVar

from azure.core.exceptions import HttpResponseError
from azure.storage.blob.aio import BlobServiceClient

from data_models.azure_client import (
    FAILURES,
    OPERATION_LIMIT_SECONDS,
    client_options,
    error_code,
)
from data_models.blob_names import is_blob_name
from data_models.blob_tags import TaggedBlob, TagPage
from data_models.errors import StoreUnavailableError

FIND_LIMIT = 5_000
"""Blobs on one page of the service."""
_MOVED_ON = frozenset({"BlobNotFound", "ConditionNotMet"})
T = TypeVar("T")


class AzureBlobTags:
    """`BlobTags` of one container."""

    def __init__(self, service: BlobServiceClient, *, container: str) -> None:
        self._service = service
        self._container = service.get_container_client(container)

    @classmethod
    def from_connection_string(cls, connection_string: str, *, container: str) -> Self:
        """Return the tags of a container of the account that `connection_string` names."""
        service = BlobServiceClient.from_connection_string(connection_string, **client_options())
        return cls(service, container=container)

    @classmethod
    def from_endpoint(cls, endpoint: str, *, container: str) -> Self:
        """Return the tags of a container at `endpoint`, signed in as this machine or user."""
        from azure.identity.aio import DefaultAzureCredential  # 0.4 s, only where it signs in

        service = BlobServiceClient(
            endpoint, credential=DefaultAzureCredential(), **client_options()
        )
        return cls(service, container=container)

    async def find(self, where: str, *, after: str, limit: int) -> TagPage:
        return await self._run_bounded(self._find(where, after, min(limit, FIND_LIMIT)))

    async def set(self, name: str, tags: Mapping[str, str], *, only_if: str | None = None) -> bool:
        return await self._run_bounded(self._set(name, tags, only_if))

    async def close(self) -> None:
        await self._service.close()

    async def _find(self, where: str, after: str, limit: int) -> TagPage:
        pages = self._container.find_blobs_by_tags(where, results_per_page=limit).by_page(
            continuation_token=after or None
        )
        page: Any = await anext(pages, None)
        if page is None:
            return TagPage([], "")
        found = [TaggedBlob(blob.name, blob.tags or {}) async for blob in page]
        # The SDK's type of the pages leaves the token out.
        token: Any = pages
        return TagPage(
            [blob for blob in found if is_blob_name(blob.name)], token.continuation_token or ""
        )

    async def _set(self, name: str, tags: Mapping[str, str], only_if: str | None) -> bool:
        blob = self._container.get_blob_client(name)
        condition: dict[str, Any] = {} if only_if is None else {"if_tags_match_condition": only_if}
        try:
            await blob.set_blob_tags(dict(tags), **condition)
        except HttpResponseError as error:
            if error_code(error) not in _MOVED_ON:
                raise
            return False
        return True

    async def _run_bounded(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            async with asyncio.timeout(OPERATION_LIMIT_SECONDS):
                return await work
        except FAILURES as error:
            kind = error_code(error) or type(error).__name__
        # Outside the handler: Azure's messages name the blob, and with it the conversation.
        raise StoreUnavailableError(f"Azure Blob Storage failed: {kind}")
