"""A value that stands only in a note newer than the newest result is told beside that result."""

from services.language.charts.answer_words import answer_words
from services.language.utterance import ChartQuestion
from services.records.answers.direct import answered
from services.records.views.lines import told
from services.records.views.results import results
from services.statements.rows.known import KnownRows
from tests.services.records.charts import Json, note, record
from tests.services.records.test_chart_tools import lab
from tests.tables import with_cases

ALT = lab("alt", "1742-6", "Alanine aminotransferase (ALT)", {"value": 64, "unit": "U/L"})
LATER = "Seen today. ALT has risen from 64 U/L to 156 U/L, bilirubin 0.6. Prednisolone started."


def said_of(*resources: Json) -> str:
    asked = ChartQuestion("results", {"names": ["ALT"]}, "latest", "ALT")
    view = results(record(*resources), names=["ALT"])
    said = answered([asked], [(asked, view)], answer_words("en"))
    assert isinstance(said, str)
    return said


def test_a_later_note_with_another_figure_is_quoted_with_its_source() -> None:
    later = note("n", "2024-01-03", LATER)
    said = said_of(ALT, later)
    assert "64 U/L" in said
    assert "ALT has risen from 64 U/L to 156 U/L" in said
    assert "2024-01-03" in said
    assert "[DocumentReference/n]" in said
    text = told(results(record(ALT, later), names=["ALT"]), limit_chars=4_000).text
    assert "156 U/L" in text, "a model reads it with the rows"


@with_cases("day", "text")
def test_what_is_older_or_tells_no_other_figure_of_it_is_left_out(day: str, text: str) -> None:
    assert "DocumentReference" not in said_of(ALT, note("n", day, text))


def test_a_note_whose_place_another_took_is_left_out() -> None:
    old = note("old", "2024-01-03", LATER)
    new = note("new", "2024-01-04", "ALT was noted wrongly.")
    new["relatesTo"] = [{"code": "replaces", "target": {"reference": "DocumentReference/old"}}]
    assert "156" not in said_of(ALT, old, new)


def test_at_most_three_notes_are_quoted_the_newest_first() -> None:
    notes = [note(f"n{day}", f"2024-02-0{day}", f"ALT {100 + day} U/L.") for day in range(1, 6)]
    quoted = [one.ref for one in results(record(ALT, *notes), names=["ALT"]).sources if one.quote]
    assert quoted == [f"DocumentReference/n{day}" for day in (5, 4, 3)]


def test_a_model_may_say_what_the_note_says() -> None:
    known = KnownRows()
    known.add_view(results(record(ALT, note("n", "2024-01-03", LATER)), names=["ALT"]))
    assert "DocumentReference/n" in known.sources


FELL_OUT = {**lab("off", "1742-6", "ALT", None, "2024-02-01"), "status": "cancelled"}


def test_a_newer_value_that_was_cancelled_is_told_with_the_reason() -> None:
    said = said_of(ALT, {**FELL_OUT, "note": [{"text": "Sample haemolysed."}]})
    assert "64 U/L" in said
    assert "2024-02-01: “cancelled: Sample haemolysed.” [Observation/off]" in said


def test_a_value_that_was_cancelled_is_told_where_there_is_no_other() -> None:
    said = said_of({**FELL_OUT, "dataAbsentReason": {"text": "Not enough blood"}})
    assert "2024-02-01: “cancelled: Not enough blood” [Observation/off]" in said


def test_an_older_value_that_was_cancelled_is_not_told() -> None:
    assert "cancelled" not in said_of(ALT, {**FELL_OUT, "effectiveDateTime": "2023-02-01"})
