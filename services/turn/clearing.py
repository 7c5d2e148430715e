"""Clears, and “undo” brings back what was cleared: for 24 hours and for who cleared it."""

from dataclasses import dataclass
from functools import partial

from data_models.clock import IdSource
from data_models.conversation import LastClear
from services.conversations.clear_undo import ClearUndo
from services.language.commands import command_in
from services.language.yes_no import says_no, says_yes
from services.turn.documents import TurnDocuments
from services.turn.draft import TurnDraft
from services.turn.turn_replies import TurnReplies

_CAN_BE_UNDONE = "“undo” brings it back for 24 hours."
_NONE = "You have cleared nothing here in the last 24 hours that could be undone."
_ASKED = "Bring back what was cleared?"
_SINCE = "What was said since will be archived."
_RESTORED = "Restored; all is as it was before the clear."
_SWAPPED = "What was said since is archived; “undo” brings that back instead."


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnClearing:
    """Code alone decides it, by the command or a yes. Holds no state of any turn."""

    documents: TurnDocuments
    replies: TurnReplies
    ids: IdSource
    undo: ClearUndo

    async def finish(self, turn: TurnDraft) -> None:
        """Do what a replica left that died over a clear, or over its undoing."""
        if turn.claim.conversation.pending_clear is not None:
            await self.undo.clearing.finish(turn.claim)
        await self.undo.finish(turn.claim)

    async def clear(self, turn: TurnDraft) -> str:
        """Archive everything, start afresh, and return what is told of it.

        Raises:
            StoreError: nothing is cleared, or the deletes are left to the next turn.
        """
        turn.decision = "CLEAR"
        active = turn.loaded_registry().active_patient_id
        await self.documents.record_access(turn, active, action="clear")
        tell = partial(self.replies.tell_progress, turn)
        archived = await self.undo.clearing.clear(turn.claim, now=turn.now, tell=tell)
        turn.leaves_no_turn = True
        await self.documents.load_registry(turn)
        return f"{archived.summary} {_CAN_BE_UNDONE}"

    async def answer_undo(self, turn: TurnDraft) -> bool:
        """Whether the message undid a clear, or answered our question whether to.

        Raises:
            ChartClosedError: the chart that was open is closed to the sender now.
            StoreError: nothing, or not yet all, is brought back.
        """
        if self._confirms(turn):
            await self._answer(turn)
            return True
        command = None if turn.claim.message.press is not None else command_in(turn.text)
        has_chart = turn.loaded_registry().active_patient_id is not None
        if command != "undo_clear" and (command != "undo" or has_chart):
            return False
        last = self._last(turn)
        if last is None and command == "undo":
            return False  # some other undo is meant
        if last is None:
            self._say(turn, _NONE)
        elif await self._asks_first(turn):
            self._ask(turn)
        else:
            await self._restore(turn, last)
        return True

    async def ask_late(self, turn: TurnDraft) -> bool:
        """Whether a bare “undo”, with a chart open and nothing newer to undo, was asked about."""
        is_undo = turn.claim.message.press is None and command_in(turn.text) == "undo"
        if not is_undo or self._last(turn) is None:
            return False
        self._ask(turn)
        return True

    def _confirms(self, turn: TurnDraft) -> bool:
        question = turn.open_question()
        is_ours = question is not None and question.kind == "undo_clear"
        is_answer = says_yes(turn.answer) or says_no(turn.answer)
        return is_ours and is_answer and not turn.is_press_elsewhere

    async def _answer(self, turn: TurnDraft) -> None:
        last = self._last(turn)
        if says_no(turn.answer):
            self._say(turn, "Nothing was brought back.")
        elif last is None:
            self._say(turn, _NONE)
        else:
            await self._restore(turn, last)

    async def _asks_first(self, turn: TurnDraft) -> bool:
        """Whether others are concerned, or something was said since."""
        return turn.claim.message.is_group or await self.undo.clearing.has_gone_on(turn.claim)

    async def _restore(self, turn: TurnDraft, last: LastClear) -> None:
        turn.decision = "UNCHANGED"
        # The chart that is open now is left by this: the access is on record before it happens.
        active = turn.loaded_registry().active_patient_id
        await self.documents.record_access(turn, active, action="undo_clear")
        tell = partial(self.replies.tell_progress, turn)
        await self.undo.undo(turn.claim, last, now=turn.now, tell=tell)
        await self.documents.load_registry(turn)
        active = turn.loaded_registry().active_patient_id
        await turn.claim.name_patient(active)
        await self.documents.open(turn, active)
        self.replies.show_state(turn)
        is_swapped = turn.claim.conversation.last_clear is not None
        text = f"{_RESTORED} {_SWAPPED}" if is_swapped else _RESTORED
        if turn.claim.message.is_group:
            name = turn.claim.message.sender.display_name or "Somebody"
            text = f"{name} undid the clear for everybody. {text}"
        self.replies.say(turn, text)

    def _ask(self, turn: TurnDraft) -> None:
        turn.ask(
            "undo_clear",
            f"{_ASKED} {_SINCE} yes / no",
            patient_id=turn.loaded_registry().active_patient_id,
            question_id=self.ids.new_id("question"),
        )
        self._say(turn, turn.question.text if turn.question is not None else _ASKED)

    def _say(self, turn: TurnDraft, text: str) -> None:
        # Where no chart is open the words are kept nowhere: they would count as said since.
        turn.decision = "UNCHANGED"
        turn.leaves_no_turn = turn.context is None
        self.replies.show_state(turn)
        self.replies.say(turn, text)

    def _last(self, turn: TurnDraft) -> LastClear | None:
        sender = turn.claim.message.sender.principal_id
        return turn.claim.conversation.undoable_clear(sender, now=turn.now)
