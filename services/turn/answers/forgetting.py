"""Asks before what a user said of a patient is forgotten, and lists what is held."""

from data_models.chat_context import ChatContext
from data_models.conversations.conversation import OpenQuestion
from data_models.errors import MemoryItemError
from data_models.memory_blocks import KeyPoint
from services.language.replies.addressing import behind_introduction
from services.language.replies.commands import command_in
from services.language.replies.references import places_alone_in
from services.language.told.held_statements import withdrawn_value, withdraws_all
from services.language.words.phrases import says
from services.language.words.text_words import words_of_statement
from services.memory_blocks.history import held_lines
from services.memory_edits.operations import Retire, apply
from services.records.answers.as_said import held_about, told_before, told_in_passing, told_no_more
from services.turn.answers.remembering import NOT_OF_THEM, quoted
from services.turn.phases import GroundedTurn, LoadedTurn
from services.turn.reading import nameless
from services.turn.turn_step import TurnStep

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
