"""Signing in with a browser, against a provider that checks what it is sent (spec page 15)."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from http.cookies import SimpleCookie
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from data_models.clock import SystemClock
from routes.server import WebAccess, create_runner, create_web_app
from services.access.authenticators import ApiKeyAuthenticator
from services.access.limits import OriginPolicy
from services.access.principal import UserRules
from services.access.sign_in.oidc import OidcRules, OidcSignIn
from services.access.sign_in.oidc_provider import OidcProvider
from services.access.sign_in.sign_in_sessions import SignInSessions
from tests.fakes import CountingIds, FixedClock
from tests.fakes_store import MemoryBlobStore
from tests.peers import free_port
from tests.routes.conftest import Socket, hashed_key, make_context
from tests.routes.fakes import FakeScheduler
from tests.routes.provider import CLIENT, SECRET, Provider, query_of
from tests.tables import with_cases

TENANT, USER = "11111111-2222-3333-4444-555555555555", "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"
Headers = dict[str, str]


@dataclass
class Clinic:
    """A server whose users sign in at `provider`, and a browser's requests by hand."""

    base: str
    client: aiohttp.ClientSession
    provider: Provider
    store: MemoryBlobStore
    clock: FixedClock
    scheduler: FakeScheduler
    rules: OidcRules

    async def begin(self) -> tuple[str, Headers]:
        """Return where the browser is sent, and the cookies it holds from then on."""
        async with self.client.get(f"{self.base}/auth/login", allow_redirects=False) as answer:
            assert answer.status == 302
            return answer.headers["Location"], _cookies(answer)

    async def callback(self, query: str, cookies: Headers) -> tuple[int, Headers]:
        url = f"{self.base}/auth/callback?{query}"
        async with self.client.get(url, headers=cookies, allow_redirects=False) as answer:
            return answer.status, _cookies(answer)

    async def sign_in(self) -> tuple[int, Headers]:
        url, cookies = await self.begin()
        return await self.callback(query_of(self.provider.sign_in(url)), cookies)

    async def signed_in(self) -> Headers:
        """Return the cookies and the token for writes of a user who signed in."""
        status, cookies = await self.sign_in()
        assert status == 303
        url = f"{self.base}/api/session"
        async with self.client.get(url, headers=_own(cookies)) as answer:
            token = answer.headers["X-CSRF-Token"]
        return cookies | {"X-CSRF-Token": token, "Origin": self.base}

    async def session(self, headers: Headers) -> dict[str, Any]:
        async with self.client.get(f"{self.base}/api/session", headers=_own(headers)) as answer:
            assert answer.status == 200, await answer.text()
            value: dict[str, Any] = await answer.json()
            return value

    async def status(self, method: str, path: str, headers: Headers) -> int:
        async with self.client.request(method, f"{self.base}{path}", headers=headers) as answer:
            return answer.status

    async def reads(self, headers: Headers) -> int:
        return await self.status("GET", "/api/session", _own(headers))

    async def reads_an_hour_later(self, headers: Headers) -> int:
        """Return the last answer to a user who reads again and again for more than an hour."""
        answers = []
        for _ in range(5):
            self.clock.advance(800)
            answers.append(await self.reads(headers))
        return answers[-1]

    async def socket(self, headers: Headers) -> Socket:
        url = f"{self.base}/api/ws/chats/chat_1/messages"
        return Socket(await self.client.ws_connect(url, headers=headers))


def _own(headers: Headers) -> Headers:
    return headers | {"Sec-Fetch-Site": "same-origin"}


def _cookies(answer: aiohttp.ClientResponse) -> Headers:
    cookies = SimpleCookie()
    for line in answer.headers.getall("Set-Cookie", []):
        assert "Secure" in line
        assert "HttpOnly" in line
        assert "Path=/" in line
        assert "Domain" not in line
        cookies.load(line)
    kept = [f"{name}={morsel.value}" for name, morsel in cookies.items() if morsel.value]
    return {"Cookie": "; ".join(kept)} if kept else {}


@pytest.fixture
async def clinic() -> AsyncIterator[Clinic]:
    port, clock, store = free_port(), FixedClock(), MemoryBlobStore()
    base = f"http://127.0.0.1:{port}"
    provider = Provider(clock=clock, redirect_uri=f"{base}/auth/callback")
    await provider.server.start_server()
    rules = OidcRules(
        roles_claim="roles",
        users=UserRules(
            orderers=(f"oidc:{hashed_key(f'{provider.issuer} orderer')}",),
            practitioner_claim="fhirUser",
        ),
        authority="https://login.microsoftonline.com",
        idle_seconds=900.0,
    )
    provider.claims = {"roles": ["clinician"]}
    scheduler = FakeScheduler(clock=SystemClock(), ids=CountingIds())
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as client:
        sign_in = OidcSignIn(
            provider=OidcProvider(
                issuer=provider.issuer,
                client_id=CLIENT,
                client_secret=SECRET,
                session=client,
                clock=clock,
            ),
            sessions=SignInSessions(store=store, secret=SECRET),
            rules=rules,
            secret=SECRET,
            base=base,
            clock=clock,
            keys=ApiKeyAuthenticator(keys=[("ben", hashed_key("ben-key"))], operators=()),
        )
        origins = OriginPolicy(
            allowed=("https://x.example",), public_host=None, loopback_only=False
        )
        access = WebAccess(authenticator=sign_in, origins=origins, sign_in=sign_in)
        context = replace(make_context(scheduler), clock=clock)
        runner = create_runner(
            create_web_app(context=context, access=access), handshake_seconds=10.0
        )
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        yield Clinic(base, client, provider, store, clock, scheduler, rules)
        await scheduler.close()
        await runner.cleanup()
    await provider.server.close()


