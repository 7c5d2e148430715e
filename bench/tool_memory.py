"""`python -m bench.tool_memory`: resolving and recording against spec page 3.6."""

import sys
from collections.abc import Callable
from datetime import timedelta
from time import perf_counter

from bench.figures import Figure
from data_models.clock import RandomIds, SystemClock
from data_models.tool_memory import ToolMemory
from services.tool_memory.extractors import extracted
from services.tool_memory.session import FinishedRun, ToolMemorySession
from services.tool_memory.store import ToolEntityStore, ToolMemoryLimits

ENTITIES = 50
ROWS = 20
ROUNDS = 200
BAR_MS = 1.0
MESSAGES = {
    "it": "cancel it",
    "an ordinal": "cancel the second one",
    "a name": "cancel the conference with Person17",
    "a misspelt name and a time": "cancel the conferense with Person17 on 3 December at 3pm please",
    "a long text": "please cancel the quarterly budget planning conference about recurrent glioma",
}


def _row(number: int) -> dict[str, object]:
    start = SystemClock().now() + timedelta(hours=number)
    return {
        "id": f"event_{number}",
        "title": f"Case conference {number}",
        "start": start.isoformat(),
        "end": (start + timedelta(minutes=45)).isoformat(),
        "attendees": [f"Person{number}", f"Doctor{number}"],
        "location": f"Room {number}",
    }


def _store() -> ToolEntityStore:
    now = SystemClock().now()
    store = ToolEntityStore(memory=ToolMemory(), limits=ToolMemoryLimits(), now=now)
    for number in range(ENTITIES):
        for found in extracted(_row(number)):
            store.store_entity(found, execution_id="exec", turn_id=number)
    store.shown([f"event_{number}" for number in range(5)])
    store.touch("event_3", turn_id=9)
    return store


def _median_ms(work: Callable[[], object]) -> float:
    times = []
    for _ in range(ROUNDS):
        began = perf_counter()
        work()
        times.append((perf_counter() - began) * 1_000)
    return sorted(times)[ROUNDS // 2]


def figures() -> list[Figure]:
    """Measure, and return one line for each figure."""
    store, now = _store(), SystemClock().now()
    found = []
    for name, text in MESSAGES.items():
        measured = _median_ms(lambda text=text: store.resolve(text, local_now=now))  # type: ignore[misc]
        found.append(Figure("resolve", f"{name}, {ENTITIES} entities", measured, "ms", BAR_MS))
    session = ToolMemorySession(
        store=_store(), turn_id=1, user_text="go", local_now=now, others=(), ids=RandomIds()
    )
    rows = {"events": [_row(number) for number in range(ROWS)]}
    run = FinishedRun("list_events", "Secretary", {}, rows, None, 1.0)
    measured = _median_ms(lambda: session.record(run))
    return [*found, Figure("record", f"a run with {ROWS} entities", measured, "ms", BAR_MS)]


def main() -> int:
    """Print the table; a missed time fails nothing, since it depends on the machine."""
    for one in figures():
        print(f"{one.place:8} {one.name:48} {one.measured:8.3f} {one.unit} {one.verdict}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
