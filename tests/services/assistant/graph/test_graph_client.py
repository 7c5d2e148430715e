"""Tokens, pauses, pages and errors of Microsoft Graph, which all its services have in common."""

import asyncio
import time
from collections.abc import AsyncIterator
from itertools import count
from typing import Any

import aiohttp
import orjson
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from structlog.testing import capture_logs
from yarl import URL

from data_models import errors
from services.assistant.assistant_factory import GraphAssistant, MappedUsers, graph_for
from services.assistant.back_end import AssistantServices
from services.assistant.graph.graph_account import GraphAccount
from services.assistant.graph.graph_client import GraphClient, GraphLimits
from services.assistant.own_things import Contact
from services.own_sign_in import IssuedToken, OwnToken, Tokens
from tests.basis import basis_of
from tests.fakes import CountingIds, FixedClock
from tests.fakes_graph import TENANT, FakeGraph
from tests.fakes_graph_data import User
from tests.services.assistant.effects import fresh
from tests.services.assistant.graph.conftest import BERLIN, LIMITS, settings_of
from tests.tables import with_cases

SECRET = "app~secret"


# -- tokens -----------------------------------------------------------------------------------


async def test_one_token_serves_requests_at_once(graph: FakeGraph, own: AssistantServices) -> None:
    await asyncio.gather(*(own.contacts.get("none") for _ in range(8)))
    assert graph.tokens_issued == 1


async def test_a_token_is_renewed_before_it_ends(
    graph: FakeGraph, own: AssistantServices, clock: FixedClock
) -> None:
    await own.contacts.get("none")
    clock.advance(3_599 - 301)
    await own.contacts.get("none")
    assert graph.tokens_issued == 1
    clock.advance(2)
    await own.contacts.get("none")
    assert graph.tokens_issued == 2


async def test_a_token_that_lives_shortly_is_used_all_the_same(
    graph: FakeGraph, own: AssistantServices
) -> None:
    graph.token_seconds = 60
    await own.contacts.get("none")
    await own.contacts.get("none")
    assert graph.tokens_issued == 1


async def test_a_token_that_ended_early_is_renewed_once(
    graph: FakeGraph, ada: User, own: AssistantServices
) -> None:
    found = ada.contact("Ben")
    await own.contacts.get(found)
    graph.end_tokens()
    assert await own.contacts.get(found) is not None
    assert graph.tokens_issued == 2
    assert len(graph.asked) == 3


async def test_a_late_refusal_of_an_old_token_does_not_cost_the_new_one(clock: FixedClock) -> None:
    numbers = count(1)

    async def issue() -> IssuedToken:
        return IssuedToken(f"t{next(numbers)}", 3_600)

    tokens = Tokens(sign_in=issue, clock=clock)
    assert await tokens.token() == "t1"
    tokens.note_refusal("t1")
    assert await tokens.token() == "t2"
    tokens.note_refusal("t1")
    assert await tokens.token() == "t2"


async def test_a_token_that_is_never_taken_is_not_renewed_for_ever(
    graph: FakeGraph, own: AssistantServices
) -> None:
    graph.fail_next(401, times=10, code="InvalidAuthenticationToken")
    with pytest.raises(errors.AssistantRefusedError):
        await own.contacts.get("none")
    assert len(graph.asked) == 2


async def test_a_wrong_secret_is_told_without_the_secret(
    graph: FakeGraph, session: aiohttp.ClientSession, clock: FixedClock, ids: CountingIds
) -> None:
    values = {**graph.settings(dev="ada"), "GRAPH_CLIENT_SECRET": "wrong~secret"}
    assistant = graph_for(
        basis_of(settings_of(values), session, clock=clock, ids=ids), limits=LIMITS
    )
    with pytest.raises(errors.AssistantRefusedError) as caught:
        await assistant.of("dev", zone=BERLIN).contacts.get("none")
    assert "wrong~secret" not in repr(caught.value)
    assert caught.value.__cause__ is None
    assert graph.asked == []


async def test_one_users_own_token_works_on_me(
    graph: FakeGraph, ada: User, session: aiohttp.ClientSession, clock: FixedClock, ids: CountingIds
) -> None:
    graph.own_token("delegated", user="ada@clinic.example")
    values = {
        "ASSISTANT_BACKEND": "graph",
        "GRAPH_BASE_URL": graph.base_url,
        "GRAPH_TOKEN": "delegated",
    }
    settings = settings_of(values)
    assistant = graph_for(basis_of(settings, session, clock=clock, ids=ids), limits=LIMITS)
    found = ada.contact("Ben")
    assert await assistant.of("dev", zone=BERLIN).contacts.get(found) is not None
    assert graph.asked[0].path.startswith("me/contacts/")
    graph.fail_next(401)
    with pytest.raises(errors.AssistantRefusedError, match="401"):
        await assistant.of("dev", zone=BERLIN).contacts.get(found)
    assert len(graph.asked) == 2


