"""SMART App Launch, from a record system that checks what it is sent (spec page 15)."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from data_models.clock import SystemClock
from data_models.conversations.incoming_message import IncomingMessage
from data_models.identifiers import PatientId
from routes.server import WebAccess, create_runner, create_web_app
from services.access.limits import OriginPolicy
from services.access.principal import UserRules
from services.access.sign_in.oidc import OidcRules, OidcSignIn
from services.access.sign_in.oidc_provider import OidcProvider
from services.access.sign_in.sign_in_sessions import SignInSessions
from services.access.sign_in.smart import SmartLaunch
from services.audit.trail import NoAudit
from services.chart_access.chart_guard import ChartGuard
from services.identity.names.person import Person, person_from
from services.views.patient_finder import PatientFinder
from tests.fakes import ClosedCharts, CountingIds, FixedClock, GivenPeople
from tests.fakes_store import MemoryBlobStore
from tests.peers import free_port
from tests.routes.conftest import make_context
from tests.routes.ehr import Ehr
from tests.routes.fakes import FakeScheduler
from tests.routes.provider import CLIENT, SECRET, query_of
from tests.tables import with_cases

MRN = "https://hospital.example/mrn"
ANCESTOR = "https://ehr.example"
IN_FRAME = {"Sec-Fetch-Dest": "iframe", "Sec-Fetch-Site": "cross-site"}
Headers = dict[str, str]


def patient(key: str, number: str, *, born: str = "1957-03-14", **more: Any) -> dict[str, Any]:
    return {
        "resourceType": "Patient",
        "id": key,
        "identifier": [{"system": MRN, "value": number}],
        "name": [{"family": "Whitfield", "given": ["Margaret"]}],
        "birthDate": born,
    } | more


def known(key: str, number: str, opens_by: str, **more: Any) -> Person:
    today = SystemClock().now().date()
    found = person_from(patient(key, number, **more), patient_id=PatientId(opens_by), today=today)
    assert found is not None
    return found


@dataclass
class Clinic:
    """A server that record system `ehr` starts, and a browser's requests by hand."""

    base: str
    client: aiohttp.ClientSession
    ehr: Ehr
    clock: FixedClock
    scheduler: FakeScheduler
    people: GivenPeople
    closed: ClosedCharts
    store: MemoryBlobStore
    smart: Callable[..., SmartLaunch]

    async def get(self, path: str, headers: Headers) -> aiohttp.ClientResponse:
        url = f"{self.base}{path}"
        return await self.client.get(url, headers=headers, allow_redirects=False)

    async def begin(self, *, query: str | None = None, **headers: str) -> tuple[str, Headers]:
        """Return where the browser is sent, and the cookie it holds from then on."""
        query = f"?iss={self.ehr.fhir}&launch=xyz" if query is None else query
        answer = await self.get(f"/smart/launch{query}", headers)
        assert answer.status == 302, await answer.text()
        return answer.headers["Location"], {"Cookie": cookie_of(answer), **headers}

    async def callback(self, query: str, headers: Headers) -> aiohttp.ClientResponse:
        return await self.get(f"/smart/callback?{query}", headers)

    async def launch(self, **headers: str) -> aiohttp.ClientResponse:
        url, kept = await self.begin(**headers)
        return await self.callback(query_of(self.ehr.sign_in(url)), kept)

    async def refused(self, answer: aiohttp.ClientResponse, status: int) -> None:
        """Assert that nobody was let in and nothing was asked of any conversation."""
        assert answer.status == status, await answer.text()
        assert "__Host-rounds=" not in " ".join(answer.headers.getall("Set-Cookie", []))
        assert self.scheduler.messages == []

    async def session(self, headers: Headers) -> int:
        return (await self.get("/api/session", {"Sec-Fetch-Site": "same-origin"} | headers)).status


