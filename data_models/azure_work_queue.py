"""A queue of work in Azure Storage Queue."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Self, TypeVar

from azure.core.credentials_async import AsyncTokenCredential
from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceNotFoundError
from azure.storage.queue import QueueMessage, TextBase64DecodePolicy, TextBase64EncodePolicy
from azure.storage.queue.aio import QueueClient

from data_models.azure_client import client_options, error_code, run_bounded
from data_models.errors import ConfigurationError
from data_models.work_queue import WorkItem

_NOT_OURS = {"MessageNotFound", "PopReceiptMismatch"}
T = TypeVar("T")


class AzureWorkQueue:
    """A `WorkQueue`; the queue is created if missing. One serves one process and one event loop."""

    def __init__(
        self, client: QueueClient, *, credential: AsyncTokenCredential | None = None
    ) -> None:
        self._client = client
        self._credential = credential
        self._opened = False

    @classmethod
    def from_connection_string(cls, connection_string: str, *, queue: str) -> Self:
        """Return the queue of the account that `connection_string` names.

        Raises:
            ConfigurationError: the connection string names no account with queues.
        """
        try:
            return cls(QueueClient.from_connection_string(connection_string, queue, **_options()))
        except ValueError:
            # Not `from error`: the connection string holds the account's key.
            raise ConfigurationError(
                "AZURE_STORAGE_CONNECTION_STRING names no queue service, and TURN_QUEUE needs one"
            ) from None

    @classmethod
    def from_endpoint(cls, endpoint: str, *, queue: str) -> Self:
        """Return the queue at `endpoint`, signed in with the identity of this machine or user.

        Raises:
            ConfigurationError: the endpoint is not an HTTPS address.
        """
        from azure.identity.aio import DefaultAzureCredential  # 0.4 s, only where it signs in

        credential = DefaultAzureCredential()
        try:
            client = QueueClient(endpoint, queue, credential=credential, **_options())
        except ValueError:
            raise ConfigurationError(
                "TURN_QUEUE_ENDPOINT is malformed; it looks like "
                "https://ACCOUNT.queue.core.windows.net"
            ) from None
        return cls(client, credential=credential)

    async def put(self, body: str, *, hidden_seconds: int) -> WorkItem:
        send = partial(self._client.send_message, body, visibility_timeout=hidden_seconds)
        sent = await self._bounded(send)
        return _item(sent, body)

    async def take(self, *, limit: int, hidden_seconds: int) -> Sequence[WorkItem]:
        return await self._bounded(partial(self._take, limit, hidden_seconds))

    async def hide(self, item: WorkItem, *, seconds: int) -> WorkItem | None:
        return await self._bounded(partial(self._hide, item, seconds))

    async def remove(self, item: WorkItem) -> bool:
        return await self._bounded(partial(self._remove, item))

    async def length(self) -> int:
        found = await self._bounded(self._client.get_queue_properties)
        return found.approximate_message_count or 0

    async def close(self) -> None:
        await self._client.close()
        if self._credential is not None:
            await self._credential.close()

    async def _take(self, limit: int, hidden_seconds: int) -> Sequence[WorkItem]:
        found = self._client.receive_messages(
            max_messages=limit, messages_per_page=limit, visibility_timeout=hidden_seconds
        )
        return [_item(one, one.content) async for one in found]

    async def _hide(self, item: WorkItem, seconds: int) -> WorkItem | None:
        try:
            kept = await self._client.update_message(
                item.item_id, pop_receipt=item.receipt, visibility_timeout=seconds
            )
        except HttpResponseError as error:
            if error_code(error) in _NOT_OURS:
                return None
            raise
        return WorkItem(item.item_id, kept.pop_receipt or "", item.body, item.taken)

    async def _remove(self, item: WorkItem) -> bool:
        try:
            await self._client.delete_message(item.item_id, item.receipt)
        except HttpResponseError as error:
            if error_code(error) in _NOT_OURS:
                return False
            raise
        return True

    async def _bounded(self, work: Callable[[], Awaitable[T]]) -> T:
        async def opened() -> T:
            await self._open()
            return await work()

        return await run_bounded(opened(), service="Azure Storage Queue")

    async def _open(self) -> None:
        if self._opened:
            return
        try:
            await self._client.get_queue_properties()
        except ResourceNotFoundError:
            try:
                await self._client.create_queue()
            except ResourceExistsError as error:
                if error_code(error) != "QueueAlreadyExists":  # it is being deleted, say
                    raise
        self._opened = True


def _options() -> dict[str, Any]:
    return {
        **client_options(),
        "message_encode_policy": TextBase64EncodePolicy(),
        "message_decode_policy": TextBase64DecodePolicy(),
    }


def _item(message: QueueMessage, body: str) -> WorkItem:
    return WorkItem(message.id, message.pop_receipt or "", body, message.dequeue_count or 0)
