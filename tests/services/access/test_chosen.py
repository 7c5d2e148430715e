"""The access parts follow from the settings."""

from typing import Any

import aiohttp
import pytest

from data_models.errors import ForbiddenError, RateLimitedError, UnauthenticatedError
from services.access.access_factory import (
    authenticator_for,
    origin_policy_for,
    outbound_policy_for,
    rate_for,
)
from services.access.authenticators import (
    ApiKeyAuthenticator,
    AppServiceAuthenticator,
    DevAuthenticator,
    EntraAuthenticator,
)
from services.access.principal import Handshake
from settings import ApiKey, Settings
from tests.basis import basis_of
from tests.given_settings import given_settings

KEYED: dict[str, Any] = {
    "auth_mode": "api_key",
    "api_keys": (ApiKey("alice", "a" * 64),),
    "bot_endpoints": False,
}
ENTRA: dict[str, Any] = {
    "auth_mode": "entra",
    "entra_tenant_id": "t",
    "entra_audience": ("a",),
    "bot_endpoints": False,
}
PROXIED: dict[str, Any] = {
    "auth_mode": "app_service",
    "trusted_proxy": True,
    "bot_endpoints": False,
}


def settings(**values: Any) -> Settings:
    return given_settings(**values)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ({}, DevAuthenticator),
        (KEYED, ApiKeyAuthenticator),
        (ENTRA, EntraAuthenticator),
        (PROXIED, AppServiceAuthenticator),
    ],
)
async def test_the_mode_chooses_the_authenticator(values: dict[str, Any], kind: type) -> None:
    async with aiohttp.ClientSession() as session:
        chosen = authenticator_for(basis_of(settings(**values), session))
    assert type(chosen) is kind


def test_dev_accepts_its_own_name_only_and_others_need_a_token() -> None:
    with pytest.raises(ForbiddenError):
        origin_policy_for(settings()).check(Handshake(peer="127.0.0.1", host="rounds.example"))
    keyed = origin_policy_for(settings(**KEYED, public_base_url="https://rounds.example/"))
    with pytest.raises(UnauthenticatedError):
        keyed.check(Handshake(peer="127.0.0.1", host="rounds.example"))
    with pytest.raises(ForbiddenError):
        keyed.check(Handshake(peer="127.0.0.1", host="localhost:3978"))


def test_loopback_may_be_called_in_dev_only() -> None:
    url = {"fhir_base_url": "http://127.0.0.1:9/r4"}
    assert outbound_policy_for(settings(**url)).allows_host("127.0.0.1")
    assert not outbound_policy_for(settings(**url, **KEYED)).allows_host("127.0.0.1")


async def test_messages_are_limited_outside_dev() -> None:
    async with aiohttp.ClientSession() as session:
        kinds = [basis_of(settings(**kind), session) for kind in ({}, KEYED)]
    free, limited = (rate_for(basis, 1, RateLimitedError) for basis in kinds)
    for rate in (free, limited):
        rate.take("a")
    free.take("a")
    with pytest.raises(RateLimitedError):
        limited.take("a")
