"""What the settings say stands beside the chart; other systems' servers as an operator writes them.

They are checked before anything starts.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self, TypeAlias

from pydantic import Field, model_validator
from yarl import URL

from data_models.errors import ConfigurationError
from data_models.operator_files import read_written
from data_models.values import ClosedValue
from services.access.principal import is_loopback
from services.basis import Basis
from services.evidence.guidelines.library import GuidelineFolder
from services.evidence.pubmed import PubMed
from services.evidence.trials.sources import ClinicalTrialsGov, StudyFolder, StudySource
from settings import Settings

if TYPE_CHECKING:
    from services.evidence.foreign_client import ForeignClient


SERVERS_LIMIT = 10
_EXAMPLE = "See docs/agents.md for an example"
_NAME = r"^[A-Za-z][A-Za-z0-9_-]{0,39}$"

Fact: TypeAlias = Literal["patient_id", "name", "birth_date", "sex"]
"""What code may tell another system of the open patient; no model ever writes it."""
_IDENTIFYING: frozenset[Fact] = frozenset({"patient_id", "name", "birth_date"})
_PATIENT_KEYS = frozenset(
    {"patient", "patientid", "patientidentifier", "patientref", "patientreference", "mrn"}
)


def names_a_patient(key: str) -> bool:
    """Whether a field or an argument of that name says who the patient is."""
    return "".join(letter for letter in key.casefold() if letter.isalpha()) in _PATIENT_KEYS


class ForeignTool(ClosedValue):
    """One tool of another system.

    Attributes:
        name: As its server calls it.
        about: What agents are told of it: the operator's words, never the server's.
        digest: Of what the server says of it (`python -m scripts.foreign_tools`); once it says
            something else, the tool is not called any more.
        asks: Arguments that agents fill, all texts, and what they are told of them.
        sends: Arguments that code fills from the open patient's record.
    """

    name: Annotated[str, Field(pattern=_NAME)]
    about: Annotated[str, Field(min_length=1, max_length=300)]
    digest: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    asks: Mapping[Annotated[str, Field(pattern=_NAME)], str] = Field(default={}, max_length=10)
    sends: Mapping[str, Fact] = Field(default={}, max_length=4)

    @model_validator(mode="after")
    def _has_one_writer(self) -> Self:
        if twice := sorted(set(self.asks) & set(self.sends)):
            raise ValueError(f"{twice[0]!r} is in `asks` and in `sends`; it can be in one only")
        if named := sorted(one for one in self.asks if names_a_patient(one)):
            raise ValueError(f"{named[0]!r} names a patient: it belongs in `sends`, not in `asks`")
        return self


class ForeignServer(ClosedValue):
    """One server of another system.

    Attributes:
        name: Goes before its tools' names and is the source of all that it says.
        token_file: Holds its bearer token, beside the servers' file; None: it wants none.
        agents: Who may use it.
        of_patient: Whether its rows are of the open patient, as those of the record are. Else
            they support no statement about a patient, only what repeats them word for word.
    """

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9]{1,19}$")]
    url: str
    token_file: str | None = None
    agents: tuple[str, ...] = Field(min_length=1)
    tools: tuple[ForeignTool, ...] = Field(min_length=1, max_length=20)
    of_patient: bool = False

    @model_validator(mode="after")
    def _can_be_asked(self) -> Self:
        url = URL(self.url)
        is_safe = url.scheme == "https" or (url.scheme == "http" and is_loopback(url.host or ""))
        if not is_safe or not url.host or url.user is not None:
            raise ValueError(f"url of {self.name}: https, without a user (http for this machine)")
        for tool in self.tools:
            if self.of_patient and not _IDENTIFYING.intersection(tool.sends.values()):
                raise ValueError(
                    f"{tool.name}: with `of_patient` it has to be told who that is: `sends`"
                )
        return self

    def named(self, tool: ForeignTool) -> str:
        """Return what agents call `tool`."""
        return f"{self.name}_{tool.name}"


class ForeignServers(ClosedValue):
    """All of them."""

    servers: tuple[ForeignServer, ...] = Field(default=(), max_length=SERVERS_LIMIT)

    @property
    def names(self) -> tuple[str, ...]:
        """What agents call all the tools."""
        return tuple(one.named(tool) for one in self.servers for tool in one.tools)

    @property
    def hosts(self) -> frozenset[str]:
        """Whom the process has to be able to call."""
        return frozenset(URL(one.url).host or "" for one in self.servers)

    @property
    def by_agent(self) -> Mapping[str, tuple[str, ...]]:
        """Which of the names each agent has."""
        agents = {agent for one in self.servers for agent in one.agents}
        return {
            agent: tuple(
                one.named(tool) for one in self.servers if agent in one.agents for tool in one.tools
            )
            for agent in agents
        }


def load_servers(
    path: Path | None, *, agents: Collection[str], tools: Collection[str]
) -> ForeignServers:
    """Return the servers that `path` lists; none without a file.

    Args:
        agents: The team, who may use them.
        tools: Names that are taken.

    Raises:
        ConfigurationError: the file is absent or not usable; the text names it, the place and
            what to do.
    """
    if path is None:
        return ForeignServers()
    named = f"MCP_SERVERS: {path.name}"
    found = read_written(path, ForeignServers, named=named, example=_EXAMPLE)
    if strangers := found.by_agent.keys() - set(agents):
        raise ConfigurationError(f"{named}: {min(strangers)!r} is not in the team")
    names = [*tools, *found.names]
    if twice := sorted(name for name in found.names if names.count(name) > 1):
        raise ConfigurationError(f"{named}: there are two tools {twice[0]!r}; rename a server")
    return found


def guidelines_for(basis: Basis) -> GuidelineFolder:
    """Return the folder of `GUIDELINES_DIR`; where people only try Rounds, invented samples."""
    settings = basis.settings
    folder = settings.guidelines_dir
    if folder is None and settings.is_trial:
        folder = settings.samples_part("guidelines")
    return GuidelineFolder(folder=folder, clock=basis.clock)


def studies_for(basis: Basis) -> StudySource:
    """Return the register of `TRIALS_BASE_URL`, else the folder of `TRIALS_DIR`.

    Where people only try Rounds and neither is set, invented samples.
    """
    settings = basis.settings
    if settings.trials_base_url is not None:
        return ClinicalTrialsGov(base_url=settings.trials_base_url, session=basis.session)
    folder = settings.trials_dir
    if folder is None and settings.is_trial:
        folder = settings.samples_part("studies")
    return StudyFolder(folder=folder)


def research_for(basis: Basis) -> PubMed | None:
    """Return PubMed at `PUBMED_BASE_URL`; None without it."""
    url, key = basis.settings.pubmed_base_url, basis.settings.pubmed_api_key
    if url is None:
        return None
    secret = None if key is None else key.get_secret_value()
    return PubMed(base_url=url, session=basis.session, api_key=secret)


def foreign_servers_for(
    settings: Settings, *, agents: Collection[str], tools: Collection[str]
) -> ForeignServers:
    """Return the servers of other systems that `MCP_SERVERS` lists.

    Args:
        agents: The team, who may use them.
        tools: Names that are taken.

    Raises:
        ConfigurationError: the file is not usable, or names a host that may not be called.
    """
    found = load_servers(settings.mcp_servers, agents=agents, tools=tools)
    if closed := sorted(found.hosts - settings.outbound_hosts):
        raise ConfigurationError(
            f"MCP_SERVERS names {closed[0]}, which may not be called; "
            "add it to ALLOWED_OUTBOUND_HOSTS if charts' words may be told to it"
        )
    return found


def foreign_clients_for(
    basis: Basis, found: ForeignServers
) -> Sequence[tuple[ForeignServer, "ForeignClient"]]:
    """Return each server with what asks it.

    Raises:
        ConfigurationError: the file with a server's token cannot be read.
    """
    if (file := basis.settings.mcp_servers) is None:
        return ()
    from services.evidence.foreign_client import ForeignClient  # a second of imports

    session, folder = basis.session, file.parent
    return [
        (one, ForeignClient(url=one.url, session=session, token=_token(folder, one.token_file)))
        for one in found.servers
    ]


def _token(folder: Path, name: str | None) -> str | None:
    if name is None:
        return None
    try:
        return (folder / name).read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"the token file {name!r} of MCP_SERVERS cannot be read"
        ) from error
