"""`AUTH_MODE=oidc`: users whom any OpenID provider signs in, by browser and cookie."""

import asyncio
import hmac
import secrets
from collections.abc import Collection, Mapping
from dataclasses import InitVar, dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, get_args

import structlog

from data_models.clock import Clock
from data_models.errors import ForbiddenError, UnauthenticatedError
from services.access import principal
from services.access.sign_in.oidc_provider import Begun, BrowserSeal, OidcProvider, Tokens
from services.access.sign_in.sign_in_sessions import Found, SignedIn, SignInSessions, csrf_of

SESSION_SECONDS = 12 * 3_600.0
"""The longest day at work; then everybody signs in anew."""
FRAMED = "framed."
"""How the id of a session begins that a page in a frame holds: a bearer token, never a cookie."""
_SEEN_SECONDS = 60.0
_ROLES: frozenset[principal.Role] = frozenset(get_args(principal.Role))
logger = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class OidcRules:
    """How claims become a principal.

    Attributes:
        roles_claim: The claim with roles; empty: whoever signs in is a clinician.
        users: Who has which role, by principal id: `oidc:…` or `entra:…`.
        authority: Issuer of Entra ID, whose users are the same as in Teams.
        idle_seconds: A session of which nothing was heard for so long is over.
    """

    roles_claim: str
    users: principal.UserRules
    authority: str
    idle_seconds: float


