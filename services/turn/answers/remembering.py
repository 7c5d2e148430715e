"""Keeps what a user asks to remember of a patient, and takes back what is to be forgotten."""

from collections.abc import Sequence

from data_models.chat_context import Turn
from data_models.conversations.conversation import OpenQuestion
from data_models.errors import MemoryItemError
from data_models.memory_blocks import KeyPoint
from services.language.replies.commands import behind_retraction, is_retracted
from services.language.replies.corrections import correction_in
from services.language.requests.tool_requests import as_move
from services.language.told.held_statements import (
    HeldStatement,
    asks_to_hold,
    held_statements,
    is_correction,
)
from services.language.told.other_figures import is_other_figure
from services.language.told.sentence_ends import sentences_of
from services.language.told.telling import is_told, told_in
from services.language.words.folding import words_of
from services.language.words.phrases import says
from services.language.words.text_words import says_words
from services.memory_blocks.limits import NAME_CHARS, one_line
from services.memory_blocks.remembering import hold, with_such_a_figure
from services.memory_edits.operations import MemoryWrite, newest_write, undo_write
from services.records.answers.as_said import told_before, told_in_passing, told_no_more
from services.turn.answers.own_deeds import EARLIER, WAITS
from services.turn.phases import GroundedTurn
from services.turn.reading import names_of
from services.turn.turn_step import TurnStep

_WRITE, _KEEPS = "write", "keeps_told"
LATELY = 6
"""Turns within which "undo" finds what was forgotten."""
_NOT_NOTED = (
    "I did not note that. I hold what is so of the open patient, one plain sentence at a time: "
    "remember that she lives alone. For something of your own, add a task."
)
_NOT_READ = "“{rest}” was not read; say it by itself, as a whole sentence."
_AS_WORDS = "“{rest}” is kept in this conversation only as what you wrote."
_REST_CHARS = 120
NOT_OF_THEM = "No longer taken as said of this patient: {said}."
_COUNTS_AGAIN = "Undone; taken as said of this patient again: {said}."
_OF_WHAT = (
    "Nothing was changed: I cannot tell what that puts right. Held as your words: {listed}. Say "
    "the whole sentence as it is right."
)
_OF_TOOLS = "What a tool did is not taken back by me."
_CHANGED_SINCE = "It was changed meanwhile. Nothing was undone; *Memory* shows what is held."


