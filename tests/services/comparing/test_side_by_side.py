"""Rows of two charts in one table, each under the identifiers of its own patient."""

from data_models.chart_view import ChartView, ViewRow
from services.statements.shown import pipe_table
from services.turn.answers.comparing import ROWS_LIMIT, ChartRead, side_by_side

LEFT, RIGHT = "Ada Grant, born 1950-01-02 (patient_1)", "Bo King, born 1960-03-04 (patient_2)"


def view(*rows: ViewRow, title: str = "Potassium") -> ChartView:
    return ChartView(tool="results", kind="series", title=title, rows=rows, patient_id="x")


def read(heading: str, *views: ChartView | None) -> ChartRead:
    return ChartRead(heading, heading, views)


def test_each_value_stands_under_its_own_patient_and_what_one_lacks_is_said() -> None:
    left = view(ViewRow(name="Potassium", value="4.1", unit="mmol/L", date="2024-05-06T10:00:00Z"))
    right = view(ViewRow(name="Sodium", value="139", unit="mmol/L", flag="low"))

    table = side_by_side(read(LEFT, left), read(RIGHT, right), view_id="v")

    assert table.labels == ("", LEFT, RIGHT)
    assert [(row.name, row.value, row.detail) for row in table.rows] == [
        ("Potassium", "4.1 mmol/L (2024-05-06)", "–"),
        ("Sodium", "–", "139 mmol/L low"),
    ]


def test_what_could_not_be_read_is_never_shown_as_nothing() -> None:
    left = view(ViewRow(name="Penicillin", status="active"), title="Allergies")

    table = side_by_side(read(LEFT, left), read(RIGHT, None), view_id="v")

    assert table.rows[0].detail == "could not be read"


def test_where_neither_has_anything_both_are_told() -> None:
    nothing = ChartView(tool="allergies", kind="table", title="Allergies", nothing="none recorded")

    table = side_by_side(read(LEFT, nothing), read(RIGHT, nothing), view_id="v")

    assert [(row.name, row.value, row.detail) for row in table.rows] == [
        ("Allergies", "none recorded", "none recorded")
    ]


def test_a_long_comparison_says_how_much_is_left_out() -> None:
    many = view(*(ViewRow(name=f"Thing {place}", value="1") for place in range(ROWS_LIMIT + 7)))

    table = side_by_side(read(LEFT, many), read(RIGHT, view()), view_id="v")

    assert len(table.rows) == ROWS_LIMIT
    assert table.left_out[0].count == 7


def test_a_plain_surface_shows_both_identifiers_over_the_columns() -> None:
    left = view(ViewRow(name="Potassium", value="4.1"))

    text = pipe_table(side_by_side(read(LEFT, left), read(RIGHT, left), view_id="v"))

    assert f"| {LEFT} | {RIGHT} |" in text
    assert "| Potassium | 4.1 | 4.1 |" in text
