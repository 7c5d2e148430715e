"""What big charts cost: `python -m bench.charts [RESOURCES …]`, beside the bars of page 9.3.

Each generated chart is opened from a folder in a process of its own, while a task notes how long
the event loop stood still: idle before, while the chart is read, while tools read it. Bars, for
20,000 resources with 500 documents: first answer within 3 s, later tool calls within 50 ms, no
stall over 50 ms; memory of 64 open charts bounded.
"""

import argparse
import asyncio
import base64
import gc
import gzip
import json
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
import structlog

from data_models.clock import SystemClock
from data_models.identifiers import PatientId
from services.records.big_charts import PREPARE_AFTER_SECONDS, make_view
from services.records.folder.records import FolderRecords
from services.records.records_factory import prepare_views
from services.records.resources.record import PatientRecord
from services.records.views.course import course
from services.records.views.lists import encounters, problems
from services.records.views.medications import medications
from services.records.views.oncology.oncology import status_view
from services.records.views.papers import documents
from services.records.views.results import results
from services.records.views.search import search_record
from services.records.views.summary import chart_summary

SIZES = (100, 1_000, 5_000, 20_000, 50_000)
BAR_FIRST_SECONDS, BAR_CALL_MS, BAR_STALL_MS = 3.0, 50.0, 50.0
TODAY = date(2026, 11, 22)
Json = dict[str, Any]


def chart(count: int, number: int = 0) -> Iterator[Json]:
    """Yield the resources of a chart: four fifths results, 500 documents at 20,000."""
    owner = {"reference": f"Patient/p{number}"}
    name = [{"family": f"Bench{number}", "given": ["Ada"]}]
    yield {"resourceType": "Patient", "id": f"p{number}", "name": name, "birthDate": "1950-01-01"}
    for at in range(count - 1):
        day = (TODAY - timedelta(days=at % 7_000)).isoformat()
        kind = at % 40
        base = {"id": f"r{at}", "subject": owner, "status": "final"}
        if kind == 0:
            yield _note(base, day, at)
        elif kind in (1, 2):
            code = {"text": f"Condition {at % 60}"}
            active = {"coding": [{"code": "active" if at % 3 else "resolved"}]}
            more = {"clinicalStatus": active, "onsetDateTime": day}
            yield {**base, "resourceType": "Condition", "code": code, **more}
        elif kind in (3, 4):
            drug = {"text": f"Drug {at % 90} 10 MG Oral Tablet"}
            asked = {"status": "stopped", "intent": "order", "authoredOn": day}
            yield {
                **base, "resourceType": "MedicationRequest",
                "medicationCodeableConcept": drug, **asked,
            }  # fmt: skip
        elif kind in (5, 6, 7):
            yield {
                **base, "resourceType": "Encounter", "status": "finished",
                "type": [{"text": "Visit"}], "period": {"start": day, "end": day},
            }  # fmt: skip
        else:
            yield _result(base, day, at)


def _result(base: Json, day: str, at: int) -> Json:
    code = [{"system": "http://loinc.org", "code": f"{2000 + at % 80}-3"}]
    quantity = {"value": round(3 + at % 17 / 7, 2), "unit": "mmol/L", "code": "mmol/L"}
    category = [{"coding": [{"code": "laboratory"}]}]
    what = {"code": {"coding": code, "text": f"Analyte {at % 80}"}, "category": category}
    return {
        **base, "resourceType": "Observation", **what, "effectiveDateTime": f"{day}T08:00:00Z",
        "valueQuantity": quantity,
        "referenceRange": [{"low": {"value": 3.5, "unit": "mmol/L"}, "high": {"value": 5.1}}],
    }  # fmt: skip


