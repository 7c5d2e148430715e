"""Hands out anew what agents wrote for the open patient, where somebody asks for it."""

from services.language.words.phrases import says
from services.turn.phases import GroundedTurn
from services.turn.turn_step import TurnStep

_KEPT = "**{file}** was written on {day}. It stays with this conversation."


class TurnFiles(TurnStep):
    """Finds the files of earlier turns. Holds no state of any turn."""

    def tell(self, turn: GroundedTurn) -> bool:
        """Whether the newest file was asked for: it is named, and offered as one of this turn is.

        Where none was written, "the report" is one of the record. The document is open.
        """
        files = turn.document.artifacts
        if turn.message.press is not None or not files or not says(turn.text, "asks_file_made"):
            return False
        newest = files[-1].model_copy(update={"run_id": turn.run.run_id})
        turn.document.artifacts = [*files[:-1], newest]
        day = newest.created_at.date().isoformat()
        self.replies.answer(turn, _KEPT.format(file=newest.file_name, day=day))
        return True
