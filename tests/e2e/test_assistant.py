"""A clinician's calendar over a WebSocket: asked about, moved, cancelled only after a yes."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest

from data_models.clock import SystemClock
from tests.e2e.models import ModelServer, running_model
from tests.e2e.server import Server, running_server
from tests.e2e.talks import Talk, talking
from tests.fakes_openai import RecordedRequest, Reply, ToolCall
from tests.fakes_openai_brain import structured_answer

pytestmark = pytest.mark.slow

_VERBS = {"cancel": "cancel_event", "delete": "cancel_event", "move": "move_event"}


def tomorrow() -> datetime:
    day = SystemClock().now().replace(hour=0, minute=0, second=0, microsecond=0)
    return day + timedelta(days=1)


def brain(request: RecordedRequest) -> Reply:
    """Call the tool that the user's verb names, then repeat what it gave."""
    if "response_format" in request.body or not request.tool_names:
        return Reply(text=structured_answer(request.body))
    if request.messages[-1]["role"] == "tool":
        return Reply(text=f"The tool says: {str(request.messages[-1]['content'])[:1500]}")
    said = request.said.lower()
    wanted = next((tool for verb, tool in _VERBS.items() if verb in said), "list_events")
    name = next((one for one in request.tool_names if one.endswith(wanted)), None)
    return Reply(tool_calls=[ToolCall(name, _arguments(wanted))]) if name else Reply(text="Noted.")


def _arguments(tool: str) -> dict[str, Any]:
    day = tomorrow()
    if tool == "list_events":
        return {"since": day.date().isoformat(), "until": day.date().isoformat()}
    if tool == "move_event":
        return {"start": (day + timedelta(days=2, hours=10)).isoformat(), "event_id": "made-up"}
    return {"event_id": ""}


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with running_model(brain) as server:
        yield server


