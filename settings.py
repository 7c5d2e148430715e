# ruff: noqa: E501 - one variable a line: the class reads as a table
"""Every environment variable that Rounds reads, typed and documented; read once at start.

A variable has the field's name in capitals unless the field names another. `docs/settings.md` is
made from this file by `python -m scripts.settings_page`.
"""

import ipaddress
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self, TypeAlias
from urllib.parse import urlsplit
from zoneinfo import available_timezones

from dotenv import dotenv_values
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
)
from pydantic import model_validator as checked
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict, SettingsError

from data_models.errors import ConfigurationError

SENSITIVE_SWITCH = "SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE"
_NOTE_AFTER_CLAIM_SECONDS = 5
_CLOSE = 0.85
"""Names of settings that alike are one, misspelt."""
_OFF = {"", "0", "false", "f", "no", "n", "off"}
_ORIGIN = re.compile(r"https?://(\[[0-9a-f:]+\]|[a-z0-9.-]+)(:[0-9]{1,5})?")
_API_KEY = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.@-]{0,63}):([0-9a-fA-F]{64})")


class ApiKey(NamedTuple):
    """One client of `AUTH_MODE=api_key`: its name and the SHA-256 of its key, in lower-case hex."""

    name: str
    sha256: str


BotKind: TypeAlias = Literal["MultiTenant", "SingleTenant", "UserAssignedMSI"]


class AgentBot(BaseModel):
    """An agent's own bot; what it leaves open is as for the team's (`MicrosoftApp…`)."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    app_id: Annotated[str, Field(min_length=1)]
    app_password: SecretStr | None = None
    app_type: BotKind | None = None
    app_tenant_id: str | None = None


class Problem(NamedTuple):
    """What is wrong with one variable, and a line that would be right."""

    name: str
    text: str
    example: str

    def __str__(self) -> str:
        return f"{self.name}: {self.text}. Example: {self.example}"


def is_loopback_host(host: str) -> bool:
    """Tell whether `host` is this machine only: `localhost` or a loopback address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _listed(value: object) -> object:
    if not isinstance(value, str):
        return value
    return tuple(part.strip() for part in value.split(",") if part.strip())


def _api_keys(value: object) -> object:
    if not isinstance(value, str):
        return value
    matches = [_API_KEY.fullmatch(part.strip()) for part in value.split(",") if part.strip()]
    if None in matches:
        raise ValueError("each entry must be name:sha256-hex-of-the-key")
    return tuple(ApiKey(match[1], match[2].lower()) for match in matches if match)


def _lowered(value: object) -> object:
    if not isinstance(value, dict):
        return value
    found: dict[str, object] = {}
    for key, inner in value.items():
        name, lowered = str(key).lower(), _lowered(inner)
        found[name] = _joined(found[name], lowered) if name in found else lowered
    return found


def _joined(one: object, other: object) -> object:
    """Join what is written once in small letters and once in capitals."""
    if not isinstance(one, dict) or not isinstance(other, dict) or one.keys() & other.keys():
        raise ValueError("one thing is set twice, in small letters and in capitals")
    return one | other


def _pairs(value: object) -> object:
    if not isinstance(value, str):
        return value
    parts = [part.split("=") for part in value.split(",") if part.strip()]
    if not all(len(part) == 2 and all(map(str.strip, part)) for part in parts):
        raise ValueError("each entry must be name=value")
    return tuple((name.strip(), text.strip()) for name, text in parts)


def _url(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username:
        raise ValueError("must be an http or https address without a user name")
    return value.rstrip("/")


def _origins(values: tuple[str, ...]) -> tuple[str, ...]:
    if not all(_ORIGIN.fullmatch(value.lower()) for value in values):
        raise ValueError("must be origins, scheme://host[:port], without path or wildcard")
    return tuple(value.lower() for value in values)


def _frame_origins(values: tuple[str, ...]) -> tuple[str, ...]:
    if not all(value.startswith("https://") for value in values):
        raise ValueError("must be https: a page that anybody may change would show the chart")
    return values


def _networks(values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        ipaddress.ip_network(value)
    return values


@cache
def _zones() -> Set[str]:
    return available_timezones()


def _zone(value: str) -> str:
    if value not in _zones():
        raise ValueError("must be an IANA time zone")
    return value


ZoneName: TypeAlias = Annotated[str, AfterValidator(_zone)]
Names: TypeAlias = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_listed)]
Origins: TypeAlias = Annotated[Names, AfterValidator(_origins)]
FrameOrigins: TypeAlias = Annotated[Origins, AfterValidator(_frame_origins)]
Networks: TypeAlias = Annotated[Names, AfterValidator(_networks)]
ApiKeys: TypeAlias = Annotated[tuple[ApiKey, ...], NoDecode, BeforeValidator(_api_keys)]
Pairs: TypeAlias = Annotated[tuple[tuple[str, str], ...], NoDecode, BeforeValidator(_pairs)]
Section: TypeAlias = Annotated[dict[str, Any], BeforeValidator(_lowered)]
AgentBots: TypeAlias = Annotated[dict[str, AgentBot], BeforeValidator(_lowered)]
Url: TypeAlias = Annotated[str, AfterValidator(_url)]
QueueName: TypeAlias = Annotated[str, Field(pattern=r"^[a-z0-9](?:-?[a-z0-9]){2,55}$")]
PhoneNumber: TypeAlias = Annotated[str, Field(pattern=r"^\+?[0-9][0-9 ()/-]{1,23}$")]
Seconds: TypeAlias = Annotated[float, Field(gt=0, le=86_400)]
Count: TypeAlias = Annotated[int, Field(gt=0, le=100_000_000)]


def _set(default: Any, text: str, example: object, **more: Any) -> Any:
    return Field(default=default, description=text, examples=[str(example)], **more)