async def test_who_signs_in_at_the_provider_is_known_by_cookie_alone(clinic: Clinic) -> None:
    user = await clinic.signed_in()
    who = (await clinic.session(user))["principal"]
    assert who["name"] == "Ada"
    assert who["id"].startswith("oidc:")
    assert await clinic.status("POST", "/api/chats", user) in {200, 201}


async def test_a_program_keeps_its_key_and_strangers_learn_to_sign_in(clinic: Clinic) -> None:
    key = {"Authorization": "Bearer ben-key"}
    assert (await clinic.session(key))["principal"]["id"] == "key:ben"
    async with clinic.client.get(f"{clinic.base}/api/session", headers=_own({})) as answer:
        assert answer.status == 401
        assert answer.headers["X-Sign-In"] == "/auth/login"


async def test_what_is_stored_tells_neither_the_cookie_nor_a_token(clinic: Clinic) -> None:
    user = await clinic.signed_in()
    session_id = user["Cookie"].partition("=")[2]
    names = [info.name async for info in clinic.store.list("sessions/")]
    assert len(names) == 1
    blob = await clinic.store.read(names[0])
    assert blob is not None
    for secret in (session_id, "at-secret", "eyJhbGci", "eyJ0eXAi", SECRET):
        assert secret.encode() not in blob.data
        assert secret not in names[0]


@pytest.mark.slow
@with_cases("spoil")
async def test_a_callback_that_nobody_began_signs_nobody_in(clinic: Clinic, spoil: str) -> None:
    url, cookies = await clinic.begin()
    back = clinic.provider.sign_in(url)
    status, got = await clinic.callback(spoil.format(**back), cookies)
    assert (status, got) == (401, {})


async def test_another_browser_cannot_finish_a_sign_in_nor_anybody_twice(clinic: Clinic) -> None:
    url, mine = await clinic.begin()
    _, theirs = await clinic.begin()
    back = query_of(clinic.provider.sign_in(url))
    assert await clinic.callback(back, {}) == (401, {})
    assert await clinic.callback(back, theirs) == (401, {})
    assert (await clinic.callback(back, mine))[0] == 303
    assert await clinic.callback(back, mine) == (401, {})


async def test_a_sign_in_that_takes_too_long_is_begun_anew(clinic: Clinic) -> None:
    url, cookies = await clinic.begin()
    back = query_of(clinic.provider.sign_in(url))
    clinic.clock.advance(601)
    assert await clinic.callback(back, cookies) == (401, {})


@pytest.mark.slow
@with_cases("claims")
async def test_an_id_token_that_is_not_for_this_sign_in_is_refused(
    clinic: Clinic, claims: dict[str, Any]
) -> None:
    clinic.provider.claims |= claims
    assert await clinic.sign_in() == (401, {})


async def test_a_forged_id_token_is_refused(clinic: Clinic) -> None:
    clinic.provider.forged = True
    assert await clinic.sign_in() == (401, {})


async def test_a_provider_that_does_not_answer_is_no_refusal(clinic: Clinic) -> None:
    clinic.provider.up = False
    assert (await clinic.sign_in())[0] == 503


@pytest.mark.parametrize("roles", [None, [], ["visitor"], "Clinician", {"clinician": True}, 7])
async def test_who_has_no_role_is_refused(clinic: Clinic, roles: object) -> None:
    clinic.provider.claims["roles"] = roles
    assert await clinic.sign_in() == (403, {})


async def test_an_operator_who_is_no_clinician_sees_no_conversation(clinic: Clinic) -> None:
    clinic.provider.claims["roles"] = ["operator"]
    status, cookies = await clinic.sign_in()
    assert status == 303
    assert await clinic.status("GET", "/api/chats", _own(cookies)) == 403


@pytest.mark.parametrize(
    ("subject", "roles"), [("orderer", ["clinician", "order"]), ("another", ["clinician"])]
)
async def test_who_may_order_is_known_by_the_list(
    clinic: Clinic, subject: str, roles: list[str]
) -> None:
    clinic.provider.claims["sub"] = subject
    user = await clinic.signed_in()
    url = f"{clinic.base}/api/user/me"
    async with clinic.client.get(url, headers=_own(user)) as answer:
        assert (await answer.json())["roles"] == roles