def _note(base: Json, day: str, at: int) -> Json:
    text = f"Visit {at}. " + "The patient feels well and walks two miles a day. " * 60
    data = base64.b64encode(text.encode()).decode()
    content = [{"attachment": {"contentType": "text/plain", "data": data}}]
    return {
        **base, "resourceType": "DocumentReference", "status": "current",
        "date": f"{day}T10:00:00Z", "type": {"text": "Progress note"}, "content": content,
    }  # fmt: skip


def written(folder: Path, count: int, number: int = 0) -> None:
    """Write a chart as a Synthea-like file."""
    entries = [{"resource": each} for each in chart(count, number)]
    bundle = {"resourceType": "Bundle", "type": "collection", "entry": entries}
    path = folder / f"chart {number}.json.gz"
    path.write_bytes(gzip.compress(json.dumps(bundle).encode(), compresslevel=1))


READ_SECONDS = PREPARE_AFTER_SECONDS + 5
"""How long somebody reads the first answer before the next question."""


class Stalls:
    """Notes how long the event loop stood still, in milliseconds."""

    def __init__(self) -> None:
        self.worst_ms = 0.0

    async def watch(self) -> None:
        """Sleep for a millisecond again and again."""
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0.001)
            self.worst_ms = max(self.worst_ms, (time.perf_counter() - before) * 1_000 - 1)


def calls(record: PatientRecord) -> Mapping[str, Callable[[], object]]:
    """Return the tool calls that are timed."""
    return {
        "summary": lambda: chart_summary(record, today=TODAY, now=TODAY.isoformat()),
        "results": lambda: results(record, names=["Analyte 7"]),
        "problems": lambda: problems(record),
        "medications": lambda: medications(record, today=TODAY),
        "search": lambda: search_record(record, "walks two miles"),
        "status": lambda: status_view(record, today=TODAY),
        "timeline": lambda: course(record, today=TODAY),
        "visits": lambda: encounters(record, now=TODAY.isoformat()),
        "documents": lambda: documents(record),
    }


async def _measured(folder: Path) -> Json:
    records = FolderRecords(
        folder=folder, clock=SystemClock(), kept_bytes=10**10, prepare=prepare_views
    )
    stalls = Stalls()
    watching = asyncio.create_task(stalls.watch())
    await asyncio.sleep(2)
    idle, stalls.worst_ms = stalls.worst_ms, 0.0
    begun, cpu_begun = time.perf_counter(), time.process_time()
    await records.index()
    indexed = time.perf_counter()
    record = await records.load(PatientId("p0"))
    loaded = time.perf_counter()
    load_cpu = time.process_time() - cpu_begun
    loading, stalls.worst_ms = stalls.worst_ms, 0.0
    first: dict[str, float] = {}
    first_cpu: dict[str, float] = {}
    later: dict[str, float] = {}
    cpu: dict[str, float] = {}
    for name, call in calls(record).items():
        first[name], first_cpu[name] = await _timed_ms(record, call)
        if name == "summary":
            # The first answer is read while the rest is prepared behind it.
            await asyncio.sleep(READ_SECONDS)
    for name, call in calls(record).items():
        again = [await _timed_ms(record, call) for _ in range(5)]
        later[name], cpu[name] = map(min, zip(*again, strict=True))
    watching.cancel()
    return {
        "index": indexed - begun, "load": loaded - indexed, "idle_ms": idle,
        "stall_ms": loading, "calls_stall_ms": stalls.worst_ms,
        "first": first, "first_cpu": first_cpu, "later": later, "cpu": cpu, "load_cpu": load_cpu,
        "rss": psutil.Process().memory_info().rss,
    }  # fmt: skip


async def _timed_ms(record: PatientRecord, call: Callable[[], object]) -> tuple[float, float]:
    """Return how long a call took, and the processor's time of the thread that ran it."""

    def spent(_: PatientRecord) -> float:
        begun = time.thread_time()
        call()
        return (time.thread_time() - begun) * 1_000

    begun = time.perf_counter()
    # Never on the loop itself: that would count as a stall what no tool does.
    cpu = await make_view(record, spent)
    return (time.perf_counter() - begun) * 1_000, cpu


