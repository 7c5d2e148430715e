import json
import time
from collections.abc import Callable
from datetime import date

from services.records.bundle import bundle_entries_of
from services.records.record import PatientRecord, record_from_resources
from services.records.views.biomarkers import biomarkers
from services.records.views.notes import search_notes
from services.records.views.reports import imaging_reports
from services.records.views.status import current_status
from services.records.views.timeline import timeline
from tests.services.records.charts import (
    PATIENT_ID,
    Json,
    bundle,
    cancer,
    ecog,
    note,
    observation,
    patient,
    report,
)

# Bars are several times what a quiet machine needs, so that a busy one passes, yet a quadratic
# step does not.
PARSE_SECONDS = 0.3
VIEW_SECONDS = 0.15


def laboratory_value(number: int) -> Json:
    return observation(
        f"lab{number}", "718-7", "Haemoglobin", f"20{number % 20 + 10}-02-03T08:00:00Z", "normal",
        category=[{"coding": [{"code": "laboratory"}]}],
    )  # fmt: skip


LARGE = json.dumps(
    bundle(
        patient(),
        cancer(),
        *(ecog(f"e{n}", f"20{n % 20 + 10}-01-{n % 28 + 1:02d}", str(n % 4)) for n in range(58)),
        *(laboratory_value(n) for n in range(900)),
        *(note(f"n{n}", "2024-01-01", "Seen in clinic. ECOG 1. " * 40) for n in range(20)),
        *(report(f"r{n}", "2024-01-01", "RAD", "Stable disease. " * 60) for n in range(20)),
    )
).encode()


def best_seconds(work: Callable[[], object], times: int = 5) -> float:
    def once() -> float:
        start = time.process_time()
        work()
        return time.process_time() - start

    return min(once() for _ in range(times))


def parsed() -> PatientRecord:
    return record_from_resources(PATIENT_ID, bundle_entries_of(LARGE))


def test_a_bundle_of_a_thousand_entries_is_parsed_in_time() -> None:
    assert len(parsed().resources) == 999
    assert best_seconds(parsed) < PARSE_SECONDS


def test_every_view_of_a_large_record_is_quick() -> None:
    chart = parsed()
    views: dict[str, Callable[[], object]] = {
        "status": lambda: current_status(chart, today=date(2025, 1, 1)),
        "timeline": lambda: timeline(chart),
        "search": lambda: search_notes(chart, "stable disease clinic"),
        "biomarkers": lambda: biomarkers(chart),
        "imaging": lambda: imaging_reports(chart),
    }
    slow = {name: best_seconds(view) for name, view in views.items()}
    assert all(seconds < VIEW_SECONDS for seconds in slow.values()), slow