class Settings(BaseSettings):
    """What an operator may set; wrong values stop the start with a `ConfigurationError`."""

    model_config = SettingsConfigDict(
        frozen=True,
        case_sensitive=True,
        env_nested_delimiter="__",
        env_ignore_empty=True,
        extra="ignore",
        alias_generator=str.upper,
        populate_by_name=True,
        hide_input_in_errors=True,
    )

    # fmt: off
    host: str = _set("127.0.0.1", "Address to listen on; with `AUTH_MODE=dev` loopback only", "127.0.0.1")
    port: Annotated[int, Field(ge=0, le=65_535)] = _set(3978, "Port to listen on; 0 lets the system choose", 3978)
    public_base_url: Url | None = _set(None, "Address at which browsers reach the server; its host is then the only accepted one", "https://rounds.example.org")

    data_dir: Path = _set(Path("data"), "Folder of the local state (`DATA_DIR/chat-sessions/…`)", "./data")
    data_dir_shared: bool = _set(False, "Whether several servers of this machine may use `DATA_DIR`; else the second one does not start", "true")
    azure_storage_connection_string: SecretStr | None = _set(None, "Azure Blob Storage by connection string; unset: local files", "UseDevelopmentStorage=true")
    app_blob_storage_endpoint: Url | None = _set(None, "Azure Blob Storage by managed identity; unset: local files", "https://account.blob.core.windows.net")

    turn_queue: QueueName | None = _set(None, "Azure Storage Queue through which another replica finishes a dead one's bot turns; needs Azure storage", "rounds-turns")
    turn_queue_endpoint: Url | None = _set(None, "Where `TURN_QUEUE` is; unset: beside `APP_BLOB_STORAGE_ENDPOINT`", "https://account.queue.core.windows.net")

    llm_provider: Literal["azure", "openai", "offline"] | None = _set(None, "The model: `azure`, `openai` or `offline`; unset: by what else is set", "offline")
    openai_base_url: Url | None = _set(None, "OpenAI-compatible server", "http://127.0.0.1:11434/v1")
    openai_api_key: SecretStr | None = _set(None, "Key for `OPENAI_BASE_URL`, or for OpenAI if that is unset", "sk-…")
    openai_model: str = _set("gpt-4.1", "Model to ask for", "gpt-4.1")
    azure_openai_endpoint: Url | None = _set(None, "Azure OpenAI resource", "https://name.openai.azure.com")
    azure_openai_deployment_name: str | None = _set(None, "Azure OpenAI deployment", "gpt-4.1")
    azure_openai_api_version: str = _set("2024-10-21", "Azure OpenAI API version", "2024-10-21")
    azure_openai_api_key: SecretStr | None = _set(None, "Azure OpenAI key; unset: managed identity", "0123abcd…")
    patient_context_decider_deployment_name: str | None = _set(None, "Smaller Azure deployment for the patient classifier", "gpt-4.1-mini")
    patient_context_decider_model: str | None = _set(None, "Smaller model for the patient classifier", "gpt-4.1-mini")
    model_context_tokens: Annotated[int, Field(ge=1_024, le=100_000_000)] | None = _set(None, "The model's window, prompt and answer together; unset: what its server tells", 16_384)
    model_output_tokens: Annotated[int, Field(ge=256, le=1_000_000)] = _set(4_096, "Longest answer of an agent, as `max_tokens`", 4_096)
    model_reads_images: bool = _set(False, "The model takes images (PNG, JPEG, WebP): a photograph or scan that a user gives is sent to it, and what it writes down is kept as a paper that says so; otherwise images are refused", "true")
    model_lacks: Names = _set((), "What the model or its server cannot do: system_role, tools, forced_tools, json_schema, parallel_tools; `thoughts_open`: its template opens `<think>`", "forced_tools,json_schema")
    model_prices: str = _set("", "Dollars for a million tokens of prompt, cached prompt and answer", "2.00, 0.50, 8.00")
    llm_silence_seconds: Seconds = _set(25.0, "A model call ends after so long without a byte", 25)
    llm_call_seconds: Seconds = _set(55.0, "A model call, its retries included, ends after so long", 55)
    llm_retries: Annotated[int, Field(ge=0, le=5)] = _set(1, "Retries on 408, 409, 429 and 5xx", 1)
    llm_concurrency: Count = _set(64, "Model calls at a time in this process", 64)

    turns_at_once: Count = _set(128, "Turns that run at once in this process; the others wait", 128)
    turn_seconds: Seconds = _set(300.0, "A turn ends after so long", 300)
    order_drafts: bool = _set(False, "Whether users with the role `order` may have drafts of orders for tests prepared. They are made after their yes, on the FHIR server if its CapabilityStatement has conditional create of ServiceRequest, else beside the sample clinic; never active, never a drug", "true")
    direct_answers: bool = _set(False, "Whether a plain look-up such as “latest potassium” is answered from the rows without a model call", "true")
    turn_agent_messages: Count = _set(30, "Agent messages in a turn", 30)
    turn_tool_calls: Count = _set(20, "Tool calls in a turn", 20)
    turn_output_bytes: Count = _set(200_000, "UTF-8 bytes of agents' text in a turn", 200_000)
    tool_seconds: Seconds = _set(30.0, "A tool call ends after so long", 30)
    tool_rounds: Count = _set(8, "Rounds of tool calls in one agent message", 8)
    window_chars: Count = _set(6_000, "Characters of history that an agent is shown", 6_000)

    patient_id_pattern: str = _set("^patient_[0-9]+$", "Regular expression that a whole patient id must match", "^patient_[0-9]+$")
    time_zone: ZoneName = _set("UTC", "Time zone of users whose channel names none", "Europe/Berlin")
    entity_legacy_format: bool = _set(False, "Whether JSON that agents of older prompts write as their text changes what is noted; `on` only while such prompts are in use, as a quoted mail may hold such JSON, too", "on")
    tool_memory_entities: Count = _set(50, "What tools returned: so many things are remembered for a patient", 50)
    tool_memory_executions: Count = _set(100, "Runs of tools that are remembered for a patient", 100)
    tool_memory_idle_minutes: Count = _set(60, "A remembered thing is forgotten after so long without use", 60)
    memory_idle_minutes: Count = _set(30, "A patient's session is PAUSED after so long without a message", 30)
    memory_extraction_seconds: Seconds = _set(3.0, "The model may take so long to read a message in its context; then rules do", 3)
    memory_rotation: bool = _set(True, "Archive older turns early; `off`: at the hard limits only", "off")
    memory_validation: bool = _set(True, "Check the memory blocks when they are loaded and before they are written", "off")

    scenario_migration: Section = _set({}, "How new versions of scenarios reach sessions: `SCENARIO_MIGRATION__SECTION__KEY`, listed in [operator.md](operator.md#settings)", '{"deployment": {"require_approval": false}}')

    emergency_number: PhoneNumber = _set("112", "The local emergency number, told in answer to a call for help", "911")
    crisis_line: Annotated[str, Field(max_length=120)] | None = _set(None, "Whom people in a crisis can talk to, told in the same answer", "988, by call or text, at any time")

    samples_dir: Path = _set(Path("samples"), "Folder of patients' records in files of any names (FHIR bundles or ndjson, perhaps gzipped), used without `FHIR_BASE_URL`", "./samples")
    fhir_base_url: Url | None = _set(None, "FHIR R4 server; unset: the sample patients", "https://fhir.example.org/r4")
    fhir_identifier_system: str | None = _set(None, "With `FHIR_BASE_URL`: the system of the identifiers that patient ids are; unset: any", "urn:oid:1.2.36.146.595.217.0.1")
    patient_identifier_systems: Names = _set((), "Systems of the identifiers by which patients are looked up; unset: `FHIR_IDENTIFIER_SYSTEM`, or all", "urn:oid:1.2.36.146.595.217.0.1")
    directory_seconds: Seconds = _set(2.0, "Looking up whom a message names ends after so long, and the user is asked", 2)
    access_policy: Literal["open", "roster", "relationship", "token"] = _set("open", "Who may open a chart: `open`, any signed-in user; `roster`, whom `CARE_ROSTER_FILE` lists; `relationship`, who cares for the patient by the records; `token`, whom the records server lets read it by their own token", "roster")
    care_roster_file: Path | None = _set(None, "With `ACCESS_POLICY=roster`: YAML of `principal: [patient, …]`, `*` for all; read again when it changes", "./care.yaml")
    practitioner_claim: str = _set("fhirUser", "With `ACCESS_POLICY=relationship`: the claim of a sign-in that names the user's FHIR Practitioner, as `Practitioner/17` or `system|value`", "fhirUser")
    practitioners: Pairs = _set((), "Practitioners of callers whose sign-in names none: `principal=Practitioner/17,…`", "dev=Practitioner/17,key:alice=Practitioner/18")
    relationship_days: Count = _set(90, "An Encounter or Appointment opens the chart for so many days after its end, and before it begins", 30)
    break_glass_minutes: Annotated[int, Field(ge=0, le=1_440)] = _set(0, "A closed chart can be opened in an emergency, with a reason, for so many minutes; 0: it cannot", 60)
    allow_unknown_patients: bool = _set(False, "Whether a number that nobody carries opens a blank chart, for demonstrations", "true")
    fhir_token: SecretStr | None = _set(None, "Bearer token for `FHIR_BASE_URL`", "eyJ…")
    fhir_client_id: str | None = _set(None, "The application that signs in to `FHIR_BASE_URL` for itself, with a secret or a key", "rounds")
    fhir_client_secret: SecretStr | None = _set(None, "The application's secret (OAuth 2 client credentials)", "a1B~…")
    fhir_client_key_file: Path | None = _set(None, "The application's private key in PEM (SMART backend services): RSA or P-384", "/run/secrets/fhir.pem")
    fhir_client_key_id: str | None = _set(None, "The `kid` under which the server knows the key", "rounds-2026")
    fhir_token_url: Url | None = _set(None, "Where tokens are issued; unset: where the server's `.well-known/smart-configuration` says", "https://login.example.org/token")
    fhir_scope: str = _set("system/*.rs", "What is asked for when a token is", "system/*.read")
    fhir_user_scope: str | None = _set(None, "With `ACCESS_POLICY=token`: what is asked of the directory for each user, so that the FHIR server says which charts are theirs", "https://clinic.fhir.azurehealthcareapis.com/user_impersonation")
    fhir_managed_identity: bool = _set(False, "Sign in to `FHIR_BASE_URL` as the platform's own identity", "true")
    fhir_everything: bool = _set(False, "Load charts by `$everything` where the server offers it, instead of type by type", "true")

    since_last_looked: bool | None = _set(None, "Keep for each user how a chart looked (hashes only) and tell what changed since; with `FHIR_BASE_URL` every opening then reads the whole chart; unset: with files only", "true")

    rounds_parallel: Count = _set(4, "Patients of a round that are prepared side by side in this process", 4)

    guidelines_dir: Path | None = _set(None, "Folder of the hospital's own guidelines (Markdown, HTML, PDF, Word), read again when a file changes; unset: none, and in dev without `FHIR_BASE_URL` invented samples", "./guidelines")
    mcp_servers: Path | None = _set(None, "YAML of other systems' servers (Model Context Protocol) whose tools agents may read with ([Agents](agents.md)); their hosts have to be in `ALLOWED_OUTBOUND_HOSTS`; unset: none", "./mcp-servers.yaml")
    trials_base_url: Url | None = _set(None, "Register of studies with the API of ClinicalTrials.gov (v2). Coded diagnoses, marker names, age (90 at most), sex and `TRIALS_COUNTRY` are sent there when somebody asks for studies; unset: nothing leaves", "https://clinicaltrials.gov")
    trials_dir: Path | None = _set(None, "Folder of studies in that API's JSON, for closed networks; unset: none, and in dev without `FHIR_BASE_URL` invented samples", "./studies")
    trials_country: str = _set("", "Country in which studies are looked for, as the register writes it; unset: anywhere", "Germany")

    pubmed_base_url: Url | None = _set(None, "NCBI's E-utilities, with which the agent `MedicalResearch` searches PubMed. Its words are sent there when somebody asks for published research, never with a name, a date or a number of a patient; unset: nothing leaves", "https://eutils.ncbi.nlm.nih.gov/entrez/eutils")
    pubmed_api_key: SecretStr | None = _set(None, "NCBI's key for `PUBMED_BASE_URL`; unset: three requests in a second", "0123abcd…")

    speech_url: Url | None = _set(None, "Where dictated speech is written down (the address of OpenAI's transcription API); recordings are sent there and stored nowhere here; unset: no dictation", "https://speech.example.org/v1/audio/transcriptions")
    speech_api_key: SecretStr | None = _set(None, "Key for `SPEECH_URL`", "sk-…")
    speech_browser: bool = _set(False, "Without `SPEECH_URL`: dictation by the browser's own speech recognition. The sound leaves for the browser's maker, and the page says so while it listens", "true")
    speech_model: str = _set("whisper-1", "Model that `SPEECH_URL` is asked for", "whisper-1")

    assistant_backend: Literal["local", "graph"] = _set("local", "Where the users' calendars, mail, contacts, tasks and documents are: `local` (files of our own) or `graph` (Microsoft 365)", "graph")
    graph_base_url: Url = _set("https://graph.microsoft.com/v1.0", "With `graph`: Microsoft Graph, of a national cloud perhaps", "https://graph.microsoft.us/v1.0")
    graph_tenant_id: str | None = _set(None, "With `graph`: the directory of the mailboxes; its users have their own", "11111111-2222-3333-4444-555555555555")
    graph_client_id: str | None = _set(None, "With `graph`: the application that reads the mailboxes", "11111111-2222-3333-4444-555555555555")
    graph_client_secret: SecretStr | None = _set(None, "The application's secret; unset: managed identity", "a1B~…")
    graph_token: SecretStr | None = _set(None, "One user's own token instead of an application, with `AUTH_MODE=dev` only", "eyJ…")
    graph_on_behalf: bool = _set(False, "With `graph`: reach Microsoft 365 as the user, with no more rights than theirs, instead of as an application; needs `BOT_SIGN_IN_CONNECTION`", "true")
    graph_users: Pairs = _set((), "Mailboxes of callers who are no users of the directory: `principal=user,…`", "key:alice=alice@clinic.example,dev=ada@clinic.example")
    graph_file_hosts: Names = _set((), "Hosts from which files of OneDrive and SharePoint may be fetched", "clinic-my.sharepoint.com")

    auth_mode: Literal["dev", "api_key", "entra", "app_service", "oidc"] = _set("dev", "Who may call: `dev` (loopback, no token), `api_key`, `entra`, `app_service` or `oidc` (the page signs users in; keys stay valid)", "entra")
    api_keys: ApiKeys = _set((), "With `api_key`: `name:sha256-hex-of-key,…`", f"alice:{'0' * 64}", repr=False)
    api_keys_file: Path | None = _set(None, "With `api_key`: YAML of keys with scopes, patients and an end; read again when it changes", "./keys.yaml")
    operators: Names = _set((), "Operators: names of API keys, object ids of users of `ENTRA_TENANT_ID`, or `entra:directory:object-id`; in dev, unset means everyone", "alice,bob")
    orderers: Names = _set((), "Who may confirm drafts of orders (`ORDER_DRAFTS`), on the page, over the API and in Teams, listed as for `OPERATORS`; in dev everybody may", "alice,entra:11111111-2222-3333-4444-555555555555:99999999-8888-7777-6666-555555555555")
    allowed_origins: Origins = _set((), "Origins of browsers besides the server's own", "https://portal.example.org")
    trusted_proxy: bool = _set(False, "A proxy in front sets `X-MS-CLIENT-PRINCIPAL` and removes a client's own", "true")
    entra_tenant_id: str | None = _set(None, "With `entra`: the directory that signs users in", "11111111-2222-3333-4444-555555555555")
    entra_audience: Names = _set((), "With `entra`: accepted audiences of tokens", "api://rounds")
    entra_scope: str = _set("access_as_user", "With `entra`: the delegated scope or the application role that a token needs", "access_as_user")
    entra_allowed_tenant_ids: Names = _set((), "Further directories whose users may call", "66666666-7777-8888-9999-000000000000")
    entra_authority: Url = _set("https://login.microsoftonline.com", "Where tokens and their keys come from", "https://login.microsoftonline.us")
    oidc_issuer: str | None = _set(None, "With `oidc`: the provider, exactly as it calls itself; hosts of its other addresses go into `ALLOWED_OUTBOUND_HOSTS`", "https://login.microsoftonline.com/11111111-2222-3333-4444-555555555555/v2.0")
    oidc_client_id: str | None = _set(None, "With `oidc`: what the provider calls this server", "11111111-2222-3333-4444-555555555555")
    oidc_client_secret: SecretStr | None = _set(None, "With `oidc`: the secret that the provider gave; it also encrypts what is stored of a session", "a1B~…")
    oidc_roles_claim: str | None = _set(None, "With `oidc`: the claim with roles (`clinician`, `operator`, `order`, `reviewer`, `metrics`); who has none is refused; unset: whoever signs in is a clinician", "roles")
    smart_issuers: Names = _set((), "With `oidc`: FHIR servers of record systems that may start Rounds with a patient (SMART App Launch), each exactly as it calls itself in `iss`; hosts of their other addresses go into `ALLOWED_OUTBOUND_HOSTS`", "https://ehr.example.org/fhir/r4")
    smart_client_id: str | None = _set(None, "With `SMART_ISSUERS`: what they call this server", "rounds")
    smart_client_secret: SecretStr | None = _set(None, "The secret that they gave; unset: a public client, with PKCE alone", "a1B~…")
    fhircast_hub_url: Url | None = _set(None, "With `SMART_ISSUERS`: the FHIRcast hub by which they tell whose chart their user opens next, exactly as `hub.url` of a launch names it; the conversation of that launch follows; the host of its WebSocket goes into `ALLOWED_OUTBOUND_HOSTS` where it is another", "https://ehr.example.org/fhircast")
    frame_ancestors: FrameOrigins = _set((), "Origins, https only, whose pages may show the page in a frame; such a page holds its token in memory and uses no cookie; unset: none", "https://ehr.example.org")
    mcp_endpoint: bool = _set(False, "Serve charts to programs at `/mcp` (Model Context Protocol), to read, under the rights of the bearer token that they show", "true")
    metrics_token: SecretStr | None = _set(None, "A bearer token that opens `/metrics`, beside the roles `operator` and `metrics`; in dev everybody reads it unless this is set", "a1B~…")
    idle_logoff_seconds: Seconds = _set(900.0, "A socket without a message for so long is closed (not in dev)", 900)

    bot_endpoints: bool | None = _set(None, "Serve `/api/messages`; `true` outside dev needs `MicrosoftAppId`; unset: if that is set, and in dev", "false")
    microsoft_app_type: BotKind = _set("MultiTenant", "Kind of the bot's app registration", "SingleTenant", alias="MicrosoftAppType")
    microsoft_app_id: str | None = _set(None, "The bot's application id", "11111111-2222-3333-4444-555555555555", alias="MicrosoftAppId")
    microsoft_app_password: SecretStr | None = _set(None, "The bot's secret", "a1B~…", alias="MicrosoftAppPassword")
    microsoft_app_tenant_id: str | None = _set(None, "The bot's directory", "11111111-2222-3333-4444-555555555555", alias="MicrosoftAppTenantId")
    agent_bots: AgentBots = _set({}, "Agents with a bot of their own at `/api/{agent}/messages`, as JSON or `AGENT_BOTS__AGENT__KEY`: `app_id`, `app_password`, and `app_type`, `app_tenant_id` where they differ from the team's; unset: one bot serves all", '{"Radiology": {"app_id": "11111111-2222-3333-4444-555555555555", "app_password": "a1B~…"}}')
    bot_sign_in_connection: str | None = _set(None, "The OAuth connection of the team's bot by which its users sign in (Teams single sign-on), so that `GRAPH_ON_BEHALF` and `ACCESS_POLICY=token` have their tokens; unset: nobody is asked to", "rounds-sso")
    bot_sign_in_client_id: str | None = _set(None, "With `BOT_SIGN_IN_CONNECTION`: the application that users sign in for; unset: the bot's own, which a managed identity cannot be", "11111111-2222-3333-4444-555555555555")
    bot_sign_in_client_secret: SecretStr | None = _set(None, "With `BOT_SIGN_IN_CLIENT_ID`: its secret; without: `MicrosoftAppPassword` is", "a1B~…")
    bot_sign_in_audience: str | None = _set(None, "With `BOT_SIGN_IN_CONNECTION`: the Application ID URI of that application; unset: `api://botid-` and its id", "api://rounds.example.org/botid-11111111-2222-3333-4444-555555555555")
    bot_token_service_url: Url = _set("https://api.botframework.com", "With `BOT_SIGN_IN_CONNECTION`: the Bot Framework's token service, of a region or a national cloud perhaps", "https://europe.api.botframework.com")
    additional_allowed_tenant_ids: Names = _set((), "Directories besides the bot's own whose users may write to it; `*`: all", "66666666-7777-8888-9999-000000000000")
    additional_allowed_user_ids: Names = _set((), "Object ids of users who may write to the bot; `*`: all", "*")
    bot_service_url_hosts: Names = _set(("smba.trafficmanager.net", "*.botframework.com"), "Hosts that replies may go to", "smba.trafficmanager.net")

    message_limit_chars: Annotated[int, Field(gt=0, le=16_000)] = _set(16_000, "Characters in a message; documents have room for 16,000", 16_000)
    frame_limit_bytes: Count = _set(262_144, "Bytes in a WebSocket frame or a request body", 262_144)
    messages_per_minute: Count = _set(20, "Messages a user may send, and changes they may make, in a minute (not in dev)", 20)
    reads_per_minute: Count = _set(600, "Reads over HTTP, and charts opened in talks, that a user may do in a minute (not in dev)", 600)
    exports_per_minute: Count = _set(6, "Exports that a user may ask for in a minute (not in dev)", 6)
    connections_per_address: Count = _set(256, "Connections that one address may hold open (not in dev, nor with `TRUSTED_PROXY`)", 256)
    sockets_per_user: Count = _set(10, "Sockets a user may hold open", 10)
    queue_depth: Count = _set(20, "Messages that may wait in a conversation", 20)
    handshake_seconds: Seconds = _set(10.0, "Headers must arrive within so long", 10)
    claim_seconds: Seconds = _set(30.0, "A turn's claim on its conversation lasts so long", 30)
    claim_renew_seconds: Seconds = _set(10.0, "A running turn renews its claim so often", 10)
    claim_grace_seconds: Seconds = _set(5.0, "An expired claim is taken over after so long", 5)

    allowed_outbound_hosts: Names = _set((), "Hosts that may be called besides those of the other settings", "graph.microsoft.com")
    allowed_outbound_networks: Networks = _set((), "Private networks in which called hosts may be", "10.20.0.0/16")
    link_allow_list: Names = _set((), "Hosts that links in answers may lead to", "pubmed.ncbi.nlm.nih.gov")

    log_format: Literal["json", "console"] = _set("console", "Form of the log on standard error", "json")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = _set("INFO", "Least level of our own log lines; libraries' stay at WARNING", "INFO")
    audit: bool = _set(True, "Write the audit trail; may be off in dev only", "true")
    otel_exporter_otlp_endpoint: Url | None = _set(None, "OTLP collector (HTTP) for traces; unset: no traces", "http://127.0.0.1:4318")
    otel_service_name: str = _set("rounds", "Name of the service in traces", "rounds")
    # fmt: on

    @checked(mode="after")
    def _fits_together(self) -> Self:
        problems = [*_problems_of(self)]
        if problems:
            raise ConfigurationError("\n".join(map(str, problems)))
        return self

    @property
    def is_dev(self) -> bool:
        """Whether callers need no token; loopback only."""
        return self.auth_mode == "dev"

    @property
    def connections_bound(self) -> int | None:
        """Connections of one address; None where all come from one: dev, or behind a proxy."""
        return None if self.is_dev or self.trusted_proxy else self.connections_per_address

    @property
    def azure_account(self) -> str | None:
        """The storage account, by its endpoint or connection string; None: local files."""
        key = self.azure_storage_connection_string
        return self.app_blob_storage_endpoint or (key.get_secret_value() if key else None)

    @property
    def note_hidden_seconds(self) -> int:
        """How long a queue hides the note of a turn: until a dead replica's claim is void."""
        return math.ceil(self.claim_seconds + self.claim_grace_seconds) + _NOTE_AFTER_CLAIM_SECONDS

    @property
    def identifier_systems(self) -> tuple[str, ...]:
        """Systems under which patients are looked up; none: under all."""
        one = (self.fhir_identifier_system,) if self.fhir_identifier_system else ()
        return self.patient_identifier_systems or one

    @property
    def samples_folder(self) -> Path:
        """`SAMPLES_DIR`; a relative one that is not in the working folder is the project's own."""
        here = self.samples_dir
        return here if here.exists() else Path(__file__).parent / here

    def samples_part(
        self, name: Literal["patients", "scheduling", "assistant", "guidelines", "studies"]
    ) -> Path:
        """Return a part of the samples: patients are all that `SAMPLES_DIR` holds, if need be.

        What else is not there is the project's own.
        """
        here = self.samples_folder / name
        if here.is_dir():
            return here
        own = Path(__file__).parent / "samples" / name
        return self.samples_folder if name == "patients" else own

    @property
    def is_trial(self) -> bool:
        """Whether somebody only tries Rounds: no sign-in, no server of records."""
        return self.is_dev and self.fhir_base_url is None

    @property
    def serves_bots(self) -> bool:
        """Whether the Bot Framework endpoints are open (spec page 7, R3)."""
        if self.bot_endpoints is None:
            return self.is_dev or bool(self.microsoft_app_id)
        return self.bot_endpoints

    def is_bot(self, kind: BotKind) -> bool:
        """Tell whether the team's bot is registered, and as one of this kind."""
        return bool(self.microsoft_app_id) and self.microsoft_app_type == kind

    @property
    def model_provider(self) -> Literal["azure", "openai", "offline"]:
        """The provider after the rule of spec page 6.4."""
        if self.llm_provider is not None:
            return self.llm_provider
        if self.azure_openai_endpoint:
            return "azure"
        return "openai" if self.openai_api_key or self.openai_base_url else "offline"

    @property
    def model_name(self) -> str:
        """The model that is asked for; `offline` where there is none."""
        asked = {"azure": self.azure_openai_deployment_name or "", "openai": self.openai_model}
        return asked.get(self.model_provider, "offline")

    @property
    def switched_on(self) -> list[Literal["order_drafts", "research"]]:
        """What agents may need, by the names that the team's file has for it."""
        drafts: list[Literal["order_drafts", "research"]]
        drafts = ["order_drafts"] if self.order_drafts else []
        return drafts if self.pubmed_base_url is None else [*drafts, "research"]

    @property
    def sign_in_audience(self) -> str:
        """For whom the tokens are by which users of the team's bot sign in."""
        return self.bot_sign_in_audience or f"api://botid-{self.sign_in_client[0]}"

    @property
    def sign_in_client(self) -> tuple[str | None, SecretStr | None]:
        """The application that they sign in for, and its secret."""
        if self.bot_sign_in_client_id is None:
            return self.microsoft_app_id, self.microsoft_app_password
        return self.bot_sign_in_client_id, self.bot_sign_in_client_secret

    @property
    def graph_scope(self) -> str:
        """What is asked of the directory to reach Microsoft Graph."""
        parts = urlsplit(self.graph_base_url)
        return f"{parts.scheme}://{parts.netloc}/.default"

    @property
    def is_graph_client(self) -> bool:
        """Whether the server itself signs in to Microsoft Graph."""
        is_graph = self.assistant_backend == "graph"
        return is_graph and self.graph_token is None and not self.graph_on_behalf

    @property
    def user_scopes(self) -> tuple[str, ...]:
        """What is asked of the directory on behalf of each user who signs in."""
        has_graph = self.assistant_backend == "graph" and self.graph_on_behalf
        graph = (self.graph_scope,) if has_graph else ()
        has_records = self.access_policy == "token" and self.fhir_user_scope is not None
        return (*graph, self.fhir_user_scope or "") if has_records else graph

    @property
    def outbound_hosts(self) -> frozenset[str]:
        """Hosts that may be called: those of addresses that are set, and `ALLOWED_OUTBOUND_HOSTS`."""
        urls = (
            self.trials_base_url,
            self.pubmed_base_url,
            self.fhir_base_url,
            self.fhir_token_url,
            self.openai_base_url,
            self.azure_openai_endpoint,
            self.speech_url,
        )
        more = (
            self.app_blob_storage_endpoint,
            self.turn_queue_endpoint,
            self.entra_authority,
            self.oidc_issuer,
            self.fhircast_hub_url,
        )
        graph = self.graph_base_url if self.assistant_backend == "graph" else None
        all_urls = (*urls, *more, *self.smart_issuers, graph)
        named = {urlsplit(url).hostname or "" for url in all_urls if url}
        named |= {*self.allowed_outbound_hosts, *(self.graph_file_hosts if graph else ())}
        return frozenset(host.lower() for host in named)


