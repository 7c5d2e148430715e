"""What the settings say stands beside the chart."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from data_models.errors import ConfigurationError
from services.basis import Basis
from services.evidence.foreign.servers import ForeignServer, ForeignServers, load_servers
from services.evidence.guidelines.library import GuidelineFolder
from services.evidence.pubmed import PubMed
from services.evidence.trials.sources import ClinicalTrialsGov, StudyFolder, StudySource
from settings import Settings

if TYPE_CHECKING:
    from services.evidence.foreign.client import ForeignClient


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
    from services.evidence.foreign.client import ForeignClient  # a second of imports

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
