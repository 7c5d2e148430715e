"""`ACCESS_POLICY=token`: the records server says, asked with the user's own token."""

from collections.abc import AsyncIterator

import aiohttp
import pytest
from aiohttp import hdrs

from data_models.errors import ChartClosedError, ChartSignInError, ChartUncheckedError
from data_models.identifiers import PatientId
from services.access.on_behalf import OnBehalf
from services.audit.trail import NoAudit
from services.chart_access.chart_access_factory import chart_access_for
from services.chart_access.chart_guard import ChartGuard
from services.records.records_factory import records_for
from tests.bots.user_directory import ADA, UserDirectory
from tests.fakes import CountingIds, FixedClock
from tests.fakes_store import MemoryBlobStore
from tests.services.records.charts import patient
from tests.services.records.fhir_fake import FakeFhir, answer, found, outcome, running

SCOPE = "https://fhir.example/user_impersonation"
P9 = PatientId("patient_9")


@pytest.fixture
async def directory(clock: FixedClock) -> AsyncIterator[UserDirectory]:
    opened = UserDirectory(clock)
    await opened.server.start_server()
    yield opened
    await opened.server.close()


@pytest.fixture
async def fhir() -> AsyncIterator[FakeFhir]:
    async with running(FakeFhir()) as fake:
        fake.on("Patient", found(patient()))
        yield fake


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as opened:
        yield opened


@pytest.fixture
def on_behalf(
    directory: UserDirectory, session: aiohttp.ClientSession, clock: FixedClock, fhir: FakeFhir
) -> OnBehalf:
    return directory.on_behalf(session=session, clock=clock, **wanted(fhir))


def wanted(fhir: FakeFhir) -> dict[str, str]:
    return {
        "ASSISTANT_BACKEND": "local",
        "ACCESS_POLICY": "token",
        "FHIR_BASE_URL": fhir.base_url,
        "FHIR_USER_SCOPE": SCOPE,
        "FHIR_TOKEN": "the server's own",
    }


@pytest.fixture
def guard(
    directory: UserDirectory,
    on_behalf: OnBehalf,
    session: aiohttp.ClientSession,
    clock: FixedClock,
    fhir: FakeFhir,
) -> ChartGuard:
    settings = directory.settings(GRAPH_ON_BEHALF="false", **wanted(fhir))
    return chart_access_for(
        settings,
        records=records_for(settings, session=session, clock=clock),
        store=MemoryBlobStore(),
        audit=NoAudit(),
        session=session,
        clock=clock,
        ids=CountingIds(),
        alert=lambda _: None,
        on_behalf=on_behalf,
    ).guard


async def entered(guard: ChartGuard) -> None:
    await guard.enter(ADA, P9, conversation_id="c")


async def test_the_server_is_asked_with_the_users_token_and_no_other(
    guard: ChartGuard, on_behalf: OnBehalf, directory: UserDirectory, fhir: FakeFhir
) -> None:
    await on_behalf.take(directory.proof(), principal_id=ADA)
    await entered(guard)
    assert [one["scope"] for one in directory.exchanges] == [SCOPE]
    assert [one.headers[hdrs.AUTHORIZATION] for one in fhir.requests] == ["Bearer ada-1"]


@pytest.mark.parametrize(
    "reply", [answer(outcome("forbidden"), 403), answer(found())], ids=["refused", "not found"]
)
async def test_what_the_server_does_not_show_the_user_stays_closed(
    guard: ChartGuard, on_behalf: OnBehalf, directory: UserDirectory, fhir: FakeFhir, reply: object
) -> None:
    fhir.on("Patient", reply)  # type: ignore[arg-type]
    await on_behalf.take(directory.proof(), principal_id=ADA)
    with pytest.raises(ChartClosedError) as caught:
        await entered(guard)
    assert type(caught.value) is ChartClosedError


async def test_who_has_not_signed_in_is_told_so_and_sees_nothing(
    guard: ChartGuard, on_behalf: OnBehalf, fhir: FakeFhir
) -> None:
    with pytest.raises(ChartSignInError) as caught:
        await entered(guard)
    assert "Sign in by the card" in caught.value.user_message
    assert on_behalf.wanted(ADA) is not None
    assert fhir.requests == []


async def test_an_opened_chart_closes_again_with_the_sign_in(
    guard: ChartGuard, on_behalf: OnBehalf, directory: UserDirectory, clock: FixedClock
) -> None:
    await on_behalf.take(directory.proof(exp=int(clock.now().timestamp()) + 30), principal_id=ADA)
    directory.seconds = 40.0
    on_behalf.note_refusal(ADA, SCOPE, "ada-1")
    await entered(guard)
    clock.advance(31)
    with pytest.raises(ChartSignInError):
        await entered(guard)


async def test_a_refused_token_and_a_server_that_is_down_close_the_chart_for_now(
    guard: ChartGuard, on_behalf: OnBehalf, directory: UserDirectory, fhir: FakeFhir
) -> None:
    await on_behalf.take(directory.proof(), principal_id=ADA)
    fhir.on("Patient", answer(outcome("login"), 401), answer({}, 500), found(patient()))
    for _ in range(2):
        with pytest.raises(ChartUncheckedError):
            await entered(guard)
    await entered(guard)
    assert fhir.requests[-1].headers[hdrs.AUTHORIZATION] == "Bearer ada-2"