def _needed(name: str, when: str, example: str) -> Problem:
    return Problem(name, f"is needed with {when}", f"{name}={example}")


_ID = "11111111-2222-…"
_Applies: TypeAlias = Callable[[Settings], bool]
# fmt: off
_NEEDS: tuple[tuple[str, _Applies, dict[str, str]], ...] = (
    ("AUTH_MODE=api_key", lambda s: s.auth_mode == "api_key" and s.api_keys_file is None, {"API_KEYS": f"alice:{'0' * 64}"}),
    ("AUTH_MODE=entra", lambda s: s.auth_mode == "entra", {"ENTRA_TENANT_ID": _ID, "ENTRA_AUDIENCE": "api://rounds"}),
    ("AUTH_MODE=app_service, which believes a proxy", lambda s: s.auth_mode == "app_service", {"TRUSTED_PROXY": "true"}),
    ("AUTH_MODE=oidc", lambda s: s.auth_mode == "oidc", {"OIDC_ISSUER": "https://login.example.org", "OIDC_CLIENT_ID": _ID, "OIDC_CLIENT_SECRET": "a1B~…"}),
    ("AUTH_MODE=oidc, to which the provider sends browsers back", lambda s: s.auth_mode == "oidc", {"PUBLIC_BASE_URL": "https://rounds.example.org"}),
    ("FHIRCAST_HUB_URL", lambda s: s.fhircast_hub_url is not None, {"SMART_ISSUERS": "https://ehr.example.org/r4"}),
    ("SMART_ISSUERS", lambda s: bool(s.smart_issuers), {"SMART_CLIENT_ID": "rounds"}),
    ("AGENT_BOTS, for the team's own bot", lambda s: bool(s.agent_bots), {"MicrosoftAppId": _ID}),
    ("ASSISTANT_BACKEND=graph", lambda s: s.is_graph_client, {"GRAPH_TENANT_ID": _ID}),
    ("GRAPH_CLIENT_SECRET", lambda s: s.is_graph_client and s.graph_client_secret is not None, {"GRAPH_CLIENT_ID": _ID}),
    ("ACCESS_POLICY=token", lambda s: s.access_policy == "token", {"FHIR_USER_SCOPE": "https://…/user_impersonation", "FHIR_BASE_URL": "https://fhir.example.org/r4"}),
    ("ACCESS_POLICY=token", lambda s: s.access_policy == "token", {"BOT_SIGN_IN_CONNECTION": "rounds-sso"}),
    ("GRAPH_ON_BEHALF", lambda s: s.graph_on_behalf and s.access_policy != "token", {"BOT_SIGN_IN_CONNECTION": "rounds-sso"}),
    ("BOT_SIGN_IN_CONNECTION", lambda s: s.bot_sign_in_connection is not None, {"MicrosoftAppId": _ID}),
    ("MicrosoftAppType=MultiTenant", lambda s: s.is_bot("MultiTenant"), {"MicrosoftAppPassword": "a1B~…"}),
    ("MicrosoftAppType=SingleTenant", lambda s: s.is_bot("SingleTenant"), {"MicrosoftAppPassword": "a1B~…", "MicrosoftAppTenantId": _ID}),
    ("MicrosoftAppType=UserAssignedMSI", lambda s: s.is_bot("UserAssignedMSI"), {"MicrosoftAppTenantId": _ID}),
    ("LLM_PROVIDER=openai without OPENAI_BASE_URL", lambda s: s.model_provider == "openai" and s.openai_base_url is None, {"OPENAI_API_KEY": "sk-…"}),
    ("LLM_PROVIDER=azure", lambda s: s.model_provider == "azure", {"AZURE_OPENAI_ENDPOINT": "https://…"}),
    ("Azure OpenAI", lambda s: s.model_provider == "azure", {"AZURE_OPENAI_DEPLOYMENT_NAME": "gpt-4.1"}),
)
"""Variables without which another setting cannot work, and an example of each."""
_HTTPS: tuple[tuple[str, Callable[[Settings], Iterable[str | None]], str], ...] = (
    ("OIDC_ISSUER", lambda s: [s.oidc_issuer] if s.auth_mode == "oidc" else [], "https://login.example.org"),
    ("FHIRCAST_HUB_URL", lambda s: [s.fhircast_hub_url], "https://…/fhircast"),
    ("SMART_ISSUERS", lambda s: s.smart_issuers, "https://ehr.example.org/r4"),
    ("GRAPH_BASE_URL", lambda s: [s.graph_base_url] if s.assistant_backend == "graph" else [], "https://…/v1.0"),
    ("BOT_TOKEN_SERVICE_URL", lambda s: [s.bot_token_service_url] if s.bot_sign_in_connection else [], "https://…"),
    ("FHIR_TOKEN_URL", lambda s: [s.fhir_token_url], "https://…/token"),
    ("SPEECH_URL", lambda s: [s.speech_url], "https://…/v1/audio/transcriptions"),
)
"""Addresses that are https, but on this machine."""
_RULES: tuple[tuple[str, _Applies, str, str], ...] = (
    ("HOST", lambda s: s.is_dev and not is_loopback_host(s.host), "with AUTH_MODE=dev must be a loopback address", "HOST=127.0.0.1"),
    ("AUTH_MODE", lambda s: bool(s.smart_issuers) and s.auth_mode != "oidc", "is needed with SMART_ISSUERS, whose users are kept in its sessions", "AUTH_MODE=oidc"),
    ("GRAPH_TOKEN", lambda s: s.assistant_backend == "graph" and s.graph_token is not None and not s.is_dev, "is one user's, whose mailbox everybody would read; with AUTH_MODE=dev only", "GRAPH_TOKEN="),
    ("BOT_SIGN_IN_CLIENT_ID", lambda s: s.bot_sign_in_connection is not None and s.sign_in_client[1] is None, "is needed with BOT_SIGN_IN_CONNECTION, with its secret: a managed identity has none", f"BOT_SIGN_IN_CLIENT_ID={_ID}"),
    ("AUDIT", lambda s: not s.audit and not s.is_dev, "may be off with AUTH_MODE=dev only", "AUDIT=true"),
    ("MicrosoftAppId", lambda s: bool(s.bot_endpoints) and not (s.is_dev or s.microsoft_app_id), "is needed with BOT_ENDPOINTS=true outside AUTH_MODE=dev", f"MicrosoftAppId={_ID}"),
    ("APP_BLOB_STORAGE_ENDPOINT", lambda s: bool(s.azure_storage_connection_string and s.app_blob_storage_endpoint), "and AZURE_STORAGE_CONNECTION_STRING are both set; keep one", "APP_BLOB_STORAGE_ENDPOINT="),
    ("TURN_QUEUE", lambda s: s.turn_queue is not None and s.azure_account is None, "needs Azure storage: a queue on one machine hands nothing over", "TURN_QUEUE="),
    ("CLAIM_RENEW_SECONDS", lambda s: s.claim_renew_seconds * 2 >= s.claim_seconds, "must be under half of CLAIM_SECONDS", "CLAIM_RENEW_SECONDS=10"),
    ("FHIR_CLIENT_ID", lambda s: s.fhir_client_id is not None and (s.fhir_client_secret is None) == (s.fhir_client_key_file is None), "needs FHIR_CLIENT_SECRET or FHIR_CLIENT_KEY_FILE, and not both", "FHIR_CLIENT_KEY_FILE=/run/secrets/fhir.pem"),
)
"""Variables that do not go together as they are, why, and a line that would be right."""
# fmt: on


