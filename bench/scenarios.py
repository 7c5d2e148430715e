"""How long plans, reconciliation and marking take: `python -m bench.scenarios` (spec page 5.7).

Plans and turns are measured in processor time, so that a busy machine does not matter. The graphs
are lines with a fork in every tenth step and a new step in every fifth; sessions stand at random
steps. Nothing is stored and no model is asked, as the bars say.
"""

import argparse
import asyncio
import gc
import json
import random
import resource
import statistics
import sys
import tempfile
import time
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from data_models.scenarios.scenario import FieldDefinition, Scenario, Step, Transition
from data_models.scenarios.scenario_session import PatientProfile, ScenarioSession, StepVisit
from data_models.storage.local_blob_tags import LocalBlobTags
from services.scenarios.definition.definition_reader import checked_graph
from services.scenarios.definition.graph import Graph
from services.scenarios.migration.case import Case
from services.scenarios.migration.plans.move import VersionChain
from services.scenarios.migration.plans.planning import make_plan
from services.scenarios.migration.reconciliation import reconcile
from services.scenarios.migration.session_index import TAGS, SessionIndex, SessionRow, session_tags
from services.scenarios.scenario_settings import MigrationConfig

NOW = datetime(2030, 1, 1, tzinfo=UTC)
MEBI = 1024 * 1024
BARS = {
    "plan_1000_ms": 150.0,
    "plan_5000_ms": 2_000.0,
    "turn_p50_ms": 1.0,
    "turn_p99_ms": 5.0,
    "mark_100000_s": 10.0,
    "mark_above_start_mib": 64.0,
}


def line(size: int, version: int) -> Graph:
    """Return a version of `size` steps; the second has new steps among the old ones."""
    names = [f"s{number}" for number in range(size)]
    if version > 1:
        names = [f"n{n}" if number % 5 == 3 else n for number, n in enumerate(names)]
    steps = []
    for number, name in enumerate(names):
        ways = [Transition(target=names[number + 1])] if number + 1 < size else []
        if number % 10 == 5 and number + 4 < size:
            condition = f"age < {number % 7 + version}"
            ways = [Transition(target=names[number + 3], condition=condition), *ways]
        collects = ("email",) if number % 5 == 3 else ()
        steps.append(
            Step(
                id=name,
                collects_profile_fields=collects,
                uses=("email",),
                transitions=tuple(ways),
            )
        )
    fields = (FieldDefinition(name="age", value_type="integer"), FieldDefinition(name="email"))
    scenario = Scenario(
        id="bench", version=version, entry_step=names[0], fields=fields, steps=tuple(steps)
    )
    return checked_graph(scenario)


def plan_ms(size: int) -> float:
    """Return the median time of a plan between two versions of `size` steps."""
    times = []
    for _ in range(3):
        old, new = line(size, 1), line(size, 2)
        gc.collect()
        start = time.process_time()
        make_plan(old, new, plan_id="plan", now=NOW)
        times.append((time.process_time() - start) * 1e3)
    return statistics.median(times)


def turn_ms(turns: int, size: int = 40) -> list[float]:
    """Return the time of each reconciliation of sessions that a new version concerns."""
    old = line(size, 1)
    chain = VersionChain(graphs=[old, line(size, 2)], plans={})
    chance = random.Random(7)
    times = []
    for _ in range(turns):
        session = _session(old, chance)
        start = time.process_time()
        reconcile(
            Case(
                session=session,
                profile=PatientProfile(),
                move=chain.move_from(1),
                config=MigrationConfig(),
                now=NOW,
            )
        )
        times.append((time.process_time() - start) * 1e3)
    return sorted(times)


def _session(graph: Graph, chance: random.Random) -> ScenarioSession:
    path = [graph.entry]
    for _ in range(chance.randrange(1, len(graph.steps))):
        targets = graph.successors[path[-1]]
        if targets:
            path.append(chance.choice(targets))
    return ScenarioSession(
        session_id="one",
        scenario_id="bench",
        version=1,
        checksum=graph.checksum,
        step=path[-1],
        step_history=[StepVisit(step_id=step, visited_at=NOW) for step in path],
        variables={"age": chance.randrange(10)} if chance.random() < 0.7 else {},
        created_at=NOW,
        updated_at=NOW,
    )


async def mark(sessions: int) -> tuple[float, float]:
    """Return the seconds and the memory above start that marking that many sessions takes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sessions.sqlite"
        index = SessionIndex(tags=LocalBlobTags(path=path, names=TAGS, tags_of=session_tags))
        try:
            names = (f"s{n:07}" for n in range(sessions))
            rows = (SessionRow(one, "bench", 1, "", "web", NOW, place=one) for one in names)
            while batch := [*islice(rows, 1_000)]:
                await index.put(batch)
            gc.collect()
            before = _resident_bytes()
            start, cursor, highest = time.perf_counter(), "", 0
            while True:
                page = await index.page("bench", after=cursor, limit=1_000, below_version=2)
                await index.mark(page.rows, 2)
                cursor = page.cursor
                highest = max(highest, _resident_bytes())
                if not cursor:
                    break
            return time.perf_counter() - start, max(0, highest - before) / MEBI
        finally:
            await index.close()


def _resident_bytes() -> int:
    pages = Path("/proc/self/statm").read_text("utf-8").split()[1]
    return int(pages) * resource.getpagesize()


def measure(turns: int, sessions: int) -> dict[str, float]:
    """Return every figure of `BARS`."""
    turn_ms(50)
    times = turn_ms(turns)
    seconds, mebibytes = asyncio.run(mark(sessions))
    return {
        "plan_1000_ms": plan_ms(1_000),
        "plan_5000_ms": plan_ms(5_000),
        "turn_p50_ms": times[len(times) // 2],
        "turn_p99_ms": times[int(len(times) * 0.99)],
        "mark_100000_s": seconds * 100_000 / sessions,
        "mark_above_start_mib": mebibytes,
    }


def main() -> int:
    """Print the figures beside their bars; fail if one is missed."""
    parser = argparse.ArgumentParser(prog="python -m bench.scenarios")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--turns", type=int, default=2_000)
    parser.add_argument("--sessions", type=int, default=100_000)
    options = parser.parse_args()
    found: dict[str, Any] = measure(options.turns, options.sessions)
    if options.json:
        print(json.dumps({"figures": found, "bars": BARS}, indent=2))
    else:
        for name, value in found.items():
            print(f"{name:24} {value:10.2f}   bar {BARS[name]:10.2f}")
    return int(any(found[name] > bar for name, bar in BARS.items()))


if __name__ == "__main__":
    sys.exit(main())
