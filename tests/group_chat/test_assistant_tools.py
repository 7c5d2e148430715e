"""The tools over a user's own calendar, mail, contacts, tasks and documents."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from data_models.chat_context import Turn
from data_models.errors import AssistantError, RecordsUnavailableError, ToolInputError
from data_models.identifiers import PatientId
from data_models.tool_memory import ToolMemory
from group_chat.tools.function import checked_arguments, plain
from group_chat.tools.personal.calendar_tools import CALENDAR, TASKS
from group_chat.tools.personal.mail_tools import CONTACTS, DOCUMENTS, MAIL
from group_chat.tools.tool import Tool
from group_chat.turn_context import TurnContext, changing
from services.assistant.back_end import AssistantBackEnd, AssistantServices
from services.assistant.own_things import NewEmail, NewEvent, Task
from services.assistant.undo_log import ACTION_WORDS, action_of, carry_out
from services.group_chat_port import GroupChatRequest, QuestionAsked
from services.records.patient_names import PatientNames
from services.tool_memory.session import FinishedRun, ToolMemorySession
from services.tool_memory.store import ToolEntityStore, ToolMemoryLimits
from tests.fakes import CountingIds, FixedClock
from tests.fakes_connected import NoAssistant, RosterOnly, office_over
from tests.fakes_store import MemoryBlobStore
from tests.group_chat.team_world import request_of
from tests.services.assistant.back_ends import SAMPLES, local_assistant
from tests.services.assistant.effects import fresh
from tests.services.tool_memory.test_privacy import INJECTIONS

BERLIN = ZoneInfo("Europe/Berlin")
NOW = FixedClock().now().astimezone(BERLIN)
TOMORROW = (NOW + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)


class Names(RosterOnly):
    """Names that know one other patient."""

    async def names_of_others(self, patient_id: PatientId | None, roster: Any) -> frozenset[str]:
        return frozenset({*roster, "Whitfield", "Margaret Whitfield"})


class NoNames(RosterOnly):
    """Names whose records do not answer."""

    async def names_of_others(self, patient_id: PatientId | None, roster: Any) -> frozenset[str]:
        raise RecordsUnavailableError("down")


class Office:
    """One user's office, the patient's tool memory, and a new turn for every call."""

    def __init__(self, folder: Path, *, names: PatientNames | None = None) -> None:
        self.back_end: AssistantBackEnd = local_assistant(folder, samples=None, clock=FixedClock())
        self.own: AssistantServices = self.back_end.of("alice", zone=BERLIN)
        self.memory, self.store = ToolMemory(), MemoryBlobStore()
        self.ids = CountingIds()
        assistant = office_over(self.back_end, names or Names(), self.store)
        made = (CALENDAR, MAIL, CONTACTS, TASKS, DOCUMENTS)
        self.tools: dict[str, Tool] = {one.name: one for own in made for one in own.over(assistant)}
        self.asked: list[QuestionAsked] = []

    async def call(
        self,
        tool: str,
        said: str = "go",
        *,
        history: Sequence[Turn] = (),
        patient: str | None = "patient_4",
        is_group: bool = False,
        **given: Any,
    ) -> Mapping[str, Any]:
        store = ToolEntityStore(memory=self.memory, limits=ToolMemoryLimits(), now=NOW)
        session = ToolMemorySession(
            store=store, turn_id=1, user_text=said, now=NOW, roster=frozenset({"patient_15"}),
            ids=self.ids,
        )  # fmt: skip
        asked = _request(said, session, patient=patient)
        request = replace(asked, history=history, is_group=is_group)
        turn = TurnContext(request=request, emit=self._emit, agent="Secretary")
        arguments = checked_arguments(self.tools[tool].arguments, given)
        try:
            with changing(fresh()):
                data = plain(await self.tools[tool].run(turn, arguments))
        except ToolInputError as error:
            session.record(FinishedRun(tool, "Secretary", given, None, str(error), 1.0))
            raise
        session.record(FinishedRun(tool, "Secretary", given, data, None, 1.0))
        return data

    def _emit(self, event: Any) -> None:
        if isinstance(event, QuestionAsked):
            self.asked.append(event)

    async def event(self, title: str, *, day: int = 0, hour: int = 15) -> str:
        start = TOMORROW + timedelta(days=day, hours=hour)
        made = await self.own.calendar.create(
            NewEvent(title, start, start + timedelta(hours=1)), fresh()
        )
        return made.id


def _request(
    said: str, session: ToolMemorySession, *, patient: str | None = "patient_4"
) -> GroupChatRequest:
    return request_of(
        said,
        now=NOW,
        patient_id=None if patient is None else PatientId(patient),
        all_patient_ids=("patient_4", "patient_15"),
        principal_id="alice",
        tool_memory=session,
    )


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)


def test_what_writes_without_a_yes_says_so(office: Office) -> None:
    """Such a run is on record before it begins; all else reads, or only asks."""
    assert {name for name, tool in office.tools.items() if tool.changes} == {
        *("create_event", "move_event", "draft_mail", "add_contact", "change_contact"),
        *("add_task", "complete_task", "move_task"),
    }


async def test_a_day_of_a_list_is_the_users_day(office: Office) -> None:
    await office.event("Early", hour=0)
    await office.event("Late", hour=23)
    await office.event("Other day", day=1, hour=0)
    for day in ("tomorrow", f"{TOMORROW:%Y-%m-%d}"):
        found = await office.call("list_events", since=day, until=day)
        assert [row["title"] for row in found["events"]] == ["Early", "Late"]
        assert found["time_zone"] == "Europe/Berlin"


@pytest.mark.slow
async def test_a_move_keeps_what_is_not_said(office: Office) -> None:
    await office.event("Tumor board")
    await office.call("list_events", since="tomorrow", until="tomorrow")
    moved = await office.call("move_event", "move the tumor board", start="in two days")
    start = datetime.fromisoformat(moved["moved"][0]["start"])
    assert start == TOMORROW + timedelta(days=1, hours=15)
    moved = await office.call("move_event", "move it to 16:30", start="16:30")
    assert datetime.fromisoformat(moved["moved"][0]["start"]) == start.replace(hour=16, minute=30)
    iso = (TOMORROW + timedelta(days=3, hours=9)).isoformat()
    moved = await office.call("move_event", "move it", start=iso)
    assert moved["moved"][0]["start"] == iso
    with pytest.raises(ToolInputError, match="days and times"):
        await office.call("move_event", "move it", start="whenever")
    for said, begins, minutes in (
        ("half an hour longer", 9, 90), ("extend it by 15 min", 9, 105), ("45 minutes", 9, 45),
        ("from 1 to 3", 13, 120), ("an hour later", 14, 120), ("3 hours shorter", 14, 5),
        ("from 9 to 10", 9, 60),
    ):  # fmt: skip
        (row,) = (await office.call("move_event", "make it so", start=said))["moved"]
        start, end = (datetime.fromisoformat(row[one]) for one in ("start", "end"))
        assert (start.hour, end - start) == (begins, timedelta(minutes=minutes)), said
    with pytest.raises(ToolInputError, match="at that time already"):
        await office.call("move_event", "make it 9", start="9:00")


async def test_it_is_of_what_was_listed_last_by_its_name(office: Office) -> None:
    await office.event("Tumor board")
    await office.event("Ward round", hour=9)
    await office.event("Ward round", day=1, hour=9)
    said = "put lunch in my calendar tomorrow at 12"
    await office.call("create_event", said, title="Lunch", start="tomorrow 12:00")
    found = await office.call("list_events", words="ward round")
    assert [row["title"] for row in found["events"]] == ["Ward round"] * 2
    with pytest.raises(ToolInputError, match="several may be meant"):
        await office.call("move_event", "move it to 4", start="16:00")
    await office.call("list_events", words="tumor board")
    moved = await office.call("move_event", "move it to 5 pm", start="17:00")
    assert moved["moved"][0]["title"] == "Tumor board"


async def test_of_a_list_of_none_nobody_means_the_second(office: Office) -> None:
    await office.event("Ward round", hour=9)
    await office.event("Tumor board")
    await office.call("list_events")
    await office.call("list_tasks")
    with pytest.raises(ToolInputError, match="not clear which event"):
        await office.call("move_event", "move the second to 11:30", start="11:30")


async def test_cancelling_only_asks_and_is_bound_to_the_one_that_was_named(office: Office) -> None:
    event_id = await office.event("Tumor board")
    await office.call("list_events", since="tomorrow", until="tomorrow")
    await office.call("cancel_event", "cancel the tumor board", event_id="made-up")
    (question,) = office.asked
    assert question.kind == "destructive_tool"
    assert question.text.startswith("Cancel *Tumor board*, ")
    assert question.payload["entity_id"] == event_id
    assert question.payload["agent"] == "Secretary"
    assert await office.own.calendar.get(event_id) is not None


async def test_where_several_may_be_meant_the_user_is_asked_which_of_at_most_five(
    office: Office,
) -> None:
    for number in range(7):
        await office.event(f"Meeting {number}", hour=8 + number)
    await office.call("list_events", since="tomorrow", until="tomorrow")
    with pytest.raises(ToolInputError, match="several may be meant"):
        await office.call("cancel_event", "cancel the meeting", event_id="")
    (question,) = office.asked
    assert question.kind == "which_entity"
    assert len(question.payload["candidates"]) == 5
    assert question.text.count("*Meeting ") == 5
    assert question.payload["asked"] == "cancel the meeting"


async def test_what_was_never_listed_is_no_candidate_though_a_model_gives_its_id(
    office: Office,
) -> None:
    event_id = await office.event("Tumor board")
    with pytest.raises(ToolInputError, match="not clear which event"):
        await office.call("cancel_event", "cancel it", event_id=event_id)
    assert office.asked == []


async def test_another_patients_things_have_their_time_only(office: Office) -> None:
    await office.event("CT of Margaret Whitfield")
    await office.event("Review patient_15", hour=16)
    await office.event("Lunch", hour=12)
    mail = NewEmail(to=("a@b.example",), subject="Slides", text="About Mrs WHITFIELD's biopsy")
    draft = await office.own.mail.draft(mail, fresh())
    listed = await office.call("list_events", since="tomorrow", until="tomorrow")
    assert [row["title"] for row in listed["events"]] == ["Lunch"] + ["other appointment"] * 2
    await office.own.tasks.add(Task(title="Call Whitfield's daughter"), fresh())
    tasks = await office.call("list_tasks")
    assert tasks["tasks"][0]["title"] == "other task"
    await office.call("cancel_event", "cancel the 3pm one", event_id="")
    assert office.asked[-1].text.startswith("Cancel *other appointment*, ")
    stored = office.memory.model_dump_json()
    assert "hitfield" not in stored
    assert "patient_15" not in stored
    assert (await office.own.mail.get(draft.id)) is not None


async def test_a_name_at_the_end_of_a_long_title_withholds_all_of_it(office: Office) -> None:
    title = f"Biopsy shows melanoma, discuss with {'the whole team, ' * 6}for Margaret Whitfield"
    await office.event(title)
    await office.own.tasks.add(Task(title=title), fresh())
    listed = await office.call("list_events", since="tomorrow", until="tomorrow")
    tasks = await office.call("list_tasks")
    assert [row["title"] for row in listed["events"]] == ["other appointment"]
    assert [row["title"] for row in tasks["tasks"]] == ["other task"]
    await office.call("cancel_event", "cancel the 3pm one", event_id="")
    assert office.asked[-1].text.startswith("Cancel *other appointment*, ")
    assert "melanoma" not in office.memory.model_dump_json()


async def test_a_listing_shows_no_text_whose_end_it_does_not_know(tmp_path: Path) -> None:
    mails = {
        "Result": f"The biopsy shows melanoma. {'More follows. ' * 30}It is about Mrs Whitfield.",
        "Lunch": "At noon?",
    }
    rows = [
        {"id": f"mail-{subject}", "subject": subject, "sender": "Anna <a@b.example>",
         "received": "{today-1}T08:12:00Z", "text": text}
        for subject, text in mails.items()
    ]  # fmt: skip
    (tmp_path / "mail.json").write_text(json.dumps({"version": 1, "rows": rows}), encoding="utf-8")
    office = Office(tmp_path)
    office.back_end = local_assistant(tmp_path, samples=tmp_path, clock=FixedClock())
    assistant = office_over(office.back_end, Names())
    office.tools.update({one.name: one for one in MAIL.over(assistant)})
    found = {row["subject"]: row for row in (await office.call("search_mail"))["messages"]}
    assert "body" not in found["Result"]
    assert found["Lunch"]["body"] == "At noon?"
    read = await office.call("read_mail", "read the message Result")
    assert read["message"][0]["title"] == "other message"


async def test_while_the_records_do_not_answer_nothing_is_shown(tmp_path: Path) -> None:
    office = Office(tmp_path, names=NoNames())
    await office.event("CT of Margaret Whitfield")
    with pytest.raises(RecordsUnavailableError):
        await office.call("list_events")


async def test_a_mail_to_a_name_goes_to_the_one_contact_of_that_name(office: Office) -> None:
    said = "add contact Anna Schmidt anna@c.example"
    await office.call("add_contact", said, name="Anna Schmidt", email="anna@c.example")
    for nobody in ("…", "Anna Meier"):
        with pytest.raises(ToolInputError, match="no one contact"):
            await office.call("draft_mail", to=[nobody], title="Slides", text="Ready.")
    drafted = await office.call("draft_mail", to=["anna"], title="Slides", text="Ready.")
    assert "anna@c.example" in str(drafted["draft"])


async def test_a_mail_is_drafted_read_and_asked_about_before_it_is_sent(office: Office) -> None:
    with pytest.raises(ToolInputError, match="no one contact"):
        await office.call("draft_mail", to=["Anna"], title="Slides", text="Ready.")
    drafted = await office.call("draft_mail", to=["a@b.example"], title="Slides\nx", text="Ready.")
    assert drafted["draft"][0]["subject"] == "Slides x"
    read = await office.call("read_mail", "read it")
    assert read["message"][0]["body"] == "Ready."
    await office.call("send_mail", "send it")
    assert office.asked[-1].text == "Send *Slides x*, to a@b.example? yes / no"
    mail_id = str(office.asked[-1].payload["entity_id"])
    assert await carry_out(office.own, "send_mail", mail_id)
    with pytest.raises(ToolInputError, match="only a draft"):
        await office.call("send_mail", "send it")


async def test_a_message_that_was_read_is_answered_and_no_draft(tmp_path: Path) -> None:
    office = Office(tmp_path)
    office.back_end = local_assistant(tmp_path / "own", samples=SAMPLES, clock=FixedClock())
    assistant = office_over(office.back_end, Names())
    office.tools |= {one.name: one for one in MAIL.over(assistant)}
    await office.call("search_mail")
    await office.call("read_mail", "read the second one")
    given: dict[str, Any] = {"to": [], "title": "", "text": "I can do Friday", "answers": "it"}
    drafted = await office.call("draft_mail", "reply to her: I can do Friday", **given)
    assert drafted["draft"][0]["subject"] == "Re: Duty rota for next month"
    assert "leila.haddad@" in str(drafted["draft"])
    with pytest.raises(ToolInputError, match="only a message that came"):
        await office.call("draft_mail", "reply: and Sunday", **given)
    with pytest.raises(ToolInputError, match="an address and a subject"):
        await office.call("draft_mail", to=["a@b.example"], title="", text="Ready.")


async def test_contacts_and_tasks_are_added_changed_done_and_asked_about(office: Office) -> None:
    said = "add Maria Kern, m@k.example"
    await office.call("add_contact", said, name=" Maria  Kern ", email="m@k.example")
    changed = await office.call(
        "change_contact", "change Maria's phone to +49 30 55", phone="+49 30 55"
    )
    assert changed["changed"][0]["email"] == "m@k.example"
    found = await office.call("search_contacts", "find marias number", words="marias")
    assert [one["name"] for one in found["contacts"]] == ["Maria Kern"]
    await office.call("delete_contact", "delete that contact")
    assert office.asked[-1].text == "Delete *Maria Kern*, m@k.example? yes / no"
    await office.call("add_task", "call the lab", title="Call the lab", due="tomorrow")
    await office.call("move_task", "move the task to Friday", due="Friday")
    await office.call("complete_task", "complete the task")
    assert (await office.call("list_tasks"))["more"] is False
    assert (await office.call("list_tasks", include_done=True))["tasks"][0]["is_done"] is True
    await office.call("delete_task", "delete the task")
    assert office.asked[-1].text.startswith("Delete *Call the lab*, due ")
    await office.call("delete_task", "cancel the reminder")
    assert office.asked[-1].text.startswith("Delete *Call the lab*, due ")


async def test_an_hour_that_was_wished_of_a_task_is_not_lost(office: Office) -> None:
    said = "remind me to call the lab tomorrow at 8"
    added = await office.call("add_task", said, title="Call the lab", due="tomorrow at 8")
    assert added["added"][0]["title"] == "Call the lab (08:00)"
    assert added["added"][0]["due"] == f"{TOMORROW:%Y-%m-%d}"


async def test_a_day_that_is_only_pointed_at_is_no_day(office: Office) -> None:
    said = "remind me on that day at 8 to print her labs"
    with pytest.raises(ToolInputError, match="which day that is"):
        await office.call("add_task", said, title="Print her labs", due="on that day at 8")


async def test_an_hour_that_has_passed_today_is_tomorrows(office: Office) -> None:
    passed, ahead = (f"{NOW + timedelta(hours=by):%H:00}" for by in (-1, 2))
    for hour, day in ((passed, TOMORROW), (ahead, NOW)):
        said = f"remind me to check the drain at {hour}"
        added = await office.call("add_task", said, title="Check the drain", due=f"at {hour}")
        assert added["added"][0]["due"] == f"{day:%Y-%m-%d}"


async def test_todays_weekday_lists_today_and_the_day_in_a_week(office: Office) -> None:
    in_a_week = NOW.date() + timedelta(days=7)
    for title, due in (("Rota", NOW.date()), ("GP", in_a_week), ("Scan", TOMORROW.date())):
        await office.own.tasks.add(Task(title=title, due=due), fresh())
    weekday = f"{NOW:%A}"
    listed = await office.call("list_tasks", f"tasks on {weekday}", since=weekday, until=weekday)
    assert [one["title"] for one in listed["tasks"]] == ["Rota", "GP"]


async def test_another_hour_of_a_task_stands_in_its_title(office: Office) -> None:
    said = "remind me to call the lab tomorrow at 8"
    await office.call("add_task", said, title="Call the lab", due="tomorrow at 8")
    (moved,) = (await office.call("move_task", "no, at 9", due="9:00"))["moved"]
    assert (moved["title"], moved["due"]) == ("Call the lab (09:00)", f"{TOMORROW:%Y-%m-%d}")
    weekday = f"{NOW:%A}"  # today's: the one in a week is meant
    (moved,) = (await office.call("move_task", f"make it {weekday}", due=f"{weekday} 11:30"))[
        "moved"
    ]
    in_a_week = NOW.date() + timedelta(days=7)
    assert (moved["title"], moved["due"]) == ("Call the lab (11:30)", f"{in_a_week}")
    (moved,) = (await office.call("move_task", "make it a day later", due="a day later"))["moved"]
    assert moved["due"] == f"{in_a_week + timedelta(days=1)}"
    half = "half an hour later"
    (moved,) = (await office.call("move_task", half, due=half))["moved"]
    assert (moved["title"], moved["due"]) == (
        "Call the lab (12:00)",
        f"{in_a_week + timedelta(days=1)}",
    )
    (moved,) = (await office.call("move_task", "move it to Monday morning", due="Monday morning"))[
        "moved"
    ]
    assert moved["title"] == "Call the lab (morning)"
    (moved,) = (await office.call("move_task", "move it to tonight", due="tonight"))["moved"]
    assert (moved["title"], moved["due"]) == ("Call the lab (tonight)", f"{NOW:%Y-%m-%d}")
    (moved,) = (await office.call("move_task", "move it to 3", due="3"))["moved"]
    assert moved["title"] == "Call the lab (15:00)"
    (moved,) = (await office.call("move_task", "tomorrow 4pm", due="tomorrow 4pm"))["moved"]
    assert moved["title"] == "Call the lab (16:00)"
    assert moved["due"] == f"{TOMORROW:%Y-%m-%d}"


async def test_a_document_that_names_another_patient_is_not_read(tmp_path: Path) -> None:
    samples = tmp_path / "samples"
    (samples / "documents").mkdir(parents=True)
    (samples / "documents" / "Ward names.txt").write_text("Mrs Whitfield, room 4", encoding="utf-8")
    (samples / "documents" / "Guide.txt").write_text("Call 102.", encoding="utf-8")
    office = Office(tmp_path)
    office.back_end = local_assistant(tmp_path, samples=samples, clock=FixedClock())
    assistant = office_over(office.back_end, Names())
    office.tools.update({one.name: one for one in DOCUMENTS.over(assistant)})
    await office.call("search_documents")
    assert (await office.call("read_own_document", "read the guide"))["text"] == "Call 102."
    read = await office.call("read_own_document", "read the ward names")
    assert "text" not in read
    assert "not shown" in read["withheld"]


def _with_samples(office: Office, samples: Path) -> None:
    office.back_end = local_assistant(samples.parent, samples=samples, clock=FixedClock())
    assistant = office_over(office.back_end, Names())
    made = (*DOCUMENTS.over(assistant), *MAIL.over(assistant))
    office.tools.update({one.name: one for one in made})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("Guide.txt", f"{'Beds are free. ' * 3_000}Mrs Whitfield, room 4".encode()),
        ("Guide.txt", b"Mrs Whit\xc2\xadfield, room 4"),
        ("Guide.txt", "\ufeffMrs Whitfield, room 4".encode("utf-16-le")),
        ("Guide.csv", b"room;name\n4;WhitfieldMargaret\n"),
        ("Guide.json", b'{"name": "Whit\\u0066ield"}'),
        ("Guide.xml", b"<name>Whit&#102;ield</name>"),
        ("Guide.ics", b"SUMMARY:CT of Margaret Whit\r\n field\r\n"),
        ("Guide.eml", b"Subject: x\n\nCT of Whit=66ield"),
        (
            "Guide.eml",
            b"Subject: x\nContent-Type: text/plain\nContent-Transfer-Encoding: base64\n\n"
            b"Q1Qgb2YgTXJzIFdoaXRmaWVsZA==\n",
        ),
    ],
    ids=["far in", "hyphen", "utf-16", "as one word", "json", "xml", "ics", "quoted", "base64"],
)
async def test_however_far_in_a_document_names_another_patient_it_is_not_read(
    tmp_path: Path, name: str, data: bytes
) -> None:
    documents = tmp_path / "samples" / "documents"
    documents.mkdir(parents=True)
    (documents / name).write_bytes(data)
    office = Office(tmp_path)
    _with_samples(office, tmp_path / "samples")
    await office.call("search_documents")
    read = await office.call("read_own_document", "read the guide")
    assert "text" not in read
    assert "not shown" in read["withheld"]


async def test_a_message_that_names_another_patient_far_down_is_not_read(tmp_path: Path) -> None:
    text = f"{'All is well. ' * 3_000}It is about Mrs Whitfield."
    row = {"id": "mail-1", "subject": "Result", "sender": "Anna <a@b.example>",
           "received": "{today-1}T08:12:00Z", "text": text}  # fmt: skip
    samples = tmp_path / "samples"
    samples.mkdir()
    (samples / "mail.json").write_text(json.dumps({"version": 1, "rows": [row]}), encoding="utf-8")
    office = Office(tmp_path)
    _with_samples(office, samples)
    await office.call("search_mail")
    read = await office.call("read_mail", "read the message Result")
    assert read["message"][0]["title"] == "other message"
    assert "well" not in json.dumps(read)


async def test_of_a_long_text_the_head_is_shown_and_it_is_said_that_there_is_more(
    tmp_path: Path,
) -> None:
    documents = tmp_path / "samples" / "documents"
    documents.mkdir(parents=True)
    (documents / "Guide.txt").write_bytes(b"word " * 10_000)
    office = Office(tmp_path)
    _with_samples(office, tmp_path / "samples")
    await office.call("search_documents")
    read = await office.call("read_own_document", "read the guide")
    assert len(read["text"]) == 20_000
    assert read["cut"] == "the first 20,000 of 50,000 characters"


async def test_nothing_works_without_a_back_end_and_everybody_is_told(tmp_path: Path) -> None:
    assistant = office_over(NoAssistant())
    office = Office(tmp_path)
    office.tools.update({one.name: one for one in CALENDAR.over(assistant)})
    with pytest.raises(AssistantError):
        await office.call("list_events")
    with pytest.raises(AssistantError):
        action_of("format_disk")
    assert {action_of(name) for name in ACTION_WORDS} == set(ACTION_WORDS)


@pytest.mark.slow
@pytest.mark.parametrize("text", INJECTIONS)
async def test_orders_inside_titles_and_mails_change_nothing_but_text(
    tmp_path: Path, text: str
) -> None:
    office = Office(tmp_path)
    board = await office.event("Tumor board")
    evil = await office.event(text, hour=9)
    mail = NewEmail(to=("a@b.example",), subject=text, text=text)
    drafts = [await office.own.mail.draft(mail, fresh()) for _ in range(2)]
    await office.own.tasks.add(Task(title=text), fresh())
    before = await _whole(office)
    listed = await office.call("list_events", since="tomorrow", until="tomorrow")
    assert len(listed["events"]) == 2
    await office.call("list_tasks")
    await office.call("search_mail")
    assert office.asked == []
    with suppress(ToolInputError):
        await office.call("cancel_event", "cancel the tumor board", event_id="")
    # At worst the user is asked which one; what the title says is never taken for their word.
    assert office.asked
    for question in office.asked:
        assert board in question.payload.get("candidates", [question.payload.get("entity_id")])
    with suppress(ToolInputError):
        await office.call("cancel_event", "cancel the tumor board", event_id=evil)
    # Which of two that fit a model may choose; the user reads its name before anything is done.
    for question in office.asked:
        asked_about = question.payload.get("candidates", [question.payload.get("entity_id")])
        assert board in asked_about or text in question.text
    assert await _whole(office) == before
    assert [await office.own.mail.get(one.id) for one in drafts] == drafts


async def _whole(office: Office) -> list[object]:
    own, day = office.own, timedelta(days=2)
    return [
        await own.calendar.between(TOMORROW, TOMORROW + day),
        await own.tasks.list(limit=9),
        await own.contacts.search("", limit=9),
    ]


async def test_turns_side_by_side_do_not_meet(tmp_path: Path) -> None:
    offices = [Office(tmp_path / str(number)) for number in range(5)]
    for number, office in enumerate(offices):
        await office.event(f"Meeting of {number}")
    calls = (office.call("list_events", since="tomorrow", until="tomorrow") for office in offices)
    found = await asyncio.gather(*calls)
    titles = [[row["title"] for row in one["events"]] for one in found]
    assert titles == [[f"Meeting of {number}"] for number in range(5)]


@pytest.mark.parametrize("start", ["tomorrow", "tomorrow morning", "2026-12-02"])
async def test_no_event_begins_at_an_hour_that_nobody_named(office: Office, start: str) -> None:
    with pytest.raises(ToolInputError, match="no hour is named"):
        await office.call("create_event", "add a Rota", title="Rota", start=start)


async def test_an_event_of_tonight_that_is_moved_past_midnight_is_of_the_day_behind(
    office: Office,
) -> None:
    event = await office.event("Handover", day=-1, hour=23)
    await office.call("list_events")
    moved = await office.call("move_event", "move the handover", event_id=event, start="0:30")
    assert moved["moved"][0]["start"].startswith(f"{TOMORROW:%Y-%m-%d}T00:30")


@pytest.mark.parametrize(
    ("due", "hour"),
    [("heute Nacht um 1", "01:00"), ("tonight at 8", "20:00"), ("in 2 hours", None)],
)
async def test_the_hour_of_a_task_is_the_one_that_was_meant(
    office: Office, due: str, hour: str | None
) -> None:
    added = await office.call("add_task", "remind me to call", title="call", due=due)
    told = hour or f"{NOW + timedelta(hours=2):%H:%M}"
    assert added["added"][0]["title"] == f"call ({told})"
