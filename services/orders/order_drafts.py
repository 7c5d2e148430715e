"""Stores drafts of orders once and takes them back, over any back end of records."""

from collections.abc import Sequence

from data_models.clock import Clock
from data_models.errors import RecordChangedError, ToolInputError
from data_models.identifiers import PatientId
from data_models.resource import ResourceStore
from services.orders.draft_order import (
    ORDER,
    DraftOrder,
    KeptDraft,
    is_draft_of,
    kept_draft,
    said_in,
    service_request,
)


class OrderDrafts:
    """Makes drafts and takes them back. Holds nothing of any turn.

    Every method raises `RecordsError` or `StoreError` when the back end does not answer; then
    nobody knows whether a write happened, and the same again does it once.
    """

    def __init__(self, *, records: ResourceStore, clock: Clock) -> None:
        self._records = records
        self._clock = clock

    async def are_taken(self) -> bool:
        """Tell whether the back end takes drafts of orders."""
        return await self._records.may_create(ORDER)

    async def make(self, order: DraftOrder, *, patient_id: PatientId, requester: str) -> KeptDraft:
        """Store a draft, or return it as an earlier attempt stored it.

        Raises:
            ToolInputError: the back end takes none, or keeps something else under its key; the
                text says which in the draft's language.
        """
        key = await self._records.patient_key(patient_id)
        if not await self.are_taken():
            raise ToolInputError(said_in(order.language, "no_server"))
        body = service_request(order, patient_key=key, requester=requester, now=self._clock.now())
        kept = await self._records.create_once(body)
        draft = kept_draft(kept)
        if draft.test != order.test or not is_draft_of(kept.body, key):
            raise ToolInputError(said_in(order.language, "conflict"))
        return draft

    async def list_drafts(self, patient_id: PatientId) -> Sequence[KeptDraft]:
        """Return the drafts of this patient that were made here and are drafts still."""
        key = await self._records.patient_key(patient_id)
        query = [("patient", f"Patient/{key}"), ("status", "draft")]
        found = await self._records.search(ORDER, query)
        own = [kept_draft(each) for each in found if is_draft_of(each.body, key)]
        return [each for each in own if each.status == "draft"]

    async def take_back(self, order_id: str, *, patient_id: PatientId, language: str) -> KeptDraft:
        """Mark a draft as revoked; one that is revoked already stays so.

        Raises:
            ToolInputError: the patient has no such draft, or it is no draft any more.
        """
        key = await self._records.patient_key(patient_id)
        kept = await self._records.read(ORDER, order_id)
        if kept is None or not is_draft_of(kept.body, key):
            raise ToolInputError(said_in(language, "gone"))
        draft = kept_draft(kept)
        if draft.status == "revoked":
            return draft
        if draft.status != "draft":
            raise ToolInputError(said_in(language, "not_a_draft", status=draft.status))
        try:
            return kept_draft(await self._records.update(kept, {**kept.body, "status": "revoked"}))
        except RecordChangedError:
            raise ToolInputError(said_in(language, "conflict")) from None  # said to the user
