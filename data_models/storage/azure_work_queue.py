"""A queue of work in Azure Storage Queue."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeVar

from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceNotFoundError
from azure.storage.queue import QueueMessage, TextBase64DecodePolicy, TextBase64EncodePolicy
from azure.storage.queue.aio import QueueClient

from data_models.errors import ConfigurationError
from data_models.storage import azure_client
from data_models.storage.blob_store import WorkItem

_NOT_OURS = {"MessageNotFound", "PopReceiptMismatch"}
_NO_QUEUES = "AZURE_STORAGE_CONNECTION_STRING names no queue service, and TURN_QUEUE needs one"
_MALFORMED_ENDPOINT = (
    "TURN_QUEUE_ENDPOINT is malformed; it looks like https://ACCOUNT.queue.core.windows.net"
)
T = TypeVar("T")


class AzureWorkQueue:
    """A `WorkQueue`; the queue is created if missing. One serves one process and one event loop."""

    def __init__(self, account: str, *, queue: str) -> None:
        """Take an account as `azure_client.client_options` does.

        Raises:
            ConfigurationError: the connection string names no account with queues, or the
                endpoint is not an HTTPS address.
        """
        named = azure_client.is_endpoint(account)
        make = QueueClient if named else QueueClient.from_connection_string
        try:
            self._client = make(
                account,
                queue,
                message_encode_policy=TextBase64EncodePolicy(),
                message_decode_policy=TextBase64DecodePolicy(),
                **azure_client.client_options(account),
            )
        except ValueError:
            # Not `from error`: a connection string holds the account's key.
            raise ConfigurationError(_MALFORMED_ENDPOINT if named else _NO_QUEUES) from None
        self._opened = False

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

    async def close(self) -> None:
        await azure_client.close_client(self._client)

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
            if azure_client.error_code(error) in _NOT_OURS:
                return None
            raise
        return WorkItem(item.item_id, kept.pop_receipt or "", item.body, item.taken)

    async def _remove(self, item: WorkItem) -> bool:
        try:
            await self._client.delete_message(item.item_id, item.receipt)
        except HttpResponseError as error:
            if azure_client.error_code(error) in _NOT_OURS:
                return False
            raise
        return True

    async def _bounded(self, work: Callable[[], Awaitable[T]]) -> T:
        async def opened() -> T:
            await self._open()
            return await work()

        return await azure_client.run_bounded(opened(), service="Azure Storage Queue")

    async def _open(self) -> None:
        if self._opened:
            return
        try:
            await self._client.get_queue_properties()
        except ResourceNotFoundError:
            try:
                await self._client.create_queue()
            except ResourceExistsError as error:
                # It is being deleted, say.
                if azure_client.error_code(error) != "QueueAlreadyExists":
                    raise
        self._opened = True


def _item(message: QueueMessage, body: str) -> WorkItem:
    return WorkItem(message.id, message.pop_receipt or "", body, message.dequeue_count or 0)
