"""`GRAPH_ON_BEHALF`: each user's own part of Graph, by a token that is their own."""

import aiohttp
import pytest

from data_models import errors
from services.access.on_behalf import OnBehalf
from services.assistant.assistant_factory import GraphAssistant, graph_for
from tests.basis import basis_of
from tests.bots.user_directory import ADA, UserDirectory
from tests.fakes import CountingIds, FixedClock
from tests.fakes_graph import FakeGraph
from tests.fakes_graph_data import User
from tests.services.access.directory import TENANT
from tests.services.assistant.graph.conftest import BERLIN, LIMITS

BEN = f"entra:{TENANT}:bbbbbbbb-bbbb-cccc-dddd-eeeeeeeeeeee"


@pytest.fixture
def on_behalf(
    directory: UserDirectory, graph: FakeGraph, session: aiohttp.ClientSession, clock: FixedClock
) -> OnBehalf:
    return directory.on_behalf(session=session, clock=clock, GRAPH_BASE_URL=graph.base_url)


@pytest.fixture
def assistant(
    directory: UserDirectory,
    on_behalf: OnBehalf,
    graph: FakeGraph,
    session: aiohttp.ClientSession,
    clock: FixedClock,
    ids: CountingIds,
) -> GraphAssistant:
    return graph_for(
        basis_of(directory.settings(GRAPH_BASE_URL=graph.base_url), session, clock=clock, ids=ids),
        limits=LIMITS,
        on_behalf=on_behalf,
    )


async def test_the_users_own_token_reads_their_own_part_and_nobody_elses(
    assistant: GraphAssistant,
    on_behalf: OnBehalf,
    directory: UserDirectory,
    graph: FakeGraph,
    ada: User,
) -> None:
    await on_behalf.take(directory.proof(), principal_id=ADA)
    assert directory.exchanges[0]["scope"] == f"{graph.origin}/.default"
    graph.own_token("ada-1", user="ada@clinic.example")
    found = ada.contact("Ben")
    assert await assistant.of(ADA, zone=BERLIN).contacts.get(found) is not None
    assert graph.asked[0].path.startswith("me/contacts/")
    with pytest.raises(errors.AssistantSignInError):
        await assistant.of(BEN, zone=BERLIN).contacts.get(found)
    assert graph.tokens_issued == 0


async def test_a_token_that_graph_ended_is_exchanged_once_more(
    assistant: GraphAssistant,
    on_behalf: OnBehalf,
    directory: UserDirectory,
    graph: FakeGraph,
    ada: User,
) -> None:
    await on_behalf.take(directory.proof(), principal_id=ADA)
    graph.own_token("ada-2", user="ada@clinic.example")
    found = ada.contact("Ben")
    assert await assistant.of(ADA, zone=BERLIN).contacts.get(found) is not None
    assert len(directory.exchanges) == 2


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (400, {"error": "interaction_required"}, errors.AssistantSignInError),
        (401, {"error": "invalid_client"}, errors.AssistantNotGrantedError),
        (503, {}, errors.AssistantUnavailableError),
    ],
)
async def test_each_failure_says_whose_turn_it_is(
    assistant: GraphAssistant,
    on_behalf: OnBehalf,
    directory: UserDirectory,
    graph: FakeGraph,
    status: int,
    body: dict[str, str],
    error: type[Exception],
) -> None:
    proof = directory.proof()

    async def look_up(_: str) -> str:
        return proof

    on_behalf.on_missing(look_up)
    directory.refusals = [(status, body)]
    with pytest.raises(error) as caught:
        await assistant.of(ADA, zone=BERLIN).contacts.get("none")
    assert proof not in repr(caught.value)
    assert graph.asked == []
