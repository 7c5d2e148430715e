"""What the steps of a turn work with: one of each for the process, and nothing of any turn."""

from dataclasses import dataclass
from typing import Any, Self

from data_models.clock import Clock
from services.group_chat_port import GroupChat
from services.patient_context.service import PatientContextService
from services.turn.documents import TurnDocuments
from services.turn.phases import LoadedTurn
from services.turn.scenario_parts import ScenarioParts
from services.turn.tools import TurnTools
from services.turn.turn_replies import TurnReplies


@dataclass(kw_only=True, eq=False, repr=False)
class TurnStep:
    """Holds no state of any turn."""

    documents: TurnDocuments
    patients: PatientContextService
    group_chat: GroupChat
    tools: TurnTools
    replies: TurnReplies
    clock: Clock

    async def answer_here(self, turn: LoadedTurn, text: str) -> bool:
        """Say a line of the server's own beside the chart that stays open; it is the answer."""
        self.replies.answer(await self.documents.open(turn.stay(), turn.active_patient_id), text)
        return True

    @classmethod
    def beside(cls, step: "TurnStep", **more: Any) -> Self:
        """Return a step that shares what `step` works with, and has `more` of its own."""
        return cls(**{name: vars(step)[name] for name in TurnStep.__dataclass_fields__}, **more)

    @property
    def scenarios(self) -> ScenarioParts:
        """What turns share of the scenarios."""
        return self.tools.scenarios
