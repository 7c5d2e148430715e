"""The back end of the Assistant that the settings choose."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import tzinfo

from yarl import URL

from data_models import errors
from services import own_sign_in
from services.access.on_behalf import OnBehalf, UserToken
from services.assistant.back_end import AssistantBackEnd, AssistantServices
from services.assistant.graph.graph_account import GraphAccount
from services.assistant.graph.graph_calendar import GraphCalendar, GraphTasks
from services.assistant.graph.graph_client import GraphClient, GraphLimits, segment
from services.assistant.graph.graph_mail import GraphAddressBook, GraphDocumentFolder, GraphMailbox
from services.assistant.local.local_back_end import LocalAssistant
from services.assistant.local.local_file import LocalSamples
from services.basis import Basis


def assistant_for(basis: Basis, *, on_behalf: OnBehalf | None = None) -> AssistantBackEnd:
    """Return the one back end of this process.

    Args:
        on_behalf: Users' own tokens, where they sign in for them.
    """
    if basis.settings.assistant_backend == "graph":
        return graph_for(basis, on_behalf=on_behalf)
    folder = basis.settings.samples_part("assistant")
    samples = LocalSamples(folder=folder if folder.is_dir() else None)
    return LocalAssistant(store=basis.users, samples=samples, clock=basis.clock)


# Which Microsoft 365 user a principal is, so that nobody reads another's mailbox.

_ENTRA = re.compile(r"entra:([0-9a-z.-]+):([0-9a-f-]{36})")


class MappedUsers:
    """Users of our own directory are themselves; others are who the operator says.

    Args:
        tenant: The directory of the mailboxes, an id in lower case.
        named: Users' ids or principal names by principal id.
    """

    def __init__(self, *, tenant: str, named: Mapping[str, str]) -> None:
        self._tenant = tenant.lower()
        self._named = dict(named)

    def root(self, principal_id: str) -> str:
        """Return `users/{id}`.

        Raises:
            AssistantRefusedError: this principal has none.
        """
        match = _ENTRA.fullmatch(principal_id)
        own = match[2] if match and match[1] == self._tenant else None
        if (user := self._named.get(principal_id) or own) is None:
            raise errors.AssistantRefusedError("no Microsoft 365 user is set for this caller")
        return f"users/{segment(user)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphAssistant:
    """An `AssistantBackEnd`; holds the tokens of the process and no state of any turn.

    Attributes:
        root_of: Finds the part of Graph that is a principal's own.
    """

    client: GraphClient
    root_of: Callable[[str], str]
    file_hosts: Collection[str]

    def of(self, principal_id: str, *, zone: tzinfo) -> AssistantServices:
        root = self.root_of(principal_id)
        account = GraphAccount(client=self.client, principal_id=principal_id, root=root)
        return AssistantServices(
            calendar=GraphCalendar(account=account, zone=zone),
            mail=GraphMailbox(account=account),
            contacts=GraphAddressBook(account=account),
            tasks=GraphTasks(account=account, zone=zone),
            documents=GraphDocumentFolder(account=account, file_hosts=self.file_hosts),
        )


def graph_for(
    basis: Basis, *, limits: GraphLimits | None = None, on_behalf: OnBehalf | None = None
) -> GraphAssistant:
    """Return the back end that the `GRAPH_…` settings describe.

    Args:
        on_behalf: The users' own tokens, for `GRAPH_ON_BEHALF`.
    """
    settings = basis.settings
    client = GraphClient(
        base_url=URL(settings.graph_base_url),
        token_of=_tokens(basis, on_behalf),
        session=basis.session,
        clock=basis.clock,
        ids=basis.ids,
        limits=limits or GraphLimits(),
    )
    users = MappedUsers(tenant=settings.graph_tenant_id or "", named=dict(settings.graph_users))
    # With a user's own token everybody is the user whose token it is.
    is_own = settings.graph_token is not None or settings.graph_on_behalf
    return GraphAssistant(
        client=client,
        root_of=(lambda _: "me") if is_own else users.root,
        file_hosts=settings.graph_file_hosts,
    )


_USER_ERRORS: Mapping[type[errors.AccessError], type[errors.AssistantError]] = {
    errors.SignInNeededError: errors.AssistantSignInError,
    errors.OnBehalfRefusedError: errors.AssistantNotGrantedError,
    errors.SignInUnavailableError: errors.AssistantUnavailableError,
}
_TOKEN_ERRORS = own_sign_in.TokenErrors(
    refused=errors.AssistantRefusedError,
    busy=errors.AssistantBusyError,
    unreadable=errors.AssistantUnavailableError,
)


def _tokens(basis: Basis, on_behalf: OnBehalf | None) -> Callable[[str], own_sign_in.TokenSource]:
    """Return what finds a principal's tokens: the user's own, or the application's for all."""
    settings, clock = basis.settings, basis.clock
    scope, secret = settings.graph_scope, settings.graph_client_secret
    if settings.graph_on_behalf and on_behalf is not None:
        return lambda user: UserToken(
            on_behalf=on_behalf, principal_id=user, scope=scope, errors=_USER_ERRORS
        )
    if settings.graph_token is not None:
        own = own_sign_in.OwnToken(token=settings.graph_token.get_secret_value())
        return lambda _: own
    if secret is None:
        identity = own_sign_in.ManagedIdentity(
            scope=scope, refused=_TOKEN_ERRORS.refused, clock=clock
        )
        shared = own_sign_in.Tokens(sign_in=identity, clock=clock)
        return lambda _: shared
    client = own_sign_in.Client(
        client_id=settings.graph_client_id or "",
        scope=scope,
        token_url=f"{settings.entra_authority}/{settings.graph_tenant_id}/oauth2/v2.0/token",
        secret=secret.get_secret_value(),
        is_secret_posted=True,
    )
    sign_in = own_sign_in.ClientCredentials(
        client=client, errors=_TOKEN_ERRORS, session=basis.session, clock=clock
    )
    tokens = own_sign_in.Tokens(sign_in=sign_in, clock=clock)
    return lambda _: tokens
