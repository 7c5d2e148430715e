"""Signed tokens: a cheap look before any key is fetched (spec page 7, R3), then the signature."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import jwt
from jwt.types import Options

from data_models.errors import UnauthenticatedError
from services.access.handshake import TOKEN_LIMIT_CHARS

LEEWAY_SECONDS = 60.0
_KEY_ID_LIMIT_CHARS = 200
_YEAR_5000 = 95_617_584_000


@dataclass(frozen=True, slots=True)
class TokenForm:
    """What a token says of itself; nothing of it is verified."""

    key_id: str
    claims: dict[str, Any]


def read_form(token: str, *, now: datetime) -> TokenForm:
    """Return what `token` says if it could be valid at `now`.

    Raises:
        UnauthenticatedError: not a JWT signed with RS256, no key id, no expiry, or not its time.
    """
    if len(token) > TOKEN_LIMIT_CHARS:
        raise UnauthenticatedError
    try:
        whole = jwt.decode_complete(token, options={"verify_signature": False})
    except (jwt.PyJWTError, ValueError, RecursionError):
        # Not `from error`: it may hold parts of the token.
        raise UnauthenticatedError from None
    header, claims = whole["header"], whole["payload"]
    key_id = header.get("kid")
    if header.get("alg") != "RS256" or "crit" in header or not isinstance(key_id, str):
        raise UnauthenticatedError
    if not 0 < len(key_id) <= _KEY_ID_LIMIT_CHARS:
        raise UnauthenticatedError
    # Check `exp`, which must be there, and `nbf`, with a minute of leeway.
    expires, begins = _seconds(claims.get("exp")), _seconds(claims.get("nbf", 0))
    if expires <= now.timestamp() - LEEWAY_SECONDS or begins > now.timestamp() + LEEWAY_SECONDS:
        raise UnauthenticatedError
    return TokenForm(key_id=key_id, claims=claims)


def verified_claims(
    token: str,
    key: Any,
    *,
    audience: str | Collection[str],
    issuer: str | None = None,
    also: Collection[str] = (),
) -> dict[str, Any]:
    """Return the claims of a token that `key` signed for `audience`.

    The times are not looked at: `read_form` checks them by our clock, on the same bytes.

    Args:
        issuer: Who must have issued it; None: the caller has looked.
        also: Claims that must be there besides `exp`, `iss` and `aud`.

    Raises:
        UnauthenticatedError: it is not so.
    """
    options: Options = {
        "require": ["exp", "iss", "aud", *also],
        "verify_exp": False,
        "verify_nbf": False,
        "verify_iat": False,
    }
    try:
        claims: dict[str, Any] = jwt.decode(
            token,
            key,
            algorithms=["RS256"],
            audience=audience if isinstance(audience, str) else list(audience),
            issuer=issuer,
            options=options,
        )
    except (jwt.PyJWTError, ValueError):
        # Not `from error`: it may hold parts of the token.
        raise UnauthenticatedError from None
    return claims


def _seconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnauthenticatedError
    if not 0 <= value < _YEAR_5000:
        raise UnauthenticatedError
    return value
