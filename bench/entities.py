"""What entities cost (spec page 2.8): `python -m bench.entities [--json]`; exit 1 over a limit."""

import argparse
import json
import statistics
import sys
import tracemalloc
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from time import thread_time

from data_models.derived_entity import Origin
from data_models.entities import Entities
from services.entities.circumstances import AgentNames, Writing
from services.entities.delta import EntityDelta
from services.entities.merge import (
    get_agent_entity_context,
    merge_entity_delta,
    store_tool_result,
)

_START = datetime(2030, 1, 2, tzinfo=UTC)
_AGENT = "AppointmentManager"
_TEAM = AgentNames.of([_AGENT, "Registration"])
_ROUNDS = 2_000
_TURNS = 100
_KEYS = 7
LIMITS_MS = {"merge": 0.1, "context": 0.1, "load_merge_save": 1.0}


def _delta(number: int) -> EntityDelta:
    return EntityDelta(
        entities_to_update={f"wish_{key}": f"value {number}" for key in range(_KEYS)},
        derived_entities_to_update={f"find_{key}": [number, "3pm"] for key in range(_KEYS)},
    )


def _full() -> Entities:
    entities = Entities()
    writing = Writing(now=_START, team=_TEAM)
    merge_entity_delta(entities, _delta(0), agent_name=_AGENT, writing=writing)
    return entities


def _median_ms(work: Callable[[int], object]) -> float:
    times = []
    for number in range(_ROUNDS):
        # Nothing here waits: what others do on the machine meanwhile is not our cost.
        began = thread_time()
        work(number)
        times.append(thread_time() - began)
    return statistics.median(times) * 1_000


def measured() -> dict[str, float]:
    """Return medians in milliseconds, and what a hundred turns leave behind."""
    entities = _full()
    deltas = [_delta(number) for number in range(_ROUNDS)]
    writings = [
        Writing(now=_START + timedelta(seconds=number), team=_TEAM) for number in range(_ROUNDS)
    ]
    stored = entities.model_dump_json()

    def merge(number: int) -> None:
        merge_entity_delta(entities, deltas[number], agent_name=_AGENT, writing=writings[number])

    def context(_: int) -> None:
        get_agent_entity_context(
            entities.conversation, entities.derived, agent_name=_AGENT, now=_START
        )

    def load_merge_save(number: int) -> None:
        loaded = Entities.model_validate_json(stored)
        merge_entity_delta(loaded, deltas[number], agent_name=_AGENT, writing=writings[number])
        loaded.model_dump_json()

    return {
        "merge": _median_ms(merge),
        "context": _median_ms(context),
        "load_merge_save": _median_ms(load_merge_save),
        **_hundred_turns(),
    }


def _hundred_turns() -> dict[str, float]:
    entities = _full()
    tracemalloc.start()
    sizes: list[int] = []
    for number in range(_TURNS):
        writing = Writing(now=_START + timedelta(seconds=number), team=_TEAM)
        delta = EntityDelta(entities_to_update={f"turn_{number}": number})
        merge_entity_delta(entities, delta, agent_name=_AGENT, writing=writing)
        origin = Origin(tool="find", valid_for=300)
        values = {f"row_{number}_id": number}
        store_tool_result(entities, values, agent_name=_AGENT, origin=origin, writing=writing)
        sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    return {
        "entities_after_100_turns": len(entities.conversation.entities),
        "stored_bytes_after_100_turns": entities.size_bytes(),
        "memory_growth_bytes_last_50_turns": sizes[-1] - sizes[_TURNS // 2],
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures; status 1 if one is over its limit."""
    parser = argparse.ArgumentParser(prog="python -m bench.entities", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    as_json = parser.parse_args(arguments).json
    figures = measured()
    if as_json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            limit = f"  (limit {LIMITS_MS[name]} ms)" if name in LIMITS_MS else ""
            print(f"{name:36} {value:10.3f}{limit}")
    over = [name for name, limit in LIMITS_MS.items() if figures[name] > limit]
    return 1 if over or figures["entities_after_100_turns"] != _KEYS else 0


if __name__ == "__main__":
    sys.exit(main())
