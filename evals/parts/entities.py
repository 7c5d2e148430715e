"""Plays recorded operations through the production managers (spec page 2.9).

`python -m services.entities replay FILE.json`: exit 0 played, 2 the file cannot be read.
"""

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from data_models.entities.derived_entities import Origin
from data_models.entities.entities import Entities, Provenance
from data_models.entities.entity_queue import MAX_ENTITIES, empty_report
from data_models.entities.entity_values import canonical_key
from data_models.errors import EntityDeltaError, RoundsError, ToolInputError
from services.entities.circumstances import AgentNames, Writing
from services.entities.delta import parse_entity_delta
from services.entities.legacy import file_legacy
from services.entities.merge import (
    get_agent_entity_context,
    merge_entity_delta,
    store_tool_result,
)

Json = dict[str, Any]
Read = TypeVar("Read", bound=BaseModel)


def replay(document: Any) -> Json:
    """Return `{"results": {case id: [one result for each operation]}}`.

    Raises:
        ToolInputError: `document` has no list of cases.
    """
    cases = document.get("cases") if isinstance(document, Mapping) else None
    if not isinstance(cases, list):
        raise ToolInputError("expected an object with a list of cases")
    return {"results": {_case_id(case, index): _played(case) for index, case in enumerate(cases)}}


def _case_id(case: Any, index: int) -> str:
    return str(case.get("id", index)) if isinstance(case, Mapping) else str(index)


def _played(case: Any) -> list[Json]:
    operations = case.get("ops") if isinstance(case, Mapping) else None
    if not isinstance(operations, list):
        return [{"error": "a case needs a list of ops"}]
    try:
        stage = Stage(config=case.get("config") or {})
    except ToolInputError as error:
        return [_error(error) for _ in operations]
    return [stage.play(operation) for operation in operations]


def _error(error: RoundsError) -> Json:
    return {"error": f"{type(error).__name__}: {error}"}


class _Given(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, hide_input_in_errors=True)


class Config(_Given):
    """What a case says of the managers and the team; null is as good as nothing."""

    max_size: Annotated[int, Field(ge=1)] | None = None
    max_size_per_agent: Annotated[int, Field(ge=1)] | None = None
    agents: list[str] | None = None
    legacy_names: dict[str, Any] | None = None


class Fields(_Given):
    """The fields that operations take, whichever it is; `now` in seconds."""

    agent: str | None = None
    now: float | None = None
    body: Any = Field(default_factory=dict)
    source: Provenance | None = None
    pinned: list[Any] | None = None
    expected_rev: int | None = None
    tool: Any = None
    result: dict[Any, Any] | None = None
    params: dict[str, Any] | None = None
    valid_for: float | None = None
    depends_on: list[Any] | None = None
    key: str | None = None
    entities: dict[str, Any] | None = None
    owner: str | None = None


def _read(model: type[Read], raw: Any) -> Read:
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise ToolInputError(f"{place or model.__name__}: {first['msg']}") from None


