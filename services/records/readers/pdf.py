"""Text of PDF files, page by page."""

import io
import logging
import zlib

from pypdf import PdfReader
from pypdf.errors import PyPdfError

from data_models.errors import RecordsUnreadableError
from services.records.readers.markup import tidied
from services.records.readers.result import PAGES_LIMIT, TEXT_LIMIT_CHARS

# What the library raises on files that only look like PDF.
_DAMAGED = (
    PyPdfError, OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError,
    AssertionError, NotImplementedError, ArithmeticError, zlib.error,
)  # fmt: skip
SCANNED = "scanned without a text layer"


def pages_of_pdf(data: bytes) -> tuple[list[str], str]:
    """Return the pages' texts and what is missing of them.

    Raises:
        RecordsUnreadableError: damaged, locked, or no page has a text layer.
    """
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it quotes the document
    try:
        reader = PdfReader(io.BytesIO(data), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise RecordsUnreadableError("the PDF is locked with a password")
        count = len(reader.pages)
        pages: list[str] = []
        length = 0
        for number in range(min(count, PAGES_LIMIT)):
            pages.append(tidied(reader.pages[number].extract_text() or ""))
            length += len(pages[-1])
            if length > TEXT_LIMIT_CHARS:
                break
    except _DAMAGED:
        raise RecordsUnreadableError("the PDF is damaged") from None
    if not any(pages):
        raise RecordsUnreadableError(f"the PDF is {SCANNED}, on all of its {count} pages")
    return pages, _missing(pages, count)


def _missing(pages: list[str], count: int) -> str:
    said = []
    if len(pages) < count:
        said.append(f"only the first {len(pages)} of {count} pages were read")
    empty = [str(number) for number, page in enumerate(pages, start=1) if not page]
    if empty:
        named = ", ".join(empty[:10]) + (" and others" if len(empty) > 10 else "")
        said.append(
            f"page {named} is {SCANNED}" if len(empty) == 1 else f"pages {named} are {SCANNED}"
        )
    return "; ".join(said)