def cookie_of(answer: aiohttp.ClientResponse) -> str:
    lines = answer.headers.getall("Set-Cookie")
    assert all("Secure" in line and "HttpOnly" in line and "Path=/" in line for line in lines)
    pairs = [line.split(";")[0] for line in lines]
    return "; ".join(pair for pair in pairs if not pair.endswith(("=", '=""')))


@pytest.fixture
def is_public() -> bool:
    return False


@pytest.fixture
def ancestors() -> tuple[str, ...]:
    return (ANCESTOR,)


@pytest.fixture
async def clinic(is_public: bool, ancestors: tuple[str, ...]) -> AsyncIterator[Clinic]:
    port, clock, store = free_port(), FixedClock(), MemoryBlobStore()
    base = f"http://127.0.0.1:{port}"
    ehr = Ehr(clock=clock, redirect_uri=f"{base}/smart/callback")
    ehr.is_public = is_public
    await ehr.server.start_server()
    ehr.patients["p-77"] = patient("p-77", "48-4")
    rules = OidcRules(
        "", UserRules(practitioner_claim="fhirUser"), "https://login.microsoftonline.com", 7_200.0
    )
    scheduler = FakeScheduler(clock=SystemClock(), ids=CountingIds())
    people = GivenPeople(known("a", "48-4", "patient_4"), known("b", "48-7", "patient_7"))
    closed = ClosedCharts()
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as client:

        def provider(issuer: str, *, is_smart: bool) -> OidcProvider:
            return OidcProvider(
                issuer=issuer,
                client_id=CLIENT,
                client_secret=None if is_public else SECRET,
                session=client,
                clock=clock,
                is_smart=is_smart,
            )

        sessions = SignInSessions(store=store, secret=SECRET)
        sign_in = OidcSignIn(
            provider=provider(ehr.issuer, is_smart=False),
            sessions=sessions,
            rules=rules,
            secret=SECRET,
            base=base,
            clock=clock,
            keys=None,
        )
        smart = partial(
            SmartLaunch,
            providers={ehr.fhir: provider(ehr.fhir, is_smart=True)},
            sessions=sessions,
            rules=rules,
            secret=SECRET,
            base=base,
            session=client,
            clock=clock,
        )
        origins = OriginPolicy(allowed=(), public_host=None, loopback_only=False)
        access = WebAccess(
            authenticator=sign_in,
            origins=origins,
            sign_in=sign_in,
            smart=smart(records=None),
            frame_ancestors=ancestors,
        )
        charts = ChartGuard(policy=closed, audit=NoAudit(), clock=clock)
        finder = PatientFinder(directory=people, guard=charts)
        context = replace(make_context(scheduler), clock=clock, finder=finder)
        runner = create_runner(
            create_web_app(context=context, access=access), handshake_seconds=10.0
        )
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        yield Clinic(base, client, ehr, clock, scheduler, people, closed, store, smart)
        await scheduler.close()
        await runner.cleanup()
    await ehr.server.close()


@pytest.mark.parametrize("is_public", [False, True])
async def test_a_launch_opens_the_patient_in_a_new_conversation_alone(clinic: Clinic) -> None:
    answer = await clinic.launch()
    assert answer.status == 303, await answer.text()
    assert clinic.ehr.asked["launch"] == "xyz"
    (message,) = clinic.scheduler.messages
    assert message.text == "open patient_4"
    assert answer.headers["Location"] == f"/#/chats/{message.conversation_id}"
    assert message.owner == message.sender.principal_id
    assert message.owner.startswith("oidc:")
    assert await clinic.session({"Cookie": cookie_of(answer)}) == 200
    await clinic.launch()
    assert len({one.conversation_id for one in clinic.scheduler.messages}) == 2


@pytest.mark.slow
async def test_a_user_starts_by_himself_and_chooses_the_patient_there(clinic: Clinic) -> None:
    url, kept = await clinic.begin(query="")
    answer = await clinic.callback(query_of(clinic.ehr.sign_in(url)), kept)
    assert answer.status == 303
    assert "launch/patient" in clinic.ehr.asked["scope"].split()
    assert "launch" not in clinic.ehr.asked