@pytest.mark.parametrize("lacks", ["X-CSRF-Token", "Origin"])
async def test_a_write_by_cookie_needs_the_page_and_its_token(clinic: Clinic, lacks: str) -> None:
    user = await clinic.signed_in()
    without = {name: value for name, value in user.items() if name != lacks}
    assert await clinic.status("POST", "/api/chats", _own(without)) in {401, 403}
    wrong = user | {lacks: "https://evil.example"}
    assert await clinic.status("POST", "/api/chats", wrong) == 403
    # An origin that may call with a token may not use a cookie.
    allowed = user | {"Origin": "https://x.example"}
    assert await clinic.status("POST", "/api/chats", allowed) == 403


async def test_the_token_of_one_session_is_of_no_use_in_another(clinic: Clinic) -> None:
    one, other = await clinic.signed_in(), await clinic.signed_in()
    mixed = one | {"X-CSRF-Token": other["X-CSRF-Token"]}
    assert await clinic.status("POST", "/api/chats", mixed) == 403


async def test_signing_out_ends_the_session_for_every_tab(clinic: Clinic) -> None:
    user = await clinic.signed_in()
    without = {name: value for name, value in user.items() if name != "X-CSRF-Token"}
    assert await clinic.status("POST", "/auth/logout", without) == 403
    assert await clinic.reads(user) == 200
    async with clinic.client.post(f"{clinic.base}/auth/logout", headers=user) as answer:
        assert (await answer.json())["url"].startswith(f"{clinic.provider.issuer}/end?")
    assert await clinic.reads(user) == 401


async def test_an_hour_later_the_provider_is_asked_again_and_once(clinic: Clinic) -> None:
    user = await clinic.signed_in()
    for _ in range(5):
        clinic.clock.advance(800)
        answers = await asyncio.gather(*(clinic.reads(user) for _ in range(8)))
        assert set(answers) == {200}
    assert clinic.provider.refreshes == 1


async def test_roles_the_provider_took_away_are_gone_at_the_next_refresh(clinic: Clinic) -> None:
    user = await clinic.signed_in()
    clinic.provider.claims["roles"] = []
    last = await clinic.reads_an_hour_later(user)
    assert last == 401


@pytest.mark.parametrize("change", ["refused", "another user"])
async def test_a_session_ends_when_its_provider_denies_it(clinic: Clinic, change: str) -> None:
    user = await clinic.signed_in()
    clinic.provider.refreshable = change != "refused"
    clinic.provider.claims["sub"] = "eve" if change == "another user" else "ada"
    last = await clinic.reads_an_hour_later(user)
    assert last == 401
    assert [info async for info in clinic.store.list("sessions/")] == []


async def test_a_provider_that_is_down_ends_no_session(clinic: Clinic) -> None:
    user = await clinic.signed_in()
    clinic.provider.up = False
    last = await clinic.reads_an_hour_later(user)
    assert last == 503
    clinic.provider.up = True
    assert await clinic.reads(user) == 200


async def test_an_idle_session_is_over(clinic: Clinic) -> None:
    user = await clinic.signed_in()
    clinic.clock.advance(901)
    assert await clinic.reads(user) == 401


@pytest.mark.slow
async def test_nobody_stays_signed_in_longer_than_a_day_at_work(clinic: Clinic) -> None:
    user = await clinic.signed_in()
    for _ in range(47):
        clinic.clock.advance(880)
        assert await clinic.reads(user) == 200
    assert await clinic.reads_an_hour_later(user) == 401


async def test_a_socket_by_cookie_needs_the_pages_origin(clinic: Clinic) -> None:
    user = await clinic.signed_in()
    for origin in ({}, {"Origin": "https://evil.example"}, {"Origin": "https://x.example"}):
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await clinic.socket({"Cookie": user["Cookie"]} | origin)


async def test_a_session_that_ended_closes_its_socket_and_the_turn_finishes(clinic: Clinic) -> None:
    user = await clinic.signed_in()
    socket = await clinic.socket({"Cookie": user["Cookie"], "Origin": clinic.base})
    await socket.say("history of patient_4")
    await socket.next()
    assert await clinic.status("POST", "/auth/logout", user) == 200
    await socket.until_done()
    assert len(clinic.scheduler.messages) == 1
    await socket.say("and of patient_7")
    message = await socket.raw.receive(timeout=60)
    while message.type is aiohttp.WSMsgType.TEXT:
        message = await socket.raw.receive(timeout=60)
    assert socket.raw.close_code == 4401
    assert len(clinic.scheduler.messages) == 1


async def test_only_entra_itself_says_who_is_one_of_its_users(clinic: Clinic) -> None:
    clinic.provider.claims |= {"tid": TENANT, "oid": USER}
    user = await clinic.signed_in()
    assert (await clinic.session(user))["principal"]["id"].startswith("oidc:")


def test_a_user_of_entra_is_the_same_as_in_teams() -> None:
    from services.access.sign_in.oidc import principal_id_of

    rules = OidcRules("", UserRules(), "https://login.microsoftonline.com", 1.0)
    issuer = f"https://login.microsoftonline.com/{TENANT}/v2.0"
    claims = {"iss": issuer, "tid": TENANT, "oid": USER, "sub": "s"}
    assert principal_id_of(claims, rules) == f"entra:{TENANT}:{USER}"