@pytest.fixture(scope="module")
def server(model: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_server(tmp_path_factory.mktemp("assistant"), **model.settings()) as running:
        yield running


async def say(talk: Talk, text: str) -> str:
    answer = await talk.say(text, last_words="")
    assert answer.failure is None
    return answer.text


def calendar(server: Server) -> str:
    files = list((server.data / "chat-users").rglob("calendar.ics"))
    return "".join(path.read_text("utf-8") for path in files).replace("\r\n ", "")


def tool_memories(server: Server) -> str:
    """Return what patients' documents keep of tools."""
    files = (server.data / "chat-sessions").rglob("patient_*_context.json")
    return "".join(str(orjson.loads(path.read_bytes())["tool_memory"]) for path in files)


async def test_an_event_is_listed_moved_named_and_gone_only_after_yes(server: Server) -> None:
    async with talking(server.url, "plain") as talk:
        await say(talk, "start tumor board for patient_4")
        listed = await say(talk, "@Secretary what's on my calendar tomorrow?")
        assert "Tumor board" in listed
        assert "Tumor board" not in tool_memories(server), "it is the user's, not the patient's"
        moved = await say(talk, "@Secretary move tomorrow's 3pm one to Friday")
        assert '"moved"' in moved
        asked = await say(talk, "@Secretary cancel it")
        assert re.search(r"Cancel \*Tumor board\*, .* 10:00\? yes / no", asked)
        before = calendar(server)
        assert "Nothing was changed" in await say(talk, "no")
        assert calendar(server) == before
        await say(talk, "@Secretary cancel it")
        assert "Cancelled: *Tumor board*" in await say(talk, "yes")
        at = (tomorrow() + timedelta(hours=15)).strftime("%Y%m%dT%H%M%SZ")
        assert re.search(rf"EXDATE[^\r\n]*{at}", calendar(server))
        assert "several" not in (gone := await say(talk, "@Secretary cancel it"))
        assert "not clear which event" in gone


async def test_every_run_is_stored_with_its_user_and_not_with_the_patient(server: Server) -> None:
    async with talking(server.url, "plain") as talk:
        await say(talk, "start tumor board for patient_4")
        await say(talk, "@Secretary what's on my calendar tomorrow?")
        folder = server.data / "chat-sessions" / talk.conversation
        document = orjson.loads((folder / "patient_patient_4_context.json").read_bytes())
        stored, folders = document["tool_memory"], server.data / "chat-users" / "personal"
        assert (stored["executions"], stored["entities"]) == ([], [])
        (path,) = folders.glob(f"*/{talk.conversation}/patient_patient_4.json")
        own = orjson.loads(path.read_bytes())["memory"]
        assert [one["tool_name"] for one in own["executions"]][-1] == "list_events"
        assert {one["entity_type"] for one in own["entities"]} == {"calendar_event"}


# -- without a language model ----------------------------------------------------------------


@pytest.fixture(scope="module")
def offline(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("offline")
    with running_server(folder, LLM_PROVIDER="offline") as running:
        yield running


async def test_without_a_language_model_the_calendar_works_too(offline: Server) -> None:
    async with talking(offline.url, "plain") as talk:
        await say(talk, "start with patient_4")
        assert "15:00–16:00 Tumor board" in await say(talk, "what's on my calendar tomorrow?")
        moved = await say(talk, "move the 3pm one to Friday")
        assert re.search(r"Moved \(.*\)\*\*\n- Fri .* 15:00–16:00 Tumor board", moved)
        asked = await say(talk, "cancel it")
        assert re.search(r"Cancel \*Tumor board\*, Fri .* 15:00\? yes / no", asked)
        before = calendar(offline)
        assert "Nothing was changed" in await say(talk, "no")
        assert calendar(offline) == before
        await say(talk, "cancel it")
        assert "Cancelled: *Tumor board*" in await say(talk, "yes")
        assert len(re.findall("EXDATE", calendar(offline))) == 1
        assert "I changed nothing" in await say(talk, "cancel it")


async def test_without_one_a_pick_goes_on_with_the_request(offline: Server) -> None:
    async with talking(offline.url, "plain") as talk:
        await say(talk, "start with patient_7")
        which = await say(talk, "move the clinic to Wednesday at 14:00")
        assert which.count("*Outpatient clinic*") == 5
        third = re.search(r"3\. \*Outpatient clinic\*, (\w+ \d+ \w+)", which)
        assert third is not None
        assert "Moved" in await say(talk, "3")
        asked = await say(talk, "cancel it")
        assert re.search(r"Cancel \*Outpatient clinic\*, Wed .* 14:00", asked)
        assert "Which event" not in await say(talk, "never mind")


async def test_without_one_mail_is_found_read_drafted_and_sent_after_a_yes(offline: Server) -> None:
    def outbox() -> list[Path]:
        return list((offline.data / "chat-users").rglob("outbox/*.eml"))

    async with talking(offline.url, "plain") as talk:
        await say(talk, "start with patient_4")
        assert "Agenda of the tumor board" in await say(talk, "mail from Anna")
        assert "conference room A" in await say(talk, "read it")
        drafted = await say(talk, "draft a mail to anna@hospital.example about Slides: Ready.")
        assert "Drafted, not sent" in drafted
        assert "goes to somebody else" in await say(talk, "send it to leila")
        assert "Send *Slides*, to anna@hospital.example?" in await say(talk, "send")
        assert outbox() == []
        assert "Sent: *Slides*" in await say(talk, "yes")
        assert len(outbox()) == 1
        assert "only a draft can be sent" in await say(talk, "send it")


async def test_without_one_tasks_are_listed_moved_done_and_deleted(offline: Server) -> None:
    async with talking(offline.url, "plain") as talk:
        await say(talk, "start with patient_4")
        assert "Send the duty rota" in await say(talk, "my tasks")
        added = await say(talk, "add a task to call the lab by Friday")
        assert re.search(r"- Fri .* call the lab", added)
        assert "call the lab" in await say(talk, "my tasks on Friday")
        day = datetime.now(UTC) + timedelta(days=4)  # it is due in two
        assert f"{day:%a}" in await say(talk, f"move the duty rota task to {day:%A}")
        assert "Done" in await say(talk, "complete the task about the slides")
        asked = await say(talk, "delete the radiation safety task")
        assert "Delete *Register for the radiation safety course*?" in asked
        assert "Deleted" in await say(talk, "yes")
        left = await say(talk, "my tasks")
        assert "slides" not in left
        assert "radiation" not in left


async def test_without_one_contacts_are_found_changed_and_deleted(offline: Server) -> None:
    async with talking(offline.url, "plain") as talk:
        await say(talk, "start with patient_4")
        assert "+49 30 5550 102" in await say(talk, "find contact Jonas Weber")
        assert "Added" in await say(talk, "add contact Maria Kern, maria.kern@lab.example")
        changed = await say(talk, "change Maria Kern's phone to +49 30 5550 300")
        assert "+49 30 5550 300" in changed
        assert "Delete *Maria Kern*" in await say(talk, "delete that contact")
        assert "Nothing was changed" in await say(talk, "no")
        assert "Maria Kern" in await say(talk, "find contact Maria Kern")


async def test_without_one_a_time_behind_a_no_moves_what_was_done_last(offline: Server) -> None:
    async with talking(offline.url, "plain") as talk:
        await say(talk, "start with patient_4")
        await say(talk, "latest CEA?")
        await say(talk, "remind me to call her tomorrow at 9")
        assert "(08:00)" in await say(talk, "no, at 8")
        assert "Moved" in await say(talk, "no, Friday")
        await say(talk, "add an event tomorrow at 10: rota")
        assert "11:00–11:30 rota" in await say(talk, "nein, um 11")
        assert "CEA" in await say(talk, "latest CEA?")
        assert "Moved" not in await say(talk, "no, Friday")
        assert "Nothing was changed" in await say(talk, "put it back")


async def test_without_one_a_change_that_is_not_understood_is_no_list(offline: Server) -> None:
    async with talking(offline.url, "plain") as talk:
        await say(talk, "start with patient_4")
        assert "only simple requests" in await say(talk, "add Jones to my contacts, phone 5551")
        told = await say(talk, "Erinnere mich morgen um 9, die Tochter anzurufen")
        assert "die Tochter anzurufen (09:00)" in told


async def test_without_one_documents_are_found_read_and_deleted(offline: Server) -> None:
    async with talking(offline.url, "plain") as talk:
        await say(talk, "start with patient_4")
        assert "On-call guide.txt" in await say(talk, "my documents")
        assert "Pathology on call: 102" in await say(talk, "read the on-call guide")
        assert "Delete *Tumor board checklist.md*" in await say(talk, "delete the checklist")
        assert "Deleted" in await say(talk, "yes")
        assert "checklist" not in await say(talk, "my documents")


async def test_without_one_another_patients_appointment_has_its_time_only(offline: Server) -> None:
    async with talking(offline.url, "plain") as talk:
        await say(talk, "start with patient_15")
        asked = await say(talk, 'create "Call Mrs Whitfield" on Thursday at 12:00')
        assert "Whom do you mean by “Whitfield”?" in asked
        made = await say(talk, next(one for one in ("1", "2") if f"{one}. **Zoë" in asked))
        assert "Whitfield" not in made
        listed = await say(talk, "what's on my calendar on Thursday?")
        assert "12:00–12:30 other appointment" in listed
        asked = await say(talk, "cancel the 12:00 one on Thursday")
        assert "Cancel *other appointment*" in asked
        await say(talk, "switch to patient_4")
        shown = await say(talk, "what's on my calendar on Thursday?")
        # It was made while another chart was open: only its time is shown here, too.
        assert "12:00–12:30 about another patient" in shown
        assert "Whitfield" not in shown.partition("PT_CTX")[0]
        folder = offline.data / "chat-sessions" / talk.conversation
        stored = (folder / "patient_patient_15_context.json").read_text("utf-8")
        tools = orjson.dumps(orjson.loads(stored)["tool_memory"]["entities"]).decode()
        assert "Whitfield" not in tools


async def test_without_one_what_is_moved_beside_a_question_is_cancelled_no_more(
    offline: Server,
) -> None:
    async with talking(offline.url, "plain") as talk:
        await say(talk, "start with patient_15")
        assert "Cancel *Ward round*" in await say(talk, "cancel the ward round tomorrow")
        moved = await say(talk, "move it 30 min later")
        assert "Moved" in moved
        assert "yes / no" not in moved
        assert "Moved back" in await say(talk, "undo")