def _problems_of(settings: Settings) -> Iterator[Problem]:
    given = settings.model_dump(by_alias=True)
    for when, applies, examples in _NEEDS:
        if applies(settings):
            yield from (_needed(name, when, examples[name]) for name in examples if not given[name])
    for name, addresses, example in _HTTPS:
        if not all(_is_safe_url(url) for url in addresses(settings) if url):
            yield Problem(name, "must be https", f"{name}={example}")
    for name, is_broken, text, example in _RULES:
        if is_broken(settings):
            yield Problem(name, text, example)
    yield from _folder_problems(settings)
    yield from _agent_bot_problems(settings)
    yield from _fhir_problems(settings)


def _folder_problems(settings: Settings) -> Iterator[Problem]:
    folders = {"GUIDELINES_DIR": settings.guidelines_dir, "TRIALS_DIR": settings.trials_dir}
    for name, folder in folders.items():
        if folder is not None and not folder.is_dir():
            yield Problem(name, f"is no folder: {folder}", f"{name}=./folder")


def _agent_bot_problems(settings: Settings) -> Iterator[Problem]:
    team = settings.microsoft_app_id or ""
    taken = {team.lower(): "MicrosoftAppId"}
    for agent, bot in settings.agent_bots.items():
        name = f"AGENT_BOTS__{agent.upper()}__APP"
        other = taken.setdefault(bot.app_id.lower(), f"{name}_ID")
        if other != f"{name}_ID":
            text = f"is the same as {other}, and every bot has its own"
            yield Problem(f"{name}_ID", text, f"{name}_ID={_ID}")
        kind = bot.app_type or settings.microsoft_app_type
        if kind != "UserAssignedMSI" and not bot.app_password:
            yield _needed(f"{name}_PASSWORD", f"{name}_TYPE={kind}", "a1B~…")
        if kind != "MultiTenant" and not (bot.app_tenant_id or settings.microsoft_app_tenant_id):
            yield _needed(f"{name}_TENANT_ID", f"{name}_TYPE={kind}", _ID)


