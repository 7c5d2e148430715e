"""SMART App Launch: a record system signs its user in, and says whose chart they have open."""

import re
import secrets
from collections.abc import Mapping
from dataclasses import InitVar, dataclass
from datetime import timedelta
from typing import Any

import aiohttp
import structlog
from pydantic import BaseModel, ConfigDict, ValidationError

from data_models import errors
from data_models.clock import Clock
from data_models.http_answers import Bounds, Refusal, fetch
from data_models.identifiers import PatientId
from data_models.values import read_value
from services.access.sign_in.fhircast import Subscription
from services.access.sign_in.oidc import FRAMED, SESSION_SECONDS, OidcRules, principal_id_of
from services.access.sign_in.oidc_provider import Begun, BrowserSeal, OidcProvider, Tokens
from services.access.sign_in.sign_in_sessions import SignedIn, SignInSessions

_TEXT_LIMIT_CHARS = 120
_BOUNDS = Bounds(8.0, 1_000_000)
_UNAVAILABLE = Refusal(errors.SignInUnavailableError, "the record system")
_RESOURCE_ID = re.compile(r"[A-Za-z0-9.-]{1,64}")


class _Visit(BaseModel):
    """The Encounter that is open there, in the record system's words; for people to read alone.

    Attributes:
        begins: A date of FHIR, "" where there is none.
    """

    text: str
    begins: str


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)


class _Coding(_Part):
    display: str | None = None
    code: str | None = None


class _Concept(_Part):
    text: str | None = None
    coding: list[_Coding] = []


class _Period(_Part):
    start: str | None = None


class _Reference(_Part):
    reference: str | None = None


class _Encounter(_Part):
    id: str
    status: str | None = None
    subject: _Reference
    type: list[_Concept] = []
    period: _Period = _Period()


class _Patient(BaseModel, extra="allow"):
    resourceType: str  # noqa: N815 - FHIR's own name
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _LaunchContext:
    """Reads it with the launch's own token; `session` follows no redirect."""

    session: aiohttp.ClientSession

    async def patient(self, tokens: Tokens, *, issuer: str) -> Mapping[str, Any]:
        """Return the Patient of the launch.

        Raises:
            ForbiddenError: none is open there.
            SignInUnavailableError: the record system does not answer, or with another.
        """
        if tokens.patient is None or _RESOURCE_ID.fullmatch(tokens.patient) is None:
            raise errors.ForbiddenError
        data = await self._read(f"Patient/{tokens.patient}", tokens, issuer=issuer)
        refusal = errors.SignInUnavailableError("the Patient cannot be read")
        found = read_value(data, _Patient, refusal=refusal)
        if found.id != tokens.patient:
            raise errors.SignInUnavailableError("another Patient than the launch's was answered")
        return found.model_dump()

    async def visit(self, tokens: Tokens, *, issuer: str) -> _Visit | None:
        """Return the launch's visit; None without one that is the launch's patient's own."""
        if tokens.encounter is None or _RESOURCE_ID.fullmatch(tokens.encounter) is None:
            return None
        try:
            data = await self._read(f"Encounter/{tokens.encounter}", tokens, issuer=issuer)
            found = _Encounter.model_validate_json(data)
        except (errors.SignInUnavailableError, ValidationError):
            return None
        subject = (found.subject.reference or "").removeprefix(f"{issuer.rstrip('/')}/")
        is_meant = found.status not in ("entered-in-error", "cancelled")
        if found.id != tokens.encounter or subject != f"Patient/{tokens.patient}" or not is_meant:
            return None
        return _Visit(text=_words_of(found), begins=(found.period.start or "")[:10])

    async def _read(self, place: str, tokens: Tokens, *, issuer: str) -> bytes:
        url = f"{issuer.rstrip('/')}/{place}"
        headers = {
            "Accept": "application/fhir+json",
            "Authorization": f"Bearer {tokens.access_token or ''}",
        }
        return await fetch(self.session, "GET", url, _BOUNDS, refusal=_UNAVAILABLE, headers=headers)


def _words_of(encounter: _Encounter) -> str:
    kinds = encounter.type[:1]
    named = [one for kind in kinds for one in (kind.text, *(c.display for c in kind.coding)) if one]
    return " ".join(named[:1])[:_TEXT_LIMIT_CHARS]


TICKET_SECONDS = 60
"""How long a page in a frame may take to fetch its token."""
logger = structlog.get_logger()
_TOKEN_SECONDS = 3_600.0
_STAFF = re.compile(
    r"(?:(?P<base>https?://\S{1,200})/)?(?P<who>Practitioner(?:Role)?/[\w.-]{1,64})"
)


