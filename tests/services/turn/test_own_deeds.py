"""A yes for several of the user's own things, and a bare "undo" of what was changed at once."""

from datetime import UTC, date
from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict

from data_models.clock import RandomIds
from data_models.conversations.conversation import Effect
from data_models.conversations.turn_events import Notice
from data_models.identifiers import PatientId
from services.assistant.back_end import AssistantServices
from services.assistant.own_things import NewEmail, Task
from services.assistant.undo_log import (
    AssistantService,
    Undoable,
    UndoableAction,
    patient_name,
)
from services.group_chat_port import QuestionAsked
from tests.fakes import FixedClock
from tests.fakes_store import MemoryBlobStore
from tests.services.assistant.back_ends import local_assistant
from tests.services.turn.talk_lines import held
from tests.services.turn.test_remembering import said
from tests.services.turn_tools import turn_tools
from tests.services.world import CHAT, OWNER, Heard, World, heard
from tests.tables import with_cases


class Desk:
    """A conversation with one patient open, and what its user has of their own."""

    def __init__(self, folder: Path, clock: FixedClock, *, samples: Path | None = None) -> None:
        back_end = local_assistant(folder, samples=samples, clock=clock)
        self.clock, self.store = clock, MemoryBlobStore()
        self.own: AssistantServices = back_end.of(OWNER, zone=UTC)
        ids, service = RandomIds(), AssistantService(back_end=back_end, store=MemoryBlobStore())
        self.undo, self.made_for = service.undo_log, service.made_for
        tools = turn_tools(clock=clock, ids=ids, assistant=service)
        self.world = World(
            sessions=self.store, users=MemoryBlobStore(), clock=clock, tools=tools, ids=ids
        )

    async def task(self, title: str) -> Task:
        return await self.own.tasks.add(Task(title=title), Effect(title))

    async def moved(self, task: Task, due: date, patient: str = "patient_4") -> None:
        after = await self.own.tasks.move(task.id, due=due)
        await self.note("move_task", task, after, patient=patient)

    async def note(
        self,
        tool: Undoable,
        before: Task | None,
        after: Task,
        *,
        patient: str = "patient_4",
        conversation: str = CHAT,
    ) -> None:
        deed = UndoableAction(
            tool=tool,
            patient=patient_name(PatientId(patient)),
            conversation=conversation,
            at=self.clock.now(),
            before=before,
            after=after,
        )
        await self.undo.note(deed, principal_id=OWNER)

    async def says(self, text: str) -> str:
        return await said(self.world, text)

    async def asks(self, *tasks: Task, text: str = "delete them") -> Heard:
        """Have a tool ask for one yes to the deletion of all of `tasks`."""
        rows = [{"entity_id": one.id, "name": f"*{one.title}*"} for one in tasks]
        payload = {"action": "delete_task", **rows[0], "items": rows}
        self.world.team.also = lambda _: (
            QuestionAsked("destructive_tool", "Delete them? yes / no", payload),
        )
        said = await self.world.tell(text)
        self.world.team.also = lambda _: ()
        return said

    async def named(self, title: str) -> Task:
        return next(one for one in await self.own.tasks.list(limit=9) if one.title == title)


@pytest.fixture
async def desk(tmp_path: Path) -> Desk:
    desk = Desk(tmp_path, FixedClock())
    await desk.says("start a tumor board for patient_4")
    return desk


async def titles(desk: Desk) -> list[str]:
    return [one.title for one in await desk.own.tasks.list(limit=9)]


@pytest.mark.slow
async def test_a_yes_that_was_sent_before_the_question_does_nothing_and_asks_again(
    desk: Desk,
) -> None:
    early = desk.world.message("yes")  # the second of two, behind whatever the first agreed to
    desk.clock.advance(seconds=2)
    await desk.asks(await desk.task("A"))

    heard_first = await heard(await desk.world.scheduler.submit(early))

    assert heard_first.texts[-1].endswith("nothing is done yet.\nDelete them? yes / no")
    assert await titles(desk) == ["A"]
    assert await desk.says("yes") == "Deleted: *A*."


async def added(desk: Desk, title: str) -> None:
    task = await desk.task(title)
    await desk.note("add_task", None, task)


