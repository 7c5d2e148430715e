"""Clears, and “undo” brings back what was cleared: for 24 hours and for who cleared it."""

from dataclasses import dataclass
from functools import partial

from data_models.conversations.conversation import LastClear
from services.conversations.clearing import Clearing
from services.language.replies.yes_no import says_no, says_yes
from services.language.words.phrases import says
from services.patient_context.verdict import PatientVerdict
from services.turn.phases import GroundedTurn, LoadedTurn, UnderstoodTurn
from services.turn.turn_step import TurnStep

_CAN_BE_UNDONE = "“undo” brings it back for 24 hours."
_NONE = "You have cleared nothing here in the last 24 hours that could be undone."
_ASKED = "Bring back what was cleared?"
_SINCE = "What was said since will be archived."
_RESTORED = "Restored; all is as it was before the clear."
_SWAPPED = "What was said since is archived; “undo” brings that back instead."


@dataclass(kw_only=True, eq=False, repr=False)
class TurnClearing(TurnStep):
    """Code alone decides it, by the command or a yes. Holds no state of any turn."""

    clearing: Clearing

    async def clear(self, turn: LoadedTurn) -> tuple[UnderstoodTurn, str]:
        """Archive everything, start afresh, and return what is told of it.

        Raises:
            StoreError: nothing is cleared, or the deletes are left to the next turn.
        """
        cleared = PatientVerdict("CLEAR", None)
        turn.understand(cleared)
        await self.documents.access.record(turn, turn.active_patient_id, action="clear")
        tell = partial(self.replies.tell_progress, turn)
        archived = await self.clearing.clear(turn.claim, now=turn.now, tell=tell)
        turn.record.leave_no_turn()
        afresh = (await self.documents.load(turn)).understand(cleared)
        return afresh, f"{archived.summary} {_CAN_BE_UNDONE}"

    async def answer_undo(self, turn: LoadedTurn) -> bool:
        """Whether the message undid a clear, or answered our question whether to.

        Raises:
            ChartClosedError: the chart that was open is closed to the sender now.
            StoreError: nothing, or not yet all, is brought back.
        """
        question, command = turn.open_question(), turn.command
        is_asked = question is not None and question.kind == "undo_clear"
        is_asked = is_asked and not turn.is_press_elsewhere
        if is_asked and (says_yes(turn.answer) or says_no(turn.answer)):
            await self._answer(turn)
            return True
        has_chart = turn.active_patient_id is not None
        if command != "undo_clear" and (command != "undo" or has_chart):
            return False
        last = self._last(turn)
        if last is None and (command == "undo" or (has_chart and says(turn.text, "puts_back"))):
            return False  # some other undo is meant
        if last is None:
            self._say(turn, _NONE)
        elif await self._asks_first(turn):
            self._ask(turn)
        else:
            await self._restore(turn, last)
        return True

    async def ask_late(self, turn: GroundedTurn) -> bool:
        """Whether a bare “undo”, with a chart open and nothing newer to undo, was asked about."""
        if turn.command != "undo" or self._last(turn) is None:
            return False
        self._ask(turn)
        return True

    async def _answer(self, turn: LoadedTurn) -> None:
        last = self._last(turn)
        if says_no(turn.answer):
            self._say(turn, "Nothing was brought back.")
        elif last is None:
            self._say(turn, _NONE)
        else:
            await self._restore(turn, last)

    async def _asks_first(self, turn: LoadedTurn) -> bool:
        """Whether others are concerned, or something was said since."""
        return turn.message.is_group or await self.clearing.has_gone_on(turn.claim)

    async def _restore(self, turn: LoadedTurn, last: LastClear) -> None:
        # The chart that is open now is left by this: the access is on record before it happens.
        before = turn.active_patient_id
        await self.documents.access.record(turn, before, action="undo_clear")
        tell = partial(self.replies.tell_progress, turn)
        await self.clearing.undo(turn.claim, last, now=turn.now, tell=tell)
        restored = (await self.documents.load(turn)).stay()
        await turn.claim.name_patient(restored.active_patient_id)
        grounded = await self.documents.open(restored, restored.active_patient_id)
        self.replies.show_state(grounded)
        is_swapped = turn.claim.conversation.last_clear is not None
        text = f"{_RESTORED} {_SWAPPED}" if is_swapped else _RESTORED
        if turn.message.is_group:
            name = turn.message.sender.display_name or "Somebody"
            text = f"{name} undid the clear for everybody. {text}"
        self.replies.say(grounded, text)

    def _ask(self, turn: LoadedTurn) -> None:
        text = f"{_ASKED} {_SINCE} yes / no"
        active = turn.active_patient_id
        self.replies.ask(_answered_here(turn), "undo_clear", text, patient_id=active)

    def _say(self, turn: LoadedTurn, text: str) -> None:
        self.replies.answer(_answered_here(turn), text)

    def _last(self, turn: LoadedTurn) -> LastClear | None:
        sender = turn.message.sender.principal_id
        return turn.claim.conversation.undoable_clear(sender, now=turn.now)


def _answered_here(turn: LoadedTurn) -> UnderstoodTurn:
    """Return a turn that says no more of patients.

    Where no chart is open its words are kept nowhere: they would count as said since.
    """
    if not isinstance(turn, GroundedTurn):
        turn.record.leave_no_turn()
    return turn if isinstance(turn, UnderstoodTurn) else turn.stay()
