"""Documents of every kind as text, and why one is none."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from services.records.folder.records import FolderRecords
from services.records.readers.attachments import with_texts
from services.records.readers.markup import text_of_html
from services.records.readers.reading import DocumentReader
from services.records.readers.result import DEPTH_LIMIT, UNPACKED_LIMIT_BYTES
from services.records.readers.worker import answer
from tests.fakes import FixedClock
from tests.services.records.charts import PATIENT_ID, bundle, patient, records_in, resource
from tests.services.records.readers.made import MEDICATIONS, RTF, WORD, cda, pdf, word, zip_bomb


@pytest.fixture(scope="module")
def reader() -> Iterator[DocumentReader]:
    found = DocumentReader()
    yield found
    found.close()


@pytest.mark.slow
async def test_a_pdf_is_read_page_by_page(reader: DocumentReader) -> None:
    found = await reader.read(pdf(["Letter of 2026", "Sodium 139"]), "application/pdf")
    assert found.pages == ("Letter of 2026", "Sodium 139")
    assert found.text == "Letter of 2026\fSodium 139"
    assert not found.problem


@pytest.mark.slow
async def test_a_scanned_page_and_a_scanned_pdf_are_named_as_such(reader: DocumentReader) -> None:
    mixed = await reader.read(pdf(["Typed", ""]), "application/pdf")
    assert mixed.pages == ("Typed", "")
    assert mixed.problem == "page 2 is scanned without a text layer"
    whole = await reader.read(pdf(["", ""]), "application/pdf")
    assert whole.problem == "the PDF is scanned without a text layer, on all of its 2 pages"
    assert not whole.text


@pytest.mark.slow
def test_a_pdf_of_ten_thousand_pages_is_read_as_far_as_the_limit() -> None:
    found = answer(pdf(["x"] * 10_000), "application/pdf")
    assert len(found.pages) == 1_000
    assert found.problem == "only the first 1000 of 10000 pages were read"


@pytest.mark.slow
async def test_rtf_word_and_cda_are_read(reader: DocumentReader) -> None:
    rtf = await reader.read(RTF, "application/rtf")
    assert rtf.text == "Discharge letter\nSodium 139 mmol/l, für heute."
    letter = await reader.read(word(["Dear colleague", "Stable."], [["Na", "139"]]), WORD)
    assert letter.text == "Dear colleague\nStable.\nNa | 139"
    document = await reader.read(cda(MEDICATIONS), "application/hl7-v3+xml")
    assert "Continuity of Care Document" in document.text
    assert "Date: 2026-03-12" in document.text
    assert "Author: Ada Meier" in document.text
    assert "Apixaban | 5 mg twice daily" in " ".join(document.text.split())
    assert "Taken with food" in document.text
    assert "Not for the text" not in document.text


@pytest.mark.slow
async def test_a_cda_that_carries_a_pdf_is_that_pdf(reader: DocumentReader) -> None:
    inner = base64.b64encode(pdf(["Inside"])).decode()
    text = f'<text mediaType="application/pdf" representation="B64">{inner}</text>'
    found = await reader.read(cda(text, "nonXMLBody"), "text/xml")
    assert found.text == "Inside"


@pytest.mark.parametrize("media_type", ["", "application/octet-stream", "text/plain"])
async def test_the_bytes_count_more_than_the_media_type(
    reader: DocumentReader, media_type: str
) -> None:
    assert (await reader.read(pdf(["Letter"]), media_type)).text == "Letter"


@pytest.mark.parametrize(
    ("data", "media_type", "said"),
    [
        (b"%PDF-1.4 nonsense", "application/pdf", "the PDF is damaged"),
        (b"", "application/pdf", "the PDF is damaged"),
        (b"no rtf", "application/rtf", "the RTF is damaged"),
        (b"PK\x03\x04 nonsense", WORD, "the Word document is damaged or locked"),
        (b"<a><b></a>", "application/xml", "the XML is damaged"),
        (b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "text/xml", "declares entities"),
        (b"<a>" * 5_000 + b"</a>" * 5_000, "text/xml", f"deeper than {DEPTH_LIMIT} levels"),
        (b"\xff\xd8\xff", "image/jpeg", "it is an image"),
        (b"\xd0\xcf\x11\xe0", "application/msword", "an old Word document"),
        (b"\x00\x01", "application/x-nobody", "its format is not known"),
        (b"\xff\xfe\xfa\x00\x00", "text/plain", "the text is damaged"),
        (b"   ", "text/plain", "it holds no text"),
    ],
)
async def test_what_cannot_be_read_is_a_sentence(
    reader: DocumentReader, data: bytes, media_type: str, said: str
) -> None:
    found = await reader.read(data, media_type)
    assert said in found.problem
    assert not found.text


@pytest.mark.slow
async def test_a_word_document_is_unpacked_up_to_a_limit(reader: DocumentReader) -> None:
    found = await reader.read(zip_bomb(UNPACKED_LIMIT_BYTES + 1), WORD)
    assert "bytes when unpacked" in found.problem
    assert not found.text


async def test_a_document_that_takes_too_long_is_given_up_and_the_next_one_is_read() -> None:
    hasty = DocumentReader(workers=1, seconds=0.001)
    slow = await hasty.read(pdf(["x"] * 900), "application/pdf")
    assert slow.problem == "it takes more than 0.001 seconds or too much memory to read"
    hasty.close()


def test_html_is_what_a_browser_shows() -> None:
    markup = (
        "<p>Na&nbsp;139</p><script>x()</script><table><tr><td>a</td><td>b &lt; c</td></tr></table>"
    )
    assert text_of_html(markup).split("\n")[0] == "Na 139"
    assert "a | b < c" in text_of_html(markup)
    assert "x()" not in text_of_html(markup)


def document(key: str, **attachment: Any) -> dict[str, Any]:
    return resource("DocumentReference", key, content=[{"attachment": attachment}])


@pytest.mark.slow
async def test_documents_of_a_chart_are_read_from_base64_and_from_binaries(tmp_path: Path) -> None:
    binary = {
        "resourceType": "Binary",
        "id": "b1",
        "contentType": "application/pdf",
        "data": base64.b64encode(pdf(["Page one", "Page two"])).decode(),
    }
    content = bundle(
        patient(),
        document("pdf", url="Binary/b1"),
        document("rtf", contentType="text/rtf", data=base64.b64encode(RTF).decode()),
        document("scan", contentType="image/png", data=base64.b64encode(b"\x89PNG").decode()),
        document("bad", contentType="application/pdf", data="%%%"),
        binary,
    )
    (tmp_path / "a.json").write_text(json.dumps(content), encoding="utf-8")
    records: FolderRecords = records_in(tmp_path, FixedClock())
    record = await records.load(PATIENT_ID)
    texts = {one.ref.partition("/")[2]: one for one in record.documents}
    assert texts["pdf"].text == "Page one\fPage two"
    assert texts["rtf"].text is not None
    assert texts["scan"].problem == "it is an image"
    assert texts["bad"].problem == "the text is damaged: it is no base64"
    assert len(record.entries_of("DocumentReference")) == 4
    records.close()


def test_attachments_of_wrong_types_are_left_to_the_record(
    reader: DocumentReader,
) -> None:
    odd = [
        {"resource": {"resourceType": "DocumentReference", "content": each}}
        for each in (7, [7], [{"attachment": 7}], [{"attachment": {"data": 7}}])
    ]
    assert with_texts(odd, reader) == odd
