"""A yes for several of the user's own things, and a bare "undo" of what was changed at once."""

from datetime import UTC, date
from pathlib import Path

import pytest

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
from tests.services.world import CHAT, OWNER, World, heard


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

    async def asks(self, action: str, *tasks: Task) -> None:
        """Have a tool ask for one yes to all of `tasks`."""
        rows = [{"entity_id": one.id, "name": f"*{one.title}*"} for one in tasks]
        payload = {"action": action, **rows[0], "items": rows}
        self.world.team.also = lambda _: (
            QuestionAsked("destructive_tool", "Delete them? yes / no", payload),
        )
        await self.says("delete them")
        self.world.team.also = lambda _: ()


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
    await desk.asks("delete_task", await desk.task("A"))

    heard_first = await heard(await desk.world.scheduler.submit(early))

    assert heard_first.texts[-1].endswith("nothing is done yet.\nDelete them? yes / no")
    assert await titles(desk) == ["A"]
    assert await desk.says("yes") == "Deleted: *A*."


async def test_one_yes_does_all_that_the_question_named_and_tells_each(desk: Desk) -> None:
    tasks = [await desk.task(title) for title in ("A", "B", "C")]
    await desk.asks("delete_task", *tasks[:2])
    assert await desk.says("yes") == "Deleted: *A*; *B*."
    assert await titles(desk) == ["C"]


async def test_one_no_leaves_them_all(desk: Desk) -> None:
    tasks = [await desk.task(title) for title in ("A", "B")]
    await desk.asks("delete_task", *tasks)
    assert "*A*; *B* stay as they are" in await desk.says("no")
    assert await titles(desk) == ["A", "B"]


async def test_what_was_gone_already_is_told_beside_what_was_done(desk: Desk) -> None:
    tasks = [await desk.task(title) for title in ("A", "B")]
    await desk.asks("delete_task", *tasks)
    await desk.own.tasks.delete(tasks[1].id)
    assert await desk.says("yes") == "Deleted: *A*. *B* was no longer there."


async def test_undo_takes_the_newest_action_back_and_names_it(desk: Desk) -> None:
    task = await desk.task("Call the lab")
    await desk.moved(task, date(2026, 12, 1))
    assert await desk.says("undo") == "Moved back: *Call the lab*."
    assert await desk.own.tasks.get(task.id) == task


async def test_undo_means_the_newest_of_a_deed_and_a_write_to_memory(desk: Desk) -> None:
    task = await desk.task("Call the lab")
    await desk.says("remember that she lives alone")
    desk.clock.advance(1)
    await desk.moved(task, date(2026, 12, 1))
    assert "Zurückverschoben" in await desk.says("rückgängig")
    assert held(desk.store) == ["Noted: she lives alone"]

    await desk.moved(task, date(2026, 12, 2))
    await desk.says("remember that she has a dog")
    assert "she has a dog" in await desk.says("undo")
    moved = await desk.own.tasks.get(task.id)
    assert moved is not None
    assert moved.due == date(2026, 12, 2)


async def test_what_was_moved_in_another_chart_is_undone_there_alone(desk: Desk) -> None:
    task = await desk.task("Ring Mrs Doyle")
    await desk.moved(task, date(2026, 12, 1), patient="patient_42")
    told = await desk.says("undo")
    assert "Doyle" not in told
    assert "Nothing was undone" in told
    moved = await desk.own.tasks.get(task.id)
    assert moved is not None
    assert moved.due == date(2026, 12, 1)


async def test_after_ten_minutes_nothing_is_undone(desk: Desk) -> None:
    task = await desk.task("Call the lab")
    await desk.moved(task, date(2026, 12, 1))
    desk.clock.advance(601)
    assert "Moved back" not in await desk.says("undo")
    moved = await desk.own.tasks.get(task.id)
    assert moved is not None
    assert moved.due == date(2026, 12, 1)


