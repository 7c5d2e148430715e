"""`AUTH_MODE=dev`: whoever sits at this machine."""

from collections.abc import Collection

from data_models.errors import ForbiddenError
from services.access.handshake import Handshake, is_loopback
from services.access.principal import Principal, Role, roles_of

DEV_PRINCIPAL_ID = "dev"
_ORDERS: frozenset[Role] = frozenset({"order"})


class DevAuthenticator:
    """Takes every loopback caller for the principal `dev`."""

    def __init__(self, *, operators: Collection[str]) -> None:
        roles = roles_of(DEV_PRINCIPAL_ID, operators or [DEV_PRINCIPAL_ID])
        self._principal = Principal(
            id=DEV_PRINCIPAL_ID, name="dev", kind="dev", roles=roles | _ORDERS
        )

    async def authenticate(self, handshake: Handshake) -> Principal:
        """See `Authenticator.authenticate`; a proxy on this machine would let the world in."""
        if handshake.forwarded or not is_loopback(handshake.peer):
            raise ForbiddenError
        return self._principal
