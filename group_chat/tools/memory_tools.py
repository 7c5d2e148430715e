"""The tool by which agents look up what was said earlier about the active patient."""

from pydantic import Field

from data_models.errors import ToolInputError
from data_models.values import ClosedValue
from group_chat.tools.tool import Tool, ToolOutput
from group_chat.turn_context import TurnContext
from services.memory_blocks.recall import Remark

RECALL = "recall"
_SHOWN = 5
_SHOWN_AT_MOST = 10


class RecallArguments(ClosedValue):
    """What to look for."""

    query: str = Field(min_length=1, max_length=400)
    limit: int = Field(default=_SHOWN, ge=1, le=_SHOWN_AT_MOST)


def memory_tools() -> tuple[Tool, ...]:
    """Return the tools of this file."""
    return (
        Tool(
            RECALL,
            "What was said earlier about this patient, in turns that you no longer see, by words.",
            RecallArguments,
            _recall,
        ),
    )


async def _recall(turn: TurnContext, asked: RecallArguments) -> ToolOutput:
    past = turn.request.past
    if past is None:
        raise ToolInputError("earlier turns cannot be read in this conversation")
    found = await past.recall(asked.query, limit=asked.limit)
    return {
        "remarks": [_row(one) for one in found.remarks],
        "turns_searched": found.searched,
    }


def _row(one: Remark) -> dict[str, str | int]:
    return {
        "turn": one.turn_id,
        "at": one.timestamp.isoformat(timespec="minutes"),
        "speaker": one.speaker,
        "said": one.text,
    }
