"""The text of a document: plain text as it is, a Word document's paragraphs and tables."""

import asyncio
from pathlib import PurePath

from data_models.errors import AssistantError
from services.assistant.documents import (
    DOCUMENT_LIMIT_BYTES,
    DOCUMENT_TEXT_LIMIT_CHARS,
    PersonalDocument,
)

_PLAIN_ENDINGS = frozenset({".txt", ".md", ".csv", ".json", ".log", ".ics", ".eml", ".xml"})
_WORD_ENDING = ".docx"


def check_readable(document: PersonalDocument) -> None:
    """Refuse what is not worth fetching.

    Raises:
        AssistantError: it is too large, or of a kind that has no text here.
    """
    if document.size_bytes > DOCUMENT_LIMIT_BYTES:
        raise AssistantError("the document is too large to read here")
    if _ending(document) not in _PLAIN_ENDINGS | {_WORD_ENDING}:
        raise AssistantError("a document of this kind has no text that can be read here")


async def text_of(document: PersonalDocument, data: bytes) -> str:
    """Return the first `DOCUMENT_TEXT_LIMIT_CHARS` of the text.

    Raises:
        AssistantError: it is damaged.
    """
    if _ending(document) == _WORD_ENDING:
        # 0.2 s, only where somebody reads such a document.
        from services.assistant.word_text import word_text

        text = await asyncio.to_thread(word_text, data)
    else:
        text = data.decode("utf-8-sig", errors="replace")
    return text[:DOCUMENT_TEXT_LIMIT_CHARS]


def _ending(document: PersonalDocument) -> str:
    return PurePath(document.name).suffix.lower()
