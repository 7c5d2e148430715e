"""Files of OneDrive in Microsoft Graph."""

import zipfile
from datetime import UTC, datetime, timedelta
from io import BytesIO

import aiohttp
import pytest
from docx import Document

from data_models import errors
from services.assistant.assistant_factory import graph_for
from services.assistant.back_end import AssistantServices
from services.assistant.own_things import DOCUMENT_LIMIT_BYTES, DocumentText, Span
from tests.basis import basis_of
from tests.fakes import CountingIds, FixedClock
from tests.fakes_graph import FakeGraph
from tests.fakes_graph_data import User
from tests.services.assistant.graph.conftest import BERLIN, LIMITS, settings_of

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def word(title: str, *rows: list[str]) -> bytes:
    document = Document()
    document.add_paragraph(title)
    table = document.add_table(rows=0, cols=2)
    for row in rows:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text
    document.add_paragraph("End")
    data = BytesIO()
    document.save(data)
    return data.getvalue()


def archive(parts: dict[str, bytes]) -> bytes:
    data = BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in parts.items():
            made.writestr(name, content)
    return data.getvalue()


def broken() -> bytes:
    """A Word document whose text is no XML."""
    with zipfile.ZipFile(BytesIO(word("Anna"))) as made:
        parts = {name: made.read(name) for name in made.namelist()}
    return archive({**parts, "word/document.xml": b"<w:document>Anna"})


BROKEN = broken()


def fill(ada: User) -> None:
    for number, name in enumerate(["board.md", "On call.txt", "Board notes.txt", "O'Neil.txt"]):
        ada.file(name, b"text", modified=NOON + timedelta(days=number))
    ada.folder("Board")


async def test_files_are_found_newest_first_and_folders_are_none(
    graph: FakeGraph, ada: User, own: AssistantServices
) -> None:
    fill(ada)
    found = await own.documents.search("board", limit=9)
    assert [one.name for one in found] == ["Board notes.txt", "board.md"]
    assert found[0].media_type == "text/plain"
    assert [one.name for one in await own.documents.search("board", limit=1)] == ["Board notes.txt"]
    everything = await own.documents.search("", limit=9)
    assert [one.name for one in everything][:2] == ["O'Neil.txt", "Board notes.txt"]
    assert len(everything) == 4


async def test_a_quote_in_the_words_stays_within_them(ada: User, own: AssistantServices) -> None:
    fill(ada)
    assert [one.name for one in await own.documents.search("O'Neil", limit=9)] == ["O'Neil.txt"]
    assert await own.documents.search("x') or ('1'='1", limit=9) == []
    assert await own.documents.search("a/b?c#d&e%", limit=9) == []


async def test_a_span_can_be_asked_for(ada: User, own: AssistantServices) -> None:
    fill(ada)
    since, until = NOON + timedelta(hours=1), NOON + timedelta(days=2)
    found = await own.documents.search("", within=Span(since, until), limit=9)
    assert [one.name for one in found] == ["On call.txt"]


async def test_what_was_deleted_while_the_drive_was_listed_is_not_shown(
    ada: User, own: AssistantServices
) -> None:
    fill(ada)
    gone = ada.file("gone.txt", b"x", modified=NOON)
    ada.touch(ada.items, gone, deleted={"state": "deleted"})
    assert "gone.txt" not in [one.name for one in await own.documents.search("", limit=9)]
    assert await own.documents.get(gone) is None


async def test_a_file_that_changed_while_the_drive_was_listed_is_shown_once_as_it_is(
    ada: User, own: AssistantServices
) -> None:
    found = ada.file("new name.txt", b"x", modified=NOON)
    ada.earlier.append({**ada.items[found], "name": "old name.txt"})
    assert [one.name for one in await own.documents.search("", limit=9)] == ["new name.txt"]


async def test_the_text_comes_from_the_files_own_host_without_our_token(
    graph: FakeGraph, ada: User, own: AssistantServices
) -> None:
    found = ada.file("plan.txt", "\ufeffGröße".encode(), modified=NOON)
    assert await own.documents.text(found) == DocumentText("Größe")
    assert graph.downloads == 1
    long = ada.file("long.txt", b"a" * 50_000, modified=NOON)
    assert await own.documents.text(long) == DocumentText("a" * 50_000)


