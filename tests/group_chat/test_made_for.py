"""What the Assistant made while one chart was open is no other patient's to read."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from data_models.errors import AssistantError, ToolInputError
from data_models.identifiers import PatientId
from data_models.tool_memory import ToolMemory
from group_chat.tools.function import checked_arguments, plain
from group_chat.tools.personal.calendar_tools import CALENDAR, TASKS
from group_chat.tools.personal.mail_tools import CONTACTS, MAIL
from group_chat.tools.tool import Tool
from group_chat.turn_context import TurnContext, changing
from services.assistant.back_end import MadeFor
from services.tool_memory.session import ToolMemorySession
from services.tool_memory.store import ToolEntityStore, ToolMemoryLimits
from tests.fakes import CountingIds, FixedClock
from tests.fakes_connected import office_over
from tests.fakes_store import MemoryBlobStore
from tests.group_chat.test_assistant_tools import BERLIN, NOW, Names, _request
from tests.services.assistant.back_ends import local_assistant
from tests.services.assistant.effects import fresh

SAID = "Order CANARYA brain MRI, event CANARYA exon 20; contact CANARYA daughter, d@example.org"


class Office:
    """One user's office, with a chart open or none."""

    def __init__(self, folder: Path) -> None:
        self.store = MemoryBlobStore()
        back_end = local_assistant(folder, samples=None, clock=FixedClock())
        scheduler = office_over(back_end, Names(), self.store)
        made = (CALENDAR, MAIL, CONTACTS, TASKS)
        self.tools: dict[str, Tool] = {one.name: one for own in made for one in own.over(scheduler)}

    async def call(
        self, tool: str, patient: str | None, *, is_group: bool = False, **given: Any
    ) -> Mapping[str, Any]:
        store = ToolEntityStore(memory=ToolMemory(), limits=ToolMemoryLimits(), now=NOW)
        session = ToolMemorySession(
            store=store, turn_id=1, user_text="go", now=NOW, roster=frozenset(), ids=CountingIds()
        )
        request = replace(_request(SAID, session, patient=patient), is_group=is_group)
        turn = TurnContext(request=request, emit=lambda _: None, agent="Secretary")
        arguments = checked_arguments(self.tools[tool].arguments, given)
        with changing(fresh()):
            return plain(await self.tools[tool].run(turn, arguments))

    async def fill(self, patient: str | None) -> None:
        start = f"{NOW.astimezone(BERLIN).date()}T15:00"
        await self.call("create_event", patient, title="CANARYA exon 20", start=start)
        await self.call("add_task", patient, title="Order CANARYA brain MRI")
        await self.call("add_contact", patient, name="CANARYA daughter", email="d@example.org")
        await self.call(
            "draft_mail", patient, to=["d@example.org"], title="CANARYA", text="CANARYA"
        )

    async def shown(self, patient: str | None) -> str:
        since = str(NOW.astimezone(BERLIN).date())
        rows = [
            await self.call("list_events", patient, since=since, until=since),
            await self.call("list_tasks", patient),
            await self.call("search_contacts", patient, words="daughter"),
            await self.call("search_mail", patient, words="CANARYA"),
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
            await office.call(tool, "patient_4", is_group=True)