@pytest.mark.parametrize("spoil", ["{iss}/", "{iss}x", "https://evil.example/fhir", "", "{issuer}"])
async def test_a_foreign_issuer_starts_nothing(clinic: Clinic, spoil: str) -> None:
    issuer = spoil.format(iss=clinic.ehr.fhir, issuer=clinic.ehr.issuer)
    answer = await clinic.get(f"/smart/launch?iss={issuer}&launch=x", {})
    assert answer.status == 403
    assert "Set-Cookie" not in answer.headers


async def test_an_issuer_that_is_named_twice_starts_nothing(clinic: Clinic) -> None:
    twice = f"iss={clinic.ehr.fhir}&iss=https://evil.example&launch=x"
    assert (await clinic.get(f"/smart/launch?{twice}", {})).status == 401


async def test_a_launch_comes_back_once_even_with_its_cookie_and_a_new_code(clinic: Clinic) -> None:
    url, kept = await clinic.begin()
    first = await clinic.callback(query_of(clinic.ehr.sign_in(url)), kept)
    assert first.status == 303
    again = await clinic.callback(query_of(clinic.ehr.sign_in(url)), kept)
    assert again.status == 401
    assert len(clinic.scheduler.messages) == 1


async def test_only_the_browser_that_began_a_launch_finishes_it(clinic: Clinic) -> None:
    url, _ = await clinic.begin()
    _, theirs = await clinic.begin()
    back = query_of(clinic.ehr.sign_in(url))
    await clinic.refused(await clinic.callback(back, {}), 401)
    await clinic.refused(await clinic.callback(back, theirs), 401)
    await clinic.refused(await clinic.callback(back, {"Cookie": "__Host-rounds-launch=x"}), 401)


@with_cases("spoil")
async def test_a_callback_that_nobody_here_began_lets_nobody_in(clinic: Clinic, spoil: str) -> None:
    url, kept = await clinic.begin()
    back = clinic.ehr.sign_in(url)
    await clinic.refused(await clinic.callback(spoil.format(**back), kept), 401)


async def test_a_code_of_another_launch_fails_by_its_pkce(clinic: Clinic) -> None:
    url, kept = await clinic.begin()
    other, _ = await clinic.begin()
    mixed = clinic.ehr.sign_in(url) | {"code": clinic.ehr.sign_in(other)["code"]}
    await clinic.refused(await clinic.callback(query_of(mixed), kept), 401)


async def test_a_launch_that_takes_too_long_is_begun_anew(clinic: Clinic) -> None:
    url, kept = await clinic.begin()
    clinic.clock.advance(601)
    await clinic.refused(await clinic.callback(query_of(clinic.ehr.sign_in(url)), kept), 401)


@pytest.mark.parametrize(
    "claims",
    [{"nonce": "other"}, {"nonce": None}, {"aud": "others"}, {"aud": [CLIENT, "others"]},
     {"iss": "https://evil.example"}, {"exp": 1}, {"sub": None}],
)  # fmt: skip
async def test_an_id_token_that_is_not_for_this_launch_lets_nobody_in(
    clinic: Clinic, claims: dict[str, Any]
) -> None:
    clinic.ehr.claims |= claims
    await clinic.refused(await clinic.launch(), 401)


async def test_a_forged_id_token_lets_nobody_in(clinic: Clinic) -> None:
    clinic.ehr.forged = True
    await clinic.refused(await clinic.launch(), 401)


@pytest.mark.parametrize("who", ["Patient/p-77", None, "RelatedPerson/1", "x Practitioner/1"])
async def test_who_is_no_practitioner_is_not_let_in(clinic: Clinic, who: str | None) -> None:
    clinic.ehr.claims["fhirUser"] = who
    await clinic.refused(await clinic.launch(), 403)


