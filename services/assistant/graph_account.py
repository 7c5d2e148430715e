"""One user's part of Microsoft Graph."""

from collections.abc import AsyncIterator, Mapping

from yarl import URL

from data_models.errors import AssistantError
from services.assistant.graph_client import GraphClient
from services.assistant.graph_wire import GraphAnswer, GraphCall, Json, Method, address, serves

IMMUTABLE = 'IdType="ImmutableId"'
"""Ids that stay when an item is moved between folders; to be asked for in every request."""


class GraphAccount:
    """Asks for things of one user, below `users/{id}` or `me`."""

    def __init__(self, *, client: GraphClient, principal_id: str, root: str) -> None:
        self.client = client
        self._principal_id = principal_id
        self._root = root

    async def get(
        self, path: str, query: Mapping[str, str] | None = None, *, prefer: str = ""
    ) -> Json | None:
        """Return one object, or None if it is gone.

        Raises:
            AssistantError: as `GraphClient.ask`.
        """
        answer = await self._ask("GET", self._at(path, query), headers=_preferring(prefer))
        return None if answer.is_gone else answer.value()

    async def rows(
        self, path: str, query: Mapping[str, str] | None = None, *, prefer: str = ""
    ) -> AsyncIterator[Json]:
        """Yield the objects of a listing, page by page, only as far as the caller reads.

        Raises:
            AssistantError: as `GraphClient.ask`; or there are more pages than we follow.
        """
        following: URL | None = self._at(path, query)
        for _ in range(self.client.limits.pages):
            if following is None:
                return
            page = (await self._ask("GET", following, headers=_preferring(prefer))).value()
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
        self, path: str, body: Json | None, *, is_repeatable: bool = False, prefer: str = ""
    ) -> GraphAnswer:
        """Create something or do it; `is_repeatable` as `GraphCall` has it."""
        headers = _preferring(prefer)
        return await self._ask(
            "POST", self._at(path), body=body, headers=headers, is_repeatable=is_repeatable
        )

    async def patch(
        self, path: str, body: Json, *, etag: str = "", prefer: str = ""
    ) -> GraphAnswer:
        """Change something; with `etag` only if it is still that version."""
        headers = _preferring(prefer) | ({"If-Match": etag} if etag else {})
        return await self._ask("PATCH", self._at(path), body=body, headers=headers)

    async def delete(
        self, path: str, query: Mapping[str, str] | None = None, *, prefer: str = ""
    ) -> bool:
        """Remove something; False if it was gone already.

        Args:
            query: Options of the look that comes first. Without it nobody could tell "gone
                already" from a removal of ours that aiohttp itself sent twice.

        Raises:
            AssistantError: as `GraphClient.ask`.
        """
        if await self.get(path, query, prefer=prefer) is None:
            return False
        answer = await self._ask("DELETE", self._at(path), headers=_preferring(prefer))
        if not answer.is_gone:
            answer.value()
        return True

    def _at(self, path: str, query: Mapping[str, str] | None = None) -> URL:
        return address(self.client.base_url, f"{self._root}/{path}", query)

    def _next(self, page: Json) -> URL | None:
        link = page.get("@odata.nextLink")
        if link is None:
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
        headers: Mapping[str, str] | None = None,
        is_repeatable: bool = True,
    ) -> GraphAnswer:
        call = GraphCall(
            method=method, url=url, body=body, headers=headers or {}, is_repeatable=is_repeatable
        )
        return await self.client.ask(call, principal_id=self._principal_id)


def _preferring(text: str) -> dict[str, str]:
    return {"Prefer": text} if text else {}
