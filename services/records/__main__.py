"""`python -m services.records check [FOLDER]`: what the records hold and what cannot be read.

Exits with 1 if anything was unreadable, 2 on wrong use or a folder that cannot be used.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import structlog

from data_models.clock import SystemClock
from data_models.errors import ConfigurationError, RecordsError
from services.records.folder.check import chart_report, lines_of
from services.records.records_factory import folder_records
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


if __name__ == "__main__":
    # What the server would log stands in the table.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger("critical"))
    sys.exit(main())
