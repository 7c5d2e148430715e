"""One user's part of Microsoft Graph, and how things are made there once.

What is made carries a mark of ours, made of its effect's key: after a lost answer, and at another
attempt at the same effect, it is looked for by that mark, and never created again on a guess.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from yarl import URL

from data_models.conversations.conversation import Effect
from data_models.errors import AssistantError, AssistantUnsureError
from services.assistant.graph.graph_client import (
    GraphAnswer,
    GraphCall,
    GraphClient,
    Json,
    Method,
    address,
    guid_of,
    serves,
)
from services.assistant.graph.graph_shapes import Shape, shaped

IMMUTABLE = 'IdType="ImmutableId"'
"""Ids that stay when an item is moved between folders; to be asked for in every request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphAccount:
    """Asks for things of one user, below `users/{id}` or `me`.

    Attributes:
        prefer: The form in which things are to come, of the header of that name.
    """

    client: GraphClient
    principal_id: str
    root: str
    prefer: str = ""

    def preferring(self, prefer: str) -> "GraphAccount":
        """Return the same part, asked for things in another form."""
        return replace(self, prefer=prefer)

    async def get(self, path: str, query: Mapping[str, str] | None = None) -> Json | None:
        """Return one object, or None if it is gone.

        Raises:
            AssistantError: as `GraphClient.ask`.
        """
        answer = await self._ask("GET", self._at(path, query))
        return None if answer.is_gone else answer.value()

    async def find(
        self, shape: type[Shape], path: str, query: Mapping[str, str] | None = None
    ) -> Shape | None:
        """Return one object in its shape, or None if it is gone."""
        row = await self.get(path, query)
        return None if row is None else shaped(shape, row)

    async def rows(self, path: str, query: Mapping[str, str] | None = None) -> AsyncIterator[Json]:
        """Yield the objects of a listing, page by page, only as far as the caller reads.

        Raises:
            AssistantError: as `GraphClient.ask`; or there are more pages than we follow.
        """
        following: URL | None = self._at(path, query)
        for _ in range(self.client.limits.pages):
            if following is None:
                return
            page = (await self._ask("GET", following)).value()
            values = page.get("value")
            if not isinstance(values, list):
                raise AssistantError("a listing holds no list")
            for row in values:
                if isinstance(row, dict):
                    yield row
            following = self._next(page)
        if following is not None:
            raise AssistantError("there is more than can be listed; ask for less")

    async def post(
        self, path: str, body: Json | None, *, is_repeatable: bool = False
    ) -> GraphAnswer:
        """Create something or do it; `is_repeatable` as `GraphCall` has it."""
        return await self._ask("POST", self._at(path), body=body, is_repeatable=is_repeatable)

    async def patch(self, path: str, body: Json, *, etag: str = "") -> GraphAnswer:
        """Change something; with `etag` only if it is still that version."""
        return await self._ask("PATCH", self._at(path), body=body, etag=etag)

    async def delete(self, path: str, query: Mapping[str, str] | None = None) -> bool:
        """Remove something; False if it was gone already.

        Args:
            query: Options of the look that comes first. Without it nobody could tell "gone
                already" from a removal of ours that aiohttp itself sent twice.

        Raises:
            AssistantError: as `GraphClient.ask`.
        """
        if await self.get(path, query) is None:
            return False
        answer = await self._ask("DELETE", self._at(path))
        if not answer.is_gone:
            answer.value()
        return True

    def _at(self, path: str, query: Mapping[str, str] | None = None) -> URL:
        return address(self.client.base_url, f"{self.root}/{path}", query)

    def _next(self, page: Json) -> URL | None:
        if (link := page.get("@odata.nextLink")) is None:
            return None
        try:
            url = URL(link, encoded=True)
        except (ValueError, TypeError):
            raise AssistantError("a link to the next page is no address") from None
        if not serves(self.client.base_url, url):
            raise AssistantError("a link to the next page leads elsewhere")
        return url

    async def _ask(
        self,
        method: Method,
        url: URL,
        *,
        body: Json | None = None,
        etag: str = "",
        is_repeatable: bool = True,
    ) -> GraphAnswer:
        asked = {"Prefer": self.prefer, "If-Match": etag}
        call = GraphCall(
            method=method,
            url=url,
            reference=guid_of(self.client.ids.new_id("request")),
            body=body,
            headers={name: text for name, text in asked.items() if text},
            is_repeatable=is_repeatable,
        )
        return await self.client.ask(call, principal_id=self.principal_id)


# A named property of ours, in the form in which Exchange names them.
_PROPERTY = "String {6f3b1d52-7a0e-4d0c-9f55-2b8d0c7f41aa} Name RoundsRequest"
_LOOKS_AFTER_SECONDS = (0.0, 0.5)
Look = Callable[[], Awaitable[Json | None]]


def mark_of(kind: str, effect: Effect) -> str:
    """Return the mark of what an effect makes, a GUID."""
    return guid_of(f"{kind}/{effect.key}")


async def create(
    account: GraphAccount, path: str, body: Json, effect: Effect, *, look: Look
) -> Json:
    """Create something at `path`; `look` finds it by its mark.

    Raises:
        AssistantUnsureError: the answer was lost, and it is not to be found.
        AssistantError: it was not created.
    """
    if effect.is_repeated and (found := await look()) is not None:
        return found
    try:
        return (await account.post(path, body)).value()
    except AssistantUnsureError:
        if (found := await look_for(look)) is None:
            raise
        return found


async def look_for(look: Look) -> Json | None:
    """Return what `look` finds, now or in a moment."""
    for wait_seconds in _LOOKS_AFTER_SECONDS:
        await asyncio.sleep(wait_seconds)
        if (found := await look()) is not None:
            return found
    return None


async def create_marked(
    account: GraphAccount, path: str, body: Json, effect: Effect, *, among: str, inside: str = ""
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
    look = partial(find_marked, account, mark, among=among)
    return await create(account, path, whole, effect, look=look)


def mark_property(mark: str) -> Json:
    """Return the part of an item's body that carries its mark."""
    return {"singleValueExtendedProperties": [{"id": _PROPERTY, "value": mark}]}


async def find_marked(account: GraphAccount, mark: str, *, among: str) -> Json | None:
    """Return the item of the listing `among` that carries `mark`; None if there is none."""
    has_mark = f"ep/id eq '{_PROPERTY}' and ep/value eq '{mark}'"
    query = {"$filter": f"singleValueExtendedProperties/Any(ep: {has_mark})", "$top": "1"}
    async for row in account.rows(among, query):
        return row
    return None
