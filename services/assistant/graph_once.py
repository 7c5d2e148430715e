"""Creating things once in Microsoft Graph, although an answer may be lost.

Events carry a `transactionId`, with which Graph makes no second one. Other things carry a mark of
ours: after a lost answer they are looked for by it, and never created again on a guess.
"""

import asyncio
from collections.abc import Awaitable, Callable

from data_models.errors import AssistantUnsureError
from services.assistant.graph_account import IMMUTABLE, GraphAccount
from services.assistant.graph_wire import Json

# A named property of ours, in the form in which Exchange names them.
_PROPERTY = "String {6f3b1d52-7a0e-4d0c-9f55-2b8d0c7f41aa} Name RoundsRequest"
_LOOKS_AFTER_SECONDS = (0.0, 0.5)


async def created(
    account: GraphAccount,
    path: str,
    body: Json,
    *,
    look: Callable[[], Awaitable[Json | None]],
    prefer: str = IMMUTABLE,
) -> Json:
    """Create something at `path`; `look` finds it by its mark.

    Raises:
        AssistantUnsureError: the answer was lost, and it is not to be found.
        AssistantError: it was not created.
    """
    try:
        return (await account.post(path, body, prefer=prefer)).value()
    except AssistantUnsureError:
        for wait_seconds in _LOOKS_AFTER_SECONDS:
            await asyncio.sleep(wait_seconds)
            found = await look()
            if found is not None:
                return found
        raise


async def created_marked(
    account: GraphAccount,
    path: str,
    body: Json,
    *,
    among: str,
    inside: str = "",
    prefer: str = IMMUTABLE,
) -> Json:
    """Create a message or a contact at `path`, to be found again in the listing `among`.

    Args:
        inside: The name under which `path` takes the item; "" if the item is the whole body.

    Raises:
        AssistantError: as `created`.
    """
    mark = account.client.new_guid("mark")
    marked = {**body, "singleValueExtendedProperties": [{"id": _PROPERTY, "value": mark}]}

    async def look() -> Json | None:
        has_mark = f"ep/id eq '{_PROPERTY}' and ep/value eq '{mark}'"
        query = {"$filter": f"singleValueExtendedProperties/Any(ep: {has_mark})", "$top": "1"}
        async for row in account.rows(among, query, prefer=prefer):
            return row
        return None

    whole = {inside: marked} if inside else marked
    return await created(account, path, whole, look=look, prefer=prefer)