def _fhir_problems(settings: Settings) -> Iterator[Problem]:
    ways = {
        "FHIR_TOKEN": settings.fhir_token,
        "FHIR_CLIENT_ID": settings.fhir_client_id,
        "FHIR_MANAGED_IDENTITY": settings.fhir_managed_identity,
    }
    chosen = [name for name, value in ways.items() if value]
    if len(chosen) > 1:
        yield Problem(chosen[1], f"and {chosen[0]} are both set; keep one", f"{chosen[1]}=")


def _is_safe_url(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "https" or is_loopback_host(parts.hostname or "")


def load_settings(env_file: Path | None = Path(".env")) -> Settings:
    """Read the environment, then `env_file` for what the environment does not say.

    Raises:
        ConfigurationError: one line for each bad variable: its name, the problem, an example. No
            line repeats the value, which may be a secret.
    """
    _refuse_sensitive_diagnostics(os.environ)
    if env_file is not None and env_file.is_file():
        _refuse_sensitive_diagnostics(dotenv_values(env_file))
        _refuse_misspelt(dotenv_values(env_file))
    try:
        return Settings(_env_file=env_file)
    except ValidationError as error:
        # Not `from error`: it may hold the rejected value.
        raise ConfigurationError("\n".join(map(str, _field_problems(error)))) from None
    except SettingsError as error:
        # Neither: its cause is the parser's error, which holds the whole text.
        raise ConfigurationError(str(_not_json(error))) from None


def _refuse_sensitive_diagnostics(environ: Mapping[str, str | None]) -> None:
    # Semantic Kernel reads the name in any case, and would then trace what patients' records say.
    for name, value in environ.items():
        if name.upper() == SENSITIVE_SWITCH and (value or "").strip().lower() not in _OFF:
            problem = "would put patients' records into traces and must stay off"
            raise ConfigurationError(str(Problem(name, problem, f"{SENSITIVE_SWITCH}=false")))


def _refuse_misspelt(given: Iterable[str]) -> None:
    # The file is ours; the environment holds what others named.
    known = {str(field.alias).upper(): str(field.alias) for field in Settings.model_fields.values()}
    for name in given:
        written = name.upper().partition("__")[0]
        close = [] if written in known else get_close_matches(written, known, n=1, cutoff=_CLOSE)
        for meant in close:
            own, example = _named(known[meant])
            raise ConfigurationError(
                str(Problem(name, f"is no setting; {own} is near", f"{own}={example}"))
            )


def _field_problems(error: ValidationError) -> Iterator[Problem]:
    for detail in error.errors(include_input=False, include_context=False, include_url=False):
        found, *inside = map(str, detail["loc"])
        name, example = _named(found)
        whole = "__".join((name, *map(str.upper, inside)))
        yield Problem(whole, detail["msg"], f"{name}={example}")


def _named(field_or_variable: str) -> tuple[str, str]:
    """Return the variable, which of a section is told by its field, and its example."""
    for name, field in Settings.model_fields.items():
        if field_or_variable in (name, field.alias):
            return str(field.alias), str((field.examples or [""])[0])
    raise KeyError(field_or_variable)


def _not_json(error: SettingsError) -> Problem:
    name, example = _named(str(error).split('"')[1])
    return Problem(name, "is not JSON", f"{name}={example}")
