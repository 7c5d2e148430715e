"""Which rows of a view a question asks for."""

import pytest

from data_models.chart_view import ChartView, ViewRow
from services.language.charts.answer_words import answer_words
from services.language.utterance import ChartQuestion
from services.records.answers.choosing.asked_rows import asked_rows
from services.records.answers.direct import answered
from services.records.views.lists import procedures
from tests.services.records.charts import record, resource
from tests.work import counted_calls


def _view(tool: str, *rows: ViewRow) -> ChartView:
    return ChartView(kind="table", tool=tool, title=tool, rows=rows)


@pytest.mark.parametrize("title", ["Digital Radiography", "Chest radiographs, two views"])
def test_an_x_ray_is_found_under_the_names_of_its_modality(title: str) -> None:
    study = ViewRow(kind="imaging study", name="Imaging study", value=title)
    other = ViewRow(kind="imaging study", name="Imaging study", value="Computed Tomography")
    question = ChartQuestion(tool="imaging_reports", name="x ray")
    assert asked_rows(question, _view("imaging_reports", other, study)).rows == (study,)


def test_a_row_that_nothing_is_asked_of_costs_a_look_and_no_more() -> None:
    view = _view("vitals", *[ViewRow(kind="vital sign", name="Pulse", date="2025-03-01")] * 100)
    with counted_calls() as calls:
        assert len(asked_rows(ChartQuestion("vitals"), view).rows) == 100
    assert calls.count < 400


def test_a_vaccine_is_found_by_the_illness_that_it_prevents() -> None:
    given = ViewRow(kind="immunization", name="Hep B, adolescent or pediatric")
    other = ViewRow(kind="immunization", name="Hep A, adult")
    question = ChartQuestion(tool="search_record", name="hepatitis b")
    assert asked_rows(question, _view("search_record", other, given)).rows == (given,)


def test_a_test_of_another_illness_is_not_its_vaccine() -> None:
    other = ViewRow(kind="laboratory", name="Hepatitis C antibody")
    question = ChartQuestion(tool="search_record", name="hepatitis b vaccine")
    assert not asked_rows(question, _view("search_record", other)).rows


@pytest.mark.parametrize("name", ["external beam radiation therapy", "beam radiotherapy"])
@pytest.mark.parametrize(
    "recorded", ["External beam radiotherapy", "Beam radiation therapy, external"]
)
def test_radiotherapy_is_found_however_many_words_it_is_written_in(
    name: str, recorded: str
) -> None:
    done = resource("Procedure", "rt", code={"text": recorded}, performedDateTime="2024-12-02")
    chart = record(done)
    assert [row.name for row in procedures(chart, name=name).rows] == [recorded]


def test_what_speaks_of_part_of_a_longer_name_is_told_beside_its_absence() -> None:
    asked = ChartQuestion("problems", {"status": "all"}, "whether", "polyp malignant")
    search = ChartQuestion("search_record", {"query": "polyp malignant"}, "all", "polyp malignant")
    polyp = ViewRow(
        kind="problem", name="Polyp of colon", status="active", sources=("Condition/p",)
    )
    other = ViewRow(kind="procedure", name="Colonoscopy", sources=("Procedure/c",))
    given = [(asked, _view("problems", polyp)), (search, _view("search_record", polyp, other))]

    said = answered([asked], given, answer_words("en"))
    assert isinstance(said, str)
    assert said.startswith("“polyp malignant” (1 problem): not in the record.")
    assert "**Polyp of colon**" in said
    assert "Colonoscopy" not in said


def test_a_vague_word_of_a_name_is_no_part_of_it() -> None:
    asked = ChartQuestion("results", {"names": ["blood type"]}, "all", "blood type")
    search = ChartQuestion("search_record", {"query": "blood type"}, "all", "blood type")
    row = ViewRow(kind="vital sign", name="Blood Pressure", value="120/80")
    given = [(asked, _view("results")), (search, _view("search_record", row))]

    assert "Blood Pressure" not in str(answered([asked], given, answer_words("en")))


def test_part_of_a_name_that_is_known_is_another_thing() -> None:
    asked = ChartQuestion("results", {"names": ["hemoglobin a1c"]}, "latest", "hemoglobin a1c")
    search = ChartQuestion("search_record", {"query": "hemoglobin a1c"}, "all", "hemoglobin a1c")
    row = ViewRow(kind="laboratory", name="Hemoglobin [Mass/volume] in Blood", value="14.8")
    given = [(asked, _view("results")), (search, _view("search_record", row))]

    assert "14.8" not in str(answered([asked], given, answer_words("en")))


def test_a_vaccination_tells_of_no_illness() -> None:
    asked = ChartQuestion("problems", {"status": "all"}, "whether", "pneumonia")
    search = ChartQuestion("search_record", {"query": "pneumonia"}, "all", "pneumonia")
    given_shot = ViewRow(kind="immunization", name="Pneumococcal conjugate PCV 13")
    given = [(asked, _view("problems")), (search, _view("search_record", given_shot))]

    assert "PCV 13" not in str(answered([asked], given, answer_words("en")))
