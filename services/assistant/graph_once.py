"""Creating things once in Microsoft Graph, although an answer may be lost, or a process.

Everything carries a mark of ours, made of its effect's key: after a lost answer, and at another
attempt at the same effect, it is looked for by that mark, and never created again on a guess.
"""

import asyncio
from collections.abc import Awaitable, Callable

from data_models.effects import Effect
from data_models.errors import AssistantUnsureError
from services.assistant.graph_account import IMMUTABLE, GraphAccount
from services.assistant.graph_client import guid_of
from services.assistant.graph_wire import Json

# A named property of ours, in the form in which Exchange names them.
_PROPERTY = "String {6f3b1d52-7a0e-4d0c-9f55-2b8d0c7f41aa} Name RoundsRequest"
_LOOKS_AFTER_SECONDS = (0.0, 0.5)
Look = Callable[[], Awaitable[Json | None]]


def mark_of(kind: str, effect: Effect) -> str:
    """Return the mark of what an effect makes, a GUID."""
    return guid_of(f"{kind}/{effect.key}")


async def create(
    account: GraphAccount,
    path: str,
    body: Json,
    effect: Effect,
    *,
    look: Look,
    prefer: str = IMMUTABLE,
) -> Json:
    """Create something at `path`; `look` finds it by its mark.

    Raises:
        AssistantUnsureError: the answer was lost, and it is not to be found.
        AssistantError: it was not created.
    """
    if effect.is_repeated and (found := await look()) is not None:
        return found
    try:
        return (await account.post(path, body, prefer=prefer)).value()
    except AssistantUnsureError:
        found = await look_for(look)
        if found is None:
            raise
        return found


async def look_for(look: Look) -> Json | None:
    """Return what `look` finds, now or in a moment."""
    for wait_seconds in _LOOKS_AFTER_SECONDS:
        await asyncio.sleep(wait_seconds)
        found = await look()
        if found is not None:
            return found
    return None


async def create_marked(
    account: GraphAccount,
    path: str,
    body: Json,
    effect: Effect,
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
    mark = mark_of(among, effect)
    marked = {**body, **mark_property(mark)}
    whole = {inside: marked} if inside else marked

    async def look() -> Json | None:
        return await find_marked(account, mark, among=among, prefer=prefer)

    return await create(account, path, whole, effect, look=look, prefer=prefer)


def mark_property(mark: str) -> Json:
    """Return the part of an item's body that carries its mark."""
    return {"singleValueExtendedProperties": [{"id": _PROPERTY, "value": mark}]}


async def find_marked(account: GraphAccount, mark: str, *, among: str, prefer: str) -> Json | None:
    """Return the item of the listing `among` that carries `mark`; None if there is none."""
    has_mark = f"ep/id eq '{_PROPERTY}' and ep/value eq '{mark}'"
    query = {"$filter": f"singleValueExtendedProperties/Any(ep: {has_mark})", "$top": "1"}
    async for row in account.rows(among, query, prefer=prefer):
        return row
    return None
