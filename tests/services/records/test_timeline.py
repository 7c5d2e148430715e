from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from services.records.views.timeline import ALL_KINDS, timeline
from tests.services.records.charts import cancer, ecog, note, record, report, resource


def test_events_come_oldest_first_with_their_sources_and_undated_last() -> None:
    chart = record(
        note("n", "2025-02-01", "Seen in clinic.\nMore."),
        ecog("undated", None, "1"),
        cancer(onsetDateTime="2024"),
        report("r", "2024-05-01", "RAD", "CT: stable"),
        resource("Procedure", "p", code={"text": "Biopsy"}, performedDateTime="2024-06"),
    )
    shown = [(event.date, event.kind, event.source.ref) for event in timeline(chart).events]
    assert shown == [
        ("2024", "diagnosis", "Condition/tumour"),
        ("2024-05-01", "imaging", "DiagnosticReport/r"),
        ("2024-06", "procedure", "Procedure/p"),
        ("2025-02-01", "note", "DocumentReference/n"),
        (None, "observation", "Observation/undated"),
    ]


def test_a_partial_date_is_inside_a_span_that_it_touches() -> None:
    chart = record(
        ecog("year", "2024", "1"), ecog("late", "2024-12-31", "2"), ecog("no", "2023", "3")
    )

    shown = timeline(chart, since=date(2024, 7, 1), until=date(2024, 8, 1))
    assert [event.source.ref for event in shown.events] == ["Observation/year"]


def test_a_span_leaves_undated_events_out_and_counts_them() -> None:
    shown = timeline(record(ecog("undated", None, "1")), since=date(2024, 1, 1))
    assert (shown.events, shown.undated_left_out) == ((), 1)


def test_laboratory_values_are_counted_and_shown_on_request() -> None:
    lab = ecog("lab", "2024-01-01", "5", category=[{"coding": [{"code": "laboratory"}]}])
    chart = record(lab)

    assert timeline(chart).other_kinds == {"laboratory": 1}
    assert len(timeline(chart, kinds=frozenset({"laboratory"})).events) == 1


def test_what_was_not_done_is_not_told_as_done() -> None:
    chart = record(resource("Procedure", "p", status="not-done", code={"text": "Surgery"}))
    assert timeline(chart).events[0].detail == "not done"


@given(
    st.lists(st.none() | st.dates(date(2000, 1, 1), date(2030, 1, 1)), max_size=30),
    st.integers(min_value=0, max_value=10),
)
def test_the_newest_events_are_kept_and_the_rest_counted(
    days: list[date | None], limit: int
) -> None:
    rows = [ecog(f"e{n}", day.isoformat() if day else None, "1") for n, day in enumerate(days)]
    shown = timeline(record(*rows), kinds=ALL_KINDS, limit=limit)

    dated = sorted((day.isoformat() for day in days if day), reverse=True)
    assert len(shown.events) + shown.left_out == len(days)
    assert len(shown.events) == min(limit, len(days))
    kept = [event.date for event in shown.events if event.date]
    assert kept == sorted(dated[:limit])