async def test_behind_what_no_undo_takes_back_nothing_earlier_is_undone(desk: Desk) -> None:
    await added(desk, "Call the lab")
    await desk.says("remember that she lives alone")
    new = NewEmail(to=("a@b.org",), subject="Rota", text="Here.")
    mail = await desk.own.mail.draft(new, Effect("mail"))
    rows = [{"entity_id": mail.id, "name": "*Rota*"}]
    payload = {"action": "send_mail", **rows[0], "items": rows}
    desk.world.team.also = lambda _: (
        QuestionAsked("destructive_tool", "Send *Rota*? yes / no", payload),
    )
    await desk.says("send it")
    desk.world.team.also = lambda _: ()
    desk.clock.advance(5)
    assert await desk.says("yes") == "Sent: *Rota*."

    assert (await desk.says("undo")).startswith("Nothing was undone. What was done last")

    assert await titles(desk) == ["Call the lab"]
    assert held(desk.store) == ["Noted: she lives alone"]


async def test_what_was_made_for_another_patient_is_undone_without_its_title(desk: Desk) -> None:
    task = await desk.task("Ring Mrs Doyle")
    other = PatientId("patient_42")
    await desk.made_for.note(task.id, principal_id=OWNER, patient_id=other, conversation_id=CHAT)
    await desk.moved(task, date(2026, 12, 1))

    assert "Doyle" not in await desk.says("undo")

    moved = await desk.own.tasks.get(task.id)
    assert moved is not None
    assert moved.due is None


_SPEAKS_SECONDS = 5


class Line(BaseModel):
    """What is made, done or asked about, and then what the user says, if anything.

    Of what is not given nothing is asserted.

    Attributes:
        seconds: How long after the line before it is.
        tasks: Tasks that are made; added: those that an agent made.
        moved: Days to which an agent moves tasks; patient: with whose chart open.
        conversation: Where it added them; gone: a task that somebody else deletes.
        asks: Tasks for whose deletion a tool asks for a yes.
        told: All that is said; has, lacks: parts of it; notices: what stands beside it.
        titles: The tasks that there are then; due: the days of some.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    seconds: int = 0
    tasks: list[str] = []
    added: list[str] = []
    moved: dict[str, date] = {}
    patient: str = "patient_4"
    conversation: str = CHAT
    gone: str = ""
    asks: list[str] = []
    say: str = ""
    told: str | None = None
    has: list[str] = []
    lacks: list[str] = []
    notices: list[str] | None = None
    titles: list[str] | None = None
    due: dict[str, date | None] = {}
    held: list[str] | None = None


class Deeds(BaseModel):
    """Lines with patient_4 open, or nobody; with `each`, once with every text in place of {}."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    opens: bool = True
    each: list[str] = [""]
    says: list[Line]


async def done(desk: Desk, line: Line) -> None:
    desk.clock.advance(line.seconds)
    for title in line.tasks:
        await desk.task(title)
    for title in line.added:
        task = await desk.task(title)
        await desk.note("add_task", None, task, conversation=line.conversation)
    for title, day in line.moved.items():
        await desk.moved(await desk.named(title), day, patient=line.patient)
    if line.gone:
        await desk.own.tasks.delete((await desk.named(line.gone)).id)


async def look(desk: Desk, line: Line, said: Heard) -> None:
    told = "\n".join(said.texts)
    notices = [one.text for one in said.events if isinstance(one, Notice)]
    assert line.told in (None, said.texts[-1])
    assert [one for one in line.has if one not in told] == [], told
    assert [one for one in line.lacks if one in told] == [], told
    assert line.notices in (None, notices)
    assert line.titles in (None, await titles(desk))
    assert {title: (await desk.named(title)).due for title in line.due} == line.due
    assert line.held is None or held(desk.store) == line.held


@pytest.mark.slow
@with_cases("talk")
async def test_it_goes_so(talk: Deeds, tmp_path: Path) -> None:
    for number, text in enumerate(talk.each):
        desk = Desk(tmp_path / str(number), FixedClock())
        if talk.opens:
            await desk.says("start a tumor board for patient_4")
        for line in talk.says:
            await done(desk, line)
            words = line.say.replace("{}", text)
            if line.asks:
                tasks = [await desk.named(title) for title in line.asks]
                await look(desk, line, await desk.asks(*tasks, text=words or "delete them"))
            elif words:
                desk.clock.advance(_SPEAKS_SECONDS)
                await look(desk, line, await desk.world.tell(words))
