"""What the operator says about the bots."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from urllib.parse import SplitResult, urlsplit

from bots.token_service import SignInConfig
from data_models.errors import ConfigurationError
from services.access.principal import is_loopback, user_id
from services.own_sign_in import TokenSource
from settings import AgentBot, BotKind, Problem, Settings

# Where replies may go: the channels' own hosts, nothing that a caller makes up.


class ServiceUrls:
    """Decides on service URLs.

    Args:
        hosts: Names, or `*.` and a domain for all names below it.
        loopback: Take plain http to this machine and nothing else: for the Emulator, in dev.
    """

    def __init__(self, *, hosts: Collection[str], loopback: bool) -> None:
        self._names = frozenset(host.lower() for host in hosts if not host.startswith("*."))
        self._below = tuple(host[1:].lower() for host in hosts if host.startswith("*."))
        self._loopback = loopback

    def allows(self, url: str | None) -> bool:
        """Tell whether replies may go to `url`; an absent or unreadable one never."""
        parts = _split(url or "")
        if parts is None or not parts.hostname or parts.username is not None:
            return False
        if parts.query or parts.fragment:
            return False
        host = parts.hostname
        if self._loopback:
            return parts.scheme == "http" and (host == "localhost" or is_loopback(host))
        if parts.scheme != "https" or parts.port not in (None, 443):
            return False
        return host in self._names or host.endswith(self._below)


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        # Reading the port is what finds a bad one.
        return parts if parts.port != 0 and url.isascii() and url.isprintable() else None
    except ValueError:
        return None


# What each bot has of its own: the team's bot, and those of agents which are registered apart.

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True)
class PerBot(Generic[T]):
    """One thing for each bot.

    Attributes:
        team: The facilitator's, which serves all agents without a bot of their own too.
        agents: By the agent's name, case-folded.
    """

    team: T
    agents: Mapping[str, T] = field(default_factory=dict)

    def at(self, agent: str | None) -> T:
        """Return what belongs to the bot which `agent` is spoken to through."""
        return self.agents.get((agent or "").casefold(), self.team)

    def each(self, make: Callable[[T], U]) -> "PerBot[U]":
        """Return what `make` makes for every bot."""
        agents = {name: make(one) for name, one in self.agents.items()}
        return PerBot(team=make(self.team), agents=agents)


@dataclass(frozen=True, slots=True)
class Registration:
    """One bot's app registration, and whose users may write to it.

    Attributes:
        app_id: None: loopback callers only, which settings allow in dev only.
        directory: Where the bot's own tokens come from; None: the Bot Framework's.
        tenants: Directories whose users may write; `*`: all.
    """

    app_id: str | None = None
    app_password: str = field(default="", repr=False)
    app_type: BotKind = "MultiTenant"
    directory: str | None = None
    tenants: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BotConfig:
    """The bots, who may use them, and where replies may go.

    Attributes:
        loopback: Replies go to this machine and nowhere else.
        users: Object ids of users who may write; `*`: all.
        orderers: Principal ids with the role `order`; None: everybody, of this machine.
        key_metadata_url: Tells where the keys are that sign the channels' tokens.
        tokens: Where a bot's own tokens come from; None: its directory.
        sign_in: How users sign in to the team's bot; None: nobody is asked to.
    """

    bots: PerBot[Registration] = field(default_factory=lambda: PerBot(Registration()))
    loopback: bool = True
    users: tuple[str, ...] = ()
    orderers: frozenset[str] | None = None
    service_url_hosts: tuple[str, ...] = ()
    link_hosts: tuple[str, ...] = ()
    key_metadata_url: str = "https://login.botframework.com/v1/.well-known/openidconfiguration"
    tokens: Callable[[Registration], TokenSource] | None = None
    sign_in: SignInConfig | None = None


def bot_config(settings: Settings, *, agents: Sequence[str], facilitator: str) -> BotConfig:
    """Return the part of `settings` that is the bots'.

    Raises:
        ConfigurationError: `AGENT_BOTS` names somebody who cannot have a bot there.
    """
    if problems := list(_name_problems(settings, agents, facilitator)):
        raise ConfigurationError("\n".join(map(str, problems)))
    own = {
        name.casefold(): _registration(settings, bot) for name, bot in settings.agent_bots.items()
    }
    app_id, password = settings.microsoft_app_id, settings.microsoft_app_password
    team = Registration()
    if app_id is not None:
        team = _registration(settings, AgentBot(app_id=app_id, app_password=password))
    return BotConfig(
        bots=PerBot(team, own),
        loopback=app_id is None,
        users=settings.additional_allowed_user_ids,
        orderers=None if app_id is None else _orderers(settings),
        service_url_hosts=settings.bot_service_url_hosts,
        link_hosts=settings.link_allow_list,
        sign_in=_sign_in(settings),
    )


def _sign_in(settings: Settings) -> SignInConfig | None:
    connection, app_id = settings.bot_sign_in_connection, settings.microsoft_app_id
    if connection is None or app_id is None:
        return None
    return SignInConfig(connection=connection, url=settings.bot_token_service_url, app_id=app_id)


def _orderers(settings: Settings) -> frozenset[str]:
    """Return the ids of users with the role; an object id alone is the home directory's."""
    home = settings.entra_tenant_id or settings.microsoft_app_tenant_id or ""
    return frozenset(
        name.lower() if ":" in name else user_id(home, name) for name in settings.orderers
    )


def _registration(settings: Settings, bot: AgentBot) -> Registration:
    """Return the registration of `bot`; what it leaves open is as for the team's bot."""
    kind = bot.app_type or settings.microsoft_app_type
    tenant = bot.app_tenant_id or settings.microsoft_app_tenant_id
    return Registration(
        app_id=bot.app_id,
        app_password=bot.app_password.get_secret_value() if bot.app_password else "",
        app_type=kind,
        directory=tenant if kind == "SingleTenant" else None,
        tenants=(*settings.additional_allowed_tenant_ids, *([tenant] if tenant else [])),
    )


def _name_problems(
    settings: Settings, agents: Sequence[str], facilitator: str
) -> Iterator[Problem]:
    others = [name for name in agents if name != facilitator]
    known = {name.casefold() for name in others}
    example = f"AGENT_BOTS__{others[0].upper()}__APP_ID=11111111-2222-…" if others else ""
    for name in settings.agent_bots:
        setting = f"AGENT_BOTS__{name.upper()}"
        if name.casefold() == facilitator.casefold():
            text = "is the team's own bot, which MicrosoftAppId sets"
            yield Problem(setting, text, "MicrosoftAppId=11111111-2222-…")
        elif name.casefold() not in known:
            yield Problem(setting, f"is none of the team: {', '.join(others)}", example)
