"""The entities of one store, ready to be searched."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from data_models.tool_memory import EntityContext, EntityType
from services.language.pointing.lexicon import Lexicon
from services.tool_memory.candidates import Candidate, candidate_of


@dataclass(frozen=True, slots=True)
class EntityIndex:
    """The entities of one store, ready to be searched.

    Attributes:
        live: By id, those that may be meant.
        gone: Kinds of those that may not, by id.
        lexicon: What they are called.
    """

    live: Mapping[str, Candidate]
    gone: Mapping[str, EntityType]
    lexicon: Lexicon = field(default_factory=Lexicon)

    @classmethod
    def of(cls, entities: Sequence[EntityContext], now: datetime) -> "EntityIndex":
        """Return a entity_index of `entities`; `now` has the user's zone."""
        zone = now.tzinfo
        if zone is None:
            raise ValueError("now must be aware")
        rows = [(entity, candidate_of(entity, zone)) for entity in entities]
        live = {one.entity_id: one for entity, one in rows if entity.status == "active"}
        return cls(
            live=live,
            gone={
                entity.entity_id: entity.entity_type
                for entity, _ in rows
                if entity.status != "active"
            },
            lexicon=Lexicon.of(
                tokens=_holders(live),
                names={one.name for _, one in rows},
                ids=[one.entity_id for one in entities],
            ),
        )


def _holders(live: Mapping[str, Candidate]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one in live.values():
        for token in one.tokens:
            found.setdefault(token, []).append(one.entity_id)
    return found
