"""`ACCESS_POLICY=token`: the records server says, asked with the user's own token."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import aiohttp
import pytest
from aiohttp import hdrs, web

from data_models import errors
from data_models.identifiers import PatientId
from services.access.on_behalf import OnBehalf
from services.audit.trail import NoAudit, Visitor
from services.chart_access.chart_access_factory import charts_for
from services.chart_access.chart_guard import ChartGuard
from services.records.fhir.reading import reading_as
from services.records.records_factory import Records
from tests.basis import basis_of
from tests.bots.user_directory import ADA, UserDirectory
from tests.fakes import FixedClock
from tests.services.access.directory import TENANT
from tests.services.records.charts import ecog, note, patient
from tests.services.records.fhir_fake import FakeFhir, answer, found, outcome, running

SCOPE = "https://fhir.example/user_impersonation"
P9 = PatientId("patient_9")
BOB_ID = "bbbbbbbb-1111-2222-3333-444444444444"
BOB = f"entra:{TENANT}:{BOB_ID}"
SERVERS, ADAS, BOBS = "Bearer the server's own", "Bearer ada-1", "Bearer ada-2"


@pytest.fixture
async def fhir() -> AsyncIterator[FakeFhir]:
    async with running(FakeFhir()) as fake:
        fake.on("Patient", found(patient()))
        yield fake


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
        "FHIR_EVERYTHING": "true",
        "BREAK_GLASS_MINUTES": "30",
    }


@dataclass(frozen=True)
class Office:
    """The guard and the records of one process."""

    guard: ChartGuard
    records: Records

    async def reads(self, principal: str) -> list[str]:
        """Return the ids of what the principal is shown of the chart."""
        with reading_as(principal):
            await self.guard.enter(Visitor(principal, "c"), P9)
            record = await self.records.load(P9)
        return sorted(str(one["id"]) for one in (each.raw for each in record.entries.values()))


@pytest.fixture
def office(
    directory: UserDirectory,
    on_behalf: OnBehalf,
    session: aiohttp.ClientSession,
    clock: FixedClock,
    fhir: FakeFhir,
) -> Office:
    settings = directory.settings(GRAPH_ON_BEHALF="false", **wanted(fhir))
    records, access = charts_for(
        basis_of(settings, session, clock=clock),
        audit=NoAudit(),
        alert=lambda _: None,
        on_behalf=on_behalf,
    )
    return Office(access.guard, records)


@pytest.fixture
def guard(office: Office) -> ChartGuard:
    return office.guard


async def entered(guard: ChartGuard) -> None:
    await guard.enter(Visitor(ADA, "c"), P9)


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
    with pytest.raises(errors.ChartClosedError) as caught:
        await entered(guard)
    assert type(caught.value) is errors.ChartClosedError


async def test_who_has_not_signed_in_is_told_so_and_sees_nothing(
    guard: ChartGuard, on_behalf: OnBehalf, fhir: FakeFhir
) -> None:
    with pytest.raises(errors.ChartSignInError) as caught:
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
    with pytest.raises(errors.ChartSignInError):
        await entered(guard)


async def test_a_refused_token_and_a_server_that_is_down_close_the_chart_for_now(
    guard: ChartGuard, on_behalf: OnBehalf, directory: UserDirectory, fhir: FakeFhir
) -> None:
    await on_behalf.take(directory.proof(), principal_id=ADA)
    fhir.on("Patient", answer(outcome("login"), 401), answer({}, 500), found(patient()))
    with pytest.raises(errors.ChartUncheckedError):
        await entered(guard)
    assert [one.headers[hdrs.AUTHORIZATION] for one in fhir.requests] == [ADAS, BOBS]
    await entered(guard)


def shown_to(shown: dict[str, list[dict[str, object]]]) -> Callable[[web.Request], web.Response]:
    """A server that shows each token what is its own to see, and refuses all others."""

    def reply(request: web.Request) -> web.Response:
        resources = shown.get(request.headers[hdrs.AUTHORIZATION])
        if resources is None:
            return web.json_response(outcome("forbidden"), status=403)
        return web.json_response(found(patient(), *resources))

    return reply


async def signed_in(on_behalf: OnBehalf, directory: UserDirectory) -> None:
    """Sign Ada in, and then Bob."""
    await on_behalf.take(directory.proof(), principal_id=ADA)
    await on_behalf.take(directory.proof(oid=BOB_ID), principal_id=BOB)


PSYCHIATRY, ECOG = note("secret", "2024-01-01", "Seen in psychiatry."), ecog("e", "2024-01-01", "1")


async def test_a_chart_is_read_with_the_users_own_token_and_kept_from_all_others(
    office: Office, on_behalf: OnBehalf, directory: UserDirectory, fhir: FakeFhir
) -> None:
    shown = {ADAS: [PSYCHIATRY, ECOG], BOBS: [ECOG], SERVERS: [PSYCHIATRY, ECOG]}
    fhir.on("Patient/p9/$everything", shown_to(shown))
    await signed_in(on_behalf, directory)
    first = await office.reads(ADA)
    assert await office.reads(BOB) == [one for one in first if one != "secret"]
    assert await office.reads(ADA) == first
    assert "secret" in first
    assert {one.headers[hdrs.AUTHORIZATION] for one in fhir.requests} == {ADAS, BOBS}


async def test_side_by_side_nobody_reads_with_anothers_token(
    office: Office, on_behalf: OnBehalf, directory: UserDirectory, fhir: FakeFhir
) -> None:
    fhir.on("Patient/p9/$everything", shown_to({ADAS: [PSYCHIATRY], BOBS: [ECOG]}))
    await signed_in(on_behalf, directory)
    fhir.delay_seconds = 0.01
    found = await asyncio.gather(*(office.reads(one) for one in [ADA, BOB] * 8))
    assert all(("secret" in one) is (number % 2 == 0) for number, one in enumerate(found))


async def test_a_chart_that_is_asked_for_in_nobodys_name_is_not_read(
    office: Office, on_behalf: OnBehalf, directory: UserDirectory, fhir: FakeFhir
) -> None:
    await signed_in(on_behalf, directory)
    with pytest.raises(errors.RecordsRefusedError):
        await office.records.load(P9)
    assert fhir.requests == []


async def test_what_is_opened_in_an_emergency_is_read_with_the_servers_token(
    office: Office, on_behalf: OnBehalf, directory: UserDirectory, fhir: FakeFhir
) -> None:
    reply = shown_to({ADAS: [ECOG], SERVERS: [PSYCHIATRY, ECOG]})
    fhir.on("Patient", reply)
    fhir.on("Patient/p9/$everything", reply)
    await signed_in(on_behalf, directory)
    with pytest.raises(errors.ChartClosedError):
        await office.reads(BOB)
    await office.guard.break_glass(Visitor(BOB, "c"), P9, reason="resuscitation")
    assert "secret" in await office.reads(BOB)
    assert "secret" not in await office.reads(ADA)
