"""A user's OneDrive in Microsoft Graph."""

from collections.abc import Collection, Sequence
from datetime import datetime
from urllib.parse import quote

from yarl import URL

from data_models.errors import AssistantError, AssistantItemGoneError, AssistantRefusedError
from services.assistant.calendar import ALWAYS, Span
from services.assistant.document_text import check_readable, text_of
from services.assistant.documents import DOCUMENT_LIMIT_BYTES, DocumentText, PersonalDocument
from services.assistant.graph.graph_account import GraphAccount
from services.assistant.graph.graph_shapes import GraphItem, instant_of, shaped
from services.assistant.graph.graph_wire import segment

_FIELDS = "id,name,size,lastModifiedDateTime,file"
_PAGE = "200"


class GraphDocumentFolder:
    """A `DocumentFolder` over the user's own drive.

    Args:
        file_hosts: Where files may be fetched from; Graph keeps none itself but names addresses
            of the tenant's SharePoint.
    """

    def __init__(self, *, account: GraphAccount, file_hosts: Collection[str]) -> None:
        self._account = account
        self._hosts = frozenset(host.lower() for host in file_hosts)

    async def search(
        self, words: str, *, within: Span[datetime] = ALWAYS, limit: int
    ) -> Sequence[PersonalDocument]:
        """See `DocumentFolder.search`; with words, Graph looks into the files too."""
        # Graph does not sort by time, so every result is read before the newest are known.
        rows = self._account.rows(_listing(words), {"$select": _FIELDS, "$top": _PAGE})
        items = [shaped(GraphItem, row) async for row in rows]
        # A drive that changes while it is listed shows an item twice; the last counts.
        latest = {item.id: item for item in items}.values()
        found = [_document(item) for item in latest if item.file and not item.deleted]
        fitting = [row for row in found if within.has(row.modified)]
        return sorted(fitting, key=lambda row: row.modified, reverse=True)[:limit]

    async def get(self, document_id: str) -> PersonalDocument | None:
        item = await self._item(document_id, _FIELDS)
        return None if item is None else _document(item)

    async def text(self, document_id: str) -> DocumentText:
        item = await self._item(document_id, f"{_FIELDS},@microsoft.graph.downloadUrl")
        if item is None:
            raise AssistantItemGoneError("the document is no longer there")
        document = _document(item)
        check_readable(document)
        data = await self._account.client.download(
            self._checked(item.download_url), limit_bytes=DOCUMENT_LIMIT_BYTES
        )
        return await text_of(document, data)

    async def delete(self, document_id: str) -> bool:
        """See `DocumentFolder.delete`; it goes to the drive's recycle bin."""
        return await self._account.delete(f"drive/items/{segment(document_id)}", {"$select": "id"})

    async def _item(self, document_id: str, fields: str) -> GraphItem | None:
        path = f"drive/items/{segment(document_id)}"
        item = await self._account.find(GraphItem, path, {"$select": fields})
        return item if item is not None and item.file and not item.deleted else None

    def _checked(self, text: str) -> URL:
        try:
            url = URL(text, encoded=True)
        except ValueError:
            raise AssistantError("the document's address cannot be read") from None
        if url.scheme != self._account.client.base_url.scheme or url.host not in self._hosts:
            raise AssistantRefusedError("the host of the file is not one of GRAPH_FILE_HOSTS")
        return url


def _listing(words: str) -> str:
    plain = " ".join(words.split()).replace("'", "''")
    # A quote within the text is written twice; all else is as in any address.
    return f"drive/root/search(q='{quote(plain, safe=chr(39))}')" if plain else "drive/root/delta"


def _document(item: GraphItem) -> PersonalDocument:
    return PersonalDocument(
        id=item.id,
        name=item.name,
        modified=instant_of(item.modified),
        size_bytes=item.size,
        media_type=item.file.mime_type if item.file else "",
    )
