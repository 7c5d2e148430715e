"""`python -m services.records check [FOLDER]`: what the records hold and what cannot be read.

Exits with 1 if anything was unreadable, 2 on wrong use or a folder that cannot be used.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import structlog

from data_models.clock import SystemClock
from data_models.errors import ConfigurationError, RecordsError
from services.records.folder.chart import gathered
from services.records.folder.index import Chart, FolderIndex
from services.records.records_factory import folder_records
from services.records.resources.record import record_from_resources
from settings import Settings, load_settings


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m services.records", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="print patients, resources and what was skipped")
    check.add_argument("folder", nargs="?", type=Path, help="default: SAMPLES_DIR")
    chosen = parser.parse_args(arguments)
    try:
        return _checked(load_settings(), chosen.folder)
    except (ConfigurationError, RecordsError) as error:
        sys.stderr.write(f"{error}\n")
        return 2


def _checked(settings: Settings, folder: Path | None) -> int:
    if folder is not None:
        settings = settings.model_copy(update={"samples_dir": folder})
    index = folder_records(settings, clock=SystemClock()).look()
    charts = (chart for chart in index.charts.values() if not chart.is_ambiguous)
    reports = [chart_report(index, chart) for chart in charts]
    for line in lines_of(index, reports):
        sys.stdout.write(f"{line}\n")
    return 1 if index.problems or any(one.problems for one in reports) else 0


_LINES = 200
_TYPES = 4


@dataclass(frozen=True, slots=True)
class ChartReport:
    """One patient, the resources of the chart by type, and what of them could not be read."""

    patient_id: str
    types: Mapping[str, int]
    files: int
    problems: Sequence[str]
    unnamed: int = 0


def chart_report(index: FolderIndex, chart: Chart) -> ChartReport:
    """Read one chart as the server does."""
    found = gathered(index, chart)
    types = Counter(str(entry["resource"]["resourceType"]) for entry in found.entries)
    damaged, unnamed = tuple(map(str, found.problems)), 0
    try:
        record = record_from_resources(
            chart.patient_id, found.entries, patient_ref=chart.ref, damaged=damaged
        )
        problems, unnamed = record.left_out.unreadable, record.left_out.other_patient
    except RecordsError as error:
        problems = (*damaged, f"{chart.ref}: {error}")
    return ChartReport(chart.patient_id, types, len(chart.files), problems, unnamed)


def nobodys(index: FolderIndex) -> Mapping[str, int]:
    """Return how many resources name a patient who is in no file, by that reference."""
    known = {name for chart in index.everybody for name in chart.names}
    found: Counter[str] = Counter()
    for one in index.facts.values():
        for owner, types in one.owned.items():
            is_patient = owner.startswith(("Patient/", "urn:uuid:")) and owner not in known
            if is_patient:
                found[owner] += types.total()
    return found


def lines_of(index: FolderIndex, reports: Sequence[ChartReport]) -> Iterator[str]:
    """Yield the report line by line."""
    yield f"{len(index.facts)} files, {len(index.charts)} patients"
    width = max((len(one.patient_id) for one in reports), default=0)
    for one in reports:
        most = Counter(one.types).most_common()
        named = ", ".join(f"{kind} {count}" for kind, count in most[:_TYPES])
        rest = sum(count for _, count in most[_TYPES:])
        total = sum(one.types.values())
        more = f", others {rest}" if rest else ""
        yield f"{one.patient_id:<{width}}  {total:>6} in {one.files} files: {named}{more}"
    totals: Counter[str] = sum((Counter(one.types) for one in reports), Counter())
    yield "Resources: " + ", ".join(f"{kind} {count}" for kind, count in sorted(totals.items()))
    skipped = list(_skipped(index, reports))
    yield f"Skipped: {len(skipped) or 'nothing'}"
    yield from (f"  {line}" for line in skipped[:_LINES])
    if len(skipped) > _LINES:
        yield f"  and {len(skipped) - _LINES} more"
    for owner, count in list(nobodys(index).items())[:_LINES]:
        yield f"Nobody's: {count} resources name {owner}, who is in no file"
    for one in reports:
        if one.unnamed:
            yield f"Nobody's: {one.unnamed} resources beside {one.patient_id} name nobody known"


def _skipped(index: FolderIndex, reports: Sequence[ChartReport]) -> Iterator[str]:
    seen = dict.fromkeys([str(problem) for problem in index.problems])
    yield from seen
    for one in reports:
        yield from (
            f"{one.patient_id}: {problem}" for problem in one.problems if problem not in seen
        )


if __name__ == "__main__":
    # What the server would log stands in the table.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger("critical"))
    sys.exit(main())