async def test_a_word_document_gives_all_text_in_order(ada: User, own: AssistantServices) -> None:
    found = ada.file("Rota.DOCX", word("Übergabe", ["Mon", "Ada"], ["Tue", "Ben"]), modified=NOON)
    text = (await own.documents.text(found)).text
    assert text == "Übergabe\nMon | Ada\nTue | Ben\nEnd"


async def test_what_stands_beside_the_text_of_a_word_document_is_known_and_not_in_it(
    ada: User, own: AssistantServices
) -> None:
    document = Document()
    document.add_paragraph("The scan shows a mass.")
    document.sections[0].header.paragraphs[0].text = "Margaret Whit"
    document.sections[0].header.paragraphs[0].add_run("field, ward 4")
    document.core_properties.subject = "Karl Brandt"
    data = BytesIO()
    document.save(data)
    found = await own.documents.text(ada.file("Letter.docx", data.getvalue(), modified=NOON))
    assert found.text == "The scan shows a mass."
    assert "Margaret Whitfield, ward 4" in found.beside
    assert "Karl Brandt" in found.beside


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 damaged", b"Anna Schmidt", archive({}), BROKEN])
async def test_a_damaged_word_document_is_said_and_not_quoted(
    ada: User, own: AssistantServices, data: bytes
) -> None:
    found = ada.file("Rota.docx", data, modified=NOON)
    with pytest.raises(errors.AssistantError, match="damaged") as caught:
        await own.documents.text(found)
    assert caught.value.__cause__ is None


@pytest.mark.slow
async def test_a_word_document_of_too_much_is_refused(ada: User, own: AssistantServices) -> None:
    found = ada.file("Bomb.docx", archive({"word/document.xml": b"0" * 51_000_000}), modified=NOON)
    with pytest.raises(errors.AssistantError, match="when unpacked"):
        await own.documents.text(found)


async def test_what_holds_no_text_or_too_much_is_not_fetched(
    graph: FakeGraph, ada: User, own: AssistantServices
) -> None:
    scan = ada.file("scan.pdf", b"%PDF", modified=NOON)
    large = ada.file("large.txt", b"x", modified=NOON)
    ada.touch(ada.items, large, size=DOCUMENT_LIMIT_BYTES + 1)
    with pytest.raises(errors.AssistantError, match="no text"):
        await own.documents.text(scan)
    with pytest.raises(errors.AssistantError, match="too large"):
        await own.documents.text(large)
    with pytest.raises(errors.AssistantItemGoneError):
        await own.documents.text(ada.folder("Board"))
    assert graph.downloads == 0


async def test_a_file_on_a_host_that_is_not_listed_is_not_fetched(
    graph: FakeGraph, ada: User, session: aiohttp.ClientSession, clock: FixedClock, ids: CountingIds
) -> None:
    values = {
        **graph.settings(dev="ada@clinic.example"),
        "GRAPH_FILE_HOSTS": "clinic-my.sharepoint.com",
    }
    assistant = graph_for(
        basis_of(settings_of(values), session, clock=clock, ids=ids), limits=LIMITS
    )
    found = ada.file("plan.txt", b"x", modified=NOON)
    with pytest.raises(errors.AssistantRefusedError, match="GRAPH_FILE_HOSTS"):
        await assistant.of("dev", zone=BERLIN).documents.text(found)
    assert graph.downloads == 0


async def test_a_failed_download_says_so_without_address(ada: User, own: AssistantServices) -> None:
    found = ada.file("plan.txt", b"x", modified=NOON)
    del ada.content[found]
    with pytest.raises(errors.AssistantUnavailableError) as caught:
        await own.documents.text(found)
    assert "tempauth" not in f"{caught.value!r}{caught.value.__cause__!r}"


async def test_a_file_is_deleted_once(ada: User, own: AssistantServices) -> None:
    found = ada.file("plan.txt", b"x", modified=NOON)
    assert await own.documents.get(found) is not None
    assert await own.documents.delete(found)
    assert not await own.documents.delete(found)
    assert await own.documents.get(found) is None
