"""Which FHIR Practitioner a principal is: by a claim of the sign-in, a key's file or a setting.

A claim is noted durably, because a turn that another replica takes over knows the principal only.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from data_models.identifiers import hashed
from data_models.storage.blob_store import BlobStore, put_blob
from data_models.values import Newest
from services.access.handshake import Authenticator, Handshake
from services.access.principal import Principal

_FOLDER = "practitioners"
_KEPT = 10_000


@dataclass(kw_only=True, eq=False, repr=False)
class PractitionerBook:
    """Knows `Practitioner/17`, or `system|value` of an identifier, for each principal.

    Attributes:
        named: What the settings say; it wins.
        of_key: What the file of API keys says of `key:name`.
    """

    store: BlobStore
    named: Iterable[tuple[str, str]] = ()
    of_key: Callable[[str], str | None] = lambda _: None

    def __post_init__(self) -> None:
        self._named = dict(self.named)
        self._noted = Newest[str, str](limit=_KEPT)

    async def practitioner_of(self, principal_id: str) -> str | None:
        """Return who the principal is, None if nobody knows.

        Raises:
            StoreUnavailableError: what was noted cannot be read.
        """
        known = self._named.get(principal_id) or self.of_key(principal_id)
        known = known or self._noted.get(principal_id)
        if known:
            return known
        if (blob := await self.store.read(_name(principal_id))) is None:
            return None
        noted = self._noted[principal_id] = blob.data.decode()
        return noted

    async def note(self, principal_id: str, practitioner: str) -> None:
        """Keep what a verified sign-in said.

        Raises:
            StoreUnavailableError: it could not be kept.
        """
        if self._noted.get(principal_id) == practitioner:
            return
        name, data = _name(principal_id), practitioner.encode()
        blob = await self.store.read(name)
        # Where another sign-in of the same user was faster, the next one looks again.
        if await put_blob(self.store, name, data, replaces=blob):
            self._noted[principal_id] = practitioner


class NotingAuthenticator:
    """An `Authenticator` that notes which Practitioner a user's sign-in names."""

    def __init__(self, *, inner: Authenticator, book: PractitionerBook) -> None:
        self._inner = inner
        self._book = book

    async def authenticate(self, handshake: Handshake) -> Principal:
        principal = await self._inner.authenticate(handshake)
        if principal.practitioner:
            await self._book.note(principal.id, principal.practitioner)
        return principal


def _name(principal_id: str) -> str:
    return f"{_FOLDER}/{hashed(principal_id)}"
