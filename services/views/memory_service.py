"""Shows people what is remembered of a patient, and lets them change it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from data_models.chat_context import ChatContext
from data_models.errors import BadFrameError, MemoryChangedError
from services.audit.trail import record_access
from services.conversations.maintenance_lease import MaintenanceLease
from services.memory_blocks.blocks import MemoryRules, blocks_of
from services.memory_edits.operations import Operation, apply
from services.memory_edits.view import MemoryView, revision_of, view_of
from services.tool_memory.personal import PersonalToolMemories
from services.views.conversation_reader import ConversationReader, OwnedChat


@dataclass(frozen=True, kw_only=True)
class MemoryService:
    """Works for the owner of a conversation; everybody else gets the answer of an unknown id."""

    reader: ConversationReader
    personal: PersonalToolMemories
    lease: MaintenanceLease
    rules: MemoryRules = field(default_factory=MemoryRules)

    async def show(self, chat: OwnedChat) -> MemoryView:
        """Return the memory of a patient, the active one, or `session`.

        Raises:
            NotFoundError: absent, malformed or not the owner's, the patient too.
        """
        document = await self.reader.document(chat, "read_memory")
        await self.personal.open(document, principal_id=chat.owner)
        return self._view(document)

    async def change(
        self, chat: OwnedChat, *, operations: Sequence[Operation], revision: str
    ) -> MemoryView:
        """Apply all of `operations` or none, and return the memory as it is then.

        The conversation is held meanwhile: a running turn is waited for, and what comes during
        the change is answered after it.

        Raises:
            NotFoundError: absent, malformed or not the owner's, the patient too.
            MemoryChangedError: the memory is not as it was at `revision`.
            MemoryItemError, BadFrameError: an operation cannot be done.
            ConversationBusyError: the running turn takes too long.
        """
        if chat.patient_id is None:
            raise BadFrameError("patient_id is needed: whose memory is changed, or `session`")
        patient, owner = await self.reader.roster_member(chat), chat.owner
        # Names of what is done, no content.
        actions = dict.fromkeys(f"{one.op}_memory" for one in operations)
        await record_access(self.reader.guard.audit, chat.visitor, *actions, patient=patient)
        async with self.lease.holding_document(
            self.reader.contexts, chat.chat_id, patient, principal_id=owner
        ) as held:
            document = held.document
            await self.personal.open(document, principal_id=owner)
            if revision_of(document) != revision:
                raise MemoryChangedError("the memory changed since it was read")
            apply(document, operations, by=owner, now=self.reader.clock.now())
            if gone := document.memory_changes.leaving():
                await self.reader.contexts.archive_changes(document, gone)
            await held.claim.hold()
            await held.write(await self.personal.keep(document, principal_id=owner))
        return self._view(document)

    def _view(self, document: ChatContext) -> MemoryView:
        now = self.reader.clock.now()
        blocks = blocks_of(document, now=now, rules=self.rules)
        return view_of(document, now=now, summary=blocks.context_summary, blocks=asdict(blocks))
