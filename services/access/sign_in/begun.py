"""What a browser keeps while its user signs in elsewhere: encrypted, ours, and not for long."""

import hmac
import secrets
from base64 import urlsafe_b64encode
from typing import Self

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from pydantic import BaseModel

from data_models.clock import Clock
from data_models.errors import UnauthenticatedError
from data_models.values import read_value

LOGIN_SECONDS = 600
"""How long a user may take at the provider's page."""


class Begun(BaseModel):
    """A sign-in that has begun.

    Attributes:
        issuer: Where the user is; "" where there is one place only.
    """

    issuer: str = ""
    state: str
    nonce: str
    verifier: str

    @classmethod
    def draw(cls, *, issuer: str = "") -> Self:
        """Return one that nobody can guess."""
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        return cls(issuer=issuer, state=state, nonce=nonce, verifier=verifier)


class BrowserSeal:
    """Encrypts what browsers keep for one purpose.

    Args:
        secret: The client's.
    """

    def __init__(self, *, secret: str, purpose: bytes, clock: Clock) -> None:
        self._fernet = Fernet(derived_key(secret.encode(), salt=b"", purpose=purpose))
        self._clock = clock

    def seal(self, text: str) -> str:
        """Return `text` for a browser to keep; it can be opened for some time from now."""
        return self._fernet.encrypt_at_time(text.encode(), self._seconds()).decode()

    def open(self, sealed: str, *, seconds: int) -> str:
        """Return what was sealed at most `seconds` ago.

        Raises:
            UnauthenticatedError: it was not sealed here, or longer ago.
        """
        try:
            return self._fernet.decrypt_at_time(sealed, seconds, self._seconds()).decode()
        except (InvalidToken, UnicodeError):
            raise UnauthenticatedError from None

    def begun(self, kept: str, *, state: str) -> Begun:
        """Return the sign-in that this browser began, of which `state` came back.

        Raises:
            UnauthenticatedError: it began none, not this one, or longer ago than `LOGIN_SECONDS`.
        """
        opened = self.open(kept, seconds=LOGIN_SECONDS)
        found = read_value(opened, Begun, refusal=UnauthenticatedError())
        if not hmac.compare_digest(found.state.encode(), state.encode(errors="surrogatepass")):
            raise UnauthenticatedError
        return found

    def _seconds(self) -> int:
        return int(self._clock.now().timestamp())


def derived_key(secret: bytes, *, salt: bytes, purpose: bytes) -> bytes:
    """Return a Fernet key for one purpose."""
    kdf = HKDF(algorithm=SHA256(), length=32, salt=salt, info=purpose)
    return urlsafe_b64encode(kdf.derive(secret))