# -- whose mailbox ----------------------------------------------------------------------------


def test_users_of_the_directory_have_their_own_mailbox() -> None:
    users = MappedUsers(tenant=TENANT.upper(), named={"key:alice": "alice@clinic.example"})
    user_id = "aaaaaaaa-1111-2222-3333-444444444444"
    assert users.root(f"entra:{TENANT}:{user_id}") == f"users/{user_id}"
    assert users.root("key:alice") == "users/alice%40clinic.example"


@with_cases("principal")
def test_nobody_else_has_one(principal: str) -> None:
    users = MappedUsers(tenant=TENANT, named={"key:alice": "alice@clinic.example"})
    with pytest.raises(errors.AssistantRefusedError):
        users.root(principal)


async def test_a_mailbox_that_is_not_there_is_no_empty_one(
    graph: FakeGraph, session: aiohttp.ClientSession, clock: FixedClock, ids: CountingIds
) -> None:
    settings = settings_of(graph.settings(dev="nobody@clinic.example"))
    assistant = graph_for(basis_of(settings, session, clock=clock, ids=ids), limits=LIMITS)
    own = assistant.of("dev", zone=BERLIN)
    with pytest.raises(errors.AssistantRefusedError):
        await own.calendar.get("event")
    with pytest.raises(errors.AssistantRefusedError):
        await own.calendar.delete("event")


async def test_a_missing_permission_is_told(
    graph: FakeGraph, ada: User, own: AssistantServices
) -> None:
    graph.denied = {"mail"}
    with pytest.raises(errors.AssistantRefusedError):
        await own.mail.search("", limit=5)
    assert await own.contacts.search("", limit=5) == []


# -- pauses and lost answers ------------------------------------------------------------------


@pytest.mark.parametrize("status", [429, 503, 504, 502, 500])
async def test_a_busy_service_is_asked_again(
    graph: FakeGraph, ada: User, own: AssistantServices, status: int
) -> None:
    found = ada.contact("Ben")
    graph.fail_next(status, times=2)
    assert await own.contacts.get(found) is not None
    assert len(graph.asked) == 3


@pytest.mark.slow
async def test_the_pause_that_the_service_names_is_kept(
    graph: FakeGraph, ada: User, own: AssistantServices
) -> None:
    found = ada.contact("Ben")
    graph.fail_next(429, Retry_After="1")
    began = time.monotonic()
    assert await own.contacts.get(found) is not None
    assert time.monotonic() - began > 0.95


async def test_a_pause_beyond_our_patience_is_not_waited_for(
    graph: FakeGraph, own: AssistantServices
) -> None:
    graph.fail_next(429, Retry_After="120")
    with pytest.raises(errors.AssistantUnavailableError):
        await own.contacts.get("none")
    assert len(graph.asked) == 1


async def test_attempts_are_bounded(graph: FakeGraph, own: AssistantServices) -> None:
    graph.fail_next(503, times=50)
    with pytest.raises(errors.AssistantUnavailableError):
        await own.contacts.get("none")
    assert len(graph.asked) == LIMITS.attempts


async def test_a_pause_in_the_middle_of_pages_loses_none(
    graph: FakeGraph, ada: User, own: AssistantServices
) -> None:
    for number in range(7):
        ada.contact(f"Person {number}")
    graph.pass_next()
    graph.fail_next(429, Retry_After="0")
    graph.pass_next()
    graph.end_tokens()
    graph.lose_next()
    found = await own.contacts.search("person", limit=50)
    assert [one.name for one in found] == [f"Person {number}" for number in range(7)]


async def test_what_is_no_longer_asked_for_is_not_fetched(
    graph: FakeGraph, ada: User, own: AssistantServices
) -> None:
    for number in range(20):
        ada.contact(f"Person {number:02}")
    assert len(await own.contacts.search("person", limit=3)) == 3
    assert len(graph.asked) == 2


@pytest.mark.slow
@pytest.mark.parametrize("status", [502, 504])
async def test_a_change_that_may_have_happened_is_not_called_undone(
    graph: FakeGraph, own: AssistantServices, status: int
) -> None:
    graph.fail_next(status)
    with pytest.raises(errors.AssistantUnsureError):
        await own.contacts.add(Contact(name="Ben"), fresh())
    assert [one.method for one in graph.asked] == ["POST", "GET", "GET"]


async def test_a_change_that_was_turned_away_is_tried_again(
    graph: FakeGraph, ada: User, own: AssistantServices
) -> None:
    graph.fail_next(429, Retry_After="0")
    await own.contacts.add(Contact(name="Ben"), fresh())
    assert len(ada.contacts) == 1


# -- answers that cannot be used --------------------------------------------------------------

Reply = dict[str, Any] | bytes


