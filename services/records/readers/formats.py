"""Which reader a document needs, by its bytes first and its media type second."""

from collections.abc import Mapping
from typing import Final

from data_models.errors import RecordsUnreadableError
from services.records.readers.markup import text_of_html, tidied
from services.records.readers.result import BYTES_LIMIT, TEXT_LIMIT_CHARS, ReadDocument

_WORD: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_TYPES: Final[Mapping[str, str]] = {
    "application/pdf": "pdf",
    "application/rtf": "rtf", "text/rtf": "rtf", "text/richtext": "rtf",
    "application/xml": "xml", "text/xml": "xml", "application/hl7-v3+xml": "xml",
    "application/hl7-cda+xml": "xml", "application/cda+xml": "xml",
    _WORD: "word",
    "application/xhtml+xml": "html", "text/html": "html",
}  # fmt: skip
_UNREAD: Final[Mapping[str, str]] = {
    "application/msword": "an old Word document (.doc), which is not read; .docx is",
    "image/": "an image",
    "audio/": "a sound recording",
    "video/": "a film",
    "application/dicom": "a DICOM object",
}
_BEGINNINGS: Final = ((b"%PDF-", "pdf"), (b"{\\rtf", "rtf"), (b"PK\x03\x04", "word"))
SIMPLE: Final = frozenset({"text", "html"})
"""Forms that may be read where they are: nothing in them is unpacked or executed."""


def format_of(data: bytes, media_type: str) -> str:
    """Return `text`, `html`, `rtf`, `pdf`, `xml` or `word`.

    Raises:
        RecordsUnreadableError: no reader knows it.
    """
    kind = media_type.partition(";")[0].strip().lower()
    start = data[:1024].lstrip(b"\xef\xbb\xbf \t\r\n")
    found = next((name for mark, name in _BEGINNINGS if start.startswith(mark)), None)
    if found is not None:
        return found
    if kind in _TYPES:
        return _TYPES[kind]
    for mark, what in _UNREAD.items():
        if kind.startswith(mark):
            raise RecordsUnreadableError(f"it is {what}")
    if start.startswith(b"<?xml") or b"<ClinicalDocument" in start:
        return "xml"
    if start[:15].lower().startswith((b"<!doctype html", b"<html")):
        return "html"
    if kind.startswith("text/") or kind == "":
        return "text"
    raise RecordsUnreadableError("its format is not known")


def read_simple(data: bytes, form: str, media_type: str) -> ReadDocument:
    """Return plain text, Markdown or HTML as text.

    Raises:
        RecordsUnreadableError: the bytes are no text.
    """
    text = _decoded(data, media_type)
    said = text_of_html(text) if form == "html" else tidied(text)
    return _cut([said], "")


def read_any(data: bytes, media_type: str) -> ReadDocument:
    """Return the text of a document of any form; for the worker only.

    Raises:
        RecordsUnreadableError: see the readers.
    """
    if len(data) > BYTES_LIMIT:
        raise RecordsUnreadableError(f"it has more than {BYTES_LIMIT} bytes")
    form = format_of(data, media_type)
    if form in SIMPLE:
        return read_simple(data, form, media_type)
    if form == "pdf":
        from services.records.readers.pdf import pages_of_pdf

        return _cut(*pages_of_pdf(data))
    if form == "xml":
        from services.records.readers.cda import body_of_cda, text_of_cda

        inner = body_of_cda(data)
        if inner is not None and format_of(*inner) != "xml":
            return read_any(*inner)
        return _cut([text_of_cda(data)], "")
    from services.records.readers.word import text_of_rtf, text_of_word

    return _cut([text_of_rtf(data) if form == "rtf" else text_of_word(data)], "")


def _decoded(data: bytes, media_type: str) -> str:
    named = media_type.lower().partition("charset=")[2].partition(";")[0].strip("\"' ")
    for charset in (
        named or "utf-8-sig",
        "utf-8-sig",
        "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "",
    ):
        try:
            text = data.decode(charset) if charset else ""
        except (UnicodeDecodeError, LookupError):
            continue
        if charset and "\x00" not in text:
            return text
    raise RecordsUnreadableError("the text is damaged: its characters cannot be decoded")


def _cut(pages: list[str], problem: str) -> ReadDocument:
    if not any(pages):
        raise RecordsUnreadableError(problem or "it holds no text")
    left = TEXT_LIMIT_CHARS
    kept: list[str] = []
    for page in pages:
        kept.append(page[:left])
        left -= len(kept[-1])
    if sum(map(len, pages)) > TEXT_LIMIT_CHARS:
        problem = "; ".join(
            filter(None, [problem, f"only the first {TEXT_LIMIT_CHARS} characters were read"])
        )
    return ReadDocument(tuple(kept), problem)
