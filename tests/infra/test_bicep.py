"""The Azure files fit together, and the tool that says so finds what does not."""

import json
import re
import shutil
from pathlib import Path

import pytest

from routes.serving import DRAIN_SECONDS
from scripts.bicep import MAIN, problems, problems_of_parameters, read
from scripts.workshop import ROOT
from services.channels.deliveries import KEPT_DAYS
from services.tool_memory.personal import KEPT_DAYS as PERSONAL_DAYS
from services.views.owner_changes import KEPT_DAYS as DRAFT_DAYS
from settings import Settings
from tests.given import present
from tests.given_settings import given_settings
from tests.tables import with_cases

INFRA = MAIN.parent
PARAMETERS = sorted(INFRA.glob("*.parameters.json"))
# Read by Azure's own library, which signs the servers in.
NOT_OURS = {"AZURE_CLIENT_ID"}
_SETTING = re.compile(r"\{ name: '(\w+)', (?:value|secretRef): ")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The Azure files in a folder where they may be broken."""
    shutil.copytree(INFRA, tmp_path / "infra")
    return tmp_path / "infra"


def broken(folder: Path, file: str, old: str, new: str) -> list[str]:
    path = folder / file
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")
    return list(problems(folder / "main.bicep"))


def settings_named() -> set[str]:
    """The variables that the server is given."""
    text = MAIN.read_text("utf-8").split("var fhirSecrets")[1].split("module server")[0]
    return set(_SETTING.findall(text)) - {"fhir-token"}


@pytest.mark.slow
def test_the_files_fit_together() -> None:
    assert list(problems()) == []


@pytest.mark.parametrize("path", PARAMETERS, ids=lambda path: path.name)
def test_the_parameters_are_those_that_are_declared(path: Path) -> None:
    assert list(problems_of_parameters(path)) == []


def test_every_variable_of_the_server_is_a_setting() -> None:
    known = {str(field.alias) for field in Settings.model_fields.values()}
    assert len(settings_named()) > 25
    assert settings_named() - NOT_OURS <= known


def test_the_variables_make_a_server_that_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in settings_named():
        monkeypatch.delenv(name, raising=False)
    values = {
        "HOST": "0.0.0.0",
        "PUBLIC_BASE_URL": "https://rounds-x.azurecontainerapps.io",
        "APP_BLOB_STORAGE_ENDPOINT": "https://a.blob.core.windows.net/",
        "TURN_QUEUE": "rounds-turns",
        "TURN_QUEUE_ENDPOINT": "https://a.queue.core.windows.net/",
        "LLM_PROVIDER": "azure",
        "AZURE_OPENAI_ENDPOINT": "https://m.openai.azure.com/",
        "AZURE_OPENAI_DEPLOYMENT_NAME": "gpt-5.4",
        "AUTH_MODE": "entra",
        "ENTRA_TENANT_ID": "11111111-2222-3333-4444-555555555555",
        "ENTRA_AUDIENCE": "api://rounds",
        "BOT_ENDPOINTS": "true",
        "MicrosoftAppType": "UserAssignedMSI",
        "MicrosoftAppId": "11111111-2222-3333-4444-555555555555",
        "MicrosoftAppTenantId": "11111111-2222-3333-4444-555555555555",
    }
    assert set(values) <= settings_named()
    for name in settings_named():
        monkeypatch.setenv(name, values.get(name, ""))
    monkeypatch.setenv("PORT", "3978")
    assert given_settings().serves_bots


def test_the_containers_and_queues_are_those_that_the_server_opens() -> None:
    from services.stores import AUDIT, SCENARIOS, SESSIONS, USERS

    text = (INFRA / "modules" / "storage.bicep").read_text("utf-8")
    for name in (AUDIT, SCENARIOS, SESSIONS, USERS):
        assert f"'{name}'" in text
    assert "'${turnQueue}-poison'" in text


@pytest.mark.slow
@with_cases("file", "old", "new", "said")
def test_what_is_wired_wrongly_is_found(
    copy: Path, file: str, old: str, new: str, said: str
) -> None:
    assert [one for one in broken(copy, file, old, new) if said in one] != []


@pytest.mark.slow
def test_a_file_that_nothing_uses_is_found(copy: Path) -> None:
    (copy / "modules" / "left.bicep").write_text("param name string\n", "utf-8")
    assert list(problems(copy / "main.bicep")) == ["left.bicep is no module of main.bicep"]


def test_a_secret_in_a_file_of_parameters_is_found(tmp_path: Path) -> None:
    path = tmp_path / "x.parameters.json"
    given = {name: {"value": "x"} for name in read(MAIN).parameters}
    path.write_text(json.dumps({"parameters": given | {"more": {"value": 1}}}), "utf-8")
    assert list(problems_of_parameters(path)) == [
        "x.parameters.json gives more, which there is not",
        "x.parameters.json writes the secret fhirToken down",
        "x.parameters.json writes the secret oidcClientSecret down",
    ]


def test_the_server_is_probed_where_it_listens_as_often_as_the_service_allows() -> None:
    text = (INFRA / "modules" / "server.bicep").read_text("utf-8")
    (port,) = re.findall(r"name: 'PORT', value: '(\d+)'", MAIN.read_text("utf-8"))
    assert set(re.findall(r"(?:targetPort|port): (\d+)", text)) == {port}
    assert len(re.findall(r"path: '/(?:healthz|readyz)'", text)) == 3
    assert max(int(times) for times in re.findall(r"failureThreshold: (\d+)", text)) <= 10


def test_a_server_is_given_the_time_that_it_takes_to_stop() -> None:
    server = (INFRA / "modules" / "server.bicep").read_text("utf-8")
    compose = (INFRA / "compose.yaml").read_text("utf-8")
    for pattern, text in (
        (r"terminationGracePeriodSeconds: (\d+)", server),
        (r"stop_grace_period: (\d+)s", compose),
    ):
        (seconds,) = re.findall(pattern, text)
        assert int(seconds) >= DRAIN_SECONDS + 15  # interrupted turns, last replies, records


def test_no_role_is_wider_than_the_account_it_is_for() -> None:
    for path in (INFRA / "modules").glob("*.bicep"):
        text = path.read_text("utf-8")
        for block in re.findall(r"roleAssignments@[\d-]+' = .*?\n\}", text, re.DOTALL):
            assert "scope: " in block, path.name


def test_nobody_signs_in_with_a_key() -> None:
    text = {path.name: path.read_text("utf-8") for path in (INFRA / "modules").glob("*.bicep")}
    assert "allowSharedKeyAccess: false" in text["storage.bicep"]
    assert "disableLocalAuth: true" in text["models.bicep"]
    assert "disableLocalAuth: true" in text["bot.bicep"]
    assert "adminUserEnabled: false" in text["registry.bicep"]


def test_journals_go_and_nothing_else_that_lies_beside_them() -> None:
    rule = (INFRA / "modules" / "storage.bicep").read_text("utf-8").partition("forget-journals")[2]
    rule = rule.partition("name: 'forget-deliveries'")[0]
    assert "['chat-sessions/']" in rule
    assert "blobTypes: ['appendBlob']" in rule
    assert "blockBlob" not in rule
    days = present(re.search(r"delete: { daysAfterModificationGreaterThan: (\d+) }", rule))
    assert int(days[1]) == 1


def test_drafts_go_when_no_device_shows_them_any_more() -> None:
    rule = (INFRA / "modules" / "storage.bicep").read_text("utf-8").partition("forget-drafts")[2]
    assert "['chat-users/drafts/']" in rule
    days = present(re.search(r"delete: { daysAfterModificationGreaterThan: (\d+) }", rule))
    assert int(days[1]) == DRAFT_DAYS


def test_what_users_own_services_gave_goes_when_no_turn_knows_it_any_more() -> None:
    rule = (INFRA / "modules" / "storage.bicep").read_text("utf-8").partition("forget-own-items")[2]
    assert "['chat-users/personal/']" in rule.partition("name: ")[0]
    days = present(re.search(r"delete: { daysAfterModificationGreaterThan: (\d+) }", rule))
    assert int(days[1]) == PERSONAL_DAYS


def test_notes_of_deliveries_go_when_the_server_needs_them_no_more() -> None:
    rule = (
        (INFRA / "modules" / "storage.bicep").read_text("utf-8").partition("forget-deliveries")[2]
    )
    assert "['chat-users/deliveries/', 'chat-users/owed/']" in rule
    days = present(re.search(r"delete: { daysAfterModificationGreaterThan: (\d+) }", rule))
    assert int(days[1]) == KEPT_DAYS


def test_a_second_installation_and_a_second_try_find_their_names_free() -> None:
    main = MAIN.read_text("utf-8")
    vault = (INFRA / "modules" / "vault.bicep").read_text("utf-8")
    bot = main[main.index("module bot ") :]
    assert "name: '${name}-${token}'" in bot[: bot.index("endpoint:")]
    assert "enablePurgeProtection: isProduction ? true : null" in vault
    assert "softDeleteRetentionInDays: isProduction ? 90 : 7" in vault


def test_nobody_installs_a_bot_that_answers_nobody() -> None:
    main = MAIN.read_text("utf-8")
    declared = main[: main.index("\nparam allowedBotUsers string\n")]
    assert declared.endswith("@minLength(1)")
    asked = json.loads((INFRA / "main.parameters.json").read_text("utf-8"))
    assert asked["parameters"]["allowedBotUsers"]["value"] == "${ROUNDS_BOT_USERS}"
    assert "azd env set ROUNDS_BOT_USERS" in (ROOT / "docs" / "operations.md").read_text("utf-8")


def test_what_holds_data_tells_the_operators_logs() -> None:
    for name in ("models", "storage", "vault"):
        text = (INFRA / "modules" / f"{name}.bicep").read_text("utf-8")
        assert "Microsoft.Insights/diagnosticSettings@" in text
        assert "workspaceId: logsId" in text
    storage = (INFRA / "modules" / "storage.bicep").read_text("utf-8")
    assert "StorageRead" not in storage  # requests name patients, and the audit trail has them


def test_servers_cannot_reach_the_backups_and_jobs_not_the_models() -> None:
    main = MAIN.read_text("utf-8")
    given = {
        name: re.search(r"principalIds?: (.+)", main[main.index(f"module {name} ") :])
        for name in ("backup", "models", "storage")
    }
    who = {name: found[1] for name, found in given.items() if found}
    assert who == {
        "backup": "jobsIdentity.outputs.principalId",
        "models": "identity.outputs.principalId",
        "storage": "principalIds",
    }
    assert (
        "principalId: principalIds[0]\n"
        in ((INFRA / "modules" / "storage.bicep").read_text("utf-8").partition("mayUseQueues")[2])
    )