@pytest.mark.slow
@pytest.mark.parametrize("beside", ["what is the stage?", "remember that she lives alone", "hmm"])
async def test_what_is_said_beside_a_deed_leaves_it_open_and_it_is_asked_again(
    desk: Desk, beside: str
) -> None:
    await desk.asks("delete_task", await desk.task("A"))
    assert await desk.says(beside) == "Delete them? yes / no"
    assert await desk.says("yes") == "Deleted: *A*."


@pytest.mark.slow
@pytest.mark.parametrize(
    ("other", "order"),
    [
        ("no, the second one", "delete the second one"),
        ("I meant the lab", "delete the lab"),
        ("nein, die andere", "lösche die andere"),
    ],
)
async def test_no_the_other_is_the_same_order_of_the_other(
    desk: Desk, other: str, order: str
) -> None:
    await desk.asks("delete_task", await desk.task("A"))
    told = await desk.world.tell(other)
    assert order in " ".join(told.texts)
    notices = [one.text for one in told.events if isinstance(one, Notice)]
    assert notices[0].startswith(("Nothing was changed: *A*", "Nichts wurde geändert: *A*"))


async def test_who_names_another_patient_gives_no_order_in_the_open_chart(desk: Desk) -> None:
    await desk.asks("delete_task", await desk.task("A"))
    told = await desk.world.tell("no, the one of patient_7")
    assert "delete the one of patient_7" not in " ".join(told.texts)


@pytest.mark.parametrize("other", ["not that one", "the other one"])
async def test_whoever_means_another_one_is_not_asked_for_a_yes_to_this_one(
    desk: Desk, other: str
) -> None:
    await desk.asks("delete_task", await desk.task("A"))
    told = await desk.says(other)
    assert "*A*" in told
    assert "yes / no" not in told
    await desk.says("yes")
    assert await titles(desk) == ["A"]


async def test_whoever_opens_another_chart_is_told_that_the_deed_is_over(desk: Desk) -> None:
    await desk.asks("delete_task", await desk.task("A"))
    moved = await desk.world.tell("open patient_7")
    assert [one.text for one in moved.events if isinstance(one, Notice)] == [
        "What you were asked before this chart was opened is over; nothing was done."
    ]
    await desk.says("yes")
    assert await titles(desk) == ["A"]


async def test_a_deed_whose_place_another_takes_is_told_as_not_done(desk: Desk) -> None:
    first, second = await desk.task("A"), await desk.task("B")
    await desk.asks("delete_task", first)
    payload = {"action": "delete_task", "entity_id": second.id, "name": "*B*"}
    desk.world.team.also = lambda _: (
        QuestionAsked("destructive_tool", "Delete *B*? yes / no", payload),
    )
    told = await desk.world.tell("delete the second one")
    assert [one.text for one in told.events if isinstance(one, Notice)] == [
        "Nothing was changed: *A* stays as it is."
    ]
    desk.world.team.also = lambda _: ()
    assert await desk.says("yes") == "Deleted: *B*."


async def test_the_question_of_an_undo_is_asked_again_behind_what_is_said_beside_it(
    desk: Desk,
) -> None:
    await desk.moved(await desk.task("Call the lab"), date(2026, 12, 1))
    await desk.says("what is the potassium?")
    question = await desk.says("undo")
    assert question.endswith("yes / no")
    assert (await desk.says("what is the sodium?")).endswith(question)
    assert (await desk.says("yes")).startswith("Moved back: *Call the lab*")


async def test_a_chart_that_is_opened_first_ends_what_was_asked_before_it(tmp_path: Path) -> None:
    desk = Desk(tmp_path, FixedClock())
    await desk.asks("delete_task", await desk.task("A"))
    moved = await desk.world.tell("open patient_7")
    assert [one.text for one in moved.events if isinstance(one, Notice)] == [
        "What you were asked before this chart was opened is over; nothing was done."
    ]


@pytest.mark.slow
@pytest.mark.parametrize("word", ["undo", "scratch that", "Streich das", "stop"])
async def test_undo_before_the_yes_refuses_what_was_asked_and_undoes_nothing_else(
    desk: Desk, word: str
) -> None:
    lab, slides = await desk.task("Call the lab"), await desk.task("Slides")
    await desk.moved(lab, date(2026, 12, 1))
    await desk.asks("delete_task", slides)

    assert "Slides" in await desk.says(word)

    assert await titles(desk) == ["Call the lab", "Slides"]
    assert (await desk.own.tasks.list(limit=9))[0].due == date(2026, 12, 1)


