"""Tools beside the chart: what the hospital's own guidelines say."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from data_models.chart_view import ChartView
from data_models.clock import Clock
from group_chat.tools.tool import Tool
from group_chat.turn_context import TurnContext
from services.evidence.guidelines.library import GuidelineFolder, passages_view
from services.language.guideline_words import GUIDELINES

EVIDENCE_TOOLS = (GUIDELINES,)


class QuestionArguments(BaseModel):
    """What is asked of the guidelines."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: str = Field(min_length=1, max_length=400, description="In the guidelines' words.")


class EvidenceTools:
    """The tools over guidelines.

    Args:
        guidelines: The folder; it may be one that holds nothing.
    """

    def __init__(self, *, guidelines: GuidelineFolder) -> None:
        self._guidelines = guidelines

    async def guidelines(self, turn: TurnContext, asked: QuestionArguments) -> ChartView:
        """Quote the passages that answer."""
        return passages_view(
            await self._guidelines.library(),
            asked.question,
            patient_id=turn.request.patient_id or "",
            today=turn.request.now.date(),
        )

    def tools(self) -> Sequence[Tool]:
        """Return them for the catalogue."""
        return (
            Tool(
                GUIDELINES,
                "Passages of the hospital's own guidelines with section, version and date.",
                QuestionArguments,
                self.guidelines,
            ),
        )


def no_evidence(clock: Clock) -> EvidenceTools:
    """Return the same tools for a server that has no guidelines."""
    return EvidenceTools(guidelines=GuidelineFolder(folder=None, clock=clock))
