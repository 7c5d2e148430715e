"""Sends replies in order, one at a time in each conversation."""

import asyncio
from weakref import WeakValueDictionary

import structlog

from bots.connector import Connector
from bots.reference import Activity, Reference, conversation_key
from data_models.errors import ChannelError

logger = structlog.get_logger()


class Outbox:
    """One line for each conversation."""

    def __init__(self, *, connector: Connector) -> None:
        self._connector = connector
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def send(self, reference: Reference, activity: Activity) -> str:
        """Send `activity` after all that is due before it; return the channel's id.

        Raises:
            ChannelError: the channel did not take it, in a minute of trying.
        """
        lock = self._locks.setdefault(conversation_key(reference), asyncio.Lock())
        async with lock:
            return await self._connector.send(reference, activity)

    async def hint(self, reference: Reference, activity: Activity) -> None:
        """Send what is worth nothing later, such as typing."""
        try:
            await self._connector.send_once(reference, activity)
        except ChannelError as error:
            logger.debug("bot_hint_not_sent", code=error.code)

    async def show(self, reference: Reference, activity: Activity) -> str:
        """Send what the next of its kind replaces, once; return the channel's id.

        Raises:
            ChannelError: the channel did not take it.
        """
        return await self._connector.send_once(reference, activity)

    async def put(self, reference: Reference, activity_id: str, activity: Activity) -> None:
        """Put `activity` in the place of a message that was sent, once.

        Raises:
            ChannelError: the channel did not take it.
        """
        await self._connector.update(reference, activity_id, activity)
