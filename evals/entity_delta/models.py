"""Who is asked for a delta: a configured language model, or the offline rules."""

import json
from collections.abc import Mapping
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, Field

from data_models.entity_keys import namespace_of
from services.entities.wishes import wishes_in
from services.model_port import StructuredModel


class DeltaModel(Protocol):
    """Answers a scenario with the reply text of a model."""

    async def reply(self, scenario: Mapping[str, Any]) -> str:
        """Return a delta as JSON text."""
        ...


class OfflineDelta:
    """The rules that stand in where there is no language model."""

    async def reply(self, scenario: Mapping[str, Any]) -> str:
        """See `DeltaModel.reply`."""
        found = scenario.get("tool_result") or {}
        wishes = wishes_in(scenario.get("message", ""), is_booking=bool(scenario["known"]))
        derived = {key: value for key, value in found.items() if namespace_of(key) == "derived"}
        return json.dumps({"entities_to_update": wishes, "derived_entities_to_update": derived})


class Pair(BaseModel):
    """One entity; values other than text are JSON."""

    model_config = ConfigDict(extra="forbid")

    key: str = Field(max_length=64)
    value: str = Field(max_length=2_000)


class DeltaAnswer(BaseModel):
    """The delta in a shape that strict schemas allow."""

    model_config = ConfigDict(extra="forbid")

    entities_to_update: list[Pair] = Field(max_length=20)
    derived_entities_to_update: list[Pair] = Field(max_length=20)
    entities_to_remove: list[str] = Field(max_length=20)


class AskedDelta:
    """A language model under one of the prompts."""

    def __init__(self, *, model: StructuredModel, prompt: str) -> None:
        self._model = model
        self._prompt = prompt

    async def reply(self, scenario: Mapping[str, Any]) -> str:
        """See `DeltaModel.reply`.

        Raises:
            ModelError: the model gave no answer of the shape.
        """
        shown = {key: scenario.get(key) for key in ("known", "message", "tool_result")}
        answer = await self._model.ask(
            purpose="entity_delta",
            instructions=self._prompt,
            text=json.dumps(shown, ensure_ascii=False),
            answer=DeltaAnswer,
        )
        return json.dumps(
            {
                "entities_to_update": _values(answer.entities_to_update),
                "derived_entities_to_update": _values(answer.derived_entities_to_update),
                "entities_to_remove": answer.entities_to_remove,
            }
        )


def _values(pairs: list[Pair]) -> dict[str, Any]:
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
