"""What the check of a statement costs: `python -m bench.statements`.

Processor time, over right and wrong sentences on the samples and the public charts where they are:
each sentence against every row of its chart.
"""

import sys
from collections.abc import Sequence
from time import process_time

from bench.figures import Figure, info, p95, table
from services.statements.check import MessageCheck
from services.statements.grounds import Grounds, Speaker
from services.statements.known import KnownRows
from services.statements.words_read import read_words
from tests.services.statements.corpus import Chart, charts

PLACE = "check"
_CHARTS = 10


def _milliseconds(check: MessageCheck, text: str) -> float:
    began = process_time()
    check.check(text)
    return (process_time() - began) * 1000


def _rows_of(chart: Chart) -> KnownRows:
    rows = KnownRows()
    for view in chart.views:
        rows.add_view(view)
    return rows


def _check(rows: KnownRows) -> MessageCheck:
    return MessageCheck(grounds=Grounds(rows=rows), speaker=Speaker())


def measured(found: Sequence[Chart]) -> list[Figure]:
    """Return the figures of page 11.3."""
    largest = max(found, key=lambda one: sum(len(view.rows) for view in one.views))
    read_words()
    began = process_time()
    rows = _rows_of(largest)
    taken_in = (process_time() - began) * 1000
    first = _milliseconds(_check(rows), largest.cases[0].text)
    known = [(_rows_of(one), one.cases) for one in found]
    times = [_milliseconds(_check(rows), case.text) for rows, cases in known for case in cases]
    return [
        info(PLACE, "rows of the largest chart", len(rows.rows), ""),
        info(PLACE, "these rows taken in, while the model writes", taken_in, "ms"),
        Figure(PLACE, "the first sentence, once it is complete", first, "ms", 50),
        Figure(PLACE, "a sentence, mean", sum(times) / len(times), "ms", 0.3),
        info(PLACE, "a sentence, p95", p95(times), "ms"),
    ]


def main() -> int:
    """Run the bench; a missed time fails nothing."""
    sys.stdout.write(f"{table(measured(list(charts(_CHARTS))))}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