@dataclass(kw_only=True, eq=False, repr=False)
class OidcSignIn:
    """Signs users in, knows them by their cookie, and signs them out.

    Attributes:
        base: Address at which browsers reach the server, without a slash at its end.
        keys: Verifies bearer keys of programs, which stay valid; None: there are none.
    """

    provider: OidcProvider
    sessions: SignInSessions
    rules: OidcRules
    secret: InitVar[str]
    base: str
    clock: Clock
    keys: principal.Authenticator | None

    def __post_init__(self, secret: str) -> None:
        self._seal = BrowserSeal(secret=secret, purpose=b"rounds login", clock=self.clock)
        self.base = self.base.rstrip("/")
        # A provider that rotates refresh tokens takes each once: one request of a time renews.
        self._renewing = asyncio.Lock()

    async def begin(self) -> tuple[str, str]:
        """Return the provider's address for a sign-in, and what the browser keeps meanwhile.

        Raises:
            SignInUnavailableError: the provider does not answer.
        """
        begun = Begun.draw()
        url = await self.provider.sign_in_url(begun, redirect_uri=self._redirect_uri)
        return url, self._seal.seal(begun.model_dump_json())

    async def finish(self, *, kept: str, state: str, code: str) -> str:
        """Return the id of a new session.

        Args:
            kept: What the browser kept since `begin`.
            state: As the provider sent it back.
            code: As the provider gave it.

        Raises:
            UnauthenticatedError: the sign-in was not begun by this browser, took longer than
                `LOGIN_SECONDS`, or the provider does not stand by it.
            ForbiddenError: none of the user's roles is one of ours.
            SignInUnavailableError: the provider does not answer.
        """
        begun = self._seal.begun(kept, state=state)
        tokens = await self.provider.redeem(
            code=code, verifier=begun.verifier, redirect_uri=self._redirect_uri
        )
        claims = await self.provider.claims_of(tokens.id_token, nonce=begun.nonce)
        session_id = secrets.token_urlsafe(32)
        ends_at = self.clock.now() + timedelta(seconds=SESSION_SECONDS)
        await self.sessions.begin(session_id, self._session(session_id, claims, tokens, ends_at))
        return session_id

    async def authenticate(self, handshake: principal.Handshake) -> principal.Principal:
        """See `Authenticator.authenticate`; a bearer key goes before a cookie."""
        if handshake.authorization is not None or handshake.bearer is not None:
            if (handshake.bearer or "").startswith(FRAMED):
                return await self._find_session(handshake.bearer or "")
            if self.keys is None:
                raise UnauthenticatedError
            return await self.keys.authenticate(handshake)
        session_id = handshake.session_id
        if session_id is None or session_id.startswith(FRAMED):
            raise UnauthenticatedError
        _check_page(handshake, session_id)
        return await self._find_session(session_id)

    async def end(self, session_id: str) -> str:
        """Forget the session; return where the browser goes then."""
        await self.sessions.end(session_id)
        home = f"{self.base}/"
        return await self.provider.sign_out_url(back=home) or home

    async def _find_session(self, session_id: str) -> principal.Principal:
        session = await self._current(session_id, await self.sessions.find(session_id))
        return principal.Principal(
            id=session.principal_id,
            name=session.name,
            kind="oidc",
            roles=frozenset(session.roles),
            tenant=session.tenant,
            expires_at=session.ends_at,
            scopes=principal.USERS if "clinician" in session.roles else frozenset(),
            practitioner=session.practitioner,
            csrf=None if session_id.startswith(FRAMED) else csrf_of(session_id),
        )

    async def _current(self, session_id: str, found: Found) -> SignedIn:
        session, now = found.session, self.clock.now()
        idle = (now - session.seen_at).total_seconds()
        if session.ends_at <= now or idle > self.rules.idle_seconds:
            await self.sessions.end(session_id)
            raise UnauthenticatedError
        if session.proof_until <= now:
            return await self._renew(session_id)
        if idle > _SEEN_SECONDS:
            seen = session.model_copy(update={"seen_at": now})
            return await self.sessions.renew(session_id, found, seen)
        return session

    async def _renew(self, session_id: str) -> SignedIn:
        async with self._renewing:
            found = await self.sessions.find(session_id)
            if found.session.proof_until > self.clock.now():
                return found.session  # whoever held the lock before renewed it
            try:
                renewed = await self._ask_again(session_id, found.session)
            except (UnauthenticatedError, ForbiddenError):
                return await self._without_renewal(session_id, found)
            return await self.sessions.renew(session_id, found, renewed)

    async def _ask_again(self, session_id: str, session: SignedIn) -> SignedIn:
        had = self.sessions.opened(session_id, session.tokens)
        if had.refresh_token is None:
            raise UnauthenticatedError
        brought = await self.provider.refresh(had.refresh_token)
        claims = await self.provider.claims_of(brought.id_token, nonce=None)
        if claims["sub"] != session.subject:
            raise UnauthenticatedError
        tokens = had.model_copy(update=brought.model_dump(exclude_none=True))
        return self._session(session_id, claims, tokens, session.ends_at)

    async def _without_renewal(self, session_id: str, found: Found) -> SignedIn:
        """Another replica may have used the refresh token first: then its session counts."""
        latest = await self.sessions.find(session_id)
        if latest.etag != found.etag and latest.session.proof_until > self.clock.now():
            return latest.session
        await self.sessions.end(session_id)
        raise UnauthenticatedError

    def _session(
        self, session_id: str, claims: Mapping[str, Any], tokens: Tokens, ends_at: datetime
    ) -> SignedIn:
        if not (roles := self._roles(claims)):
            logger.info("sign_in_without_role", claim=self.rules.roles_claim)
            raise ForbiddenError
        return SignedIn(
            principal_id=principal_id_of(claims, self.rules),
            name=str(claims.get("name") or claims.get("preferred_username") or claims["sub"]),
            subject=claims["sub"],
            tenant=_directory(claims, self.rules),
            roles=sorted(roles),
            practitioner=self.rules.users.practitioner_in(claims),
            proof_until=datetime.fromtimestamp(claims["exp"], UTC),
            ends_at=ends_at,
            seen_at=self.clock.now(),
            tokens=self.sessions.sealed(session_id, tokens),
        )

    def _roles(self, claims: Mapping[str, Any]) -> frozenset[principal.Role]:
        rules, tenant = self.rules, _directory(claims, self.rules)
        said = claims.get(rules.roles_claim) if rules.roles_claim else ["clinician"]
        words: Collection[object] = said if isinstance(said, list) else str(said or "").split()
        roles = frozenset(role for role in _ROLES if role in words)
        if tenant is None:
            return roles | rules.users.roles_of(principal_id_of(claims, rules))
        return roles | rules.users.roles_of_user(tenant, claims["oid"])

    @property
    def _redirect_uri(self) -> str:
        return f"{self.base}/auth/callback"


def principal_id_of(claims: Mapping[str, Any], rules: OidcRules) -> str:
    """Return the principal id of a user, for one of Entra ID the same as in Teams."""
    if (tenant := _directory(claims, rules)) is not None:
        return principal.user_id(tenant, claims["oid"])
    who = f"{claims['iss']} {claims['sub']}"
    return f"oidc:{sha256(who.encode()).hexdigest()}"


def _directory(claims: Mapping[str, Any], rules: OidcRules) -> str | None:
    """Only Entra ID itself may say who is one of its users."""
    tenant, who = claims.get("tid"), claims.get("oid")
    if not (isinstance(tenant, str) and isinstance(who, str) and who.strip()):
        return None
    return tenant.lower() if claims["iss"] == f"{rules.authority}/{tenant}/v2.0" else None


def _check_page(handshake: principal.Handshake, session_id: str) -> None:
    """A browser sends cookies by itself: only the server's own page may use them."""
    host = handshake.host.lower()
    origin = handshake.origin
    if origin is not None and origin.lower() not in {f"https://{host}", f"http://{host}"}:
        raise ForbiddenError
    if not handshake.writes:
        return
    shown = (handshake.csrf or "").encode(errors="surrogatepass")
    if origin is None or not hmac.compare_digest(csrf_of(session_id).encode(), shown):
        raise ForbiddenError
