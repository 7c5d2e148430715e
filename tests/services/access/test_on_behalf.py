"""A user's proof is checked claim by claim, exchanged as OAuth has it, and kept in memory only."""

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from data_models import errors
from services.access.on_behalf import ASK_AGAIN_SECONDS, OnBehalf
from tests.bots.user_directory import ADA, APP_ID, CONSENT, GRAPH, SECRET, UserDirectory
from tests.fakes import FixedClock
from tests.services.access.directory import TENANT

OTHER = "bbbbbbbb-bbbb-cccc-dddd-eeeeeeeeeeee"


@pytest.fixture
async def on_behalf(directory: UserDirectory, clock: FixedClock) -> AsyncIterator[OnBehalf]:
    async with aiohttp.ClientSession() as session:
        yield directory.on_behalf(session=session, clock=clock)


async def test_a_proof_is_exchanged_by_the_grant_with_every_parameter(
    on_behalf: OnBehalf, directory: UserDirectory
) -> None:
    proof = directory.proof()
    await on_behalf.take(proof, principal_id=ADA)
    assert directory.exchanges == [
        {
            "path": f"/{TENANT}/oauth2/v2.0/token",
            "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer",
            "requested_token_use": "on_behalf_of",
            "client_id": APP_ID,
            "client_secret": SECRET,
            "assertion": proof,
            "scope": GRAPH,
        }
    ]
    assert await on_behalf.token(ADA, GRAPH) == "ada-1"
    assert len(directory.exchanges) == 1


@pytest.mark.parametrize("audience", [APP_ID, f"api://botid-{APP_ID}"])
async def test_the_application_is_named_by_its_id_or_its_address(
    on_behalf: OnBehalf, directory: UserDirectory, audience: str
) -> None:
    await on_behalf.take(directory.proof(aud=audience), principal_id=ADA)
    assert await on_behalf.token(ADA, GRAPH) == "ada-1"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"aud": "https://graph.microsoft.com"}, errors.UnauthenticatedError),
        ({"iss": "https://login.example/elsewhere/v2.0"}, errors.UnauthenticatedError),
        ({"exp": 1}, errors.UnauthenticatedError),
        ({"nbf": 95_000_000_000}, errors.UnauthenticatedError),
        ({"oid": None}, errors.UnauthenticatedError),
        ({"tid": None}, errors.UnauthenticatedError),
        ({"alg": "none"}, errors.UnauthenticatedError),
        ({"alg": "HS256"}, errors.UnauthenticatedError),
        ({"key": "two"}, errors.UnauthenticatedError),
        ({"scp": "User.Read"}, errors.ForbiddenError),
        ({"oid": OTHER}, errors.ForbiddenError),
    ],
)
async def test_what_is_not_the_users_own_proof_is_neither_kept_nor_exchanged(
    on_behalf: OnBehalf, directory: UserDirectory, changes: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        await on_behalf.take(directory.proof(**changes), principal_id=ADA)
    assert directory.exchanges == []
    with pytest.raises(errors.SignInNeededError):
        await on_behalf.token(ADA, GRAPH)


async def test_a_bot_with_a_managed_identity_has_an_application_for_its_users(
    directory: UserDirectory, clock: FixedClock
) -> None:
    own = {"BOT_SIGN_IN_CLIENT_ID": OTHER, "BOT_SIGN_IN_CLIENT_SECRET": "another~secret"}
    msi = {"MicrosoftAppType": "UserAssignedMSI", "MicrosoftAppPassword": ""}
    async with aiohttp.ClientSession() as session:
        on_behalf = directory.on_behalf(session=session, clock=clock, **own, **msi)
        with pytest.raises(errors.UnauthenticatedError):
            await on_behalf.take(directory.proof(), principal_id=ADA)
        proof = directory.proof(aud=f"api://botid-{OTHER}")
        await on_behalf.take(proof, principal_id=ADA)
    (asked,) = directory.exchanges
    assert (asked["client_id"], asked["client_secret"]) == (OTHER, "another~secret")


async def test_a_proof_of_another_directory_is_refused(
    on_behalf: OnBehalf, directory: UserDirectory
) -> None:
    elsewhere = "99999999-2222-3333-4444-555555555555"
    proof = directory.proof(tid=elsewhere, iss=f"{directory.origin}/{elsewhere}/v2.0")
    with pytest.raises(errors.ForbiddenError):
        await on_behalf.take(proof, principal_id=f"entra:{elsewhere}:{ADA.split(':')[2]}")
    assert directory.exchanges == []


async def test_a_token_is_renewed_before_its_end_with_the_same_proof(
    on_behalf: OnBehalf, directory: UserDirectory, clock: FixedClock
) -> None:
    directory.seconds = 1_200.0
    await on_behalf.take(directory.proof(), principal_id=ADA)
    clock.advance(901)
    assert await on_behalf.token(ADA, GRAPH) == "ada-2"


async def test_with_the_proof_ended_the_user_signs_in_anew(
    on_behalf: OnBehalf, directory: UserDirectory, clock: FixedClock
) -> None:
    await on_behalf.take(directory.proof(), principal_id=ADA)
    clock.advance(3_700)
    with pytest.raises(errors.SignInNeededError):
        await on_behalf.token(ADA, GRAPH)
    assert len(directory.exchanges) == 1


async def test_one_users_token_is_nobody_elses(
    on_behalf: OnBehalf, directory: UserDirectory
) -> None:
    await on_behalf.take(directory.proof(), principal_id=ADA)
    with pytest.raises(errors.SignInNeededError):
        await on_behalf.token(f"entra:{TENANT}:{OTHER}", GRAPH)


async def test_a_token_that_a_service_refused_is_asked_for_again(
    on_behalf: OnBehalf, directory: UserDirectory
) -> None:
    await on_behalf.take(directory.proof(), principal_id=ADA)
    on_behalf.note_refusal(ADA, GRAPH, "an older one")
    assert await on_behalf.token(ADA, GRAPH) == "ada-1"
    on_behalf.note_refusal(ADA, GRAPH, "ada-1")
    assert await on_behalf.token(ADA, GRAPH) == "ada-2"


@pytest.mark.parametrize(
    "refusal", [CONSENT, {"error": "interaction_required"}, {"error": "consent_required"}]
)
async def test_a_missing_consent_is_told_from_an_ended_sign_in(
    on_behalf: OnBehalf, directory: UserDirectory, refusal: dict[str, Any]
) -> None:
    directory.refusals = [(400, refusal), (400, {"error": "invalid_grant"})]
    for needs_consent in (True, False):
        with pytest.raises(errors.SignInNeededError) as caught:
            await on_behalf.take(directory.proof(), principal_id=ADA)
        assert caught.value.needs_consent is needs_consent


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (401, {"error": "invalid_client"}, errors.OnBehalfRefusedError),
        (400, {"error": "invalid_scope"}, errors.OnBehalfRefusedError),
        (503, {}, errors.SignInUnavailableError),
        (429, {}, errors.SignInUnavailableError),
        (200, {"expires_in": 60}, errors.SignInUnavailableError),
        (200, {"access_token": "a\nb", "expires_in": 60}, errors.SignInUnavailableError),
    ],
)
async def test_what_no_sign_in_mends_is_named_as_it_is(
    on_behalf: OnBehalf,
    directory: UserDirectory,
    status: int,
    body: dict[str, Any],
    error: type[Exception],
) -> None:
    directory.refusals = [(status, body)]
    with pytest.raises(error):
        await on_behalf.take(directory.proof(), principal_id=ADA)
    assert on_behalf.wanted(ADA) is None


