"""Mail, contacts, tasks and documents in files of their owner's."""

import asyncio
import stat
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from email.policy import default
from pathlib import Path

import orjson
import pytest

from data_models.errors import AssistantError, AssistantItemGoneError
from services.assistant.back_end import AssistantServices
from services.assistant.own_things import NewEmail, Span, Task
from tests.fakes import FixedClock
from tests.services.assistant.back_ends import SAMPLES, files_of, local_assistant
from tests.services.assistant.effects import fresh


def own(
    folder: Path, principal: str = "alice", samples: Path | None = SAMPLES
) -> AssistantServices:
    return local_assistant(folder, samples=samples, clock=FixedClock()).of(principal, zone=UTC)


TODAY = FixedClock().now().date()


async def test_a_new_user_finds_samples_of_these_days(tmp_path: Path) -> None:
    alice = own(tmp_path)
    newest = (await alice.mail.search("", limit=5))[0]
    assert newest.received.date() == TODAY - timedelta(days=1)
    first = (await alice.tasks.list(limit=5))[0]
    assert first.due == TODAY
    assert (await alice.contacts.search("", limit=9))[0].name == "Anna Schmidt"
    (checklist,) = await alice.documents.search("checklist", limit=1)
    assert "imaging" in (await alice.documents.text(checklist.id)).text.lower()


async def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    alice = own(tmp_path)
    await alice.tasks.add(Task(title="Mine"), fresh())
    await alice.documents.search("", limit=1)
    files = [path for path in (tmp_path / "users").rglob("*") if path.is_file()]
    assert files
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert not any("alice" in str(path) for path in files)


async def test_what_is_sent_lands_in_the_outbox_once(tmp_path: Path) -> None:
    alice = own(tmp_path)
    new = NewEmail(to=("anna@hospital.example",), subject="Größe\nBcc: x@y.example", text="Grüße")
    draft = await alice.mail.draft(new, fresh())
    assert await alice.mail.search("Größe", limit=5) == []  # a draft is no received mail
    assert files_of(tmp_path, "*.eml") == []
    sent = await asyncio.gather(*(alice.mail.send(draft.id) for _ in range(3)))
    assert any(sent)
    assert not await alice.mail.send(draft.id)
    (path,) = files_of(tmp_path, "*.eml")
    message = message_from_bytes(path.read_bytes(), policy=default)
    assert message["To"] == "anna@hospital.example"
    assert message["Bcc"] is None
    assert message.get_content().strip() == "Grüße"
    found = await alice.mail.get(draft.id)
    assert found is not None
    assert found.folder == "sent"


async def test_mail_is_found_by_words_and_days(tmp_path: Path) -> None:
    mail = own(tmp_path).mail
    assert [one.id for one in await mail.search("ANNA agenda", limit=5)] == ["mail-agenda"]
    assert [one.id for one in await mail.search("novak", limit=5)] == ["mail-lab"]
    assert await mail.search("anna rota", limit=5) == []
    day = datetime.combine(TODAY - timedelta(days=3), datetime.min.time(), UTC)
    found = await mail.search("", within=Span(day, day + timedelta(days=1)), limit=5)
    assert [one.id for one in found] == ["mail-lab"]
    assert [one.id for one in await mail.search("", limit=1)] == ["mail-agenda"]


async def test_a_deleted_sample_document_does_not_come_back(tmp_path: Path) -> None:
    documents = own(tmp_path).documents
    for one in await documents.search("", limit=9):
        assert await documents.delete(one.id)
    assert await own(tmp_path).documents.search("", limit=9) == []
    assert await own(tmp_path, "bob").documents.search("", limit=9) != []
    for name in ["gone", "../../calendar.ics", "..%2F..%2Fcalendar.ics", "", ".", "a/b"]:
        with pytest.raises(AssistantItemGoneError):
            await documents.text(name)
        assert not await documents.delete(name)


async def test_only_what_is_text_is_read(tmp_path: Path) -> None:
    documents = own(tmp_path).documents
    await documents.search("", limit=9)
    (folder,) = (path for path in (tmp_path / "users").rglob("documents") if path.is_dir())
    (folder / "scan.pdf").write_bytes(b"%PDF-1.7 \x00\xff")
    (folder / "long.txt").write_bytes(b"\xff\xfe" + b"x" * 50_000)
    with pytest.raises(AssistantError, match="kind"):
        await documents.text("scan.pdf")
    assert len((await documents.text("long.txt")).text) == 25_000


async def test_writers_side_by_side_lose_nothing(tmp_path: Path) -> None:
    titles = {f"Task {number}" for number in range(6)}
    await asyncio.gather(*(own(tmp_path).tasks.add(Task(title=one), fresh()) for one in titles))
    assert titles <= {one.title for one in await own(tmp_path).tasks.list(limit=50)}


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"[]",
        b'{"version":1}',
        b'{"version":1,"rows":[{"id":1}]}',
        b'{"version":2,"rows":[]}',
    ],
)
async def test_a_damaged_file_is_said_and_left_alone(tmp_path: Path, damage: bytes) -> None:
    alice = own(tmp_path)
    await alice.tasks.add(Task(title="SECRET"), fresh())
    (path,) = files_of(tmp_path, "tasks.json")
    assert orjson.loads(path.read_bytes())["version"] == 1
    path.write_bytes(damage)
    for work in (alice.tasks.list(limit=1), alice.tasks.add(Task(title="More"), fresh())):
        with pytest.raises(AssistantError) as caught:
            await work
        assert caught.value.__cause__ is None
    assert path.read_bytes() == damage
