"""Settings: what starts, what does not, and what the operator is told."""

from collections.abc import Callable
from functools import reduce
from operator import or_
from pathlib import Path

import pytest

from data_models.errors import ConfigurationError
from scripts.settings_page import PAGE, settings_page
from settings import SENSITIVE_SWITCH, ApiKey, Settings, is_loopback_host, load_settings
from tests.tables import with_cases

HASH = "a" * 64
MSI = {"MicrosoftAppId": "id", "MicrosoftAppType": "UserAssignedMSI", "MicrosoftAppTenantId": "t"}
SSO = {"BOT_SIGN_IN_CONNECTION": "sso"}
BOT = {"MicrosoftAppId": "id", "MicrosoftAppPassword": "pw"}
OWN = {"AGENT_BOTS__RADIOLOGY__APP_ID": "own", "AGENT_BOTS__RADIOLOGY__APP_PASSWORD": "pw"}
GRAPH = {"ASSISTANT_BACKEND": "graph", "GRAPH_TENANT_ID": "11111111-2222-3333-4444-555555555555"}
SETS = {"MSI": MSI, "SSO": SSO, "BOT": BOT, "OWN": OWN, "GRAPH": GRAPH}
Load = Callable[..., Settings]


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Load:
    for field in Settings.model_fields.values():
        monkeypatch.delenv(str(field.alias), raising=False)

    def with_variables(**variables: str) -> Settings:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        return load_settings(env_file=None)

    return with_variables


def test_nothing_set_gives_a_loopback_server_with_the_offline_model(load: Load) -> None:
    settings = load()
    assert (settings.host, settings.port) == ("127.0.0.1", 3978)
    assert settings.data_dir == Path("data")
    assert (settings.auth_mode, settings.model_provider) == ("dev", "offline")


