"""The OAuth 2.0 on-behalf-of grant as Entra ID gives it: a user's proof for another's token."""

import re

import aiohttp
from pydantic import BaseModel, ConfigDict, ValidationError

from data_models.errors import (
    ForbiddenError,
    OnBehalfRefusedError,
    SignInNeededError,
    SignInUnavailableError,
)
from data_models.http_answers import Bounds, ask
from services.own_sign_in import IssuedToken

GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_BOUNDS = Bounds(8.0, 100_000, connect_seconds=2.0)
_USER = re.compile(r"entra:([0-9a-z.-]{1,100}):[0-9a-f-]{36}")
_ASKS = frozenset({"interaction_required", "consent_required", "login_required"})
_NO_CONSENT = 65_001
"""AADSTS65001: nobody agreed yet that this application acts for the user."""


class OnBehalfGrant:
    """Asks the user's own directory, for one application.

    Args:
        authority: Such as `https://login.microsoftonline.com`.
        session: Reaches only hosts that may be called, and follows no redirect.
    """

    def __init__(
        self, *, authority: str, client_id: str, client_secret: str, session: aiohttp.ClientSession
    ) -> None:
        self._authority = authority.rstrip("/")
        self._client_id = client_id
        self._client_secret = client_secret
        self._session = session

    async def exchange(self, assertion: str, *, principal_id: str, scope: str) -> IssuedToken:
        """Return the user's token for `scope`.

        Raises:
            SignInNeededError: the user has to agree, or to sign in anew.
            OnBehalfRefusedError: the directory does not let this application do it.
            SignInUnavailableError: the directory did not answer, or with no token.
            ForbiddenError: the principal is no user of a directory.
        """
        user = _USER.fullmatch(principal_id)
        if user is None:
            raise ForbiddenError
        form = {
            "grant_type": GRANT,
            "requested_token_use": "on_behalf_of",
            "client_id": self._client_id,
            "client_secret": self._client_secret,
            "assertion": assertion,
            "scope": scope,
        }
        url = f"{self._authority}/{user[1]}/oauth2/v2.0/token"
        try:
            answer = await ask(self._session, "POST", url, _BOUNDS, data=form)
        except (aiohttp.ClientError, TimeoutError):
            # Not `from error`: it may hold the request, and so the user's proof.
            raise SignInUnavailableError("the directory did not answer") from None
        return _granted(answer.status, answer.body)


class _Answer(BaseModel):
    """What the directory answers: a token, or why there is none."""

    model_config = ConfigDict(hide_input_in_errors=True)

    access_token: str | None = None
    expires_in: float | None = None
    error: str | None = None
    suberror: str | None = None
    error_codes: list[int] | None = None


def _granted(status: int, body: bytes) -> IssuedToken:
    try:
        found = _Answer.model_validate_json(body)
    except ValidationError:
        found = _Answer()
    if status in (400, 401, 403):
        raise _refusal(found)
    text, seconds = found.access_token, found.expires_in
    # What a header cannot carry is no token either.
    if status != 200 or seconds is None or not (text and text.isascii() and text.isprintable()):
        raise SignInUnavailableError(f"the directory answered {status} without a token")
    return IssuedToken(text, seconds)


def _refusal(said: _Answer) -> SignInNeededError | OnBehalfRefusedError:
    if _NO_CONSENT in (said.error_codes or ()) or {said.error, said.suberror} & _ASKS:
        return SignInNeededError(needs_consent=True)
    if said.error == "invalid_grant":  # the proof has ended, or was taken back
        return SignInNeededError(needs_consent=False)
    return OnBehalfRefusedError("the directory refused the application")
