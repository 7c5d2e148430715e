"""Makes the session index anew from the context documents, page by page."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from data_models.blob_store import BlobStore
from services.scenarios.migration.ports import SessionIndex, SessionRow
from services.scenarios.migration.tag_index import is_context, rows_of

PAGE_FOLDERS = 500


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """How far a rebuild is.

    Attributes:
        conversations: That were looked through.
        cursor: The folder of the last one; give it as `after` to go on behind it. Empty at the
            end.
    """

    conversations: int
    sessions: int
    cursor: str


async def rebuild(
    shelves: BlobStore, index: SessionIndex, *, folders: Sequence[str], after: str = ""
) -> AsyncIterator[Rebuilt]:
    """Put every stored session into the index; yield after each page, so that it can be resumed.

    A row of a session that is gone may stay: a dry run tells it, and no turn ever asks for it.

    Args:
        shelves: Where the conversations are.
        index: What to fill.
        folders: Of all conversations, in order.
        after: `cursor` of the page to go on behind.
    """
    left = [folder for folder in folders if folder > after]
    sessions = 0
    for start in range(0, len(left), PAGE_FOLDERS):
        page = left[start : start + PAGE_FOLDERS]
        rows = [row for folder in page for row in await _rows(shelves, folder)]
        await index.put_many(rows)
        sessions += len(rows)
        done = start + len(page)
        yield Rebuilt(done, sessions, page[-1] if done < len(left) else "")


async def _rows(shelves: BlobStore, folder: str) -> list[SessionRow]:
    rows: list[SessionRow] = []
    names = [blob.name async for blob in shelves.list(f"{folder}/") if is_context(blob.name)]
    for name in names:
        blob = await shelves.read(name)
        rows += rows_of(blob.data, place=name) if blob else []
    return rows
