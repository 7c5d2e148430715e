"""The text of a document: plain text as it is; a Word document's by `word_text`."""

import asyncio
import codecs
import html
import quopri
import re
from collections.abc import Iterator
from email import message_from_string, policy
from email.errors import MessageError
from pathlib import PurePath

from data_models.errors import AssistantError
from services.assistant.own_things import DOCUMENT_LIMIT_BYTES, DocumentText, PersonalDocument

# What a plain text says once it is read as its kind of file: escapes, folded lines, attachments.
#
# Only to look for names: `Whit&#102;ield` is a name that no search for words finds. Pure.

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_FOLD = re.compile(r"\r?\n[ \t]")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_TAG = re.compile(r"<[^<>]{0,1000}>")
_QUOTED = re.compile(r"=[0-9A-F]{2}|=\r?\n")
_PARTS_LIMIT = 200


def decoded(data: bytes) -> str:
    """Return bytes as text: by their mark, else as UTF-8, else as old Windows programs write."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, errors="replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def readings(text: str, *, is_mail: bool) -> Iterator[str]:
    """Yield what else `text` may say, each only where it has a sign of it."""
    if _FOLD.search(text):
        yield _FOLD.sub("", text)
    if "&" in text or "<" in text:
        yield html.unescape(_TAG.sub("", text))
    if _ESCAPE.search(text):
        yield _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)
    if _QUOTED.search(text):
        yield decoded(quopri.decodestring(text.encode(errors="replace")))
    if is_mail:
        yield from _mail(text)


def _mail(text: str) -> Iterator[str]:
    """Yield the decoded headers and texts of a mail that was saved as a file."""
    try:
        message = message_from_string(text, policy=policy.default)
        yield "\n".join(str(value) for value in message.values())
        for part in list(message.walk())[:_PARTS_LIMIT]:
            content = part.get_payload(decode=True)
            if isinstance(content, bytes):
                yield f"{part.get_filename() or ''}\n{decoded(content)}"
    except (MessageError, ValueError, LookupError, AttributeError, TypeError, IndexError):
        # The parser trips over what is no mail; as plain text it has been looked at already.
        return


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
