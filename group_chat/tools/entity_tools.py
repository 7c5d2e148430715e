"""The tool by which agents say what changed, instead of repeating all they know."""

from typing import Any

from pydantic import Field

from data_models.errors import ToolInputError
from data_models.values import ClosedValue
from group_chat.tools.tool import Tool, ToolOutput
from group_chat.turn_context import TurnContext
from services.language.folding import words_of

UPDATE_ENTITIES = "update_entities"


class EntityArguments(ClosedValue):
    """Only what changed; what is not named stays."""

    entities_to_update: dict[str, Any] = Field(
        default_factory=dict,
        description="What the user wants, such as doctor_preference, date_preference, "
        "time_preference, procedure_preference, reason_visit.",
    )
    derived_entities_to_update: dict[str, Any] = Field(
        default_factory=dict, description="What you concluded; tool results are kept without you."
    )
    entities_to_remove: list[str] = Field(
        default_factory=list, max_length=20, description="Keys that no longer hold."
    )
    entities_to_restore: list[str] = Field(
        default_factory=list, max_length=7, description="Keys to note again after they left."
    )
    handover: list[str] = Field(
        default_factory=list, max_length=7, description="Derived keys to copy to another agent."
    )
    handover_to: str | None = Field(default=None, max_length=64, description="That agent.")
    words: str = Field(
        default="",
        max_length=300,
        description="The user's words it comes from, copied from their newest message.",
    )


def entity_tools() -> tuple[Tool, ...]:
    """Return the tools of this file."""
    return (
        Tool(
            UPDATE_ENTITIES,
            "Notes what changed in what the user wants. Send only the changes.",
            EntityArguments,
            _update,
        ),
    )


async def _update(turn: TurnContext, asked: EntityArguments) -> ToolOutput:
    entities = turn.request.entities
    if entities is None:
        raise ToolInputError("nothing can be noted in this conversation")
    delta = asked.model_dump(exclude={"entities_to_restore", "words"})
    words = " ".join(words_of(asked.words))
    is_quoted = bool(words) and f" {words} " in f" {' '.join(words_of(turn.request.text))} "
    report = entities.replied(delta, agent_name=turn.agent, is_quoted=is_quoted)
    kept = [half for half in (report["conversation"], report["derived"]) if any(half.values())]
    restored = [
        key for key in asked.entities_to_restore if entities.restored(key, agent_name=turn.agent)
    ]
    return {"noted": kept, "restored": restored}
