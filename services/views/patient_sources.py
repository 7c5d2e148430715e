"""Opens the sources that answers name, for the clinician who checks them."""

from data_models.chart_view import ATTACHED
from data_models.chat_context_accessor import ChatContextAccessor
from data_models.errors import NotFoundError
from services.attachments.papers import is_paper, papers_of
from services.audit.entry import AuditEntry
from services.audit.trail import Audit
from services.records.ports import PatientRecords
from services.records.views.needs import need_of_source
from services.records.views.source import SourceText, source_text
from services.views.conversation_reader import ConversationReader

REF_LIMIT_CHARS = 130


class PatientSources:
    """Answers for patients in the caller's own conversation only, and leaves an audit record."""

    def __init__(
        self,
        *,
        reader: ConversationReader,
        contexts: ChatContextAccessor,
        records: PatientRecords,
        audit: Audit,
    ) -> None:
        self._reader = reader
        self._contexts = contexts
        self._records = records
        self._audit = audit

    async def source(
        self, conversation_id: str, *, owner: str, patient_id: str, ref: str
    ) -> SourceText:
        """Return what stands behind the source id `ref` of `patient_id`'s record.

        Raises:
            NotFoundError: no such conversation, not the owner's, the patient is not in it, or the
                patient's record holds no such source; another patient's is none.
            RecordsError: the records have no answer.
        """
        if is_paper(ref):
            return await self._paper(conversation_id, owner, patient_id, ref)
        patient = await self._reader.roster_member(
            conversation_id, owner=owner, patient_id=patient_id
        )
        if patient is None or len(ref) > REF_LIMIT_CHARS:
            raise NotFoundError("no such source here")
        await self._audit.record(
            AuditEntry(
                principal=owner,
                conversation=conversation_id,
                patient=patient,
                actions=("read_source",),
            )
        )
        found = source_text(await self._records.load(patient, need_of_source(ref)), ref)
        if found is None:
            raise NotFoundError("no such source here")
        return found

    async def _paper(
        self, conversation_id: str, owner: str, patient_id: str, ref: str
    ) -> SourceText:
        document = await self._reader.document(
            conversation_id, owner=owner, patient_id=patient_id, action="read_source"
        )
        papers = await papers_of(document, contexts=self._contexts).record()
        found = None if papers is None else source_text(papers, ref)
        if found is None:
            raise NotFoundError("no such source here")
        return found.model_copy(update={"kind": ATTACHED})
