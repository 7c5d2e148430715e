"""Which of the items that the user was asked about they pick. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from data_models.tool_memory import EntityContext, ToolMemory
from data_models.written_order import in_written_order
from services.language.pointing.folding import tokens_of
from services.language.replies.references import number_alone_in
from services.language.words.phrases import says
from services.language.words.talk_texts import day_near
from services.tool_memory.entity_index import EntityIndex
from services.tool_memory.grounding import other_of
from services.tool_memory.resolution import Resolved, Scene
from services.tool_memory.resolver import ContextResolver
from services.tool_memory.shapes import start_of

_PICK_LIMIT_WORDS = 8
_NAME_LIMIT_CHARS = 120


@dataclass(frozen=True, slots=True)
class Picked:
    """The item that was picked, the request that it completes, and the agent that asked."""

    entity_id: str
    asked: str
    agent: str | None = None


def picked_from(
    payload: Mapping[str, Any], answer: str, memory: ToolMemory, *, local_now: datetime
) -> Picked | None:
    """Return the candidate that `answer` names: by number, order, name, day or time; else None."""
    candidates = [str(one) for one in payload.get("candidates", ())]
    words = answer.split()
    if not 0 < len(words) <= _PICK_LIMIT_WORDS or answer.rstrip().endswith("?"):
        return None
    if says(answer, "asks_something_new"):
        return None
    if (found := _meant(candidates, answer, memory, local_now)) is None:
        return None
    return Picked(found, str(payload.get("asked", "")), payload.get("agent"))


def choice_of(entity: EntityContext, now: datetime) -> str:
    """Return an entity as a choice names it at the user's `now`: *Tumor board*, Wed 2 Dec 15:00.

    A day of another year is told with it.
    """
    zone = now.tzinfo or UTC
    name = other_of(entity.entity_type) if entity.is_private else _line(entity.display_name)
    name = name[:_NAME_LIMIT_CHARS].replace("*", "").replace("`", "")
    if (start := start_of(entity.entity_type, entity.data, zone)) is None:
        return f"*{name}*"
    return f"*{name}*, {day_near(start.local(zone), now, has_time=start.has_time)}"


def _line(name: str) -> str:
    return " ".join(in_written_order(name).split())


def _meant(
    candidates: Sequence[str], answer: str, memory: ToolMemory, local_now: datetime
) -> str | None:
    if (place := number_alone_in(answer)) is not None:
        return candidates[place - 1] if 0 < place <= len(candidates) else None
    entities = [one for one in memory.entities if one.entity_id in candidates]
    entity_index = EntityIndex.of(entities, local_now)
    named = [one.entity_id for one in entity_index.live.values() if list(one.name) == _name(answer)]
    if len(named) == 1:
        return named[0]
    scene = Scene(now=local_now, last_list=tuple(candidates))
    resolver = ContextResolver(entity_index=entity_index, scene=scene)
    found = resolver.resolve(answer)
    return found.entity_id if isinstance(found, Resolved) else None


def _name(answer: str) -> list[str]:
    """Return the words of a name as people say it: "the tumor board, please"."""
    return [word for word in tokens_of(answer) if word not in ("the", "please")]
