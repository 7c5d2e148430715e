"""A clinician's own files, said without naming a product."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from services.assistant.calendar import ALWAYS, Span
from services.assistant.own_things import OwnThings

DOCUMENT_TEXT_LIMIT_CHARS = 20_000
DOCUMENT_LIMIT_BYTES = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonalDocument:
    """One file.

    Attributes:
        name: With its ending.
        modified: Aware.
        media_type: As `text/plain`; "" if the back end does not know.
    """

    id: str
    name: str
    modified: datetime
    size_bytes: int
    media_type: str = ""


@dataclass(frozen=True, slots=True)
class DocumentText:
    """All that a file says.

    Attributes:
        text: What its reader sees; of it models are shown the first `DOCUMENT_TEXT_LIMIT_CHARS`.
        beside: What stands beside it (headers, notes, properties) or is written in escapes. Whom
            the file is about may stand there alone; nobody is shown it.
    """

    text: str
    beside: str = ""


class DocumentFolder(OwnThings[PersonalDocument], Protocol):
    """One person's files."""

    async def search(
        self, words: str, *, within: Span[datetime] = ALWAYS, limit: int
    ) -> Sequence[PersonalDocument]:
        """Return files whose name (or, where a back end can, text) holds all `words`.

        Args:
            words: "" fits every file.
            within: When it was changed.
            limit: At most so many, the newest first.
        """
        ...

    async def text(self, document_id: str) -> DocumentText:
        """Return a file's text, whole.

        Raises:
            AssistantItemGoneError: it is gone.
            AssistantError: it holds no text, or over `DOCUMENT_LIMIT_BYTES`.
        """
        ...