@dataclass(frozen=True, slots=True)
class Launched:
    """Whom a record system sent: verified, and not let in yet.

    Attributes:
        once: What of this launch is shown once; names its message too.
        patient: The Patient resource that is open there.
        visit: The Encounter that is open there, if one is.
        tokens: What is kept of the launch's; None: nothing.
    """

    session: SignedIn
    once: str
    patient: Mapping[str, Any]
    visit: _Visit | None = None
    tokens: Tokens | None = None


class LaunchedIn(BaseModel):
    """Where a launch went, kept encrypted with its session."""

    conversation_id: str
    patient_id: PatientId
    visit: _Visit | None = None


@dataclass(kw_only=True, eq=False, repr=False)
class SmartLaunch:
    """Begins launches, verifies what comes back, and lets users in.

    A session ends with the record system's token: nothing renews it, and it is stored, encrypted,
    only where the hub is followed.

    Attributes:
        providers: By the address of the FHIR server, exactly as `iss` names it.
        records: The FHIR server of Rounds' own charts; of it alone a practitioner is believed.
        secret: Encrypts what browsers keep.
        base: Address at which browsers reach the server.
        hub: Where record systems tell who is open (FHIRcast); None: nobody is followed.
    """

    providers: Mapping[str, OidcProvider]
    sessions: SignInSessions
    rules: OidcRules
    records: str | None
    secret: InitVar[str]
    base: InitVar[str]
    session: InitVar[aiohttp.ClientSession]
    clock: Clock
    hub: str | None = None

    def __post_init__(self, secret: str, base: str, session: aiohttp.ClientSession) -> None:
        self._seal = BrowserSeal(secret=secret, purpose=b"rounds smart launch", clock=self.clock)
        self._redirect_uri = f"{base.rstrip('/')}/smart/callback"
        self._context = _LaunchContext(session=session)

    async def begin(self, *, issuer: str | None, launch: str | None) -> tuple[str, str]:
        """Return the record system's address for a sign-in, and what the browser keeps meanwhile.

        Args:
            issuer: `iss` of the launch; None: the only one that there is.
            launch: As the record system gave it; None: the user chooses a patient there.

        Raises:
            ForbiddenError: `issuer` is none of ours.
            BadFrameError: there are several and none was named.
            SignInUnavailableError: the record system says nothing usable of itself.
        """
        if issuer is None and len(self.providers) != 1:
            raise errors.BadFrameError("iss: name the record system, there are several")
        named = next(iter(self.providers)) if issuer is None else issuer
        if named not in self.providers:
            raise errors.ForbiddenError
        begun = Begun.draw(issuer=named)
        asked = {"aud": named, "scope": f"openid fhirUser launch{'' if launch else '/patient'}"}
        # Both ways to ask for each: a server grants the one that it knows.
        asked["scope"] += " patient/Patient.r patient/Patient.read"
        asked["scope"] += " patient/Encounter.r patient/Encounter.read"
        if self.hub is not None:
            asked["scope"] += " fhircast/Patient-open.read fhircast/syncerror.read"
        url = await self.providers[named].sign_in_url(
            begun,
            redirect_uri=self._redirect_uri,
            more=asked | ({"launch": launch} if launch else {}),
        )
        return url, self._seal.seal(begun.model_dump_json())

    async def finish(self, *, kept: str, state: str, code: str) -> Launched:
        """Return whom the record system stands for; each launch comes back once.

        Raises:
            UnauthenticatedError: this browser did not begin the launch, or not lately, or it came
                back before, or the record system does not stand by it.
            ForbiddenError: the user is no practitioner, or no patient is open there.
            SignInUnavailableError: the record system does not answer.
        """
        begun = self._seal.begun(kept, state=state)
        if begun.issuer not in self.providers:
            raise errors.UnauthenticatedError
        once = f"launch.{begun.state}"
        await self.sessions.spend(once)
        provider = self.providers[begun.issuer]
        tokens = await provider.redeem(
            code=code, verifier=begun.verifier, redirect_uri=self._redirect_uri
        )
        claims = await provider.claims_of(tokens.id_token, nonce=begun.nonce)
        session = self._signed_in(claims, tokens, issuer=begun.issuer)
        patient = await self._context.patient(tokens, issuer=begun.issuer)
        visit = await self._context.visit(tokens, issuer=begun.issuer)
        return Launched(session, once, patient, visit, self._of_hub(tokens))

    async def admit(self, launched: Launched, *, framed: bool) -> str:
        """Store the session; return its id, for a cookie or, in a frame, for a page's memory."""
        session_id = (FRAMED if framed else "") + secrets.token_urlsafe(32)
        session = launched.session
        if launched.tokens is not None:
            sealed = self.sessions.sealed(session_id, launched.tokens)
            session = session.model_copy(update={"tokens": sealed})
        await self.sessions.begin(session_id, session)
        return session_id

    async def bind(
        self, session_id: str, launched: Launched, *, conversation_id: str, patient_id: PatientId
    ) -> None:
        """Let this conversation, and no other, follow the record system and show its visit."""
        if launched.visit is None and launched.tokens is None:
            return
        found = await self.sessions.find(session_id)
        place = LaunchedIn(
            conversation_id=conversation_id, patient_id=patient_id, visit=launched.visit
        )
        sealed = self.sessions.sealed(session_id, place)
        bound = found.session.model_copy(update={"launched": sealed})
        await self.sessions.renew(session_id, found, bound)

    async def visit_of(self, session_id: str, *, conversation_id: str) -> LaunchedIn | None:
        """Return whose visit the conversation was launched for; None: for none.

        Raises:
            UnauthenticatedError: the session has ended.
        """
        place, _ = await self._place(session_id)
        is_here = place is not None and place.conversation_id == conversation_id
        return place if is_here and place is not None and place.visit is not None else None

    async def subscription_of(
        self, session_id: str, *, conversation_id: str
    ) -> Subscription | None:
        """Return what the conversation follows in this session; None: nothing.

        Raises:
            UnauthenticatedError: the session has ended.
        """
        place, found = await self._place(session_id)
        if self.hub is None or place is None or place.conversation_id != conversation_id:
            return None
        tokens = self.sessions.opened(session_id, found.tokens)
        if tokens.hub_topic is None or tokens.access_token is None:
            return None
        return Subscription(hub=self.hub, topic=tokens.hub_topic, token=tokens.access_token)

    async def _place(self, session_id: str) -> tuple[LaunchedIn | None, SignedIn]:
        found = (await self.sessions.find(session_id)).session
        if found.ends_at <= self.clock.now():
            raise errors.UnauthenticatedError
        return self.sessions.unsealed(session_id, found.launched, LaunchedIn), found

    def _of_hub(self, tokens: Tokens) -> Tokens | None:
        """Return what subscribing needs, if the launch names our hub and a session of it."""
        if self.hub is None or tokens.hub_topic is None:
            return None
        if tokens.hub_url not in (None, self.hub):
            logger.warning("hub_of_launch_unknown", setting="FHIRCAST_HUB_URL")
            return None
        return Tokens(access_token=tokens.access_token, hub_topic=tokens.hub_topic)

    def ticket(self, session_id: str) -> str:
        """Return what a page in a frame gets its session for, once and soon."""
        return self._seal.seal(session_id)

    async def redeem(self, ticket: str) -> str:
        """Return the id of the session of `ticket`.

        Raises:
            UnauthenticatedError: it is none of ours, too old, or was shown before.
        """
        session_id = self._seal.open(ticket, seconds=TICKET_SECONDS)
        if not session_id.startswith(FRAMED):
            raise errors.UnauthenticatedError
        await self.sessions.spend(f"ticket.{session_id}")
        return session_id

    def _signed_in(self, claims: Mapping[str, Any], tokens: Tokens, *, issuer: str) -> SignedIn:
        if (staff := _STAFF.fullmatch(str(claims.get("fhirUser") or ""))) is None:
            raise errors.ForbiddenError  # a patient, a relative, a device: ours is for clinicians
        who, now = principal_id_of(claims, self.rules), self.clock.now()
        roles = self.rules.users.roles_of(who)
        lasts = min(tokens.expires_in or _TOKEN_SECONDS, SESSION_SECONDS)
        ends_at = now + timedelta(seconds=lasts)
        # Practitioner/17 of another server is somebody else.
        here = issuer.rstrip("/")
        is_own = self.records is not None and here == self.records.rstrip("/")
        is_theirs = staff["base"] is None or staff["base"].rstrip("/") == here
        is_person = staff["who"].startswith("Practitioner/")
        return SignedIn(
            principal_id=who,
            name=str(claims.get("name") or claims.get("preferred_username") or claims["sub"]),
            subject=claims["sub"],
            tenant=None,
            roles=sorted(roles | {"clinician"}),
            practitioner=staff["who"] if is_own and is_theirs and is_person else None,
            proof_until=ends_at,
            ends_at=ends_at,
            seen_at=now,
            tokens="",
        )
