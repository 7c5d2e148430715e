"""What an answer to the server's one open question does, before anything else is decided."""

from dataclasses import dataclass

from data_models.conversations.conversation import OpenQuestion
from data_models.errors import CorruptDocumentError
from services.identity.wording import SAY_WHICH
from services.language.charts.chart_entries import chart_nouns, measured_nouns
from services.language.replies.commands import said_to_be_of
from services.language.replies.yes_no import is_consent, says_no, says_yes
from services.language.requests.appointment_slots import slots_in
from services.language.told.telling import is_told
from services.language.words.detection import language_of
from services.language.words.folding import words_of
from services.language.words.phrases import parts_in, says
from services.language.words.talk_texts import has_text, talk_text
from services.language.words.text_words import asks_question
from services.orders.draft_order import drafts_of
from services.scheduling.confirmed_bookings import request_of
from services.turn.answers import own_deeds
from services.turn.answers.clearing import TurnForgetting
from services.turn.answers.orders import TurnOrders
from services.turn.answers.remembering import LATELY, TurnRemembering
from services.turn.answers.stops import TurnStops
from services.turn.phases import GroundedTurn, LoadedTurn, QuestionOutcome, UnderstoodTurn
from services.turn.turn_step import TurnStep

_KEPT = "**{file}** was written on {day}. It stays with this conversation."
_TOO_EARLY = "Your answer was sent before this was asked, so nothing is done yet."


def _asked_again_as(turn: LoadedTurn, question: OpenQuestion) -> str | None:
    """Return why a yes is none: sent before the question was asked, or it chooses none of several.

    A second "yes" in a hurry, behind the answer to whom a message means, agrees to something else.
    """
    if turn.message.press is not None or not is_consent(turn.answer):
        return None
    if question.kind == "which_entity":
        return SAY_WHICH
    is_early = question.asked_at is not None and turn.message.received_at < question.asked_at
    return _TOO_EARLY if is_early and question.kind == "destructive_tool" else None


def _agrees(turn: LoadedTurn, question: OpenQuestion) -> bool:
    """Whether it is a yes, and says no other deed than was asked about: "yes, send it"."""
    deed = str(question.payload.get("action", "")).partition("_")[0]
    is_deed = turn.message.press is None and deed in ("send", "cancel", "delete")
    return says_yes(turn.answer) or (is_deed and says(turn.answer, f"agrees_{deed}"))


def _refuses(turn: LoadedTurn, question: OpenQuestion) -> bool:
    """Whether it is a no; to a deed that waits for its yes "undo", "scratch that" and "stop" are.

    They mean that one, and nothing that was done before.
    """
    is_ended = turn.command in ("undo", "retract", "stop") and question.kind == "destructive_tool"
    if request_of(question.payload) is not None and _wants_no_such_time(turn):
        return True
    is_other = _means_another(turn, question) and order_instead(turn) is None
    if drafts_of(question.payload) and says(turn.answer, "withdraws_order"):
        return True
    return is_ended or says_no(turn.answer) or is_other


def _wants_no_such_time(turn: LoadedTurn) -> bool:
    """Whether an appointment is refused, and no other day, time or doctor said: "no, not 10:30"."""
    is_said = turn.message.press is None and not asks_question(turn.text)
    is_said &= not any(said_to_be_of(turn.text, "was_for"))  # "that was for Doyle, not Grant"
    refuses = says(turn.text, "means_another", "does_not_suit")
    if not refuses and says(turn.text, "refused_part"):  # "sie hat kein Fieber" refuses no time
        said = {*words_of(turn.text)}
        refuses = not (is_told(turn.text) and (said & chart_nouns() or said & measured_nouns()))
    return is_said and refuses and not slots_in(turn.text, is_booking=True)


def _means_another(turn: LoadedTurn, question: OpenQuestion) -> bool:
    """Whether another one of the user's own things is meant than was asked about: "no, the second".

    What was shown is refused by that; what is to be done with the other one is theirs to say.
    """
    is_own = question.kind == "destructive_tool" and "entity_id" in question.payload
    is_said = turn.message.press is None and not asks_question(turn.text)
    return is_own and is_said and says(turn.text, "means_another")


def order_instead(turn: LoadedTurn) -> str | None:
    """Return the order that "no, the tumor board" is, asked about another thing; None for none."""
    question = turn.open_question()
    if question is None or not _means_another(turn, question):
        return None
    if question.patient_id != turn.active_patient_id:
        return None
    other = (parts_in(turn.text, "means_another") or {}).get("other")
    order = f"order_{question.payload.get('action')}"
    if other is None or not has_text(order):
        return None
    return talk_text(language_of(turn.text, default="en"), order, what=other)


