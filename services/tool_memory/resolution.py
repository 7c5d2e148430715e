"""Entities ready to be searched, and what a reference to them can turn out to be."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Any, TypeAlias

from data_models.tool_memory import EntityContext, EntityType
from services.language.pointing.folding import tokens_of
from services.language.pointing.lexicon import Lexicon
from services.language.words.in_english import in_english
from services.tool_memory.extractors import end_of, searchable_texts, start_of

SHOWN_CANDIDATES = 5


@dataclass(frozen=True, slots=True)
class Resolved:
    """The one entity that is meant; `words` are those that led to it."""

    entity_id: str
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """Up to five entities that may be meant; the caller asks which, or whether it is that one.

    Attributes:
        is_every: The user means all of them; the caller asks once for a yes to them all.
    """

    entity_ids: tuple[str, ...]
    is_every: bool = False


@dataclass(frozen=True, slots=True)
class NotFound:
    """Nothing is meant that is there.

    Attributes:
        is_named: The user named something, and nothing is called so.
    """

    is_named: bool = field(default=False, compare=False)


Resolution: TypeAlias = Resolved | Ambiguous | NotFound


@dataclass(frozen=True, slots=True)
class Scene:
    """Where a reference is made.

    Attributes:
        now: The moment of the message, in the user's zone.
        focus: Id of the entity that was used last; it may be gone.
        last_list: Ids as they were last shown, in that order; some may be gone.
    """

    now: datetime
    focus: str | None = None
    last_list: Sequence[str] = ()


def several(ids: Sequence[str] | dict[str, None]) -> Resolution:
    """Return at most five distinct ids to choose from; fewer than two are no choice."""
    found = tuple(dict.fromkeys(ids))[:SHOWN_CANDIDATES]
    return Ambiguous(found) if len(found) > 1 else NotFound()


def every_one(ids: Sequence[str], otherwise: Resolution) -> Resolution:
    """Return `ids` as meant all together; `otherwise` where they are too many for one yes."""
    found = tuple(dict.fromkeys(ids))
    if not 1 < len(found) <= SHOWN_CANDIDATES:
        return otherwise
    return Ambiguous(found, is_every=True)


def ids_of(found: Resolution) -> tuple[str, ...]:
    """Return every id that is possible."""
    if isinstance(found, Resolved):
        return (found.entity_id,)
    return found.entity_ids if isinstance(found, Ambiguous) else ()


def agreed(first: Resolution, second: Resolution) -> Resolution:
    """Return what two readings have in common; where they differ both are possible."""
    ids = list(dict.fromkeys([*ids_of(first), *ids_of(second)]))
    return Resolved(ids[0]) if len(ids) == 1 else several(ids)


# Entities as the resolver sees them, made once for a store and kept until it changes.

_TOKENS_LIMIT = 120


@dataclass(frozen=True, slots=True)
class Candidate:
    """One live entity.

    Attributes:
        name: Words of its display name, in order.
        tokens: Words of all it can be known by.
        start: Its own date in the user's zone.
        turn: When it was last mentioned.
    """

    entity_id: str
    kind: EntityType
    name: tuple[str, ...]
    tokens: frozenset[str]
    start: datetime | None
    end: datetime | None
    has_time: bool
    turn: int


def _candidate_of(entity: EntityContext, zone: tzinfo) -> Candidate:
    """Return what the resolver needs of `entity`."""
    data: Mapping[str, Any] = entity.data
    name = tuple(tokens_of(entity.display_name))
    start, end = start_of(entity.entity_type, data, zone), end_of(data, zone)
    text = " ; ".join([*searchable_texts(entity.data), *entity.user_references])
    # Requests are read in English: what is called "Visite" is found as a round, too.
    found = [*name, *tokens_of(in_english(entity.display_name)), *tokens_of(text)]
    if "@" in text:
        found += [part.strip("<>,;\"'") for part in text.casefold().split() if "@" in part]
    return Candidate(
        entity_id=entity.entity_id,
        kind=entity.entity_type,
        name=name,
        tokens=frozenset(list(dict.fromkeys(found))[:_TOKENS_LIMIT]),
        start=None if start is None else start.local(zone),
        end=None if end is None else end.local(zone),
        has_time=start is not None and start.has_time,
        turn=entity.last_turn,
    )


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
        if (zone := now.tzinfo) is None:
            raise ValueError("now must be aware")
        rows = [(entity, _candidate_of(entity, zone)) for entity in entities]
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
