"""Opening a closed chart in an emergency: a reason, an end, and a review by an operator."""

from datetime import timedelta
from typing import Annotated

import structlog
from pydantic import AwareDatetime, Field

from data_models.clock import Clock, IdSource
from data_models.errors import BadFrameError, BlobChangedError, NotFoundError
from data_models.identifiers import PatientId, hashed
from data_models.storage.blob_store import BlobStore
from data_models.values import Value, read_if_whole

COMMAND = "break glass:"
"""Begins the message that opens a closed chart; the reason follows."""
REASON_LEAST_CHARS = 10
REASON_LIMIT_CHARS = 500
FOLDER = "break-glass"
"""Below it, in the container beside the conversations, are the grants."""
_ERASED = "(erased)"
_log = structlog.get_logger()


class Review(Value):
    """What an operator found."""

    by: str
    at: AwareDatetime
    is_justified: bool
    note: Annotated[str, Field(max_length=REASON_LIMIT_CHARS)] = ""


class Grant(Value):
    """One chart, open to one principal for some time though the policy closes it."""

    grant_id: str
    principal: str
    patient_id: PatientId
    conversation_id: str
    reason: str
    granted_at: AwareDatetime
    expires_at: AwareDatetime
    review: Review | None = None


def reason_in(text: str) -> str | None:
    """Return the reason that follows the command, perhaps an empty one; None without it."""
    said = " ".join(text.split())
    if not said.casefold().startswith(COMMAND):
        return None
    return said[len(COMMAND) :].strip()[:REASON_LIMIT_CHARS]


def without_reason(data: bytes, patient_id: PatientId) -> bytes | None:
    """Return a stored grant of the patient without words of people; None if there are none.

    One that cannot be read, and names the patient, is given up whole.
    """
    if (grant := read_if_whole(data, Grant)) is None:
        return b"{}" if patient_id.encode() in data else None
    if grant.patient_id != patient_id or grant.reason == _ERASED:
        return None
    review = None if grant.review is None else grant.review.model_copy(update={"note": ""})
    erased = grant.model_copy(update={"reason": _ERASED, "review": review})
    return erased.model_dump_json().encode()


class BreakGlass:
    """Keeps the grants, one blob each: any replica finds them by principal and patient.

    Args:
        minutes: How long one lasts; 0: nobody breaks the glass here.
    """

    def __init__(self, *, store: BlobStore, clock: Clock, ids: IdSource, minutes: int) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids
        self._minutes = minutes

    @property
    def is_allowed(self) -> bool:
        """Whether a closed chart can be opened at all."""
        return self._minutes > 0

    async def grant(
        self, principal: str, patient_id: PatientId, *, conversation_id: str, reason: str
    ) -> Grant:
        """Open the chart; durable when this returns.

        Raises:
            StoreError: it is not; the chart stays closed.
        """
        now = self._clock.now()
        grant = Grant(
            grant_id=self._ids.new_id("grant"),
            principal=principal,
            patient_id=patient_id,
            conversation_id=conversation_id,
            reason=reason,
            granted_at=now,
            expires_at=now + timedelta(minutes=self._minutes),
        )
        await self._store.create(_name(grant), grant.model_dump_json().encode())
        return grant

    async def current(self, principal: str, patient_id: PatientId) -> Grant | None:
        """Return the grant that holds now, None if there is none.

        Raises:
            StoreUnavailableError: nobody can tell.
        """
        if not self.is_allowed:
            return None
        now = self._clock.now()
        found = await self._below(f"{FOLDER}/{hashed(principal)}/{patient_id}/")
        alive = [one for one in found if one.principal == principal and now < one.expires_at]
        return max(alive, key=lambda one: one.expires_at, default=None)

    async def all(self) -> list[Grant]:
        """Return every grant, those without a review first, then the newest first.

        One that cannot be read is logged and left out.
        """
        found = await self._below(f"{FOLDER}/")
        return sorted(found, key=lambda one: (one.review is not None, -one.granted_at.timestamp()))

    async def review(self, grant_id: str, *, by: str, is_justified: bool, note: str = "") -> Grant:
        """Write down what an operator found.

        Raises:
            NotFoundError: there is no such grant.
            BadFrameError: it is reviewed already, or by whom it was granted to.
        """
        for grant, etag in await self._rows(f"{FOLDER}/"):
            if grant.grant_id != grant_id:
                continue
            if grant.review is not None or grant.principal == by:
                raise BadFrameError("reviewed already, or one's own")
            review = Review(by=by, at=self._clock.now(), is_justified=is_justified, note=note)
            reviewed = grant.model_copy(update={"review": review})
            try:
                data = reviewed.model_dump_json().encode()
                await self._store.replace(_name(grant), data, etag=etag)
            except BlobChangedError:
                raise BadFrameError("somebody else reviewed it at the same moment") from None
            return reviewed
        raise NotFoundError("no such grant")

    async def _below(self, prefix: str) -> list[Grant]:
        return [grant for grant, _ in await self._rows(prefix)]

    async def _rows(self, prefix: str) -> list[tuple[Grant, str]]:
        rows = []
        for name in [row.name async for row in self._store.list(prefix)]:
            if (blob := await self._store.read(name)) is None:
                continue
            if (grant := read_if_whole(blob.data, Grant)) is None:
                _log.error("break_glass_unreadable", document=hashed(name))
            else:
                rows.append((grant, blob.etag))
        return rows


def _name(grant: Grant) -> str:
    whose = f"{FOLDER}/{hashed(grant.principal)}/{grant.patient_id}"
    return f"{whose}/{grant.granted_at:%Y%m%dT%H%M%S}-{grant.grant_id}.json"