class TurnRemembering(TurnStep):
    """Notes what a message asks to have remembered, and takes it back. No state of any turn."""

    def is_meant(self, turn: GroundedTurn) -> bool:
        """Whether the whole message asks to remember something, or puts right what is held."""
        if turn.message.press is not None:
            return False
        asks = _asks_first(turn) or bool(_told_to_keep(turn))
        return asks or self._corrects(turn)

    def _corrects(self, turn: GroundedTurn) -> bool:
        """Whether the message is one correction, and takes the place of something that is held."""
        if not is_correction(turn.text):
            return False
        draft = turn.document.model_copy(deep=True)
        held = [one.point_id for one in draft.memory.key_points if one.status == "active"]
        for statement in held_statements(turn.text, names_of(turn)):
            hold(draft, statement, turn=turn.row)
        after = {one.point_id: one.status for one in draft.memory.key_points}
        return any(after.get(point) != "active" for point in held)

    def note(self, turn: GroundedTurn) -> bool:
        """Hold what the message asks to remember of the open patient; its document is open."""
        if turn.patient_id is None or not self.is_meant(turn):
            return False
        if not (text := self._held(turn)):
            understood = turn.sessions.understanding
            is_known = understood is not None and bool(understood.statements)
            text = "I hold that already; nothing was changed." if is_known else _NOT_NOTED
        self.replies.say(turn, text)
        return True

    def ask_of_what(self, turn: GroundedTurn) -> bool:
        """Say that nothing was put right where it is not clear what a correction is of.

        A bare figure of what is held at all, other words of what the message before stated. What
        takes a statement back has been read by then.
        """
        text = turn.text
        if turn.message.press is not None:
            return False
        if not is_correction(text):  # "change that to Fri", behind a note
            held = [*_said_before(turn)] if as_move(text, None) != text else []
            return self._ask_what(turn, held)
        points = turn.document.memory.key_points
        of_figures = [one for one in held_statements(text, names_of(turn)) if one.corrects]
        held = [one for each in of_figures for one in with_such_a_figure(points, each)]
        put_right = correction_in(text)
        old = [] if put_right is None else words_of(put_right.old)
        told = told_in_passing(turn.document, turn.document.heard)
        is_there = bool(old) and any(says_words(one, old) for one in told)
        if not held and (is_there or any(is_other_figure(text, one) for one in told[-1:])):
            return False  # it was told in passing, and is put right there
        return self._ask_what(turn, held or [*_said_before(turn)])

    def _ask_what(self, turn: GroundedTurn, held: Sequence[KeyPoint]) -> bool:
        if held:
            self.replies.say(turn, _OF_WHAT.format(listed=quoted([one.text for one in held])))
        return bool(held)

    def _held(self, turn: GroundedTurn) -> str:
        """Hold what the message states, and say so; empty if it states nothing new."""
        before = {one.point_id: one.status for one in turn.document.memory.key_points}
        for said in _told_to_keep(turn):
            hold(turn.document, HeldStatement("note", said, "present", said, said), turn=turn.row)
        self.documents.memory.read_by_rules(turn)
        points = turn.document.memory.key_points
        new = [one for one in points if one.point_id not in before]
        gone = [one for one in points if before.get(one.point_id) == "active" != one.status]
        if not new:
            return ""
        listed = "; ".join(f"“{one.text}”" for one in new)
        text = f"Held as your words, not as the record’s: {listed}."
        if gone:
            text += f" It takes the place of {'; '.join(f'“{one.text}”' for one in gone)}."
        for said in told_in(turn.text):
            if not any(said in one.quote or one.quote in said for one in new):
                text += f" {_AS_WORDS.format(rest=said)}"
        return f"{text} “undo” takes it back."

    def retract(self, turn: GroundedTurn) -> bool:
        """Take back what the user stated just before, where the message says that it is not so.

        What another one of the group stated just before stays, and that is said. A statement that
        follows in the message is held; of other words it is said that they were not read.
        """
        rest = behind_retraction(turn.text)
        if turn.message.press is not None or rest is None:
            return False
        text = self.taken_back(turn)
        if not text and (said := self.still_held(turn)):
            text = f"{said} “forget …” with its words withdraws it."
        if text and rest:
            unheld = _AS_WORDS if told_in(turn.text) else _NOT_READ
            text += f" {self._held(turn) or unheld.format(rest=one_line(rest, _REST_CHARS))}"
        if text:
            self.replies.say(turn, text)
        return bool(text)

    def taken_back(self, turn: GroundedTurn) -> str:
        """Take back what the user's message before stated, and say so; empty if it stated nothing.

        The turn's document is open. What was said earlier, or by somebody else, stays.
        """
        name = one_line(turn.message.sender.display_name, NAME_CHARS)
        said = [one.point_id for one in _said_before(turn) if one.said_by == name]
        if said:
            return self._undone(turn, MemoryWrite(turn.now, points=tuple(said)))
        return self._told_no_more(turn)

    def _told_no_more(self, turn: GroundedTurn) -> str:
        """Say what of the words told in passing counts no more; empty if it is nothing.

        Who does not say that they are wrong means what the message before told: "undo".
        """
        if told := told_no_more(turn.document, turn.run.run_id):
            return NOT_OF_THEM.format(said=quoted(told))
        if is_retracted(turn.text):
            return ""
        sender = turn.message.sender.display_name
        before = [one for one in _turns_before(turn) if one.user == sender]
        told = [said for one in told_before(before) for said in one.sentences]
        for one in before:
            one.is_taken_back = bool(told)
        return NOT_OF_THEM.format(said=quoted(told)) if told else ""

    def bring_back(self, turn: GroundedTurn, *, within: int = 1) -> bool:
        """Let count again what a message of the user's among the last had forgotten as told."""
        sender, document = turn.message.sender.display_name, turn.document
        counts = told_in_passing(document, document.heard)
        for one in reversed(_turns_before(turn, within)):
            was, one.is_taken_back = one.is_taken_back, one.is_taken_back or one.user == sender
            told = told_in_passing(document, document.heard)
            if back := [said for said in told if said not in counts]:
                self.replies.say(turn, _COUNTS_AGAIN.format(said=quoted(back)))
                return True
            one.is_taken_back = was
        return False

    def still_held(self, turn: GroundedTurn) -> str:
        """Return that what somebody else stated just before is still held; "" for nothing."""
        if held := _said_before(turn):
            listed = quoted([one.text for one in held])
            return f"{held[-1].said_by} said that, so it is still held: {listed}."
        told = told_before(_turns_before(turn))
        if not told or told[-1].by == turn.message.sender.display_name:
            return ""
        return f"{told[-1].by} said that, so it still counts: {quoted(told[-1].sentences)}."

    def undo(self, turn: GroundedTurn) -> bool:
        """Take back the user's newest write to the open patient's memory; "undo" was said.

        It asks first where the turn before did not write it, or a tool ran since: what that did may
        be meant. False where nothing was written in the last ten minutes.
        """
        if (write := self.newest(turn)) is None:
            if text := self._told_no_more(turn):
                self.replies.say(turn, text)
            return bool(text)
        has_run = any(run.timestamp > write.at for run in turn.document.tool_memory.executions)
        if has_run or not turn.is_of_turn_before(write.at):
            return self._ask(turn, write, _OF_TOOLS if has_run else EARLIER)
        self.replies.say(turn, self._undone(turn, write))
        return True

    def has_asked(self, question: OpenQuestion) -> bool:
        """Whether `question` is whether to take the newest write back."""
        return _WRITE in question.payload

    def answer(self, turn: GroundedTurn, question: OpenQuestion) -> str:
        """Take back what was asked about, after a yes."""
        write = self.newest(turn)
        if write is None or write.name != question.payload.get(_WRITE):
            return _CHANGED_SINCE
        return self._undone(turn, write)

    def _ask(self, turn: GroundedTurn, write: MemoryWrite, why: str) -> bool:
        if turn.record.question is not None:
            self.replies.say(turn, WAITS)
            return True
        draft, by = turn.document.model_copy(deep=True), turn.message.sender.principal_id
        try:
            gone, back = undo_write(draft, write, by=by, now=self.clock.now())
        except MemoryItemError:
            self.replies.say(turn, _CHANGED_SINCE)
            return True
        text = f"{why} Shall I undo what was last written to memory? Then {_outcome(gone, back)}."
        self.replies.ask(
            turn,
            "retire_statement",
            f"{text} yes / no",
            patient_id=turn.patient_id,
            payload={_WRITE: write.name},
        )
        return True

    def newest(self, turn: GroundedTurn) -> MemoryWrite | None:
        """Return the user's newest write to the open patient's memory that can be taken back."""
        sender = turn.message.sender
        return newest_write(
            turn.document,
            by=sender.principal_id,
            name=one_line(sender.display_name, NAME_CHARS),
            now=self.clock.now(),
        )

    def _undone(self, turn: GroundedTurn, write: MemoryWrite) -> str:
        by, now = turn.message.sender.principal_id, self.clock.now()
        draft = turn.document.model_copy(deep=True)
        try:
            undo_write(draft, write, by=by, now=now)
        except MemoryItemError:
            return _CHANGED_SINCE
        gone, back = undo_write(turn.document, write, by=by, now=now)
        return f"Undone; {_outcome(gone, back)}. “undo” again brings it back."


