"""Sends replies in order, and keeps what the channel did not take for the next contact."""

import asyncio
from collections import OrderedDict, deque
from weakref import WeakValueDictionary

import structlog

from bots.connector import Connector
from bots.reference import Activity, Reference, conversation_key
from data_models.errors import ChannelError, ChannelUnavailableError
from data_models.identifiers import hashed

KEPT_ACTIVITIES = 50
KEPT_CONVERSATIONS = 1_000

logger = structlog.get_logger()


class Outbox:
    """One queue for each conversation. What is kept is kept by this process only."""

    def __init__(self, *, connector: Connector) -> None:
        self._connector = connector
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._kept: OrderedDict[str, deque[Activity]] = OrderedDict()

    async def send(self, reference: Reference, activity: Activity) -> bool:
        """Send `activity` after all that is due before it; False if it is kept for later."""
        key = conversation_key(reference)
        lock = self._locks.setdefault(key, asyncio.Lock())
        async with lock:
            try:
                await self._send_kept(key, reference)
                await self._connector.send(reference, activity)
            except ChannelError as error:
                self._keep(key, activity, error)
                return False
        return True

    async def hint(self, reference: Reference, activity: Activity) -> None:
        """Send what is worth nothing later, such as typing."""
        try:
            await self._connector.send_once(reference, activity)
        except ChannelError as error:
            logger.debug("bot_hint_not_sent", code=error.code)

    async def _send_kept(self, key: str, reference: Reference) -> None:
        kept = self._kept.get(key)
        while kept:
            try:
                await self._connector.send(reference, kept[0])
            except ChannelUnavailableError:
                raise
            except ChannelError as error:
                logger.warning("bot_reply_dropped", conversation=hashed(key), code=error.code)
            kept.popleft()
        self._kept.pop(key, None)

    def _keep(self, key: str, activity: Activity, error: ChannelError) -> None:
        logger.warning("bot_reply_kept", conversation=hashed(key), code=error.code)
        self._kept.setdefault(key, deque(maxlen=KEPT_ACTIVITIES)).append(activity)
        self._kept.move_to_end(key)
        if len(self._kept) > KEPT_CONVERSATIONS:
            self._kept.popitem(last=False)
