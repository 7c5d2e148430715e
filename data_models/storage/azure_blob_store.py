"""Blobs in Azure Blob Storage, and their index tags."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, TypeVar

from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceNotFoundError
from azure.core.settings import settings as azure_settings

from data_models.clock import IdSource
from data_models.errors import BlobChangedError, BlobExistsError, StoreError
from data_models.storage import blob_store
from data_models.storage.azure_client import (
    FAILURES,
    blob_info,
    blob_service,
    close_client,
    error_code,
    quoted_etag,
    run_bounded,
)
from data_models.storage.blob_store import TagChange, TaggedBlob, TagPage, TagsOf, is_blob_name

_CLIENTS = 32
"""Clients of single blobs that are kept, by each container: one takes 32 kB, to make it 60 µs."""
# What is left of the operation's time is for looking whether the write landed.
_WRITE_LIMIT_SECONDS = 6
_WRITE_ID = "write_id"
_ETAG = re.compile(r'"[^",]+"')

_CREATE_REFUSALS: Mapping[str, type[StoreError]] = {
    "BlobAlreadyExists": BlobExistsError,
    "ConditionNotMet": BlobExistsError,
}
_REPLACE_REFUSALS: Mapping[str, type[StoreError]] = {
    "BlobNotFound": BlobChangedError,
    "ConditionNotMet": BlobChangedError,
}
_APPEND_REFUSALS: Mapping[str, type[StoreError]] = {
    "BlobNotFound": BlobChangedError,
    "AppendPositionConditionNotMet": BlobChangedError,
}
T = TypeVar("T")


class AzureBlobStore:
    """A `BlobStore` in one container, which is created if missing.

    Every write carries an id. The SDK repeats a write whose answer was lost and then reports a
    conflict with itself, so a refused or unanswered write is looked up before it is believed.
    One store serves one process and one event loop. Names that were made by `append` are only
    appended to (the service takes 50,000 appends to one blob).
    """

    def __init__(
        self, account: str, *, container: str, ids: IdSource, tags_of: TagsOf | None = None
    ) -> None:
        # Its spans would carry blob names, and with them conversations and patients.
        azure_settings.tracing_enabled.set_value(False)
        self._service = blob_service(account)
        self._container = self._service.get_container_client(container)
        self._blob = lru_cache(_CLIENTS)(self._container.get_blob_client)
        self._ids = ids
        self._tags_of = tags_of
        self._opened = False

    async def read(self, name: str) -> blob_store.Blob | None:
        return await run_bounded(self._read(blob_store.checked_blob_name(name)))

    async def create(self, name: str, data: bytes) -> str:
        condition = {"match_condition": MatchConditions.IfMissing}
        return await self._put(
            blob_store.checked_blob_name(name), data, condition, _CREATE_REFUSALS
        )

    async def replace(self, name: str, data: bytes, *, etag: str) -> str:
        blob_store.checked_blob_name(name)
        # To the service `*` is any version, and a list of ETags is any of them.
        if not _ETAG.fullmatch(etag):
            raise BlobChangedError("an ETag that the service never gave")
        condition = {"match_condition": MatchConditions.IfNotModified, "etag": etag}
        return await self._put(name, data, condition, _REPLACE_REFUSALS)

    async def delete(self, name: str) -> None:
        await run_bounded(self._delete(blob_store.checked_blob_name(name)))

    async def list(self, prefix: str) -> AsyncIterator[blob_store.BlobInfo]:
        found = self._container.list_blobs(name_starts_with=blob_store.checked_blob_prefix(prefix))
        pages = found.by_page()
        while (page := await run_bounded(self._next_page(pages))) is not None:
            for item in page:
                if blob_store.is_blob_name(item.name):
                    yield blob_info(item)

    async def folders(self) -> AsyncIterator[str]:
        pages = self._container.walk_blobs(delimiter="/").by_page()
        while (page := await run_bounded(self._next_page(pages))) is not None:
            for item in page:
                name = item.name.removesuffix("/")
                if name != item.name and blob_store.is_blob_name(name):
                    yield name

    async def append(self, name: str, data: bytes, *, position: int) -> int:
        blob_store.checked_blob_name(name)
        attempt = partial(self._append_once, name, data, position)
        landed = partial(self._find_appended, name, data, position)
        return await run_bounded(self._write(attempt, landed, _APPEND_REFUSALS))

    async def check(self) -> None:
        await run_bounded(self._check())

    async def close(self) -> None:
        await close_client(self._service)

    async def _check(self) -> None:
        await self._open()
        await self._container.get_container_properties()

    async def _open(self) -> None:
        # No lock: several at once do no harm, and while Azure is down none waits for another.
        if self._opened:
            return
        try:
            await self._container.get_container_properties()
        except ResourceNotFoundError:
            await self._create_container()
        self._opened = True

    async def _create_container(self) -> None:
        try:
            await self._container.create_container()
        except ResourceExistsError as error:
            if error_code(error) != "ContainerAlreadyExists":  # it is being deleted, say
                raise

    async def _read(self, name: str) -> blob_store.Blob | None:
        await self._open()
        try:
            download = await self._blob(name).download_blob()
            data = await download.readall()
        except ResourceNotFoundError as error:
            if error_code(error) != "BlobNotFound":  # the container is gone, or a stranger answered
                raise
            return None
        return blob_store.Blob(data, quoted_etag(download.properties.etag))

    async def _next_page(self, pages: AsyncIterator[AsyncIterator[T]]) -> Sequence[T] | None:
        await self._open()
        page = await anext(pages, None)
        return None if page is None else [item async for item in page]

    async def _delete(self, name: str) -> None:
        await self._open()
        try:
            await self._container.delete_blob(name, delete_snapshots="include")
        except ResourceNotFoundError as error:
            if error_code(error) != "BlobNotFound":
                raise

    async def _put(
        self,
        name: str,
        data: bytes,
        condition: dict[str, Any],
        refusals: Mapping[str, type[StoreError]],
    ) -> str:
        write_id = self._ids.new_id("write")
        attempt = partial(self._put_once, name, data, write_id, condition)
        landed = partial(self._etag_written_by, write_id, name)
        return await run_bounded(self._write(attempt, landed, refusals))

    async def _write(
        self,
        attempt: Callable[[], Awaitable[T]],
        landed: Callable[[], Awaitable[T | None]],
        refusals: Mapping[str, type[StoreError]],
    ) -> T:
        """Return what `attempt` returned, or what `landed` found if its outcome is in doubt."""
        await self._open()
        try:
            async with asyncio.timeout(_WRITE_LIMIT_SECONDS):
                return await attempt()
        except FAILURES as error:
            failure = error
        if (found := await landed()) is not None:
            return found
        if (refused := refusals.get(error_code(failure))) is None:
            raise failure
        raise refused("the service refused a conditional write")

    async def _put_once(
        self, name: str, data: bytes, write_id: str, condition: dict[str, Any]
    ) -> str:
        # `overwrite=False` beside a condition overwrites silently; the condition alone decides.
        # An overwrite takes all index tags off; they come with it or are lost.
        tags = dict(self._tags_of(name, data)) if self._tags_of else {}
        written = await self._blob(name).upload_blob(
            data,
            overwrite=True,
            metadata={_WRITE_ID: write_id},
            tags=tags or None,
            validate_content=True,
            client_request_id=write_id,
            **condition,
        )
        return quoted_etag(written["etag"])

    async def _etag_written_by(self, write_id: str, name: str) -> str | None:
        try:
            found = await self._blob(name).get_blob_properties()
        except ResourceNotFoundError:
            return None
        return quoted_etag(found.etag) if found.metadata.get(_WRITE_ID) == write_id else None

    async def _append_once(self, name: str, data: bytes, position: int) -> int:
        blob = self._blob(name)
        if position == 0:
            try:
                await blob.create_append_blob(match_condition=MatchConditions.IfMissing)
            except ResourceExistsError as error:
                if error_code(error) != "BlobAlreadyExists":
                    raise
        await blob.append_block(data, appendpos_condition=position, validate_content=True)
        return position + len(data)

    async def _find_appended(self, name: str, data: bytes, position: int) -> int | None:
        try:
            download = await self._blob(name).download_blob(position, len(data))
            found = await download.readall()
        except HttpResponseError as error:
            if error_code(error) not in {"BlobNotFound", "InvalidRange"}:
                raise
            return None
        return position + len(data) if found == data else None


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
