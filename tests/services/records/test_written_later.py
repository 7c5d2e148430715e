"""A value that stands only in a note newer than the newest result is told beside that result."""

from services.records.views.lines import told
from services.records.views.results import results
from services.statements.rows.known import KnownRows
from tests.services.records.charts import note, record
from tests.services.records.test_chart_tools import lab

ALT = lab("alt", "1742-6", "Alanine aminotransferase (ALT)", {"value": 64, "unit": "U/L"})
LATER = "Seen today. ALT has risen from 64 U/L to 156 U/L, bilirubin 0.6. Prednisolone started."


def test_at_most_three_notes_are_quoted_the_newest_first() -> None:
    notes = [note(f"n{day}", f"2024-02-0{day}", f"ALT {100 + day} U/L.") for day in range(1, 6)]
    quoted = [one.ref for one in results(record(ALT, *notes), names=["ALT"]).sources if one.quote]
    assert quoted == [f"DocumentReference/n{day}" for day in (5, 4, 3)]


def test_a_model_may_say_what_the_note_says() -> None:
    view = results(record(ALT, note("n", "2024-01-03", LATER)), names=["ALT"])
    assert "156 U/L" in told(view, limit_chars=4_000).text, "a model reads it with the rows"
    known = KnownRows()
    known.add_view(view)
    assert "DocumentReference/n" in known.sources
