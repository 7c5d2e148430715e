"""The role `order` at every door: whom `ORDERERS` or a key's scope names, and nobody else."""

import hashlib
import json
from pathlib import Path

import aiohttp
import pytest
import yaml
from pydantic import SecretStr

from bots.config import bot_config
from bots.incoming import MessageReader
from bots.reference import parse_activity
from data_models.clock import SystemClock
from services.access.access_factory import authenticator_for
from services.access.authenticators import ApiKeyAuthenticator, KeyFile
from services.access.principal import Handshake, UserRules
from settings import ApiKey
from tests.basis import basis_of
from tests.fakes import FixedClock
from tests.given_settings import given_settings
from tests.services.access.test_authenticators import TENANT, USER, header, shown

OTHER = "99999999-2222-3333-4444-555555555555"


@pytest.mark.parametrize(
    ("listed", "tenant", "may"),
    [
        (USER.upper(), TENANT, True),
        (USER, OTHER, False),
        (f"entra:{OTHER}:{USER}", OTHER, True),
        (f"entra:{OTHER}:{USER}", TENANT, False),
        ("somebody", TENANT, False),
    ],
)
def test_a_user_of_a_directory_has_it_by_the_list(listed: str, tenant: str, may: bool) -> None:
    roles = UserRules(orderers=[listed], home=TENANT).roles_of_user(tenant, USER)
    assert roles == (frozenset({"order"}) if may else frozenset())


@pytest.mark.parametrize(("listed", "may"), [("Alice", True), ("bob", False)])
async def test_a_key_has_it_by_its_name(listed: str, may: bool) -> None:
    keys = [("alice", hashlib.sha256(b"key").hexdigest())]
    door = ApiKeyAuthenticator(keys=keys, operators=(), orderers=[listed])
    found = await door.authenticate(shown(authorization="Bearer key"))
    assert ("order" in found.roles) is may
    assert not found.is_operator


@pytest.mark.parametrize(("scopes", "may"), [(["chat", "order"], True), (["chat"], False)])
async def test_a_key_of_the_file_has_it_by_its_scope(
    tmp_path: Path, scopes: list[str], may: bool
) -> None:
    row = {"name": "ada", "sha256": hashlib.sha256(b"key").hexdigest(), "scopes": scopes}
    path = tmp_path / "keys.yaml"
    path.write_text(yaml.safe_dump({"keys": [row]}))
    door = ApiKeyAuthenticator(keys=[], operators=(), file=KeyFile(path=path), clock=FixedClock())
    found = await door.authenticate(shown(authorization="Bearer key"))
    assert ("order" in found.roles) is may
    assert found.scopes == {"chat", "read"}


@pytest.mark.parametrize(("listed", "may"), [(USER, True), ("other", False)])
async def test_the_setting_reaches_users_behind_the_platforms_proxy(listed: str, may: bool) -> None:
    settings = given_settings(
        auth_mode="app_service",
        trusted_proxy=True,
        entra_tenant_id=TENANT,
        orderers=(listed,),
    )
    sent = Handshake(
        peer="10.0.0.9", host="x", client_principal=header({"oid": USER, "tid": TENANT})
    )
    async with aiohttp.ClientSession() as session:
        door = authenticator_for(basis_of(settings, session))
        found = await door.authenticate(sent)
    assert ("order" in found.roles) is may


@pytest.mark.parametrize(
    ("orderers", "channel", "tenant", "may"),
    [
        (USER, "msteams", TENANT, True),
        (USER, "msteams", OTHER, False),
        (f"entra:{OTHER}:{USER}", "msteams", OTHER, True),
        (USER, "webchat", TENANT, False),
        ("", "msteams", TENANT, False),
    ],
)
def test_a_user_of_teams_has_it_by_the_list(
    orderers: str, channel: str, tenant: str, may: bool
) -> None:
    config = bot_config(
        given_settings(
            auth_mode="api_key",
            api_keys=(ApiKey("alice", "0" * 64),),
            microsoft_app_id="team",
            microsoft_app_password=SecretStr("pw"),
            microsoft_app_tenant_id=TENANT,
            orderers=tuple(filter(None, [orderers])),
        ),
        agents=("Orchestrator", "Radiology"),
        facilitator="Orchestrator",
    )
    reader = MessageReader(
        agents=(), own="Orchestrator", addressed_agent=None, orderers=config.orderers
    )
    message = reader.read(parse_activity(activity(channel, tenant)), now=SystemClock().now())
    assert message.sender.may_order is may


def activity(channel: str, tenant: str) -> bytes:
    """Return a message of a user whom a channel says to be of `tenant`."""
    said = {
        "type": "message",
        "id": "1",
        "text": "order a CEA",
        "channelId": channel,
        "serviceUrl": "https://smba.trafficmanager.net/emea/",
        "conversation": {"id": "c1", "tenantId": tenant},
        "recipient": {"id": "28:bot"},
        "from": {"id": "29:1", "aadObjectId": USER},
        "channelData": {"tenant": {"id": tenant}},
    }
    return json.dumps(said).encode()
