"""What users signed in for: their own tokens of other services, in this process's memory only."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeAlias

import aiohttp
from pydantic import BaseModel

from data_models.clock import Clock
from data_models.errors import (
    AccessError,
    ForbiddenError,
    OnBehalfRefusedError,
    RoundsError,
    SignInNeededError,
    SignInUnavailableError,
    UnauthenticatedError,
)
from data_models.http_answers import Bounds, ask
from data_models.values import Newest, read_if_whole
from services.access.principal import Authenticator, Handshake
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
        if (user := _USER.fullmatch(principal_id)) is None:
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


class _Answer(BaseModel, hide_input_in_errors=True):
    """What the directory answers: a token, or why there is none."""

    access_token: str | None = None
    expires_in: float | None = None
    error: str | None = None
    suberror: str | None = None
    error_codes: list[int] | None = None


def _granted(status: int, body: bytes) -> IssuedToken:
    found = read_if_whole(body, _Answer) or _Answer()
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


KEPT_LIMIT = 10_000
ASK_AGAIN_SECONDS = 600.0
"""A user who leaves a sign-in alone is not asked with every message."""

ProofLookUp: TypeAlias = Callable[[str], Awaitable[str | None]]
"""Returns the proof of a principal that a channel still has; None: the user has to sign in.

Raises:
    SignInUnavailableError: the channel's token service does not answer.
"""


@dataclass(frozen=True, slots=True)
class _Kept:
    text: str = field(repr=False)
    until: datetime


class OnBehalf:
    """Gets users' tokens on their behalf; nothing of it is stored or logged.

    Args:
        check: Verifies a user's proof: a token of their directory for this application.
        scopes: What is exchanged as soon as a user signs in, so that a consent that is missing
            shows then.
    """

    def __init__(
        self, *, check: Authenticator, grant: OnBehalfGrant, scopes: tuple[str, ...], clock: Clock
    ) -> None:
        self._check = check
        self._grant = grant
        self._scopes = scopes
        self._clock = clock
        self._look_up: ProofLookUp | None = None
        self._proofs = Newest[str, _Kept](limit=KEPT_LIMIT)
        self._tokens = Newest[tuple[str, str], _Kept](limit=KEPT_LIMIT)
        self._wanted = Newest[str, bool](limit=KEPT_LIMIT)
        self._asked = Newest[str, datetime](limit=KEPT_LIMIT)

    def on_missing(self, look_up: ProofLookUp) -> None:
        """Have `look_up` asked for proofs that are not in memory."""
        self._look_up = look_up

    async def take(self, proof: str, *, principal_id: str) -> None:
        """Keep the principal's proof if it is valid, theirs, and good for every scope.

        Raises:
            UnauthenticatedError: no valid token for this application.
            ForbiddenError: another's, of a foreign directory, or without our scope.
            SignInNeededError: the user has to agree first.
            OnBehalfRefusedError, SignInUnavailableError: see `OnBehalfGrant.exchange`.
        """
        await self._keep_proof(proof, principal_id)
        for scope in self._scopes:
            await self._exchange(proof, principal_id, scope)
        self._wanted.pop(principal_id, None)
        self._asked.pop(principal_id, None)

    async def token(self, principal_id: str, scope: str) -> str:
        """Return the principal's token for `scope`, one that is not about to end.

        Raises:
            SignInNeededError: the user has to sign in; `wanted` says so, too.
            OnBehalfRefusedError, SignInUnavailableError: see `OnBehalfGrant.exchange`.
        """
        kept = self._tokens.get((principal_id, scope))
        if kept is not None and self._clock.now() < kept.until:
            return kept.text
        try:
            proof = await self._proof_of(principal_id)
            return await self._exchange(proof, principal_id, scope)
        except SignInNeededError as error:
            self._wanted[principal_id] = error.needs_consent
            raise

    def note_refusal(self, principal_id: str, scope: str, token: str) -> None:
        """Take note that a service did not take `token`; a newer one stays."""
        kept = self._tokens.get((principal_id, scope))
        if kept is not None and kept.text == token:
            del self._tokens[principal_id, scope]

    def wanted(self, principal_id: str) -> SignInNeededError | None:
        """Return what the user is to be asked for now, once in ten minutes at most."""
        needs_consent = self._wanted.pop(principal_id, None)
        now, asked = self._clock.now(), self._asked.get(principal_id)
        is_early = asked is not None and now - asked < timedelta(seconds=ASK_AGAIN_SECONDS)
        if needs_consent is None or is_early:
            return None
        self._asked[principal_id] = now
        return SignInNeededError(needs_consent=needs_consent)

    async def _proof_of(self, principal_id: str) -> str:
        kept = self._proofs.get(principal_id)
        if kept is not None and self._clock.now() < kept.until:
            return kept.text
        found = None if self._look_up is None else await self._look_up(principal_id)
        if found is None:
            raise SignInNeededError(needs_consent=False)
        try:
            await self._keep_proof(found, principal_id)
        except (UnauthenticatedError, ForbiddenError):
            raise SignInNeededError(needs_consent=False) from None
        return found

    async def _keep_proof(self, proof: str, principal_id: str) -> None:
        shown = Handshake(peer=None, host="", authorization=f"Bearer {proof}")
        principal = await self._check.authenticate(shown)
        if principal.id != principal_id or principal.expires_at is None:
            raise ForbiddenError
        self._proofs[principal_id] = _Kept(proof, principal.expires_at)

    async def _exchange(self, proof: str, principal_id: str, scope: str) -> str:
        try:
            granted = await self._grant.exchange(proof, principal_id=principal_id, scope=scope)
        except SignInNeededError:
            self._proofs.pop(principal_id, None)
            raise
        until = self._clock.now() + timedelta(seconds=granted.kept_seconds)
        self._tokens[principal_id, scope] = _Kept(granted.text, until)
        return granted.text


@dataclass(frozen=True, slots=True, kw_only=True)
class UserToken:
    """A `TokenSource`: a principal's own token, which the directory gives on their behalf.

    Attributes:
        scope: What the directory is asked for.
        errors: What a client of that service raises in the place of an error of sign-in.
    """

    on_behalf: OnBehalf
    principal_id: str
    scope: str
    errors: Mapping[type[AccessError], type[RoundsError]]

    async def token(self) -> str:
        """Return it.

        Raises:
            AccessError: as `OnBehalf.token`, where `errors` names nothing else.
            RoundsError: one of `errors`.
        """
        try:
            return await self.on_behalf.token(self.principal_id, self.scope)
        except AccessError as error:
            if (kind := self.errors.get(type(error))) is None:
                raise
        raise kind("there is no token of the user")

    def note_refusal(self, token: str) -> bool:
        """Have another issued; a newer one stays."""
        self.on_behalf.note_refusal(self.principal_id, self.scope, token)
        return True