class Stage:
    """The entities of one case and the operations on them."""

    def __init__(self, *, config: Any) -> None:
        read = _read(Config, config)
        self._entities = Entities()
        self._entities.conversation.max_size = read.max_size or MAX_ENTITIES
        self._entities.derived.max_size_per_agent = read.max_size_per_agent or MAX_ENTITIES
        self._team = AgentNames.of(read.agents, legacy=read.legacy_names or {})
        self._now = 0.0
        self._operations: Mapping[str, Callable[[Fields], Json]] = {
            "delta": self._delta,
            "tool": self._tool,
            "view": self._view,
            "reload": self._reload,
            "clear_agent": self._clear_agent,
            "mutate_view": self._mutate_view,
            "migrate_legacy": self._migrate_legacy,
        }

    def play(self, operation: Any) -> Json:
        """Return the result of one operation; one that is refused stores nothing."""
        kept = self._entities.model_copy(deep=True)
        try:
            name, fields = self._named(operation)
            return self._operations[name](_read(Fields, fields))
        except ToolInputError as error:
            self._entities = kept
            return _error(error)

    def _named(self, operation: Any) -> tuple[str, Mapping[str, Any]]:
        """Return name and fields of `{"op": name, ...}` or `{name: {...}}`."""
        if isinstance(operation, str):
            operation = {"op": operation}
        if isinstance(operation, Mapping):
            for field in ("op", "type", "kind", "name"):
                if operation.get(field) in self._operations:
                    return str(operation[field]), operation
            for name in self._operations:
                if name in operation and len(operation) == 1:
                    fields = operation[name]
                    return name, fields if isinstance(fields, Mapping) else {}
        raise ToolInputError(f"expected one of the operations {', '.join(self._operations)}")

    def _delta(self, fields: Fields) -> Json:
        return dict(
            merge_entity_delta(
                self._entities,
                parse_entity_delta(fields.body),
                agent_name=fields.agent,
                writing=self._writing(fields),
                source=fields.source or "inferred",
            )
        )

    def _tool(self, fields: Fields) -> Json:
        if fields.result is None:
            raise EntityDeltaError("result: expected an object of derived keys")
        origin = Origin(
            tool=str(fields.tool or "tool"),
            params=fields.params or {},
            valid_for=fields.valid_for,
            depends_on=_keys(fields.depends_on),
        )
        return dict(
            store_tool_result(
                self._entities,
                fields.result,
                agent_name=fields.agent or "",
                origin=origin,
                writing=self._writing(fields),
            )
        )

    def _view(self, fields: Fields) -> Json:
        now = self._time(fields)
        conversation, derived = self._entities.conversation, self._entities.derived
        if fields.agent is not None:
            self._team.checked(fields.agent)
        shown = get_agent_entity_context(
            conversation, derived, agent_name=fields.agent or "", now=now
        )
        return {
            **shown,
            "order": list(conversation.get_all()),
            "provenance": {key: one.provenance for key, one in conversation.entities.items()},
        }

    def _reload(self, fields: Fields) -> Json:
        self._time(fields)
        text = json.dumps(self._entities.model_dump(mode="json"), sort_keys=True)
        self._entities = Entities.model_validate_json(text)
        return {"conversation": empty_report(), "derived": empty_report()}

    def _clear_agent(self, fields: Fields) -> Json:
        now, agent_name = self._time(fields), self._team.checked(fields.agent)
        removed = self._entities.derived.clear_agent(agent_name, now=now)
        return {"conversation": empty_report(), "derived": {**empty_report(), "removed": removed}}

    def _mutate_view(self, fields: Fields) -> Json:
        """Append to a list that a view returned; show that nothing stored has changed."""
        view, key = self._view(fields), fields.key or ""
        value = view["entities"].get(key, view["derived_entities"].get(key))
        if not isinstance(value, list):
            raise ToolInputError("there is no list under that key")
        value.append("mutated")
        return self._view(fields)

    def _migrate_legacy(self, fields: Fields) -> Json:
        now, held = self._time(fields), fields.entities or {}
        return dict(file_legacy(self._entities, held, owner=fields.owner, team=self._team, now=now))

    def _writing(self, fields: Fields) -> Writing:
        return Writing(
            now=self._time(fields),
            team=self._team,
            pinned=frozenset(_keys(fields.pinned)),
            expected_revision=fields.expected_rev,
        )

    def _time(self, fields: Fields) -> datetime:
        """Return `now`; the last known time if the operation has none."""
        self._now = self._now if fields.now is None else fields.now
        try:
            return datetime.fromtimestamp(self._now, UTC)
        except (OverflowError, ValueError, OSError):
            raise ToolInputError("now is out of range") from None


def _keys(given: list[Any] | None) -> list[str]:
    return [canonical_key(raw) or raw for raw in given or () if isinstance(raw, str)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m services.entities", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("replay", help="play operations through the managers")
    command.add_argument("file", type=Path, help="JSON with cases; `-` reads standard input")
    file = parser.parse_args(arguments).file
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
        results = replay(json.loads(text))
    except (OSError, ValueError, RecursionError) as error:
        sys.stderr.write(f"The cases could not be read: {type(error).__name__}.\n")
        return 2
    except ToolInputError as error:
        sys.stderr.write(f"The cases could not be read: {error}.\n")
        return 2
    # ASCII: half characters that a case holds cannot be written otherwise.
    sys.stdout.write(json.dumps(results) + "\n")
    return 0
