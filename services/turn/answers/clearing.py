"""Clears, and “undo” brings it back for 24 hours; asks before what a user said is forgotten."""

from dataclasses import dataclass
from functools import partial

from data_models.chat_context import ChatContext
from data_models.conversations.conversation import LastClear, OpenQuestion
from data_models.errors import MemoryItemError
from data_models.memory_blocks import KeyPoint
from services.conversations.clearing import Clearing
from services.language.replies.addressing import behind_introduction
from services.language.replies.commands import command_in
from services.language.replies.references import places_alone_in
from services.language.replies.yes_no import says_no, says_yes
from services.language.told.held_statements import withdrawn_value, withdraws_all
from services.language.words.phrases import says
from services.language.words.text_words import words_of_statement
from services.memory_blocks.history import held_lines
from services.memory_edits.operations import Retire, apply
from services.patient_context.verdict import PatientVerdict
from services.records.answers.as_said import held_about, told_before, told_in_passing, told_no_more
from services.turn.answers.remembering import NOT_OF_THEM, quoted
from services.turn.phases import GroundedTurn, LoadedTurn, UnderstoodTurn
from services.turn.reading import nameless
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
        await self.documents.access.record(turn, turn.opened_patient_id, action="clear")
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
        before = turn.opened_patient_id
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


_POINTS = "points"
_NOTHING = "Nothing that users stated about this patient is held in this conversation."
_NOBODY = "No patient is active, so nothing is held of anybody. Name a patient first."
_OF_RECORD = "Ask for the summary to see what the record holds."
_NOTHING_OF_IT = "I hold no statement about this patient that says “{value}”; nothing was changed."
_NOTHING_ELSE = f"{_NOTHING} {_OF_RECORD}"
_MORE = "More was written in passing; “what did I tell you?” lists it."
_NO_SUM = "I do not sum up a conversation; this is what you told of this patient."
_PASSING = "Written in passing in this conversation, and not in memory:"


class TurnForgetting(TurnStep):
    """Asks before a statement is withdrawn. Holds no state of any turn."""

    def is_meant(self, turn: LoadedTurn) -> bool:
        """Whether the message wants one thing forgotten, and not the whole conversation."""
        names = withdrawn_value(turn.text) is not None or withdraws_all(turn.text)
        return turn.message.press is None and names

    def ask(self, turn: GroundedTurn) -> bool:
        """Ask whether to withdraw what the message names; False if it names nothing that is held.

        The turn's document is open.
        """
        value = withdrawn_value(turn.text, is_sure=False)
        is_all = withdraws_all(turn.text)
        if turn.message.press is not None or not (is_all or value):
            return False
        if is_all:
            named = [one for one in turn.document.memory.key_points if one.status == "active"]
        else:
            named = statements_named(value or "", turn.document)
        if not named and turn.command == "retract":
            return False  # "forget that again" names nothing
        if not named:
            told = told_no_more(turn.document, turn.run.run_id)
            nothing = _NOTHING if is_all else _NOTHING_OF_IT.format(value=value)
            if is_said := bool(told) or self.is_meant(turn):
                self.replies.say(turn, NOT_OF_THEM.format(said=quoted(told)) if told else nothing)
            return is_said
        listed = "; ".join(f"“{point.text}”" for point in named)
        text = f"Forget {listed}? It was said in this conversation; the record stays. yes / no"
        self.replies.ask(
            turn,
            "retire_statement",
            text,
            patient_id=turn.patient_id,
            payload={_POINTS: [point.point_id for point in named]},
        )
        return True

    def tell(self, turn: GroundedTurn) -> bool:
        """List what users said about the patient, if that is asked for; the document is open."""
        text = behind_introduction(nameless(turn, turn.text))
        form = turn.document.scenario if says(text, "scenario_noted") else None
        is_recap = turn.patient_id is not None and says(text, "sums_up_talk")
        is_known = is_recap or command_in(text) == "known"
        if not is_known or (form is not None and form.is_open):
            return False
        if turn.patient_id is None:
            self.replies.say(turn, _NOBODY)
            return True
        heard = turn.document.heard
        left = {*told_in_passing(turn.document, heard)}
        lines = [[said for said in one.sentences if said in left] for one in told_before(heard)]
        if says(text, "asks_given"):
            given = [each for each in lines if says(" ".join(each), "tells_given")]
            lines = given or lines
        # What put it right stands behind what was told: “drain 3 l” → “no, 2.5”.
        told = "".join(f"\n- “{'” → “'.join(each)}”" for each in lines if each)
        held = held_lines(turn.document)
        is_wanted = not held or says(text, "what_was_told", "sums_up_talk")
        passing = f"{_PASSING}{told}" if is_wanted else _MORE
        parts = [*filter(None, (held, told and passing))]
        if is_recap and not parts:
            return False
        parts = [*[_NO_SUM] * is_recap, *parts]
        self.replies.say(turn, "\n\n".join([*parts, _OF_RECORD]) if parts else _NOTHING_ELSE)
        return True

    def answer(self, turn: GroundedTurn, question: OpenQuestion) -> str:
        """Withdraw what was asked about, after a yes."""
        by = turn.message.sender.principal_id
        points = [str(point) for point in question.payload.get(_POINTS, ())]
        try:
            operations = [Retire(op="retire", item=f"point:{point}") for point in points]
            apply(turn.document, operations, by=by, now=self.clock.now())
        except MemoryItemError:
            return "It was changed meanwhile. Nothing was done."
        return "Forgotten. Memory can bring it back."


def statements_named(value: str, context: ChatContext) -> list[KeyPoint]:
    """Return the held statements that hold every telling word of `value`, or else are about it.

    "The second one" and "the last" are places of the list that is shown of them.
    """
    wanted = words_of_statement(value)
    held = [one for one in context.memory.key_points if one.status == "active"]
    if places := places_alone_in(value):
        shown = dict(enumerate(held, 1)) | dict(enumerate(held, -len(held)))
        return [shown[place] for place in places if place in shown]
    said = [words_of_statement(f"{one.text} {one.quote}") for one in held]
    named = [one for one, each in zip(held, said, strict=True) if wanted and wanted <= each]
    return named or [one for one in held if wanted and held_about(value, [one.quote])]