async def test_a_user_is_asked_once_in_ten_minutes(on_behalf: OnBehalf, clock: FixedClock) -> None:
    asked = []
    for seconds in (0.0, 60.0, ASK_AGAIN_SECONDS):
        clock.advance(seconds)
        with pytest.raises(errors.SignInNeededError):
            await on_behalf.token(ADA, GRAPH)
        asked.append(on_behalf.wanted(ADA) is not None)
    assert asked == [True, False, True]
    assert on_behalf.wanted(ADA) is None


async def test_a_proof_that_the_channel_still_has_is_checked_as_any(
    on_behalf: OnBehalf, directory: UserDirectory
) -> None:
    held = {"proof": directory.proof(oid=OTHER)}

    async def look_up(principal_id: str) -> str | None:
        assert principal_id == ADA
        return held["proof"]

    on_behalf.on_missing(look_up)
    with pytest.raises(errors.SignInNeededError):
        await on_behalf.token(ADA, GRAPH)
    held["proof"] = directory.proof()
    assert await on_behalf.token(ADA, GRAPH) == "ada-1"


async def test_no_token_is_in_what_logs_may_show(
    on_behalf: OnBehalf, directory: UserDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    proof = directory.proof()
    directory.refusals = [(503, {"access_token": "ada-secret"})]
    with pytest.raises(errors.SignInUnavailableError) as caught:
        await on_behalf.take(proof, principal_id=ADA)
    await on_behalf.take(proof, principal_id=ADA)
    shown = f"{caught.value!r}{caught.value.__cause__!r}{vars(on_behalf)!r}{capsys.readouterr()}"
    assert proof not in shown
    assert "ada-secret" not in shown
    assert "ada-2" not in shown