async def test_a_patient_who_is_closed_to_the_user_is_not_told_from_nobody(clinic: Clinic) -> None:
    clinic.closed.closed.add("patient_4")
    closed = await clinic.launch()
    await clinic.refused(closed, 403)
    clinic.ehr.patients["p-77"] = patient("p-77", "48-999")
    nobody = await clinic.launch()
    await clinic.refused(nobody, 403)
    told = [await closed.json(), await nobody.json()]
    assert told[0] | {"ref": ""} == told[1] | {"ref": ""}


@pytest.mark.slow
@with_cases("theirs")
async def test_who_is_not_the_same_by_number_and_birth_date_is_not_opened(
    clinic: Clinic, theirs: dict[str, Any]
) -> None:
    clinic.ehr.patients["p-77"] = theirs
    await clinic.refused(await clinic.launch(), 403)


async def test_two_charts_of_one_number_open_neither(clinic: Clinic) -> None:
    clinic.people.people = [*clinic.people.people, known("c", "48-4", "patient_9")]
    await clinic.refused(await clinic.launch(), 403)


@pytest.mark.parametrize("named", [None, "../Patient/p-77", "p-77?x=1", ""])
async def test_launches_without_usable_patient_open_none(clinic: Clinic, named: str | None) -> None:
    clinic.ehr.context["patient"] = named
    await clinic.refused(await clinic.launch(), 403)


async def test_a_record_system_that_answers_another_patient_is_not_believed(clinic: Clinic) -> None:
    clinic.ehr.patients["p-77"] = patient("p-78", "48-4")
    await clinic.refused(await clinic.launch(), 503)


async def test_a_launched_session_ends_with_the_record_systems_token(clinic: Clinic) -> None:
    user = {"Cookie": cookie_of(await clinic.launch())}
    clinic.clock.advance(timedelta(minutes=29).total_seconds())
    assert await clinic.session(user) == 200
    clinic.clock.advance(120)
    assert await clinic.session(user) == 401


async def test_a_page_in_a_frame_gets_a_bearer_token_once_and_no_cookie(clinic: Clinic) -> None:
    url, kept = await clinic.begin(**IN_FRAME)
    answer = await clinic.callback(query_of(clinic.ehr.sign_in(url)), kept)
    assert answer.status == 303
    (line,) = answer.headers.getall("Set-Cookie")
    assert line.startswith("__Host-rounds-launch=")
    assert "SameSite=None" in line
    assert "Partitioned" in line
    _, place, ticket, chat = answer.headers["Location"].removeprefix("/").split("/")
    assert (place, chat) == ("launch", clinic.scheduler.messages[0].conversation_id)
    where = f"{clinic.base}/smart/token"
    async with clinic.client.post(where, json={"ticket": ticket}) as redeemed:
        assert redeemed.headers["Cache-Control"] == "no-store"
        token = (await redeemed.json())["token"]
    assert await clinic.session({"Authorization": f"Bearer {token}"}) == 200
    assert await clinic.session({"Cookie": f"__Host-rounds={token}"}) == 401
    async with clinic.client.post(where, json={"ticket": ticket}) as again:
        assert again.status == 401


async def test_a_ticket_that_waits_too_long_is_worth_nothing(clinic: Clinic) -> None:
    answer = await clinic.launch(**IN_FRAME)
    ticket = answer.headers["Location"].split("/")[3]
    clinic.clock.advance(61)
    async with clinic.client.post(f"{clinic.base}/smart/token", json={"ticket": ticket}) as late:
        assert late.status == 401


async def test_the_cookie_of_a_session_is_no_bearer_token(clinic: Clinic) -> None:
    session_id = cookie_of(await clinic.launch()).partition("=")[2]
    assert await clinic.session({"Authorization": f"Bearer {session_id}"}) == 401


