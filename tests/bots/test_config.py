"""What settings make of the bots, and what of them stops the start."""

from typing import Any

import pytest

from bots.config import BotConfig, Registration, bot_config
from data_models.errors import ConfigurationError
from settings import AgentBot
from tests.given_settings import given_settings
from tests.tables import with_cases

AGENTS = ("Orchestrator", "Radiology", "Pathology")


def made(**settings: Any) -> BotConfig:
    usual = {"microsoft_app_id": "team", "microsoft_app_password": "pw"}
    return bot_config(
        given_settings(**{**usual, **settings}),
        agents=AGENTS,
        facilitator="Orchestrator",
    )


def own(**changes: Any) -> AgentBot:
    return AgentBot(**{"app_id": "own", "app_password": "own-pw", **changes})


def test_an_agents_bot_is_found_in_any_letters_and_others_are_the_teams() -> None:
    bots = made(agent_bots={"RADIOLOGY": own()}).bots
    expected = Registration(app_id="own", app_password="own-pw")
    assert bots.at("Radiology") == bots.at("radiology") == expected
    assert bots.at("Pathology").app_id == bots.at(None).app_id == "team"


def test_what_an_agents_bot_leaves_open_is_as_for_the_teams() -> None:
    team = {"microsoft_app_type": "SingleTenant", "microsoft_app_tenant_id": "home"}
    bots = made(agent_bots={"radiology": own()}, **team).bots
    found = bots.at("Radiology")
    assert (found.app_type, found.directory, found.tenants) == ("SingleTenant", "home", ("home",))


def test_an_agents_bot_may_be_of_another_kind_and_directory() -> None:
    identity = own(app_password=None, app_type="UserAssignedMSI", app_tenant_id="away")
    bots = made(agent_bots={"radiology": identity}, additional_allowed_tenant_ids=("more",)).bots
    found = bots.at("Radiology")
    assert (found.app_type, found.directory, found.app_password) == ("UserAssignedMSI", None, "")
    assert found.tenants == ("more", "away")
    assert bots.team.tenants == ("more",)


def test_no_password_is_shown() -> None:
    assert "own-pw" not in repr(made(agent_bots={"radiology": own()}))


@with_cases("name", "says")
def test_somebody_who_cannot_have_a_bot_stops_the_start(name: str, says: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        made(agent_bots={name: own()})
    assert says in str(caught.value)
    assert "Example: " in str(caught.value)
