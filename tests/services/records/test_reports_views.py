import pytest

from services.records.views.reports import imaging_reports, pathology_reports
from tests.services.records.charts import record, report, resource


@pytest.mark.parametrize("category", ["RAD", "LP29684-5", "NMR"])
def test_imaging_reports_are_known_by_category(category: str) -> None:
    chart = record(report("r", "2024-01-01", category, "text"))
    assert [item.source.ref for item in imaging_reports(chart).items] == ["DiagnosticReport/r"]
    assert not pathology_reports(chart).items


@pytest.mark.parametrize("category", ["PAT", "GE", "SP"])
def test_pathology_and_genetic_reports_are_known_by_category(category: str) -> None:
    chart = record(report("r", "2024-01-01", category, "text"))
    assert [item.kind for item in pathology_reports(chart).items] == ["pathology report"]


def test_the_newest_reports_are_shown_and_the_rest_counted() -> None:
    chart = record(*(report(f"r{n}", f"20{n}-01-01", "RAD", "text") for n in range(10, 20)))
    shown = imaging_reports(chart, limit=2)
    assert [item.source.date for item in shown.items] == ["2019-01-01", "2018-01-01"]
    assert shown.left_out == 8


def test_a_report_with_only_a_conclusion_has_it_as_its_text() -> None:
    bare = resource(
        "DiagnosticReport", "r", category=[{"coding": [{"code": "RAD"}]}], conclusion="Fine"
    )
    item = imaging_reports(record(bare)).items[0]
    assert (item.text, item.conclusion, item.problem) == ("Fine", None, None)


def test_a_report_without_any_text_says_so() -> None:
    bare = resource("DiagnosticReport", "r", category=[{"coding": [{"code": "RAD"}]}])
    item = imaging_reports(record(bare)).items[0]
    assert (item.text, item.problem) == (None, "no text in the record")
