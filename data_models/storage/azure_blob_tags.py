"""Index tags of blobs in Azure Blob Storage: finding blobs by them, and setting them."""

from collections.abc import Mapping
from typing import Any

from azure.core.exceptions import HttpResponseError

from data_models.storage.azure_client import blob_service, close_client, error_code, run_bounded
from data_models.storage.blob_store import is_blob_name
from data_models.storage.blob_tags import TaggedBlob, TagPage

FIND_LIMIT = 5_000
"""Blobs on one page of the service."""
_MOVED_ON = frozenset({"BlobNotFound", "ConditionNotMet"})


class AzureBlobTags:
    """`BlobTags` of one container."""

    def __init__(self, account: str, *, container: str) -> None:
        self._service = blob_service(account)
        self._container = self._service.get_container_client(container)

    async def find(self, where: str, *, after: str, limit: int) -> TagPage:
        return await run_bounded(self._find(where, after, min(limit, FIND_LIMIT)))

    async def set(self, name: str, tags: Mapping[str, str], *, only_if: str | None = None) -> bool:
        return await run_bounded(self._set(name, tags, only_if))

    async def close(self) -> None:
        await close_client(self._service)

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
