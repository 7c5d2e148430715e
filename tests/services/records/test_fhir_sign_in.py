"""Signing in to a FHIR server: a double checks the assertion as a server of tokens does."""

import base64
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import jwt
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from data_models.clock import SystemClock
from data_models.errors import (
    ConfigurationError,
    RecordsRefusedError,
    RecordsUnavailableError,
    RecordsUnreadableError,
)
from services.own_sign_in import SigningKey
from services.records.fhir.fhir_chosen import fhir_client_for
from settings import Settings
from tests.basis import basis_of
from tests.fakes import FixedClock
from tests.given_settings import given_settings
from tests.keys import rsa_key
from tests.tables import with_cases


class TokenServer:
    """Issues tokens as SMART's backend services demand, and serves `Patient` to their bearers."""

    def __init__(self) -> None:
        self.url = ""
        self.key: Any = rsa_key("one").public_key()
        self.seconds: float = 300
        self.seen: set[str] = set()
        self.issued = 0
        self.valid: set[str] = set()
        self.faults: list[str] = []
        self.reply: Callable[[], web.Response] | None = None  # an answer can be sent once
        self.busy = 0

    async def configuration(self, _: web.Request) -> web.Response:
        return web.json_response({"token_endpoint": f"{self.url}/token"})

    async def token(self, request: web.Request) -> web.Response:
        if self.busy:
            self.busy -= 1
            return web.Response(status=503, headers={"Retry-After": "0"})
        if self.reply is not None:
            return self.reply()
        form = await request.post()
        proof = self._assertion(form) or self._secret(request)
        if form.get("grant_type") != "client_credentials" or not proof:
            return web.json_response({"error": "invalid_client"}, status=401)
        self.issued += 1
        self.valid = {f"token-{self.issued}"}
        found = {"access_token": f"token-{self.issued}", "expires_in": self.seconds}
        return web.json_response({**found, "token_type": "bearer", "scope": form["scope"]})

    def _assertion(self, form: Any) -> bool:
        if "client_assertion" not in form:
            return False
        text = str(form["client_assertion"])
        claims = jwt.decode(
            text, self.key, algorithms=["RS384", "ES384"], audience=f"{self.url}/token",
            options={"require": ["exp", "jti", "iss", "sub", "aud"]},
        )  # fmt: skip
        header = jwt.get_unverified_header(text)
        if claims["exp"] - SystemClock().now().timestamp() > 300:
            self.faults.append("it is valid for more than five minutes")
        if claims["jti"] in self.seen:
            self.faults.append("its jti was used before")
        if header.get("kid") != "key-1" or claims["iss"] != claims["sub"] != "rounds":
            self.faults.append("it is another client's")
        if not str(form["client_assertion_type"]).endswith("jwt-bearer"):
            self.faults.append("its type is another")
        self.seen.add(claims["jti"])
        return not self.faults

    def _secret(self, request: web.Request) -> bool:
        expected = base64.b64encode(b"rounds:s3cret").decode()
        return request.headers.get("Authorization") == f"Basic {expected}"

    async def patient(self, request: web.Request) -> web.Response:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if token not in self.valid:
            return web.json_response({"resourceType": "OperationOutcome"}, status=401)
        return web.json_response({"resourceType": "Patient", "id": "p9"})


@asynccontextmanager
async def serving(tokens: TokenServer) -> AsyncIterator[TokenServer]:
    app = web.Application()
    app.router.add_get("/fhir/.well-known/smart-configuration", tokens.configuration)
    app.router.add_post("/fhir/token", tokens.token)
    app.router.add_get("/fhir/Patient/p9", tokens.patient)
    async with TestServer(app, host="127.0.0.1") as server:
        tokens.url = f"http://127.0.0.1:{server.port}/fhir"
        yield tokens


@pytest.fixture
async def tokens() -> AsyncIterator[TokenServer]:
    async with serving(TokenServer()) as found:
        yield found


def settings(tokens: TokenServer, **more: Any) -> Settings:
    return given_settings(fhir_base_url=tokens.url, fhir_client_id="rounds", **more)


def key_file(folder: Path, key: Any = None) -> Path:
    path, key = folder / "key.pem", key or rsa_key("one")
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return path


@pytest.mark.parametrize("algorithm", ["RS384", "ES384"])
async def test_backend_services_sign_in_with_a_key_that_the_server_checks(
    tokens: TokenServer, session: aiohttp.ClientSession, tmp_path: Path, algorithm: str
) -> None:
    key = rsa_key("one") if algorithm == "RS384" else ec.generate_private_key(ec.SECP384R1())
    tokens.key = key.public_key()
    chosen = settings(
        tokens, fhir_client_key_file=key_file(tmp_path, key), fhir_client_key_id="key-1"
    )
    client = fhir_client_for(basis_of(chosen, session, clock=SystemClock()))
    for _ in range(3):
        assert (await client.ask(client.base_url / "Patient" / "p9")).status == 200
    assert tokens.faults == []
    assert tokens.issued == 1


async def test_a_token_is_renewed_before_its_end_and_when_it_is_refused(
    tokens: TokenServer, session: aiohttp.ClientSession
) -> None:
    clock = FixedClock()
    chosen = settings(tokens, fhir_client_secret="s3cret", fhir_token_url=f"{tokens.url}/token")
    client = fhir_client_for(basis_of(chosen, session, clock=clock))
    address = client.base_url / "Patient" / "p9"
    await client.ask(address)
    clock.advance(241)  # of 300, less a minute
    await client.ask(address)
    assert tokens.issued == 2
    tokens.valid.clear()  # withdrawn at the server
    assert (await client.ask(address)).status == 200
    assert tokens.issued == 3


async def test_a_wrong_secret_is_the_operators_matter_and_is_in_no_error(
    tokens: TokenServer, session: aiohttp.ClientSession
) -> None:
    chosen = settings(tokens, fhir_client_secret="wr0ng-s3cret")
    client = fhir_client_for(basis_of(chosen, session))
    with pytest.raises(RecordsRefusedError) as caught:
        await client.ask(client.base_url / "Patient" / "p9")
    assert "wr0ng" not in repr(caught.value)


async def test_a_busy_server_of_tokens_is_asked_again(
    tokens: TokenServer, session: aiohttp.ClientSession
) -> None:
    tokens.busy = 1
    client = fhir_client_for(basis_of(settings(tokens, fhir_client_secret="s3cret"), session))
    assert (await client.ask(client.base_url / "Patient" / "p9")).status == 200


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (lambda: web.Response(status=500), RecordsUnavailableError),
        (lambda: web.json_response({"no": "token"}), RecordsUnreadableError),
        (lambda: web.json_response({"access_token": "a\nb"}), RecordsUnreadableError),
        (lambda: web.Response(text="<html>"), RecordsUnreadableError),
    ],
)
async def test_an_answer_without_a_token_is_an_error_of_the_records(
    tokens: TokenServer, session: aiohttp.ClientSession, reply: Any, error: type[Exception]
) -> None:
    tokens.reply = reply
    chosen = settings(tokens, fhir_client_secret="s3cret")
    client = fhir_client_for(basis_of(chosen, session))
    with pytest.raises(error):
        await client.ask(client.base_url / "Patient" / "p9")


def test_a_file_without_a_key_stops_the_start() -> None:
    with pytest.raises(ConfigurationError, match="FHIR_CLIENT_KEY_FILE"):
        SigningKey(pem=b"no key", key_id=None)


@with_cases("values", "named")
def test_settings_that_do_not_fit_stop_the_start(values: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigurationError, match=named):
        given_settings(fhir_base_url="https://fhir.example.org/r4", **values)