@pytest.mark.slow
@with_cases("named", "own", "name")
def test_a_bad_variable_stops_the_start_by_name_with_an_example(
    load: Load, named: list[str], own: dict[str, str], name: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load(**reduce(or_, (SETS[one] for one in named), {}) | own)
    lines = [line for line in str(caught.value).splitlines() if line.startswith(f"{name}: ")]
    assert lines, str(caught.value)
    assert f"Example: {name}=" in lines[0] or name == "APP_BLOB_STORAGE_ENDPOINT"


def test_a_queue_hides_a_note_until_the_claim_of_its_turn_is_void(load: Load) -> None:
    settings = load(CLAIM_SECONDS="90.5", CLAIM_GRACE_SECONDS="7")
    assert settings.note_hidden_seconds > 90.5 + 7


def test_every_bad_variable_is_named_at_once(load: Load) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load(PORT="abc", LOG_FORMAT="xml")
    assert [line.split(":")[0] for line in str(caught.value).splitlines()] == ["PORT", "LOG_FORMAT"]


@with_cases("name", "value")
def test_a_bad_part_of_an_agents_bot_is_named_with_an_example_of_the_whole(
    load: Load, name: str, value: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load(**{**BOT, **OWN, name: value})
    (line,) = str(caught.value).splitlines()
    assert line.startswith(f"{name}: ")
    assert 'Example: AGENT_BOTS={"Radiology": ' in line
    assert "hush" not in line


def test_two_bots_have_two_registrations(load: Load) -> None:
    twice = {f"{name}".replace("RADIOLOGY", "PATHOLOGY"): value for name, value in OWN.items()}
    with pytest.raises(
        ConfigurationError, match="PATHOLOGY__APP_ID: is the same as AGENT_BOTS__RAD"
    ):
        load(**BOT, **OWN, **twice)


def test_agents_bots_may_be_one_text_with_the_secrets_apart(load: Load) -> None:
    settings = load(
        **BOT,
        AGENT_BOTS='{"Radiology": {"app_id": "own"}, "Pathology": {"app_id": "third"}}',
        AGENT_BOTS__RADIOLOGY__APP_PASSWORD="hush",
        AGENT_BOTS__Pathology__APP_TYPE="UserAssignedMSI",
        AGENT_BOTS__Pathology__APP_TENANT_ID="t",
    )
    radiology, pathology = settings.agent_bots["radiology"], settings.agent_bots["pathology"]
    assert radiology.app_password is not None
    assert radiology.app_password.get_secret_value() == "hush"
    assert (pathology.app_id, pathology.app_type) == ("third", "UserAssignedMSI")
    assert "hush" not in repr(settings)


def test_what_is_set_in_small_letters_and_in_capitals_is_refused(load: Load) -> None:
    with pytest.raises(ConfigurationError, match="set twice"):
        load(**BOT, **OWN, AGENT_BOTS__Radiology__APP_ID="other")


def test_neither_errors_nor_repr_show_a_secret(load: Load) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load(PORT="hush-in-port", API_KEYS="hush-in-keys", OPENAI_API_KEY="hush-key")
    assert "hush" not in str(caught.value)
    assert caught.value.__cause__ is None
    shown = repr(
        load(PORT="1", API_KEYS=f"alice:{HASH}", OPENAI_API_KEY="hush-key", FHIR_TOKEN="hush")
    )
    assert "hush" not in shown
    assert HASH not in shown


@pytest.mark.parametrize("name", [SENSITIVE_SWITCH, SENSITIVE_SWITCH.lower()])
def test_traces_of_patients_text_cannot_be_switched_on(load: Load, name: str) -> None:
    with pytest.raises(ConfigurationError, match="must stay off"):
        load(**{name: "true"})
    load(**{name: "false"})


def test_traces_of_patients_text_cannot_be_on_in_the_file(load: Load, tmp_path: Path) -> None:
    load()
    file = tmp_path / ".env"
    file.write_text(f"{SENSITIVE_SWITCH.lower()}=1\n")
    with pytest.raises(ConfigurationError, match="must stay off"):
        load_settings(env_file=file)


def test_the_environment_wins_over_the_file(load: Load, tmp_path: Path) -> None:
    load(PORT="4000")
    file = tmp_path / ".env"
    file.write_text("PORT=5000\nMicrosoftAppTenantId=t\nOPENAI_MODEL=\nUNKNOWN=1\n")
    settings = load_settings(env_file=file)
    assert settings.port == 4000
    assert settings.microsoft_app_tenant_id == "t"
    assert settings.openai_model == "gpt-4.1"


@pytest.mark.parametrize(
    ("written", "meant"), [("AUTH_MOD", "AUTH_MODE"), ("openai_apikey", "OPENAI_API_KEY")]
)
def test_a_misspelt_name_in_the_file_stops_the_start(
    load: Load, tmp_path: Path, written: str, meant: str
) -> None:
    load()
    file = tmp_path / ".env"
    file.write_text(f"COMPOSE_PROJECT_NAME=rounds\nAZURE_CLIENT_ID=1\n{written}=hush\n")
    with pytest.raises(ConfigurationError, match=f"^{written}: is no setting; {meant}") as found:
        load_settings(env_file=file)
    assert "hush" not in str(found.value)


def test_lists_are_split_at_commas(load: Load) -> None:
    settings = load(
        API_KEYS=f"alice:{HASH}, bob:{HASH.upper()}",
        OPERATORS="alice, bob,",
        ALLOWED_ORIGINS="https://Portal.example:8443",
    )
    assert settings.api_keys == (ApiKey("alice", HASH), ApiKey("bob", HASH))
    assert settings.operators == ("alice", "bob")
    assert settings.allowed_origins == ("https://portal.example:8443",)


@with_cases("variables", "provider")
def test_the_model_follows_from_what_is_set(
    load: Load, variables: dict[str, str], provider: str
) -> None:
    assert load(**variables).model_provider == provider


def test_a_mailbox_can_be_named_for_a_caller_of_another_kind(load: Load) -> None:
    settings = load(**GRAPH, GRAPH_USERS="key:alice = alice@clinic.example, dev=ada")
    assert settings.graph_users == (("key:alice", "alice@clinic.example"), ("dev", "ada"))


def test_graph_is_called_only_where_it_is_the_back_end(load: Load) -> None:
    hosts = {"graph.microsoft.com", "clinic-my.sharepoint.com"}
    files = {"GRAPH_FILE_HOSTS": "clinic-my.sharepoint.com"}
    assert hosts <= load(**GRAPH, **files).outbound_hosts
    assert not hosts & load(ASSISTANT_BACKEND="local", **files).outbound_hosts


def test_called_hosts_are_those_of_set_addresses_and_the_allowed_ones(load: Load) -> None:
    settings = load(FHIR_BASE_URL="https://FHIR.example/r4", ALLOWED_OUTBOUND_HOSTS="Graph.example")
    assert {"fhir.example", "graph.example"} <= settings.outbound_hosts
    assert "example" not in settings.outbound_hosts


@pytest.mark.parametrize(
    ("variables", "serves"),
    [
        ({}, True),
        ({"BOT_ENDPOINTS": "false"}, False),
        ({"AUTH_MODE": "api_key", "API_KEYS": f"alice:{HASH}"}, False),
        ({"AUTH_MODE": "api_key", "API_KEYS": f"alice:{HASH}", **BOT}, True),
        ({"AUTH_MODE": "api_key", "API_KEYS": f"alice:{HASH}", **BOT, "BOT_ENDPOINTS": "0"}, False),
    ],
)
def test_bots_are_served_only_where_callers_can_be_told_apart(
    load: Load, variables: dict[str, str], serves: bool
) -> None:
    assert load(**variables).serves_bots == serves


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "[::1]", "localhost"])
def test_loopback_hosts(host: str) -> None:
    assert is_loopback_host(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "127.0.0.1.evil.example", "", "10.0.0.1"])
def test_other_hosts_are_not_loopback(host: str) -> None:
    assert not is_loopback_host(host)


def test_every_setting_says_what_it_is() -> None:
    silent = [name for name, field in Settings.model_fields.items() if not field.description]
    assert silent == []


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == settings_page(), (
        "run: python -m scripts.settings_page"
    )


def test_the_samples_are_found_from_any_folder(
    load: Load, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert (load().samples_folder / "patients").is_dir()
    (tmp_path / "samples").mkdir()
    assert load().samples_folder.resolve() == (tmp_path / "samples").resolve()
