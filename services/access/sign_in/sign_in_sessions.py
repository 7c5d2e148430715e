"""Sessions of users who signed in with a browser: `chat-users/sessions/{hash of the id}.json`.

The id is in the user's cookie and nowhere else. What is stored tells neither it nor the tokens:
they are encrypted with a key that is made of the id and the client's secret.
"""

import hashlib
import hmac
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from cryptography.fernet import Fernet, InvalidToken
from pydantic import BaseModel, ValidationError

from data_models.errors import BlobChangedError, UnauthenticatedError
from data_models.storage.blob_store import BlobStore, put_blob
from data_models.values import read_value
from services.access.principal import Role
from services.access.sign_in.oidc_provider import Tokens, derived_key

_FOLDER = "sessions"
Kept = TypeVar("Kept", bound=BaseModel)


class SignedIn(BaseModel):
    """One session.

    Attributes:
        subject: The provider's own name of the user; a refresh must bring the same.
        proof_until: When the provider's word has to be renewed.
        ends_at: When the user has to sign in again whatever happens.
        seen_at: When the user was last active, within a minute.
        tokens: Encrypted.
        launched: Where a record system's launch went, encrypted; "" for other sessions.
    """

    principal_id: str
    name: str
    subject: str
    tenant: str | None = None
    roles: list[Role]
    practitioner: str | None = None
    proof_until: datetime
    ends_at: datetime
    seen_at: datetime
    tokens: str
    launched: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """A stored session, and the version it was read at."""

    session: SignedIn
    etag: str


class SignInSessions:
    """Keeps sessions.

    Args:
        secret: The client's secret, with which nobody who only reads the store can decrypt.
    """

    def __init__(self, *, store: BlobStore, secret: str) -> None:
        self._store = store
        self._secret = secret.encode()

    async def begin(self, session_id: str, session: SignedIn) -> None:
        """Store a new session."""
        await self._store.create(_name(session_id), session.model_dump_json().encode())

    async def find(self, session_id: str) -> Found:
        """Return a session.

        Raises:
            UnauthenticatedError: there is none, or it is damaged.
        """
        if (blob := await self._store.read(_name(session_id))) is None:
            raise UnauthenticatedError
        return Found(read_value(blob.data, SignedIn, refusal=UnauthenticatedError()), blob.etag)

    async def renew(self, session_id: str, found: Found, session: SignedIn) -> SignedIn:
        """Put `session` in the place of `found`; return what is stored then.

        Another request may have been faster: then its session counts.

        Raises:
            UnauthenticatedError: it was ended meanwhile.
        """
        name, data = _name(session_id), session.model_dump_json().encode()
        try:
            await self._store.replace(name, data, etag=found.etag)
        except BlobChangedError:
            return (await self.find(session_id)).session
        return session

    async def spend(self, once: str) -> None:
        """Take what may be shown once, on every replica.

        Raises:
            UnauthenticatedError: it was shown before.
        """
        if not await put_blob(self._store, _name(once), b"{}"):
            raise UnauthenticatedError

    async def end(self, session_id: str) -> None:
        """Forget a session, on every replica at once."""
        await self._store.delete(_name(session_id))

    def sealed(self, session_id: str, kept: BaseModel) -> str:
        """Return what is kept of a session encrypted."""
        data = kept.model_dump_json().encode()
        return Fernet(self._key(session_id)).encrypt(data).decode()

    def opened(self, session_id: str, sealed: str) -> Tokens:
        """Return the tokens of a session; none after the client's secret has changed."""
        return self.unsealed(session_id, sealed, Tokens) or Tokens()

    def unsealed(self, session_id: str, sealed: str, kind: type[Kept]) -> Kept | None:
        """Return what was sealed; None where nothing was, or the secret has changed."""
        try:
            return kind.model_validate_json(Fernet(self._key(session_id)).decrypt(sealed))
        except (InvalidToken, ValidationError):
            return None

    def _key(self, session_id: str) -> bytes:
        return derived_key(self._secret, salt=session_id.encode(), purpose=b"rounds tokens")


def csrf_of(session_id: str) -> str:
    """Return what a page of the session shows with every write; it does not tell the id."""
    return hmac.new(session_id.encode(), b"rounds csrf", hashlib.sha256).hexdigest()


def _name(session_id: str) -> str:
    return f"{_FOLDER}/{hashlib.sha256(session_id.encode()).hexdigest()}.json"
