"""What the Assistant made while one chart was open is no other patient's to read."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from data_models.errors import AssistantError, ToolInputError
from data_models.identifiers import PatientId
from data_models.tool_memory import ToolMemory
from services.assistant.back_end import MadeFor
from tests.fakes_store import MemoryBlobStore
from tests.group_chat import test_assistant_tools as assistant_tools
from tests.group_chat.test_assistant_tools import BERLIN, NOW

SAID = "Order CANARYA brain MRI, event CANARYA exon 20; contact CANARYA daughter, d@example.org"


class Office(assistant_tools.Office):
    """One user's office, with a chart open or none; nothing is remembered of an earlier turn."""

    async def call(self, tool: str, said: str = SAID, **given: Any) -> Mapping[str, Any]:
        self.memory = ToolMemory()
        return await super().call(tool, said, **given)

    async def fill(self, patient: str | None) -> None:
        start = f"{NOW.astimezone(BERLIN).date()}T15:00"
        await self.call("create_event", patient=patient, title="CANARYA exon 20", start=start)
        await self.call("add_task", patient=patient, title="Order CANARYA brain MRI")
        await self.call(
            "add_contact", patient=patient, name="CANARYA daughter", email="d@example.org"
        )
        await self.call(
            "draft_mail", patient=patient, to=["d@example.org"], title="CANARYA", text="CANARYA"
        )

    async def shown(self, patient: str | None) -> str:
        since = str(NOW.astimezone(BERLIN).date())
        rows = [
            await self.call("list_events", patient=patient, since=since, until=since),
            await self.call("list_tasks", patient=patient),
            await self.call("search_contacts", patient=patient, words="daughter"),
            await self.call("search_mail", patient=patient, words="CANARYA"),
        ]
        return str(rows)


@pytest.mark.slow
@pytest.mark.parametrize("other", ["patient_42", None])
async def test_no_other_turn_reads_what_was_made_for_a_patient(
    tmp_path: Path, other: str | None
) -> None:
    office = Office(tmp_path)
    await office.fill("patient_4")

    shown = await office.shown(other)

    assert "CANARYA" not in shown
    assert "about another patient" in shown


async def test_the_patients_own_turn_and_what_was_made_without_a_chart_are_whole(
    tmp_path: Path,
) -> None:
    office = Office(tmp_path)
    await office.fill("patient_4")
    assert (await office.shown("patient_4")).count("CANARYA") >= 3

    free = Office(tmp_path / "b")
    await free.fill(None)
    assert (await free.shown("patient_42")).count("CANARYA") >= 3


async def test_the_notes_hold_no_id_of_a_patient(tmp_path: Path) -> None:
    office = Office(tmp_path)
    await office.fill("patient_4")

    kept = office.store.contents.items()
    assert {name.rpartition("/")[2] for name, _ in kept} == {"made_for.json", "undo.json"}
    assert not any(b"patient_4" in data for _, data in kept)


async def test_notes_that_cannot_be_read_show_nothing_rather_than_all(tmp_path: Path) -> None:
    store = MemoryBlobStore()
    made_for = MadeFor(store=store)
    await made_for.note(
        "i", principal_id="alice", patient_id=PatientId("patient_4"), conversation_id="c"
    )
    (name,) = store.contents
    for data in (b"{", b"[]", b'{"i": 1}'):
        blob = await store.read(name)
        assert blob is not None
        await store.replace(name, data, etag=blob.etag)
        with pytest.raises(AssistantError):
            await made_for.origins("alice")


async def test_nothing_of_the_users_own_is_shown_where_others_read_along(tmp_path: Path) -> None:
    office = Office(tmp_path)
    await office.fill("patient_4")

    for tool in ("list_tasks", "search_contacts", "list_events", "search_mail"):
        with pytest.raises(ToolInputError, match="not shown in a group"):
            await office.call(tool, is_group=True)
