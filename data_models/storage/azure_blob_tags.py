"""Index tags of blobs in Azure Blob Storage: finding blobs by them, and setting them."""

import asyncio
from collections.abc import Sequence
from typing import Any

from azure.core.exceptions import HttpResponseError

from data_models.storage.azure_client import blob_service, close_client, error_code, run_bounded
from data_models.storage.blob_store import is_blob_name
from data_models.storage.blob_tags import TagChange, TaggedBlob, TagPage

FIND_LIMIT = 5_000
"""Blobs on one page of the service."""
SET_AT_ONCE = 32
_MOVED_ON = frozenset({"BlobNotFound", "ConditionNotMet"})


class AzureBlobTags:
    """`BlobTags` of one container."""

    def __init__(self, account: str, *, container: str) -> None:
        self._service = blob_service(account)
        self._container = self._service.get_container_client(container)

    async def find(self, where: str, *, after: str, limit: int) -> TagPage:
        return await run_bounded(self._find(where, after, min(limit, FIND_LIMIT)))

    async def set(self, changes: Sequence[TagChange]) -> None:
        for start in range(0, len(changes), SET_AT_ONCE):
            batch = changes[start : start + SET_AT_ONCE]
            await asyncio.gather(*(run_bounded(self._set(one)) for one in batch))

    async def is_whole(self) -> bool:
        return True  # they are the blobs' own

    async def set_whole(self) -> None:
        """Nothing: they always are."""

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

    async def _set(self, change: TagChange) -> None:
        blob = self._container.get_blob_client(change.name)
        condition: dict[str, Any] = {}
        if change.only_if:
            same = (f"\"{tag}\"='{value}'" for tag, value in change.only_if.items())
            condition["if_tags_match_condition"] = " AND ".join(same)
        try:
            await blob.set_blob_tags(dict(change.tags), **condition)
        except HttpResponseError as error:
            if error_code(error) not in _MOVED_ON:
                raise
