"""The text of a document: plain text as it is, a Word document's paragraphs and tables."""

import asyncio
from pathlib import PurePath

from data_models.errors import AssistantError
from services.assistant.decoding import decoded, readings
from services.assistant.documents import (
    DOCUMENT_LIMIT_BYTES,
    DocumentText,
    PersonalDocument,
)

_PLAIN_ENDINGS = frozenset({".txt", ".md", ".csv", ".json", ".log", ".ics", ".eml", ".xml"})
_MAIL_ENDING = ".eml"
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


async def text_of(document: PersonalDocument, data: bytes) -> DocumentText:
    """Return the text, whole.

    Raises:
        AssistantError: it is damaged.
    """
    if _ending(document) == _WORD_ENDING:
        # 0.2 s, only where somebody reads such a document.
        from services.assistant.word_text import word_text

        return await asyncio.to_thread(word_text, data)
    is_mail = _ending(document) == _MAIL_ENDING
    return await asyncio.to_thread(_plain_text, data, is_mail=is_mail)


def _plain_text(data: bytes, *, is_mail: bool) -> DocumentText:
    text = decoded(data)
    return DocumentText(text, "\n".join(readings(text, is_mail=is_mail)))


def _ending(document: PersonalDocument) -> str:
    return PurePath(document.name).suffix.lower()
