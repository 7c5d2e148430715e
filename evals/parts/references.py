"""Answers reference cases from a file through the production resolver (spec page 3.7).

`python -m services.tool_memory resolve FILE.json`: exit 0 answered, 2 not a case file.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, field_validator

from data_models.tool_memory import EntityContext, EntityStatus, EntityType
from services.tool_memory.extractors import zone_of
from services.tool_memory.resolution import Ambiguous, EntityIndex, Resolution, Resolved, Scene
from services.tool_memory.resolver import ContextResolver

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TYPES: Mapping[str, EntityType] = {
    "event": "calendar_event",
    "calendar": "calendar_event",
    "meeting": "calendar_event",
    "appointment": "calendar_event",
    "mail": "email",
    "message": "email",
    "file": "document",
    "person": "contact",
    "todo": "task",
    "place": "location",
}


class _Input(BaseModel):
    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)


class CaseContext(_Input):
    """Where the message is said."""

    now: datetime
    session: str | None = None
    turn: int | None = None
    focus: str | None = None
    last_list: list[str] | None = None
    time_zone: str | None = Field(
        default=None, validation_alias=AliasChoices("time_zone", "timezone", "zone", "tz")
    )


class CaseEntity(_Input):
    """An entity as a case gives it."""

    id: str
    type: EntityType
    name: str = ""
    data: dict[str, Any] | None = None
    turn: int | None = None
    status: EntityStatus = "active"
    session: str | None = None
    access_count: int | None = None
    user_references: list[str] = Field(default_factory=list)

    @field_validator("type", mode="before")
    @classmethod
    def _known_type(cls, value: Any) -> Any:
        kind = _TYPES.get(value, value) if isinstance(value, str) else value
        return kind if kind in get_args(EntityType) else "generic"

    @field_validator("status", mode="before")
    @classmethod
    def _known_status(cls, value: Any) -> Any:
        # A state that we do not know is not known to be live.
        return value if value in get_args(EntityStatus) else "expired"

    @field_validator("name", mode="before")
    @classmethod
    def _no_name(cls, value: Any) -> Any:
        return "" if value is None else value


class Case(_Input):
    """One question to the resolver."""

    id: str
    context: CaseContext
    entities: list[CaseEntity] = Field(default_factory=list)
    message: str
    parameters: dict[str, Any] | None = None
    entity_type: EntityType | None = None


class CaseFile(_Input):
    """The whole file."""

    cases: list[Case]


def answers(cases: CaseFile) -> dict[str, Any]:
    """Return what the file asks for, by case."""
    return {"results": {case.id: _shown(_answer(case)) for case in cases.cases}}


def _answer(case: Case) -> Resolution:
    context = case.context
    now = context.now if context.now.tzinfo else context.now.replace(tzinfo=UTC)
    zone = zone_of(context.time_zone) if context.time_zone else None
    now = now.astimezone(zone) if zone is not None else now
    entities = [_entity(one, context.session) for one in case.entities]
    scene = Scene(now=now, focus=context.focus, last_list=tuple(context.last_list or ()))
    resolver = ContextResolver(entity_index=EntityIndex.of(entities, now), scene=scene)
    return resolver.resolve(case.message, case.entity_type, case.parameters)


def _entity(given: CaseEntity, session: str | None) -> EntityContext:
    # Another session's is as good as gone: its id is nobody's here.
    is_foreign = session is not None and given.session is not None and given.session != session
    return EntityContext(
        entity_id=given.id,
        entity_type=given.type,
        display_name=given.name,
        data=given.data or {},
        created_at=_EPOCH,
        last_accessed=_EPOCH,
        access_count=given.access_count or 0,
        last_turn=given.turn or 0,
        user_references=given.user_references,
        status="expired" if is_foreign else given.status,
    )


def _shown(found: Resolution) -> dict[str, Any]:
    if isinstance(found, Ambiguous):
        return {"ambiguous": list(found.entity_ids)}
    return {"id": found.entity_id if isinstance(found, Resolved) else None}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m services.tool_memory", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("resolve", help="answer reference cases without a model")
    command.add_argument("file", type=Path, help="JSON file of cases, - for standard input")
    file: Path = parser.parse_args(arguments).file
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
        cases = CaseFile.model_validate_json(text)
    except (OSError, UnicodeDecodeError) as error:
        sys.stderr.write(f"{file} could not be read: {type(error).__name__}\n")
        return 2
    except ValidationError as error:
        for problem in error.errors(include_input=False, include_url=False)[:10]:
            place = ".".join(str(part) for part in problem["loc"])
            sys.stderr.write(f"{place or file}: {problem['msg']}\n")
        return 2
    sys.stdout.write(json.dumps(answers(cases), ensure_ascii=False, indent=2) + "\n")
    return 0
