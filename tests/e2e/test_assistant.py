"""A clinician's calendar over a WebSocket: asked about, moved, cancelled only after a yes."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
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
    said = next(one["content"] for one in request.messages[::-1] if one["role"] == "user")
    wanted = next((tool for verb, tool in _VERBS.items() if verb in said.lower()), "list_events")
    name = next((one for one in request.tool_names if one.endswith(wanted)), None)
    return Reply(tool_calls=[ToolCall(name, _arguments(wanted))]) if name else Reply(text="Noted.")


def _arguments(tool: str) -> dict[str, Any]:
    day = tomorrow()
    if tool == "list_events":
        last = day + timedelta(days=1)
        return {"since": day.date().isoformat(), "until": last.date().isoformat()}
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
    files = list((server.data / "assistant").rglob("calendar.ics"))
    return "".join(path.read_text("utf-8") for path in files).replace("\r\n ", "")


async def test_an_event_is_listed_moved_named_and_gone_only_after_yes(server: Server) -> None:
    async with talking(server.url, "plain") as talk:
        await say(talk, "start tumor board for patient_4")
        listed = await say(talk, "@Assistant what's on my calendar tomorrow?")
        assert "Tumor board" in listed
        moved = await say(talk, "@Assistant move tomorrow's 3pm one to Friday")
        assert '"moved"' in moved
        asked = await say(talk, "@Assistant cancel it")
        assert re.search(r"Cancel \*Tumor board\*, .* 10:00\? yes / no", asked)
        before = calendar(server)
        assert "Nothing was changed" in await say(talk, "no")
        assert calendar(server) == before
        await say(talk, "@Assistant cancel it")
        assert "Cancelled: *Tumor board*" in await say(talk, "yes")
        at = (tomorrow() + timedelta(hours=15)).strftime("%Y%m%dT%H%M%SZ")
        assert re.search(rf"EXDATE[^\r\n]*{at}", calendar(server))
        assert "several" not in (gone := await say(talk, "@Assistant cancel it"))
        assert "not clear which event" in gone


async def test_two_candidates_are_asked_about_and_another_word_means_no(server: Server) -> None:
    async with talking(server.url, "plain") as talk:
        await say(talk, "start tumor board for patient_15")
        await say(talk, "@Assistant what's on my calendar tomorrow?")
        assert "several events may be meant" in await say(talk, "@Assistant cancel the meeting")
        asked = await say(talk, "@Assistant cancel tomorrow's clinic")
        assert "Cancel *Outpatient clinic*" in asked
        before = calendar(server)
        await say(talk, "@Assistant what's on my calendar tomorrow?")
        await say(talk, "yes")
        assert calendar(server) == before


async def test_what_one_patient_was_shown_is_no_candidate_of_another(server: Server) -> None:
    async with talking(server.url, "plain") as talk:
        await say(talk, "start tumor board for patient_4")
        await say(talk, "@Assistant what's on my calendar tomorrow?")
        await say(talk, "switch to patient_15")
        assert "not clear which event" in await say(talk, "@Assistant cancel tomorrow's clinic")


async def test_every_run_is_stored_with_its_patient(server: Server) -> None:
    async with talking(server.url, "plain") as talk:
        await say(talk, "start tumor board for patient_4")
        await say(talk, "@Assistant what's on my calendar tomorrow?")
        folder = server.data / "chat-sessions" / talk.conversation
        stored = orjson.loads((folder / "patient_patient_4_context.json").read_bytes())
        runs = stored["tool_memory"]["executions"]
        assert [one["tool_name"] for one in runs][-1] == "list_events"
        assert {one["entity_type"] for one in stored["tool_memory"]["entities"]} == {
            "calendar_event"
        }


async def test_without_a_language_model_the_calendar_works_too(tmp_path: Path) -> None:
    with running_server(tmp_path, LLM_PROVIDER="offline") as offline:
        async with talking(offline.url, "plain") as talk:
            assert "15:00 Tumor board" in await say(talk, "@Assistant what is on tomorrow?")
            asked = await say(talk, "@Assistant cancel the 3pm one tomorrow")
            assert re.search(r"Cancel \*Tumor board\*, .* 15:00\? yes / no", asked)
            assert "Cancelled: *Tumor board*" in await say(talk, "yes")
            assert "Tumor board" not in await say(talk, "@Assistant what is on tomorrow?")
            assert "I changed nothing" in await say(talk, "@Assistant cancel it")
