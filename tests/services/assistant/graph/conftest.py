"""The Graph back end as the server builds it, against a Graph on loopback."""

from collections.abc import AsyncIterator, Mapping
from typing import Any
from zoneinfo import ZoneInfo

import aiohttp
import pytest

from services.access.access_factory import outbound_policy_for
from services.access.limits import outbound_session
from services.assistant.assistant_factory import GraphAssistant, graph_for
from services.assistant.back_end import AssistantServices
from services.assistant.graph.graph_client import GraphLimits
from settings import Settings
from tests.basis import basis_of
from tests.fakes import CountingIds, FixedClock
from tests.fakes_graph import FakeGraph
from tests.fakes_graph_data import User
from tests.given_settings import given_settings

BERLIN = ZoneInfo("Europe/Berlin")
LIMITS = GraphLimits(request_seconds=2.0, operation_seconds=5.0, wait_seconds=0.01)


def settings_of(values: Mapping[str, Any]) -> Settings:
    """Settings of these variables alone."""
    return given_settings(**values)


@pytest.fixture
async def graph() -> AsyncIterator[FakeGraph]:
    """The fake; whatever a test asks for has to be in the reference."""
    async with FakeGraph() as fake:
        yield fake
        assert fake.faults == []


@pytest.fixture
def ada(graph: FakeGraph) -> User:
    """The user of the principal `dev`."""
    return graph.user("ada@clinic.example")


@pytest.fixture
def settings(graph: FakeGraph) -> Settings:
    """What an operator sets for it."""
    users = {"dev": "ada@clinic.example", "key:bob": "bob@clinic.example"}
    return settings_of(graph.settings(**users))


@pytest.fixture
async def session(settings: Settings) -> AsyncIterator[aiohttp.ClientSession]:
    """The server's own session, with its guard."""
    async with outbound_session(outbound_policy_for(settings)) as opened:
        yield opened


@pytest.fixture
def assistant(
    settings: Settings, session: aiohttp.ClientSession, clock: FixedClock, ids: CountingIds
) -> GraphAssistant:
    """The back end."""
    return graph_for(basis_of(settings, session, clock=clock, ids=ids), limits=LIMITS)


@pytest.fixture
def own(assistant: GraphAssistant, ada: User) -> AssistantServices:
    """Ada's services, for a day in Berlin."""
    return assistant.of("dev", zone=BERLIN)
