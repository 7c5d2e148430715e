"""Text of Word documents, paragraphs and tables in their order, and of RTF."""

import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager

from docx import Document
from docx.document import Document as WordDocument
from docx.opc.exceptions import OpcError
from docx.table import Table
from docx.text.paragraph import Paragraph
from striprtf.striprtf import rtf_to_text

from data_models.errors import RecordsUnreadableError
from services.records.readers.markup import tidied
from services.records.readers.result import UNPACKED_LIMIT_BYTES


def text_of_word(data: bytes) -> str:
    """Return the text.

    Raises:
        RecordsUnreadableError: damaged, locked, or larger when unpacked than we read.
    """
    with opened_word(data) as (_, document):
        return tidied("\n".join(_lines(document)))


@contextmanager
def opened_word(data: bytes) -> Iterator[tuple[zipfile.ZipFile, WordDocument]]:
    """Open a document, whole and as its parts, while it is read.

    Raises:
        RecordsUnreadableError: damaged, locked, or larger when unpacked than we read.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(each.file_size for each in archive.infolist()) > UNPACKED_LIMIT_BYTES:
                raise RecordsUnreadableError(
                    f"the Word document is over {UNPACKED_LIMIT_BYTES} bytes when unpacked"
                )
            yield archive, Document(io.BytesIO(data))
    except (zipfile.BadZipFile, OpcError, KeyError, ValueError, SyntaxError, OSError):
        # `from None`: a parser's message may quote the document; lxml's are SyntaxErrors.
        raise RecordsUnreadableError("the Word document is damaged or locked") from None


def _lines(document: WordDocument) -> Iterator[str]:
    for section in document.sections:
        yield from (each.text for each in section.header.paragraphs)
    for block in document.iter_inner_content():
        yield from lines_of(block)


def lines_of(block: Paragraph | Table) -> Iterator[str]:
    """Yield the lines of a block: a paragraph, or each row of a table."""
    if isinstance(block, Paragraph):
        yield block.text
    else:
        yield from (" | ".join(cell.text for cell in row.cells) for row in block.rows)


def text_of_rtf(data: bytes) -> str:
    """Return the text.

    Raises:
        RecordsUnreadableError: it is no RTF.
    """
    source = data.decode("latin-1")  # RTF is seven bits wide and escapes the rest
    if not source.lstrip().startswith("{\\rtf"):
        raise RecordsUnreadableError("the RTF is damaged")
    try:
        return tidied(rtf_to_text(source, encoding="cp1252", errors="replace"))  # type: ignore[no-untyped-call]
    except (ValueError, LookupError, IndexError, UnicodeError):
        raise RecordsUnreadableError("the RTF is damaged") from None
