"""What an answer to the server's one open question does, before anything else is decided."""

from data_models.clock import Clock, IdSource
from data_models.conversation import OpenQuestion
from data_models.errors import CorruptDocumentError
from services.language.commands import command_in
from services.language.yes_no import says_no, says_yes
from services.turn.bookings import TurnBookings
from services.turn.documents import TurnDocuments
from services.turn.draft import TurnDraft
from services.turn.forgetting import TurnForgetting
from services.turn.remembering import TurnRemembering
from services.turn.tools import TurnTools
from services.turn.turn_actions import TurnActions
from services.turn.turn_replies import TurnReplies


class TurnQuestions:
    """Answers questions that need a yes. Holds no state of any turn."""

    def __init__(
        self,
        *,
        documents: TurnDocuments,
        tools: TurnTools,
        replies: TurnReplies,
        clock: Clock,
        ids: IdSource,
    ) -> None:
        self._documents = documents
        self._replies = replies
        self._ids = ids
        self._deeds = TurnActions(tools=tools, clock=clock)
        self._bookings = TurnBookings(documents=documents, tools=tools, clock=clock)
        self.forgetting = TurnForgetting(documents=documents, replies=replies, clock=clock, ids=ids)
        self.remembering = TurnRemembering(
            documents=documents, replies=replies, clock=clock, ids=ids
        )

    async def answered(self, turn: TurnDraft) -> str | None:
        """Return what the user is told if this message is a yes or no to our question, else None.

        Anything else is another message, and what was asked about is not done.
        """
        question = turn.open_question()
        if question is None or turn.is_press_elsewhere:
            return None
        if (told := await self._bookings.answered(turn, question)) is not None:
            return told
        if not (says_yes(turn.answer) or says_no(turn.answer)):
            return None
        match question.kind:
            case "new_history":
                return await self._new_history(turn, question)
            case "retire_statement":
                return await self._of_memory(turn, question)
            case "destructive_tool":
                return await self._deed(turn, question)
            case "which_entity" if says_no(turn.answer):
                await self._documents.open(turn, turn.loaded_registry().active_patient_id)
                return "Nothing was changed."
            case _:
                return None

    async def answers_of_memory(self, turn: TurnDraft) -> bool:
        """Whether the message was about what is remembered, and is answered.

        The document of the patient is open.
        """
        if self.forgetting.ask(turn) or self.forgetting.tell(turn):
            return True
        return self.remembering.note(turn) or await self._undo(turn)

    async def _undo(self, turn: TurnDraft) -> bool:
        """Take the user's newest undoable deed back: a write to memory, or a change of their own.

        False where nothing was done in the last ten minutes that can be undone.
        """
        if turn.claim.message.press is not None or command_in(turn.text) != "undo":
            return False
        deed, write = await self._deeds.newest_deed(turn), self.remembering.newest(turn)
        if deed is None or (write is not None and write.at > deed.at):
            return self.remembering.undo(turn)
        self._replies.say(turn, await self._deeds.undone(turn, deed))
        return True

    async def offer_new_history(self, turn: TurnDraft, error: CorruptDocumentError) -> None:
        """Ask whether to start anew where the active patient's history cannot be read."""
        damaged = turn.loaded_registry().active_patient_id
        text = f"{error.user_message} Shall I start a new history for `{damaged}`? yes / no"
        await self._documents.open(turn, None)
        turn.ask("new_history", text, patient_id=damaged, question_id=self._ids.new_id("question"))
        self._replies.show_state(turn)
        self._replies.say(turn, text)

    async def _of_memory(self, turn: TurnDraft, question: OpenQuestion) -> str | None:
        if self.remembering.has_asked(question):
            return await self.remembering.answer(turn, question)
        return await self.forgetting.answer(turn, question)

    async def _new_history(self, turn: TurnDraft, question: OpenQuestion) -> str:
        if says_yes(turn.answer):
            await self._documents.start_over(turn, question.patient_id)
            return "A new history is started. What would you like to review?"
        await self._documents.open(turn, None)
        return "Nothing was changed. An operator can restore the history."

    async def _deed(self, turn: TurnDraft, question: OpenQuestion) -> str | None:
        """Do what a tool asked about, unless the patient changed meanwhile."""
        active = turn.loaded_registry().active_patient_id
        if question.patient_id != active:
            return None
        await self._documents.open(turn, active)
        if says_no(turn.answer):
            return self._deeds.refused(question)
        return await self._deeds.carried_out(turn, question)
