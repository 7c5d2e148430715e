"""Plays recorded operations through the production managers (spec page 2.9).

`python -m services.entities replay FILE.json`: exit 0 played, 2 the file cannot be read.
"""

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from data_models.conversation_entities import Provenance
from data_models.derived_entity import Origin
from data_models.entities import Entities
from data_models.entity_keys import canonical_key
from data_models.entity_queue import MAX_ENTITIES, empty_report
from data_models.errors import EntityDeltaError, RoundsError, ToolInputError
from services.entities.circumstances import AgentNames, Writing
from services.entities.delta import parse_entity_delta
from services.entities.legacy import file_legacy
from services.entities.merge import (
    clear_agent,
    get_agent_entity_context,
    merge_entity_delta,
    store_tool_result,
)

Json = dict[str, Any]


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


class Stage:
    """The entities of one case and the operations on them."""

    def __init__(self, *, config: Any) -> None:
        if not isinstance(config, Mapping):
            raise ToolInputError("config must be an object")
        self._entities = Entities()
        self._entities.conversation.max_size = _size(config, "max_size")
        self._entities.derived.max_size_per_agent = _size(config, "max_size_per_agent")
        self._team = AgentNames.of(_agents(config), legacy=_mapping(config, "legacy_names"))
        self._now = 0.0
        self._operations: Mapping[str, Callable[[Mapping[str, Any]], Json]] = {
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
            return self._operations[name](fields)
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

    def _delta(self, fields: Mapping[str, Any]) -> Json:
        delta = parse_entity_delta(fields.get("body", {}))
        return dict(
            merge_entity_delta(
                self._entities,
                delta,
                agent_name=_text(fields, "agent"),
                writing=self._writing(fields),
                source=_source(fields),
            )
        )

    def _tool(self, fields: Mapping[str, Any]) -> Json:
        result = fields.get("result")
        if not isinstance(result, Mapping):
            raise EntityDeltaError("result: expected an object of derived keys")
        origin = Origin(
            tool=str(fields.get("tool") or "tool"),
            params=_mapping(fields, "params"),
            valid_for=_number(fields, "valid_for"),
            depends_on=_keys(fields, "depends_on"),
        )
        return dict(
            store_tool_result(
                self._entities,
                result,
                agent_name=_text(fields, "agent") or "",
                origin=origin,
                writing=self._writing(fields),
            )
        )

    def _view(self, fields: Mapping[str, Any]) -> Json:
        now = self._time(fields)
        conversation, derived = self._entities.conversation, self._entities.derived
        agent_name = _text(fields, "agent")
        if agent_name is not None:
            self._team.checked(agent_name)
        shown = get_agent_entity_context(
            conversation, derived, agent_name=agent_name or "", now=now
        )
        return {
            **shown,
            "order": list(conversation.get_all()),
            "provenance": {key: one.provenance for key, one in conversation.entities.items()},
        }

    def _reload(self, fields: Mapping[str, Any]) -> Json:
        self._time(fields)
        text = json.dumps(self._entities.model_dump(mode="json"), sort_keys=True)
        self._entities = Entities.model_validate_json(text)
        return {"conversation": empty_report(), "derived": empty_report()}

    def _clear_agent(self, fields: Mapping[str, Any]) -> Json:
        now = self._time(fields)
        agent_name = _text(fields, "agent") or ""
        return dict(clear_agent(self._entities, agent_name, team=self._team, now=now))

    def _mutate_view(self, fields: Mapping[str, Any]) -> Json:
        """Append to a list that a view returned; show that nothing stored has changed."""
        view, key = self._view(fields), _text(fields, "key") or ""
        value = view["entities"].get(key, view["derived_entities"].get(key))
        if not isinstance(value, list):
            raise ToolInputError("there is no list under that key")
        value.append("mutated")
        return self._view(fields)

    def _migrate_legacy(self, fields: Mapping[str, Any]) -> Json:
        now = self._time(fields)
        entities = _mapping(fields, "entities")
        owner = _text(fields, "owner")
        return dict(file_legacy(self._entities, entities, owner=owner, team=self._team, now=now))

    def _writing(self, fields: Mapping[str, Any]) -> Writing:
        expected = fields.get("expected_rev")
        if expected is not None and not isinstance(expected, int):
            raise ToolInputError("expected_rev must be a whole number")
        return Writing(
            now=self._time(fields),
            team=self._team,
            pinned=frozenset(_keys(fields, "pinned")),
            expected_revision=expected,
        )

    def _time(self, fields: Mapping[str, Any]) -> datetime:
        """Return `now` in seconds; the last known time if the operation has none."""
        now = _number(fields, "now")
        self._now = self._now if now is None else now
        try:
            return datetime.fromtimestamp(self._now, UTC)
        except (OverflowError, ValueError, OSError):
            raise ToolInputError("now is out of range") from None


def _size(config: Mapping[str, Any], name: str) -> int:
    size = config.get(name)
    if size is None:
        return MAX_ENTITIES
    if not isinstance(size, int) or size < 1:
        raise ToolInputError(f"{name} must be a whole number above 0")
    return size


def _agents(config: Mapping[str, Any]) -> list[str] | None:
    agents = config.get("agents")
    if agents is None:
        return None
    if not isinstance(agents, list) or not all(isinstance(name, str) for name in agents):
        raise ToolInputError("agents must be a list of names")
    return agents


def _source(fields: Mapping[str, Any]) -> Provenance:
    match fields.get("source"):
        case None | "inferred":
            return "inferred"
        case "extracted":
            return "extracted"
        case "user_stated":
            return "user_stated"
        case _:
            raise ToolInputError("source must be inferred, extracted or user_stated")


def _text(fields: Mapping[str, Any], name: str) -> str | None:
    value = fields.get(name)
    if value is not None and not isinstance(value, str):
        raise ToolInputError(f"{name} must be text")
    return value


def _number(fields: Mapping[str, Any], name: str) -> float | None:
    value = fields.get(name)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise ToolInputError(f"{name} must be a number")
    return value


def _mapping(fields: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = fields.get(name)
    if value is not None and not isinstance(value, Mapping):
        raise ToolInputError(f"{name} must be an object")
    return value or {}


def _keys(fields: Mapping[str, Any], name: str) -> list[str]:
    value = fields.get(name)
    if value is not None and not isinstance(value, list):
        raise ToolInputError(f"{name} must be a list of keys")
    return [canonical_key(raw) or raw for raw in value or () if isinstance(raw, str)]


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