def _said_before(turn: GroundedTurn) -> Sequence[KeyPoint]:
    """Return what is held of the message before, whoever wrote it."""
    before, points = _turns_before(turn), turn.document.memory.key_points
    held = [one for one in points if one.status == "active" and one.quote]
    return [one for one in held if any(one.quote in each.user_message for each in before)]


def _asks_first(turn: GroundedTurn) -> bool:
    """Whether the message asks to remember something, and behind that does no more than tell."""
    names, said = names_of(turn), list(sentences_of(turn.text))
    behind = next((at for at, one in enumerate(said) if not asks_to_hold(one, names)), len(said))
    return behind > 0 and all(is_told(one) for one in said[behind:])


def _told_to_keep(turn: GroundedTurn) -> Sequence[str]:
    """Return what the message before told in passing, if this one says "remember that"."""
    told = told_before(_turns_before(turn)) if says(turn.text, _KEEPS) else ()
    return [one for each in told for one in each.sentences]


def _turns_before(turn: GroundedTurn, last: int = 1) -> Sequence[Turn]:
    """Return the `last` turns before this one, as far as there are any."""
    return [one for one in turn.document.chat_history if one.run_id != turn.run.run_id][-last:]


def _outcome(gone: Sequence[str], back: Sequence[str]) -> str:
    parts = [f"no longer held: {quoted(gone)}"] if gone else []
    parts += [f"held again: {quoted(back)}"] if back else []
    return "; ".join(parts) or "as it was before"


def quoted(texts: Sequence[str]) -> str:
    """Return `texts` in quotation marks."""
    return ", ".join(f"“{one}”" for one in texts)
