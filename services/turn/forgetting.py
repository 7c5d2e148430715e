"""“Forget the allergy to penicillin” withdraws one statement about the patient, after a yes.

It is no clear: the turn in which it was said stays in the history, without being shown to models
any more, and the panel can bring the statement back.
"""

from dataclasses import dataclass

from data_models.chat_context import ChatContext
from data_models.clock import Clock, IdSource
from data_models.conversation import OpenQuestion
from data_models.errors import MemoryItemError
from data_models.memory_blocks import KeyPoint
from services.language.commands import command_in
from services.language.held_statements import withdrawn_value, withdraws_all
from services.language.text_words import words_of_statement
from services.language.yes_no import says_no
from services.memory_blocks.held import held_lines
from services.memory_edits.operations import Retire, apply
from services.turn.documents import TurnDocuments
from services.turn.draft import TurnDraft
from services.turn.turn_replies import TurnReplies

_POINTS = "points"
_NOTHING = "Nothing that users stated about this patient is held in this conversation."
_NOBODY = "No patient is active, so nothing is held of anybody. Name a patient first."
_OF_RECORD = "Ask for the summary to see what the record holds."


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnForgetting:
    """Asks before a statement is withdrawn. Holds no state of any turn."""

    documents: TurnDocuments
    replies: TurnReplies
    clock: Clock
    ids: IdSource

    def is_meant(self, turn: TurnDraft) -> bool:
        """Whether the message wants one thing forgotten, and not the whole conversation."""
        names = withdrawn_value(turn.text) is not None or withdraws_all(turn.text)
        return turn.claim.message.press is None and names

    def ask(self, turn: TurnDraft) -> bool:
        """Ask whether to withdraw what the message names; False if it names nothing that is held.

        The turn's document is open.
        """
        if not self.is_meant(turn):
            return False
        value = withdrawn_value(turn.text)
        if withdraws_all(turn.text):
            named = [one for one in turn.document().memory.key_points if one.status == "active"]
        else:
            named = statements_named(value or "", turn.document())
        if not named:
            nothing = f"I hold no statement about this patient that says “{value}”."
            self.replies.say(turn, _NOTHING if value is None else nothing)
            return True
        listed = "; ".join(f"“{point.text}”" for point in named)
        text = f"Forget {listed}? It was said in this conversation; the record stays. yes / no"
        turn.ask(
            "retire_statement",
            text,
            patient_id=turn.patient_id,
            question_id=self.ids.new_id("question"),
            payload={_POINTS: [point.point_id for point in named]},
        )
        self.replies.show_state(turn)
        self.replies.say(turn, text)
        return True

    def tell(self, turn: TurnDraft) -> bool:
        """List what users said about the patient, if that is asked for; the document is open."""
        message = turn.claim.message
        if message.press is not None or command_in(message.text) != "known":
            return False
        if turn.patient_id is None:
            self.replies.say(turn, _NOBODY)
            return True
        held = held_lines(turn.document())
        self.replies.say(turn, f"{held}\n\n{_OF_RECORD}" if held else f"{_NOTHING} {_OF_RECORD}")
        return True

    async def answer(self, turn: TurnDraft, question: OpenQuestion) -> str | None:
        """Withdraw after a yes; None if another patient is open meanwhile."""
        active = turn.loaded_registry().active_patient_id
        if question.patient_id != active:
            return None
        await self.documents.open(turn, active)
        if says_no(turn.answer):
            return "Nothing was changed."
        by = turn.claim.message.sender.principal_id
        points = [str(point) for point in question.payload.get(_POINTS, ())]
        try:
            operations = [Retire(op="retire", item=f"point:{point}") for point in points]
            apply(turn.document(), operations, by=by, now=self.clock.now())
        except MemoryItemError:
            return "It was changed meanwhile. Nothing was done."
        turn.unsaved = True
        return "Forgotten. Memory can bring it back."


def statements_named(value: str, context: ChatContext) -> list[KeyPoint]:
    """Return the held statements that hold every telling word of `value`."""
    wanted = words_of_statement(value)
    held = [one for one in context.memory.key_points if one.status == "active"]
    return [
        one for one in held if wanted and wanted <= words_of_statement(f"{one.text} {one.quote}")
    ]