async def test_page_routes_alone_may_be_framed_and_by_the_named_alone(clinic: Clinic) -> None:
    page = await clinic.get("/", {})
    assert f"frame-ancestors {ANCESTOR};" in page.headers["Content-Security-Policy"]
    assert "X-Frame-Options" not in page.headers
    for path in ("/operator", "/api/session", "/smart/launch", "/assets/x"):
        other = await clinic.get(path, {})
        assert "frame-ancestors 'none'" in other.headers["Content-Security-Policy"]
        assert other.headers["X-Frame-Options"] == "DENY"


@pytest.mark.parametrize("ancestors", [()])
async def test_without_frame_ancestors_nothing_starts_in_a_frame(clinic: Clinic) -> None:
    page = await clinic.get("/", {})
    assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]
    assert page.headers["X-Frame-Options"] == "DENY"
    launch = await clinic.get(f"/smart/launch?iss={clinic.ehr.fhir}&launch=x", IN_FRAME)
    assert launch.status == 403
    url, kept = await clinic.begin()
    back = query_of(clinic.ehr.sign_in(url))
    await clinic.refused(await clinic.callback(back, kept | IN_FRAME), 403)


@with_cases("records", "says", "known_as")
async def test_a_practitioner_is_believed_of_the_charts_own_server_alone(
    clinic: Clinic, records: str | None, says: str, known_as: str | None
) -> None:
    smart = clinic.smart(records=clinic.ehr.fhir if records == "" else records)
    clinic.ehr.claims["fhirUser"] = says.format(fhir=clinic.ehr.fhir)
    url, kept = await smart.begin(issuer=clinic.ehr.fhir, launch="xyz")
    launched = await smart.finish(kept=kept, **clinic.ehr.sign_in(url))
    assert launched.session.practitioner == known_as


VISIT = {
    "resourceType": "Encounter",
    "id": "e-1",
    "status": "in-progress",
    "subject": {"reference": "Patient/p-77"},
    "type": [{"coding": [{"display": "Follow-up <b>encounter</b>"}]}],
    "period": {"start": "2030-01-02T09:00:00Z"},
}


async def visit_shown(clinic: Clinic) -> Any:
    clinic.ehr.context["encounter"] = "e-1"
    answer = await clinic.launch()
    assert answer.status == 303, await answer.text()
    chat = answer.headers["Location"].removeprefix("/#/chats/")
    user = {"Sec-Fetch-Site": "same-origin", "Cookie": cookie_of(answer)}
    shown = await clinic.get(f"/api/chats/{chat}", user)
    assert shown.status == 200, await shown.text()
    await clinic.scheduler.submit(replace_chat(clinic.scheduler.messages[-1], "another"))
    elsewhere = await clinic.get("/api/chats/another", user)
    assert (await elsewhere.json())["visit"] is None
    return (await shown.json())["visit"]


def replace_chat(message: IncomingMessage, chat: str) -> IncomingMessage:
    return message.model_copy(update={"conversation_id": chat, "message_id": chat})


async def test_the_visit_of_a_launch_is_shown_in_its_conversation_alone(clinic: Clinic) -> None:
    clinic.ehr.encounters["e-1"] = VISIT
    assert await visit_shown(clinic) == {
        "patient_id": "patient_4",
        "text": "Follow-up <b>encounter</b>",
        "begins": "2030-01-02",
    }
    assert "patient/Encounter.r" in clinic.ehr.asked["scope"].split()
    stored = b"".join(clinic.store.contents.values())
    assert b"Follow-up" not in stored


@pytest.mark.slow
@with_cases("changes")
async def test_a_visit_that_is_not_the_patients_own_is_not_shown(
    clinic: Clinic, changes: dict[str, Any] | None
) -> None:
    if changes is not None:
        clinic.ehr.encounters["e-1"] = VISIT | changes
    assert await visit_shown(clinic) is None
