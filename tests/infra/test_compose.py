"""The parts of the compose file, run as processes with its own words, pass the README's tour."""

import asyncio
import hashlib
import json
import re
import shlex
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml

from data_models.clock import SystemClock
from scripts.test_tools import NODE_HOME
from tests import peers
from tests.e2e.server import ROOT, Server
from tests.e2e.talks import PlainTalk
from tests.e2e.test_sign_in import signed_in
from tests.routes.provider import CLIENT, SECRET, Provider
from tests.services.records.test_fhir_independent_server import SAMPLES, put, unique
from tests.test_docs import tour

pytestmark = pytest.mark.slow

SERVICES: dict[str, Any] = yaml.safe_load((ROOT / "infra" / "compose.yaml").read_text("utf-8"))[
    "services"
]
KEY = "a key for the tour"
GIVEN = {"ROUNDS_API_KEYS": f"alice:{hashlib.sha256(KEY.encode()).hexdigest()}"}
_VARIABLE = re.compile(r"\$\{(\w+):([?-])([^}]*)\}")


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Azurite by the command of the file; where its addresses are on this machine."""
    folder = tmp_path_factory.mktemp("storage")
    ports = {"10000": peers.free_port(), "10001": peers.free_port()}
    words = shlex.split(SERVICES["storage"]["command"])
    assert words[0] == "azurite"
    words = [{"/data": str(folder), "0.0.0.0": "127.0.0.1"}.get(one, one) for one in words[1:]]
    words += ["--blobPort", str(ports["10000"]), "--queuePort", str(ports["10001"])]
    words += ["--tablePort", "0", "--disableTelemetry"]
    program = peers.node_module("azurite/dist/src/azurite.js", "azurite")
    ready = r"Queue service is successfully listening at (\S+)"
    with peers.running_node([program, *words], folder=folder, ready=ready):
        yield {f"storage:{inside}": f"127.0.0.1:{port}" for inside, port in ports.items()}


def environment(places: dict[str, str]) -> dict[str, str]:
    """What the file gives a server, with what its reader is told to set and where things are."""
    found = {}
    for name, value in SERVICES["rounds"]["environment"].items():
        told = _VARIABLE.sub(lambda one: GIVEN.get(one[1], "" if one[2] == "?" else one[3]), value)
        for inside, outside in places.items():
            told = told.replace(inside, outside)
        found[name] = told
    # A container has an address and a port of its own.
    return {name: told for name, told in found.items() if name not in ("HOST", "PORT")}


@pytest.fixture
def servers(storage: dict[str, str], tmp_path: Path) -> Iterator[list[Server]]:
    """Two, as `--scale rounds=2` starts them."""
    started = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        server = Server(folder=tmp_path / name, environment=environment(storage))
        started.append(server)
        server.start()
    yield started
    for server in started:
        server.close()


@asynccontextmanager
async def client_of(user: dict[str, str]) -> AsyncIterator[aiohttp.ClientSession]:
    jar = aiohttp.DummyCookieJar()
    async with aiohttp.ClientSession(headers=user, cookie_jar=jar) as client:
        yield client


async def told(client: aiohttp.ClientSession, servers: list[Server]) -> None:
    """Walk the tour, each line at the next server, as a door may send it."""
    async with client.post(f"{servers[0].url}/api/chats") as made:
        assert made.status == 201, await made.text()
        chat = (await made.json())["chat_id"]
    for number, (said, quoted) in enumerate(tour()):
        place = f"{servers[number % len(servers)].url}/api/ws/chats/{chat}/messages"
        async with client.ws_connect(place, max_msg_size=0) as socket:
            answer = await PlainTalk(chat, socket).say(said)
        assert answer.failure is None, said
        lines = answer.text.splitlines()
        assert [line for line in quoted if line not in lines] == [], said


async def test_the_compose_files_parts_pass_the_tour(servers: list[Server]) -> None:
    async with client_of({"Authorization": f"Bearer {KEY}"}) as client:
        await told(client, servers)
    assert not (servers[0].data / "chat-sessions").exists(), "all state is in the storage"


async def test_without_a_key_the_compose_files_servers_answer_nobody(servers: list[Server]) -> None:
    async with client_of({}) as client, client.post(f"{servers[1].url}/api/chats") as answer:
        assert answer.status == 401


@pytest.fixture(scope="module")
def fhir(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An independent FHIR server with the two patients of the tour."""
    peers.node_module("@medplum/fhir-router", "fhir-router")
    script = ROOT / "tests" / "tools" / "fhir_server.mjs"
    arguments: list[str | Path] = ["--experimental-websocket", script, NODE_HOME]
    folder = tmp_path_factory.mktemp("fhir")
    with peers.running_node(arguments, folder=folder, ready=r"listening on (\S+)\n") as url:
        asyncio.run(filled(url))
        yield url


async def filled(url: str) -> None:
    async with aiohttp.ClientSession() as session:
        for name in ("patient_4", "patient_15"):
            bundle = json.loads((SAMPLES / f"{name}.json").read_text("utf-8"))
            for resource in (entry["resource"] for entry in bundle["entry"]):
                # The README quotes ids of the first; the second's must be others on one server.
                kept = resource if name == "patient_4" else unique(resource, name)
                await put(session, url, kept)


async def test_with_a_clinics_own_sign_in_and_records_they_pass_it_too(
    storage: dict[str, str], fhir: str, tmp_path: Path
) -> None:
    port = peers.free_port()
    base = f"http://127.0.0.1:{port}"
    provider = Provider(clock=SystemClock(), redirect_uri=f"{base}/auth/callback")
    await provider.server.start_server()
    clinics = {
        "AUTH_MODE": "oidc",
        "API_KEYS": "",
        "PUBLIC_BASE_URL": base,
        "OIDC_ISSUER": provider.issuer,
        "OIDC_CLIENT_ID": CLIENT,
        "OIDC_CLIENT_SECRET": SECRET,
        "ALLOWED_OUTBOUND_NETWORKS": "127.0.0.0/8",
        "FHIR_BASE_URL": fhir,
    }
    server = Server(folder=tmp_path, environment=environment(storage) | clinics, port=port)
    try:
        await asyncio.to_thread(server.start)
        async with client_of({}) as browser:
            user = await signed_in(browser, base, provider)
        async with client_of(user) as client:
            await told(client, [server])
    finally:
        server.close()
        await provider.server.close()
