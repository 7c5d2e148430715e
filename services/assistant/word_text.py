"""The text of a Word document. Pure."""

import zipfile
from collections.abc import Iterator
from io import BytesIO

from docx import Document
from docx.opc.exceptions import OpcError
from docx.table import Table
from docx.text.paragraph import Paragraph

from data_models.errors import AssistantError

_UNPACKED_LIMIT_BYTES = 50_000_000


def word_text(data: bytes) -> str:
    """Return paragraphs and tables in their order, a row of a table in a line.

    Raises:
        AssistantError: it is damaged, or far larger than it looks.
    """
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            size = sum(part.file_size for part in archive.infolist())
        if size > _UNPACKED_LIMIT_BYTES:
            raise AssistantError("the document is too large to read here")
        blocks = Document(BytesIO(data)).iter_inner_content()
        return "\n".join(line for block in blocks for line in _lines(block))
    except (zipfile.BadZipFile, OpcError, SyntaxError, KeyError, ValueError):
        # `from None`: a parser's message may quote the document; that of XML is a `SyntaxError`.
        raise AssistantError("the document is damaged") from None


def _lines(block: Paragraph | Table) -> Iterator[str]:
    if isinstance(block, Paragraph):
        yield block.text
        return
    for row in block.rows:
        yield " | ".join(cell.text for cell in row.cells)
