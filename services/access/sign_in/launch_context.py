"""What a record system has open for whom it sends: a Patient, and perhaps a visit."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp
from pydantic import BaseModel, ConfigDict, ValidationError

from data_models.errors import ForbiddenError, SignInUnavailableError
from data_models.http_answers import Bounds, Refusal, fetch
from data_models.values import read_value
from services.access.sign_in.oidc_provider import Tokens

_TEXT_LIMIT_CHARS = 120
_BOUNDS = Bounds(8.0, 1_000_000)
_UNAVAILABLE = Refusal(SignInUnavailableError, "the record system")
_RESOURCE_ID = re.compile(r"[A-Za-z0-9.-]{1,64}")


class Visit(BaseModel):
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
class LaunchContext:
    """Reads it with the launch's own token; `session` follows no redirect."""

    session: aiohttp.ClientSession

    async def patient(self, tokens: Tokens, *, issuer: str) -> Mapping[str, Any]:
        """Return the Patient of the launch.

        Raises:
            ForbiddenError: none is open there.
            SignInUnavailableError: the record system does not answer, or with another.
        """
        if tokens.patient is None or _RESOURCE_ID.fullmatch(tokens.patient) is None:
            raise ForbiddenError
        data = await self._read(f"Patient/{tokens.patient}", tokens, issuer=issuer)
        refusal = SignInUnavailableError("the Patient cannot be read")
        found = read_value(data, _Patient, refusal=refusal)
        if found.id != tokens.patient:
            raise SignInUnavailableError("another Patient than the launch's was answered")
        return found.model_dump()

    async def visit(self, tokens: Tokens, *, issuer: str) -> Visit | None:
        """Return the launch's visit; None without one that is the launch's patient's own."""
        if tokens.encounter is None or _RESOURCE_ID.fullmatch(tokens.encounter) is None:
            return None
        try:
            data = await self._read(f"Encounter/{tokens.encounter}", tokens, issuer=issuer)
            found = _Encounter.model_validate_json(data)
        except (SignInUnavailableError, ValidationError):
            return None
        subject = (found.subject.reference or "").removeprefix(f"{issuer.rstrip('/')}/")
        is_meant = found.status not in ("entered-in-error", "cancelled")
        if found.id != tokens.encounter or subject != f"Patient/{tokens.patient}" or not is_meant:
            return None
        return Visit(text=_words_of(found), begins=(found.period.start or "")[:10])

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
