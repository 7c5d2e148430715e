"""Small charts, each in a file of `charts/` with sentences and what the check finds of them.

Under the name of a rule stand the findings that it asks for, and under each of these sentences; of
a list of sentences, said in one message, the last one is judged. `twins` are a right sentence and
a wrong one. `reads_records` and `deeds` are of whoever speaks, `own_names` of the patient.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from data_models.chart_view import ChartView, ViewSource
from data_models.plain_yaml import read_yaml
from services.statements.check import MessageCheck
from services.statements.grounds import Grounds, Speaker
from services.statements.rows.known import KnownRows

FOLDER = Path(__file__).parent / "charts"
STATES: Mapping[str, Sequence[str]] = {
    "supported": ["supported"],
    "unsupported": ["unsupported"],
    "contradicted": ["contradicted"],
    "unchecked": ["unchecked"],
    "marked": ["unsupported", "contradicted"],
    "unmarked": ["supported", "unchecked"],
    "not unsupported": ["supported", "contradicted", "unchecked"],
}
_OF_THE_CHART = ("views", "beside", "own_names")


class Case(NamedTuple):
    """Sentences of one message over a chart, and what may be found of the last one."""

    chart: str
    rule: str
    said: Sequence[str]
    wanted: Sequence[str]
    deeds: Sequence[str] = ()
    reads_records: bool = True

    def state(self) -> str:
        """Return what is found of it."""
        names = frozenset(_file(self.chart).get("own_names", ()))
        grounds = Grounds(rows=_rows(self.chart), own_names=names, deeds=set(self.deeds))
        check = MessageCheck(grounds=grounds, speaker=Speaker(reads_records=self.reads_records))
        return [check.check(one) for one in self.said][-1].state


def cases() -> Iterator[Case]:
    """Yield those of every chart."""
    for path in sorted(FOLDER.glob("*.yaml")):
        for rule, group in _file(path.stem).items():
            if rule not in _OF_THE_CHART:
                yield from _cases(path.stem, rule, dict(group))


def _cases(chart: str, rule: str, group: dict[str, Any]) -> Iterator[Case]:
    deeds, reads_records = group.pop("deeds", ()), group.pop("reads_records", True)
    for right, wrong in group.pop("twins", ()):
        yield Case(chart, rule, [right], STATES["supported"])
        yield Case(chart, rule, [wrong], STATES["marked"])
    for wanted, texts in group.items():
        for text in texts:
            said = [text] if isinstance(text, str) else text
            yield Case(chart, rule, said, STATES[wanted], deeds, reads_records)


@cache
def views_of(chart: str) -> tuple[ChartView, ...]:
    """Return what tools found in the chart of that name."""
    return tuple(map(_view, _file(chart)["views"]))


def _view(written: Mapping[str, Any]) -> ChartView:
    view = ChartView.model_validate({"kind": "table", "title": written["tool"].title(), **written})
    sources = tuple(ViewSource(ref=ref, date=row.date) for row in view.rows for ref in row.sources)
    return view.model_copy(update={"sources": sources})


@cache
def _rows(chart: str) -> KnownRows:
    rows = KnownRows()
    for name in filter(None, (_file(chart).get("beside"), chart)):
        for view in views_of(name):
            rows.add_view(view)
    return rows


@cache
def _file(chart: str) -> dict[str, Any]:
    return dict(read_yaml((FOLDER / f"{chart}.yaml").read_bytes()))