class Strange:
    """A server whose answers are none of Graph's."""

    def __init__(self) -> None:
        self.reply: Reply = {}
        self.status = 200
        self.headers: dict[str, str] = {}
        self.asked = 0
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        self.server = TestServer(app)

    async def _answer(self, _: web.Request) -> web.Response:
        self.asked += 1
        body = self.reply if isinstance(self.reply, bytes) else orjson.dumps(self.reply)
        return web.Response(body=body, status=self.status, headers=self.headers)


@pytest.fixture
async def strange() -> AsyncIterator[Strange]:
    made = Strange()
    async with made.server:
        yield made


@pytest.fixture
async def account(strange: Strange, ids: CountingIds) -> AsyncIterator[GraphAccount]:
    async with aiohttp.ClientSession() as session:
        client = GraphClient(
            base_url=URL(str(strange.server.make_url("/v1.0"))),
            token_of=lambda _: OwnToken(token="t"),
            session=session,
            clock=FixedClock(),
            ids=ids,
            # It answers at once, and what a busy machine takes for it is no reason to ask again.
            limits=GraphLimits(
                request_seconds=60, operation_seconds=60, wait_seconds=0.01, answer_bytes=1_000
            ),
        )
        yield GraphAccount(client=client, principal_id="dev", root="me")


async def rows(account: GraphAccount) -> list[Any]:
    return [row async for row in account.rows("contacts")]


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"<html>Anna Schmidt</html>",
        b"[]",
        b"\xff",
        {"value": {"name": "Anna Schmidt"}},
        {"value": [], "@odata.nextLink": "https://elsewhere.example/v1.0/me/contacts"},
        {"value": [], "@odata.nextLink": "/v1.0/me/contacts"},
        {"value": [], "@odata.nextLink": 7},
        {"value": ["x" * 2_000]},
    ],
)
async def test_an_answer_of_another_form_is_no_empty_list(
    account: GraphAccount, strange: Strange, reply: Reply
) -> None:
    strange.reply = reply
    with pytest.raises(errors.AssistantError) as caught:
        await rows(account)
    assert "Anna" not in f"{caught.value!r}{caught.value.__cause__!r}"
    assert strange.asked == 1


async def test_pages_without_end_are_given_up(account: GraphAccount, strange: Strange) -> None:
    here = str(strange.server.make_url("/v1.0/me/contacts"))
    strange.reply = {"value": [], "@odata.nextLink": here}
    with pytest.raises(errors.AssistantError, match="more than can be listed"):
        await rows(account)
    assert strange.asked == account.client.limits.pages


async def test_a_redirect_is_not_followed(account: GraphAccount, strange: Strange) -> None:
    strange.status, strange.headers = 302, {"Location": "/v1.0/me/other"}
    with pytest.raises(errors.AssistantError, match="redirected"):
        await rows(account)
    assert strange.asked == 1


async def test_an_unknown_404_does_not_say_that_the_item_is_gone(
    account: GraphAccount, strange: Strange
) -> None:
    strange.status, strange.reply = 404, {"error": {"code": "UnknownError", "message": "?"}}
    with pytest.raises(errors.AssistantError, match="404"):
        await account.get("events/x")


async def test_logs_and_errors_name_the_code_and_nothing_of_the_mailbox(
    graph: FakeGraph, own: AssistantServices
) -> None:
    graph.fail_next(400, code="ErrorInvalidRequest")
    with capture_logs() as logs, pytest.raises(errors.AssistantError) as caught:
        await own.contacts.get("Anna Schmidt")
    assert "ErrorInvalidRequest" in str(caught.value)
    (line,) = logs
    assert (line["event"], line["status"]) == ("graph_not_done", 400)
    assert line["ref"] == graph.asked[0].headers["client-request-id"]
    told = f"{logs}{caught.value!r}"
    for hidden in ("Anna", "Schmidt", "app-token", SECRET, "ada@"):
        assert hidden not in told


async def test_only_hosts_of_the_settings_are_called(
    graph: FakeGraph, session: aiohttp.ClientSession, clock: FixedClock, ids: CountingIds
) -> None:
    values = {**graph.settings(dev="ada"), "GRAPH_BASE_URL": "https://graph.example/v1.0"}
    assistant = graph_for(
        basis_of(settings_of(values), session, clock=clock, ids=ids), limits=LIMITS
    )
    with pytest.raises(errors.AssistantError):
        await assistant.of("dev", zone=BERLIN).contacts.get("none")
    assert graph.asked == []


def test_the_back_end_without_a_secret_is_the_machines_own_identity(
    graph: FakeGraph, session: aiohttp.ClientSession, clock: FixedClock, ids: CountingIds
) -> None:
    values = graph.settings(dev="ada")
    del values["GRAPH_CLIENT_SECRET"]
    settings = settings_of(values)
    assert isinstance(graph_for(basis_of(settings, session, clock=clock, ids=ids)), GraphAssistant)
