"""The text of a Word document: its paragraphs and tables, and what stands beside them."""

import zipfile
from collections.abc import Iterator

from docx.oxml import parse_xml
from docx.oxml.ns import qn

from data_models.errors import AssistantError, RecordsUnreadableError
from services.assistant.own_things import DocumentText
from services.records.readers.word import lines_of, opened_word

_PROPERTIES = "docProps/"
_SPEAKING_FOLDERS = ("word/", _PROPERTIES)


def word_text(data: bytes) -> DocumentText:
    """Return paragraphs and tables in their order, a row of a table in a line.

    Beside it: every other part (headers, footers, notes, comments, text boxes, properties).

    Raises:
        AssistantError: it is damaged, or far larger than it looks.
    """
    try:
        with opened_word(data) as (archive, document):
            beside = "\n".join(_beside(archive))
            blocks = document.iter_inner_content()
            return DocumentText("\n".join(line for one in blocks for line in lines_of(one)), beside)
    except RecordsUnreadableError as error:
        raise AssistantError(str(error)) from None


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
