"""Reads the hand-written sentences of `fresh.yaml` with all rows of the charts that they are of."""

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from data_models.chart_view import ChartView, ViewRow
from data_models.identifiers import PatientId
from data_models.plain_yaml import read_yaml
from services.language.sentences.sentences import sentences_of
from services.records.resources.record import PatientRecord, record_from_resources
from services.records.views import lists
from services.records.views.lists import problems
from services.records.views.medications import medications
from services.records.views.oncology.oncology import imaging_view, pathology_view, status_view
from services.records.views.papers import documents, read_document
from services.records.views.results import results
from services.records.views.summary import chart_summary
from services.statements.check import MessageCheck
from services.statements.grounds import Grounds, Speaker
from services.statements.rows.known import KnownRows
from services.statements.rows.rows import stems_of
from services.statements.rows.verdict import Verdict

SENTENCES = Path(__file__).with_name("fresh.yaml")
_ROOT = Path(__file__).parents[3]
_SAMPLES = _ROOT / "samples" / "patients"
_OWN_CHARTS = Path(__file__).with_name("charts")
_CHARTS = _ROOT.parent / "shared" / "data" / "charts"
_UNTRUE = "‡"
_TODAY = date(2026, 11, 22)
_NOW = "2026-11-22T12:00:00+00:00"


@dataclass(frozen=True)
class Judged:
    """A sentence about a chart, whether it is right, and what the check found."""

    chart: str
    text: str
    is_right: bool
    found: Verdict

    @property
    def is_marked(self) -> bool:
        """Whether it is shown with a mark, or withheld."""
        return self.found.state in ("unsupported", "contradicted")


def judged() -> Iterator[Judged]:
    """Yield every sentence of the charts that are there, as the check finds it."""
    written = read_yaml(SENTENCES.read_text(encoding="utf-8"))
    for chart, kinds in written.items():
        path = _path_of(chart)
        if path is None:
            continue
        grounds = _grounds(_record(path, chart))
        for kind in ("wrong", "right"):
            for text in kinds[kind]:
                found = MessageCheck(grounds=grounds, speaker=Speaker()).check(text)
                yield Judged(chart, text, kind == "right", found)
        for answer in kinds.get("answers", ()):
            yield from _of_answer(chart, answer, grounds)


def grounds_of(chart: str) -> Grounds:
    """Return all that the tools say of one of the charts that are always there."""
    path = _path_of(chart)
    assert path is not None
    return _grounds(_record(path, chart))


def all_charts() -> list[str]:
    """Return the names of the charts that are there: the samples, our own, and public ones."""
    kept = [path.stem for folder in (_SAMPLES, _OWN_CHARTS) for path in folder.glob("*.json")]
    public = ["_".join(path.name.split("_")[:2]) for path in _CHARTS.glob("*.json.gz")]
    return sorted([*kept, *public])


def record_of(chart: str) -> PatientRecord:
    """Return one of the charts that are always there."""
    path = _path_of(chart)
    assert path is not None
    return _record(path, chart)


def views_of(chart: str) -> Iterator[ChartView]:
    """Yield what each tool gives of one of the charts that are always there."""
    yield from _views(record_of(chart))


def rows_of(chart: str, tool: str) -> list[ViewRow]:
    """Return the rows that one tool gives of a chart."""
    views = [one for one in views_of(chart) if one.tool == tool]
    return [row for view in views for row in view.rows]


def _of_answer(chart: str, answer: str, grounds: Grounds) -> Iterator[Judged]:
    """Yield the sentences of a whole answer, in order: a heading speaks of what is beneath it."""
    check = MessageCheck(grounds=grounds, speaker=Speaker())
    for text in sentences_of(answer):
        plain = text.replace(_UNTRUE, "")
        if any(map(str.isalpha, plain)):
            yield Judged(chart, plain, plain == text, check.check(plain))


def _path_of(chart: str) -> Path | None:
    for kept in (_SAMPLES / f"{chart}.json", _OWN_CHARTS / f"{chart}.json"):
        if kept.is_file():
            return kept
    return next(iter(_CHARTS.glob(f"{chart}_*.json.gz")), None)


def _record(path: Path, chart: str) -> PatientRecord:
    data = path.read_bytes()
    content = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    return record_from_resources(PatientId(chart), content["entry"])


def _grounds(record: PatientRecord) -> Grounds:
    rows = KnownRows()
    for view in _views(record):
        rows.add_view(view)
    name = chart_summary(record, today=_TODAY, now=_NOW).rows[0].name
    return Grounds(rows=rows, own_names=stems_of(name), has_name=True)


def _views(record: PatientRecord) -> Iterator[ChartView]:
    yield chart_summary(record, today=_TODAY, now=_NOW)
    yield status_view(record, today=_TODAY)
    yield problems(record, status="all")
    yield medications(record, today=_TODAY, status="all")
    yield results(record, last=1_000)
    yield lists.allergies(record)
    yield lists.immunizations(record)
    yield lists.procedures(record)
    yield lists.encounters(record, now=_NOW)
    yield lists.care(record)
    yield lists.history(record)
    yield imaging_view(record)
    yield pathology_view(record)
    yield documents(record)
    for document in record.documents:
        page = read_document(record, document.ref)
        if page is not None:
            yield page
