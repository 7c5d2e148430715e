"""A view as the lines that a model reads."""

from data_models.chart_view import ChartView, ViewRow
from services.records.views.lines import line_of, told

_REPORT = ViewRow(
    kind="imaging report", name="CT chest", date="2025-05-16T11:30:00Z",
    detail="No lesion.", sources=("DiagnosticReport/r-1",),
)  # fmt: skip
_STUDY = ViewRow(
    kind="imaging study", name="CT chest", value="Computed Tomography",
    date="2025-05-16T11:30:00Z", detail="4 series, 604 images",
    sources=("ImagingStudy/s-1", "DiagnosticReport/r-1"),
)  # fmt: skip


def _lines(*rows: ViewRow) -> list[str]:
    view = ChartView(tool="imaging_reports", kind="table", title="Imaging", rows=rows)
    return told(view, limit_chars=6_000).text.splitlines()


def test_a_study_is_told_in_the_line_of_its_report() -> None:
    assert _lines(_REPORT, _STUDY) == [
        "Imaging",
        "2025-05-16  CT chest  No lesion.; Computed Tomography; 4 series, 604 images  "
        "[DiagnosticReport/r-1][ImagingStudy/s-1]",
    ]


def test_a_study_of_another_day_or_name_than_its_report_keeps_its_line() -> None:
    for other in ({"date": "2025-05-15"}, {"name": "CT abdomen"}):
        assert len(_lines(_REPORT, _STUDY.model_copy(update=other))) == 3


def test_a_study_whose_report_is_not_shown_keeps_its_line() -> None:
    assert len(_lines(_STUDY)) == 2


def test_a_source_that_is_told_in_the_row_is_not_told_again() -> None:
    row = ViewRow(
        name="stage", value="IVB", date="2025-05-23", detail="earlier: IVA [Observation/s-1]",
        sources=("DocumentReference/n-7", "Observation/s-1"),
    )  # fmt: skip
    assert line_of(row).endswith("earlier: IVA [Observation/s-1]  [DocumentReference/n-7]")


def test_a_row_whose_sources_are_all_told_keeps_its_newest() -> None:
    row = ViewRow(name="stage", detail="[Observation/s-1]", sources=("Observation/s-1",))
    assert line_of(row).endswith("[Observation/s-1]  [Observation/s-1]")
