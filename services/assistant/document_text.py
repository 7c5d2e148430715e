"""The text of a document: plain text as it is; a Word document's by its paragraphs and tables."""

import asyncio
import codecs
import html
import quopri
import re
import zipfile
from collections.abc import Iterator
from email import message_from_string, policy
from email.errors import MessageError
from io import BytesIO
from pathlib import PurePath

from docx import Document
from docx.opc.exceptions import OpcError
from docx.oxml import parse_xml
from docx.oxml.ns import qn

from data_models.errors import AssistantError
from services.assistant.documents import DOCUMENT_LIMIT_BYTES, DocumentText, PersonalDocument
from services.records.readers.word import lines_of

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
_PROPERTIES = "docProps/"
_SPEAKING_FOLDERS = ("word/", _PROPERTIES)
_UNPACKED_LIMIT_BYTES = 50_000_000


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
        from services.assistant.document_text import word_text

        return await asyncio.to_thread(word_text, data)
    is_mail = _ending(document) == _MAIL_ENDING
    return await asyncio.to_thread(_plain_text, data, is_mail=is_mail)


def _plain_text(data: bytes, *, is_mail: bool) -> DocumentText:
    text = decoded(data)
    return DocumentText(text, "\n".join(readings(text, is_mail=is_mail)))


def _ending(document: PersonalDocument) -> str:
    return PurePath(document.name).suffix.lower()


def word_text(data: bytes) -> DocumentText:
    """Return paragraphs and tables in their order, a row of a table in a line.

    Beside it: every other part (headers, footers, notes, comments, text boxes, properties).

    Raises:
        AssistantError: it is damaged, or far larger than it looks.
    """
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            size = sum(part.file_size for part in archive.infolist())
            if size > _UNPACKED_LIMIT_BYTES:
                raise AssistantError("the document is too large to read here")
            beside = "\n".join(_beside(archive))
        blocks = Document(BytesIO(data)).iter_inner_content()
        return DocumentText("\n".join(line for block in blocks for line in lines_of(block)), beside)
    except (zipfile.BadZipFile, OpcError, SyntaxError, KeyError, ValueError):
        # `from None`: a parser's message may quote the document; that of XML is a `SyntaxError`.
        raise AssistantError("the document is damaged") from None


def _beside(archive: zipfile.ZipFile) -> Iterator[str]:
    """Yield the paragraphs of every part, and what is in no paragraph."""
    for name in archive.namelist():
        if not name.endswith(".xml") or not name.startswith(_SPEAKING_FOLDERS):
            continue
        root = parse_xml(archive.read(name))
        for paragraph in root.iter(qn("w:p")):
            yield "".join(paragraph.itertext())
        if name.startswith(_PROPERTIES):
            yield from (text for text in root.itertext() if text.strip())
