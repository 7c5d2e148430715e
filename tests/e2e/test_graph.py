"""A calendar in Microsoft 365 over a WebSocket, while Graph pages, throttles and ends tokens."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from data_models.clock import SystemClock
from tests.e2e.beside import running_beside
from tests.e2e.server import Server, running_server
from tests.e2e.talks import Talk, talking
from tests.fakes_graph import CLIENT_SECRET, FakeGraph
from tests.fakes_graph_data import User

pytestmark = pytest.mark.slow

ADA = "ada@clinic.example"


def tomorrow(hour: int) -> datetime:
    today = SystemClock().now().astimezone(UTC)
    return today.replace(hour=hour, minute=0, second=0, microsecond=0) + timedelta(days=1)


@pytest.fixture(scope="module")
def tenant() -> Iterator[FakeGraph]:
    fake = FakeGraph()
    with running_beside(fake):
        yield fake


@pytest.fixture(scope="module")
def server(tenant: FakeGraph, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    variables = {**tenant.settings(dev=ADA), "LLM_PROVIDER": "offline"}
    with running_server(tmp_path_factory.mktemp("graph"), **variables) as running:
        yield running


@pytest.fixture
def graph(tenant: FakeGraph) -> Iterator[FakeGraph]:
    """The tenant without what other tests left; all that is asked has to be in the reference."""
    tenant.clear()
    yield tenant
    assert tenant.faults == []


@pytest.fixture
def ada(graph: FakeGraph) -> User:
    """A day with more events than fit on two pages."""
    user = graph.user(ADA)
    for hour, title in [(8, "Ward round"), (9, "Clinic"), (11, "Journal club"), (13, "Teaching")]:
        user.event(title, tomorrow(hour), tomorrow(hour) + timedelta(minutes=30))
    user.event("Tumor board", tomorrow(15), tomorrow(16))
    return user


async def say(talk: Talk, text: str) -> str:
    answer = await talk.say(
        f"@Secretary {text}" if text not in ("yes", "no") else text, last_words=""
    )
    assert answer.failure is None
    return answer.text


def board(ada: User) -> list[datetime]:
    return [one["start"] for one in ada.events.values() if one["subject"] == "Tumor board"]


async def test_what_another_deleted_meanwhile_is_said_to_be_gone(
    graph: FakeGraph, ada: User, server: Server
) -> None:
    async with talking(server.url, "plain") as talk:
        await say(talk, "what's on my calendar tomorrow?")
        assert "Cancel *Tumor board*" in await say(talk, "cancel the 3pm one")
        ada.events.popitem()
        assert "Cancelled" not in await say(talk, "yes")
        assert len(ada.events) == 4


async def test_a_calendar_that_cannot_be_had_changes_nothing_and_says_so(
    graph: FakeGraph, ada: User, server: Server
) -> None:
    async with talking(server.url, "plain") as talk:
        await say(talk, "what's on my calendar tomorrow?")
        await say(talk, "cancel the 3pm one")
        graph.denied = {"calendar"}
        assert "refuses access" in await say(talk, "yes")
        assert len(board(ada)) == 1
        graph.denied = set()
        graph.fail_next(429, Retry_After="600")
        assert "Ward round" not in await say(talk, "what's on my calendar tomorrow?")
        assert "Ward round" in await say(talk, "what's on my calendar tomorrow?")


async def test_a_mail_is_sent_once_after_a_yes_although_the_answer_is_lost(
    graph: FakeGraph, ada: User, server: Server
) -> None:
    async with talking(server.url, "plain") as talk:
        graph.lose_next()
        words = "draft a mail to ben@clinic.example about Board: Shall we meet at three?"
        assert "Board" in await say(talk, words)
        (draft,) = ada.messages.values()
        assert draft["body"]["content"] == "Shall we meet at three?"
        asked = await say(talk, "send it")
        assert "Send *Board*" in asked
        assert "yes / no" in asked
        assert ada.sent == {}
        graph.pass_next()
        graph.lose_next()
        assert "Sent: *Board*" in await say(talk, "yes")
        assert ada.sent == {draft["id"]: 1}


async def test_contacts_tasks_and_files_are_the_users_own(
    graph: FakeGraph, ada: User, server: Server
) -> None:
    ada.contact("Anna Schmidt", email="anna@clinic.example")
    ada.file("Plan.txt", b"Ward 7 until noon", modified=tomorrow(8))
    graph.user("ben@clinic.example").contact("Anna Secret", email="secret@clinic.example")
    async with talking(server.url, "plain") as talk:
        found = await say(talk, "what is Anna's phone number in my contacts?")
        assert "anna@clinic.example" in found
        assert "secret" not in found.lower()
        graph.lose_next()
        assert "Call the lab" in await say(talk, 'add a task "Call the lab" by Friday')
        assert [task["title"] for task in ada.tasks.values()] == ["Call the lab"]
        assert "Call the lab" in await say(talk, "list my tasks")
        assert "Ward 7 until noon" in await say(talk, "read my document about plan")


def test_nothing_of_the_mailbox_and_no_secret_is_logged(server: Server) -> None:
    assert server.log_lines("graph_not_done")
    for hidden in (CLIENT_SECRET, "app-token", "Tumor board", "Ward", ADA, "Schmidt", "AAkALgAA"):
        assert hidden not in server.log