@dataclass(kw_only=True, eq=False, repr=False)
class TurnQuestions(TurnStep):
    """Answers questions that need a yes. Holds no state of any turn."""

    def __post_init__(self) -> None:
        self._actions, self._bookings = (
            own_deeds.TurnActions.beside(self),
            own_deeds.TurnBookings.beside(self),
        )
        self.orders, self.forgetting = TurnOrders.beside(self), TurnForgetting.beside(self)
        self.remembering = TurnRemembering.beside(self)
        self.stops = TurnStops.beside(self, remembering=self.remembering)

    async def answer_open_question(self, turn: LoadedTurn) -> QuestionOutcome | None:
        """Return what came of it if this message is a yes or no to our question, else None.

        Anything else is another message, and what was asked about is not done.
        """
        question = turn.open_question()
        if question is None or turn.is_press_elsewhere:
            return None
        if (why := _asked_again_as(turn, question)) is not None:
            grounded = await self.documents.open(turn.stay(), turn.active_patient_id)
            grounded.record.ask(question)
            return QuestionOutcome(grounded, f"{why}\n{question.text}")
        is_no = _refuses(turn, question)
        if (outcome := await self._answer_proposal(turn, question, is_no=is_no)) is not None:
            return outcome
        if not (_agrees(turn, question) or is_no):
            return None
        if question.kind == "new_history":
            return await self._new_history(turn, question)
        is_kept = question.kind in ("retire_statement", "destructive_tool")
        is_of_open = is_kept and question.patient_id == turn.active_patient_id
        if not is_of_open and not (is_no and question.kind == "which_entity"):
            return None
        grounded = await self.documents.open(turn.stay(), turn.active_patient_id)
        return QuestionOutcome(grounded, await self._carry_out(grounded, question, is_no=is_no))

    async def _carry_out(self, turn: GroundedTurn, question: OpenQuestion, *, is_no: bool) -> str:
        if question.kind == "destructive_tool":
            if is_no:
                is_other = _means_another(turn, question)
                return f"{own_deeds.refused(question)}{own_deeds.WHICH if is_other else ''}"
            text = await self._actions.carry_out(turn, question)
            return f"{text}{own_deeds.GO_ON if own_deeds.finish_step(turn) else ''}"
        if is_no:
            return "Nothing was changed."
        asks_undo = self.remembering.has_asked(question)
        return (self.remembering if asks_undo else self.forgetting).answer(turn, question)

    async def _answer_proposal(
        self, turn: LoadedTurn, question: OpenQuestion, *, is_no: bool
    ) -> QuestionOutcome | None:
        """Return what came of a draft of an order or of an appointment, else None."""
        outcome = await self.orders.answer(turn, question, is_no=is_no)
        return outcome or await self._bookings.answer(turn, question, is_no=is_no)

    async def answer_of_memory(self, turn: GroundedTurn) -> bool:
        """Whether the message was about what is remembered or was written, and is answered.

        The document of the patient is open.
        """
        if self.forgetting.ask(turn) or self.forgetting.tell(turn) or self._hand_out_file(turn):
            return True
        memory = self.remembering
        if memory.note(turn) or memory.retract(turn) or memory.ask_of_what(turn):
            return True
        return await self._undo(turn)

    def _hand_out_file(self, turn: GroundedTurn) -> bool:
        """Whether the newest file was asked for: it is named, and offered as one of this turn is.

        Where none was written, "the report" is one of the record.
        """
        files = turn.document.artifacts
        if turn.message.press is not None or not files or not says(turn.text, "asks_file_made"):
            return False
        newest = files[-1].model_copy(update={"run_id": turn.run.run_id})
        turn.document.artifacts = [*files[:-1], newest]
        day = newest.created_at.date().isoformat()
        self.replies.answer(turn, _KEPT.format(file=newest.file_name, day=day))
        return True

    async def _undo(self, turn: GroundedTurn) -> bool:
        """Take the user's newest undoable action back: a write to memory, or a change of their own.

        "Scratch that" means what was done in the turn before, and no other. False where nothing
        was done in the last ten minutes that can be undone.
        """
        if turn.command == "retract":
            action = await self._actions.newest_action(turn)
            if action is None or not turn.is_of_turn_before(action.at):
                return self._tells_what_stays(turn)
            await self._actions.undo(turn, action)
            return True
        if turn.command != "undo":
            return says(turn.text, "puts_back") and self._tells_what_stays(turn)
        if self.remembering.bring_back(turn):
            return True
        action, write = await self._actions.newest_action(turn), self.remembering.newest(turn)
        if self._actions.has_just_done_what_stays(turn, action):
            self.replies.say(turn, own_deeds.STAYS)
            return True
        if action is None or (write is not None and write.at > action.at):
            return self.remembering.undo(turn) or self.remembering.bring_back(turn, within=LATELY)
        await self._actions.undo(turn, action)
        return True

    def _tells_what_stays(self, turn: GroundedTurn) -> bool:
        """Whether the turn before did after a yes what no word takes back, and that is told."""
        stays = self._actions.has_just_done_what_stays(turn, None)
        if stays:
            self.replies.say(turn, own_deeds.STAYS)
        return stays

    async def offer_new_history(self, turn: UnderstoodTurn, error: CorruptDocumentError) -> None:
        """Ask whether to start anew where the active patient's history cannot be read."""
        damaged = turn.active_patient_id
        text = f"{error.user_message} Shall I start a new history for `{damaged}`? yes / no"
        grounded = await self.documents.open(turn, None)
        self.replies.ask(grounded, "new_history", text, patient_id=damaged)

    async def _new_history(self, turn: LoadedTurn, question: OpenQuestion) -> QuestionOutcome:
        if says_yes(turn.answer):
            grounded = await self.documents.start_over(turn.stay(), question.patient_id)
            text = "A new history is started. What would you like to review?"
        else:
            grounded = await self.documents.open(turn.stay(), None)
            text = "Nothing was changed. An operator can restore the history."
        return QuestionOutcome(grounded, text)