async def _many(folder: Path, count: int, kept_bytes: int) -> int:
    records = FolderRecords(folder=folder, clock=SystemClock(), kept_bytes=kept_bytes)
    await records.index()
    for number in range(count):
        await records.load(PatientId(f"p{number}"))
    gc.collect()
    return int(psutil.Process().memory_info().rss)


def _in_process(function: Callable[..., Any], *arguments: Any) -> Any:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_run, (function, arguments))


def _run(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger("critical"))
    return asyncio.run(function(*arguments))


def _answer_seconds(found: Json) -> float:
    return float(found["load"] + found["first"]["summary"] / 1_000)


def missed(found: Json) -> list[str]:
    """Return the bars that a measured chart missed, with the figures; none if it kept them all.

    The first summary counts to the first answer; the first call of every other tool is a later
    one. A busy machine makes each call wait, so a call is judged by the processor's own time.
    """
    first = {name: ms for name, ms in found["first_cpu"].items() if name != "summary"}
    judged = (
        ("first answer", _answer_seconds(found), BAR_FIRST_SECONDS, "s"),
        *((f"first {name}", ms, BAR_CALL_MS, "ms") for name, ms in first.items()),
        *((name, ms, BAR_CALL_MS, "ms") for name, ms in found["cpu"].items()),
        ("stall while loading", found["stall_ms"], BAR_STALL_MS, "ms"),
        ("stall while tools run", found["calls_stall_ms"], BAR_STALL_MS, "ms"),
    )
    return [f"{what} {had:.3g} {unit}" for what, had, bar, unit in judged if had > bar]


def _line(count: int, found: Json) -> str:
    named = ", ".join(
        f"{name} {found['first'][name]:.0f}/{ms:.0f}/{found['cpu'][name]:.0f}"
        for name, ms in found["later"].items()
    )
    over = missed(found)
    said = f"over the bar: {', '.join(over)}" if over else "within the bars"
    return (
        f"{count:>7} {found['index']:>7.2f} {found['load']:>7.2f} {found['load_cpu']:>7.2f}"
        f" {_answer_seconds(found):>7.2f}"
        f" {found['stall_ms']:>6.0f} {found['calls_stall_ms']:>6.0f} {found['idle_ms']:>6.0f}"
        f" {found['rss'] / 1e6:>6.0f}  {named}  ({said})"
    )


def main() -> None:
    """Print the command, the bars and a line for each size."""
    parser = argparse.ArgumentParser(prog="python -m bench.charts", description=__doc__)
    parser.add_argument("resources", nargs="*", type=int, default=SIZES)
    parser.add_argument("--open", type=int, default=64, help="charts that are open at once")
    parser.add_argument("--each", type=int, default=2_000, help="resources in each of those")
    chosen = parser.parse_args()
    print(f"python -m bench.charts {' '.join(map(str, chosen.resources))}")
    print(
        f"Bars: first answer {BAR_FIRST_SECONDS:g} s, later calls {BAR_CALL_MS:g} ms,"
        f" stalls {BAR_STALL_MS:g} ms (at 20,000 resources with 500 documents)"
    )
    print(
        "      n   index    load     cpu  answer  stall  tools   idle rss/MB"
        "  calls: first/later/cpu in ms"
    )
    for count in chosen.resources:
        with tempfile.TemporaryDirectory() as folder:
            written(Path(folder), count)
            print(_line(count, _in_process(_measured, Path(folder))), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(chosen.open):
            written(Path(folder), chosen.each, number)
        for kept in (10**10, 100_000_000):
            rss = _in_process(_many, Path(folder), chosen.open, kept) / 1e6
            what = "unbounded" if kept == 10**10 else f"{kept / 1e6:.0f} MB kept"
            print(f"{chosen.open} open charts of {chosen.each} resources, {what}: {rss:.0f} MB")


if __name__ == "__main__":
    main()