async def added(desk: Desk, title: str) -> None:
    task = await desk.task(title)
    await desk.note("add_task", None, task)


@pytest.mark.slow
@pytest.mark.parametrize("words", ["undo", "scratch that", "streich das"])
async def test_what_was_just_added_is_taken_out_again(desk: Desk, words: str) -> None:
    await desk.task("Send the rota")
    await desk.says("remind me to call the lab")
    await added(desk, "Call the lab")

    assert (await desk.says(words)).endswith("*Call the lab*.")
    assert await titles(desk) == ["Send the rota"]


async def test_scratch_that_is_not_said_to_what_was_done_before_another_message(desk: Desk) -> None:
    await desk.says("remind me to call the lab")
    await added(desk, "Call the lab")
    desk.clock.advance(5)
    await desk.says("what is the stage?")

    await desk.says("scratch that")

    assert await titles(desk) == ["Call the lab"]


async def test_what_was_done_before_another_message_is_asked_about_by_name(desk: Desk) -> None:
    await desk.says("remind me to call the lab")
    await added(desk, "Call the lab")
    desk.clock.advance(5)
    await desk.says("what is the stage?")

    asked = await desk.says("undo")

    assert asked == (
        "That would take back an earlier change of yours. Delete *Call the lab*? yes / no"
    )
    assert await titles(desk) == ["Call the lab"]
    assert await desk.says("no") == "Nothing was changed: *Call the lab* stays as it is."
    assert "earlier change" in await desk.says("undo")
    assert await desk.says("yes") == "Deleted: *Call the lab*."
    assert await titles(desk) == []


async def test_what_was_done_in_another_conversation_is_asked_about(desk: Desk) -> None:
    task = await desk.task("Call the lab")
    await desk.note("add_task", None, task, conversation="chat_2")
    assert "earlier change" in await desk.says("undo")
    assert await titles(desk) == ["Call the lab"]


async def test_a_yes_takes_back_only_what_was_asked_about(desk: Desk) -> None:
    await added(desk, "Call the lab")
    desk.clock.advance(5)
    await desk.says("what is the stage?")
    await desk.says("undo")
    desk.clock.advance(5)
    await added(desk, "Slides")  # in another window meanwhile
    assert await desk.says("yes") == "Deleted: *Call the lab*."
    assert await titles(desk) == ["Slides"]


@pytest.mark.slow
async def test_while_it_is_open_whom_a_message_means_nothing_earlier_is_undone(desk: Desk) -> None:
    await added(desk, "Call the lab")
    desk.clock.advance(5)
    await desk.says("what about patient_7 and patient_9?")
    assert "waits for your answer" in await desk.says("undo")
    assert await titles(desk) == ["Call the lab"]


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


@pytest.mark.parametrize(
    "word", ["undo", "scratch that", "rückgängig", "no wait, put it back", "hol es zurück"]
)
async def test_what_was_deleted_after_a_yes_stays_so_and_nothing_earlier_is_undone(
    desk: Desk, word: str
) -> None:
    await added(desk, "Call the lab")
    await desk.asks("delete_task", await desk.task("Slides"))
    desk.clock.advance(5)
    await desk.says("yes")

    told = await desk.says(word)

    assert told.startswith(("Nothing was undone. What was done last", "Nichts wurde rückgängig"))
    assert await titles(desk) == ["Call the lab"]


async def test_what_was_made_for_another_patient_is_undone_without_its_title(desk: Desk) -> None:
    task = await desk.task("Ring Mrs Doyle")
    other = PatientId("patient_42")
    await desk.made_for.note(task.id, principal_id=OWNER, patient_id=other, conversation_id=CHAT)
    await desk.moved(task, date(2026, 12, 1))

    assert "Doyle" not in await desk.says("undo")

    moved = await desk.own.tasks.get(task.id)
    assert moved is not None
    assert moved.due is None
