"""Papers are kept with one patient after a yes, once, and leave with the patient."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from data_models.errors import (
    AttachmentError,
    ConversationBusyError,
    ModelError,
    ModelOutputError,
    NotFoundError,
)
from data_models.identifiers import PatientId
from services.attachments.papers import papers_of
from services.conversations.maintenance_lease import MaintenanceLease
from services.identity.directory import FileDirectory
from services.identity.linking import SubjectLinker
from services.patient_context.reading.pattern import DEFAULT_PATTERN, PatientIdPattern
from services.records.folder.records import FolderRecords
from services.records.readers.reading import DocumentReader
from services.views.conversation_reader import OwnedChat
from services.views.owner_changes import (
    BY_A_MODEL,
    BYTES_LIMIT,
    PAPERS_LIMIT,
    AttachmentService,
    PaperRead,
)
from tests.fakes import FixedClock
from tests.given import present
from tests.services.operations.test_forgetting import forgetting_on
from tests.services.records.readers.made import pdf
from tests.services.world import CHAT, OWNER, World

SAMPLES = Path(__file__).parents[3] / "samples" / "patients"
PATTERN = PatientIdPattern.compile(DEFAULT_PATTERN)
LETTER = b"Patient: Margaret Anne Whitfield, born 14 March 1957. Potassium CANARYPAPER 5.6 mmol/L."
OTHERS = b"Patient: Tunde Adeyemi, born 1968-07-21. He has gout."


@pytest.fixture
async def world() -> World:
    world = World(clock=FixedClock())
    await world.say("start a tumor board for patient_15")
    await world.tell("start a tumor board for patient_4")
    return world


@pytest.fixture
async def service(world: World) -> AsyncIterator[AttachmentService]:
    found = service_on(world)
    yield found
    found.documents.close()


class Eyes:
    """Stands for a model that reads images, or for one that takes none."""

    def __init__(self, text: str | None = None, error: ModelError | None = None) -> None:
        self._text, self._error = text, error
        self.seen: list[tuple[bytes, str]] = []

    async def read(self, data: bytes, media_type: str) -> str | None:
        self.seen.append((data, media_type))
        if self._error is not None:
            raise self._error
        return self._text


BLIND = Eyes()


def service_on(world: World, *, wait_seconds: float = 5.0, eyes: Eyes = BLIND) -> AttachmentService:
    clock = FixedClock()
    records = FolderRecords(folder=SAMPLES, clock=clock, fits=PATTERN.matches)
    directory = FileDirectory(records=records, fits=PATTERN.matches, clock=clock)
    return AttachmentService(
        reader=world.reader,
        lease=MaintenanceLease(claimant=world.claimant, ids=world.ids, wait_seconds=wait_seconds),
        linker=SubjectLinker(directory=directory, fits=PATTERN.matches, seconds=30),
        documents=DocumentReader(),
        read_image=eyes.read,
    )


async def given(service: AttachmentService, data: bytes = LETTER, **changes: Any) -> PaperRead:
    chat = OwnedChat(CHAT, OWNER, changes.pop("patient_id", "patient_4"))
    asked: dict[str, Any] = {
        "file_name": "letter.txt",
        "media_type": "text/plain",
        "is_confirmed": True,
    }
    return await service.add(chat, data=data, **(asked | changes))


def stored(world: World) -> dict[str, bytes]:
    return dict(world.sessions.contents)  # type: ignore[attr-defined]


async def test_nothing_is_stored_before_the_yes_and_then_it_is_once(
    world: World, service: AttachmentService
) -> None:
    before = stored(world)
    found = await given(service, is_confirmed=False)
    assert (found.whose, found.pages, found.attachment) == ("theirs", 1, None)
    assert {name for name in stored(world) if "artifacts" in name} == set()
    assert {n: d for n, d in stored(world).items() if n.endswith("_context.json")} == {
        n: d for n, d in before.items() if n.endswith("_context.json")
    }
    first, again = await given(service), await given(service, file_name="same.txt")
    assert first.attachment is not None
    assert again.attachment == first.attachment
    rows = await service.all(OwnedChat(CHAT, OWNER, "patient_4"))
    assert [one.file_name for one in rows] == ["letter.txt"]
    row, data = await service.open(OwnedChat(CHAT, OWNER, "patient_4"), rows[0].attachment_id)
    assert (row, data) == (first.attachment, LETTER)


PHOTO = b"\x89PNG\r\n\x1a\n and pixels"


async def test_what_a_model_wrote_down_of_an_image_is_kept_as_such(world: World) -> None:
    eyes = Eyes(LETTER.decode())
    service = service_on(world, eyes=eyes)
    # What the client calls it does not matter, only what it is.
    kept = await given(service, PHOTO, file_name="photo.png", media_type="image/gif")
    assert (kept.whose, present(kept.attachment).gap) == ("theirs", BY_A_MODEL)
    assert eyes.seen == [(PHOTO, "image/png")]
    await world.say("switch to patient_4")
    await world.say("what does the letter say?")
    [paper] = present(await present(world.team.requests[-1].papers).record()).documents
    assert "CANARYPAPER 5.6" in present(paper.text)
    assert BY_A_MODEL in present(paper.text)


@pytest.mark.parametrize(
    ("eyes", "said"),
    [
        (Eyes(), "it is an image"),
        (Eyes(""), "holds no text"),
        (Eyes(OTHERS.decode()), "names another patient"),
        (Eyes(error=ModelOutputError("no")), "The model could not read that image"),
    ],
)
async def test_an_image_that_nobody_can_read_or_of_another_is_not_kept(
    world: World, eyes: Eyes, said: str
) -> None:
    with pytest.raises(AttachmentError) as refused:
        await given(service_on(world, eyes=eyes), PHOTO, media_type="image/png")
    assert said in refused.value.user_message
    assert await service_on(world).all(OwnedChat(CHAT, OWNER, "patient_4")) == []


@pytest.mark.parametrize(("kind", "seen"), [(b"WEBP", ["image/webp"]), (b"WAVE", [])])
async def test_a_sound_is_no_image(world: World, kind: bytes, seen: list[str]) -> None:
    eyes = Eyes("")
    data, said = b"RIFF\x10\x00\x00\x00" + kind + b"\x00\xff", "image/webp"
    with pytest.raises(AttachmentError):
        await given(service_on(world, eyes=eyes), data, media_type=said)
    assert [one for _, one in eyes.seen] == seen


async def test_a_paper_is_no_other_patients_nor_users(
    world: World, service: AttachmentService
) -> None:
    kept = present((await given(service)).attachment)
    assert await service.all(OwnedChat(CHAT, OWNER, "patient_15")) == []
    for owner, patient in ((OWNER, "patient_15"), ("somebody-else", "patient_4")):
        chat = OwnedChat(CHAT, owner, patient)
        with pytest.raises(NotFoundError):
            await service.open(chat, kept.attachment_id)
        with pytest.raises(NotFoundError):
            await service.remove(chat, kept.attachment_id)
    with pytest.raises(NotFoundError):
        await given(service, patient_id="patient_77")
    await world.say("and now patient_15: what is the stage?")
    request = world.team.requests[-1]
    assert request.patient_id == "patient_15"
    assert request.papers is not None
    assert (request.papers.line, await request.papers.record()) == ("", None)
    await world.say("switch to patient_4")
    await world.say("what does the letter say?")
    papers = present(world.team.requests[-1].papers)
    assert kept.ref in papers.line
    record = present(await papers.record())
    assert [one.text for one in record.documents] == [LETTER.decode()]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "media_type", "said"),
    [
        (OTHERS, "text/plain", "names another patient"),
        (b"\x89PNG....", "image/png", "it is an image"),
        (pdf([""]), "application/pdf", "cannot be read"),
        (b"", "text/plain", "holds no text"),
        (b"x" * (BYTES_LIMIT + 1), "text/plain", "larger than 20 MB"),
    ],
)
async def test_what_cannot_be_kept_says_why_and_leaves_nothing(
    world: World, service: AttachmentService, data: bytes, media_type: str, said: str
) -> None:
    with pytest.raises(AttachmentError) as caught:
        await given(service, data, media_type=media_type)
    assert said in caught.value.user_message
    assert [name for name in stored(world) if "artifacts" in name] == []


@pytest.mark.slow
async def test_papers_over_the_limit_wait_until_one_is_removed(service: AttachmentService) -> None:
    for number in range(PAPERS_LIMIT):
        await given(service, LETTER + str(number).encode())
    with pytest.raises(AttachmentError, match="attachment"):
        await given(service)
    rows = await service.all(OwnedChat(CHAT, OWNER, "patient_4"))
    await service.remove(OwnedChat(CHAT, OWNER, "patient_4"), rows[0].attachment_id)
    assert (await given(service)).attachment is not None


async def test_a_name_neither_formats_nor_reorders(service: AttachmentService) -> None:
    kept = present((await given(service, file_name="../\u202efdp.[x](y)|\n*b*.txt")).attachment)
    assert set("[]|*\n\u202e/").isdisjoint(kept.file_name)
    assert kept.file_name.endswith(".txt")


async def test_a_removed_paper_leaves_no_bytes(world: World, service: AttachmentService) -> None:
    kept = present((await given(service)).attachment)
    await service.remove(OwnedChat(CHAT, OWNER, "patient_4"), kept.attachment_id)
    assert [name for name, data in stored(world).items() if b"CANARYPAPER" in data] == []
    with pytest.raises(NotFoundError):
        await service.open(OwnedChat(CHAT, OWNER, "patient_4"), kept.attachment_id)


async def test_a_paper_leaves_with_a_clear_and_comes_back_with_its_undo(
    world: World, service: AttachmentService
) -> None:
    await given(service)
    await world.say("clear patient context")
    await world.say("start a tumor board for patient_4")
    assert await service.all(OwnedChat(CHAT, OWNER, "patient_4")) == []
    held = [name for name, data in stored(world).items() if b"CANARYPAPER" in data]
    assert held
    assert all("/archive/" in name for name in held)


async def test_forgotten_patients_leave_no_paper(world: World, service: AttachmentService) -> None:
    await given(service)
    await forgetting_on(world).run(PatientId("patient_4"), dry_run=False)
    assert [name for name, data in stored(world).items() if b"CANARYPAPER" in data] == []


@pytest.mark.slow
async def test_while_a_turn_runs_a_paper_waits_and_then_says_so() -> None:
    world = World()
    await world.tell("start a tumor board for patient_4")
    run = await world.hold("what is the stage?")
    service = service_on(world, wait_seconds=0.2)
    with pytest.raises(ConversationBusyError):
        await given(service)
    world.team.gate.set()
    await world.scheduler.idle()
    assert run is not None
    assert (await given(service)).attachment is not None


async def test_a_paper_whose_text_is_gone_says_so(world: World, service: AttachmentService) -> None:
    kept = present((await given(service)).attachment)
    await world.contexts.delete_file(CHAT, PatientId("patient_4"), kept.text_id)
    stored_now = await world.contexts.read(CHAT, PatientId("patient_4"), epoch=0)
    record = present(await papers_of(stored_now.document, contexts=world.contexts).record())
    assert [one.problem for one in record.documents] == [
        "its text is gone; please add the file again"
    ]
