"""What stands behind a source id, as a clinician reads it."""

from services.records.views.source import source_text
from tests.services.records import charts


def test_a_note_is_shown_whole() -> None:
    text = "First line.\n\nECOG 1, walks unaided."
    shown = source_text(
        charts.record(charts.note("n1", "2024-06-11", text)), "DocumentReference/n1"
    )
    assert shown is not None
    assert (shown.kind, shown.title, shown.date) == ("note", "Note n1", "2024-06-11")
    assert shown.text == text


def test_a_note_is_shown_in_the_order_in_which_it_is_written() -> None:
    note = charts.note("n1", "2024-06-11", "Give \u202e05 mg\u202c \u2066daily\u2069.")
    shown = source_text(charts.record(note), "DocumentReference/n1")
    assert shown is not None
    assert shown.text == "Give 05 mg daily."


def test_a_conclusion_that_the_text_lacks_stands_below_it() -> None:
    report = charts.report("r1", "2024-02-19", "RAD", "A mass.", conclusion="Suspicious mass.")
    shown = source_text(charts.record(report), "DiagnosticReport/r1")
    assert shown is not None
    assert shown.text == "A mass.\n\nConclusion\nSuspicious mass."


def test_an_entry_without_text_is_shown_field_by_field() -> None:
    shown = source_text(charts.record(charts.cancer(onsetDateTime="2024-02")), "Condition/tumour")
    assert shown is not None
    assert (shown.kind, shown.title, shown.date) == (
        "Condition",
        "Adenocarcinoma of lung",
        "2024-02",
    )
    assert (shown.text or "").splitlines() == [
        "Code: Adenocarcinoma of lung",
        "Body site: Right upper lobe",
        "Onset: 2024-02",
        "Recorded date: 2024-03-06",
    ]


def test_an_observation_leads_with_its_value() -> None:
    shown = source_text(charts.record(charts.ecog("e1", "2024-06-11", "1")), "Observation/e1")
    assert shown is not None
    assert (shown.text or "").startswith("Observed: ECOG performance status\nValue: 1\n")


def test_a_text_that_cannot_be_read_is_said_to_be_so() -> None:
    damaged = charts.note("n1", "2024-06-11", "x", data="%%%")
    shown = source_text(charts.record(damaged), "DocumentReference/n1")
    assert shown is not None
    assert (shown.text, shown.problem) == (None, "the text is damaged")


def test_an_id_that_the_record_lacks_has_nothing_behind_it() -> None:
    assert source_text(charts.record(charts.cancer()), "Condition/of-somebody-else") is None
    assert source_text(charts.record(charts.cancer()), "Patient/p9") is None


def test_a_very_long_text_is_cut_and_says_by_how_much() -> None:
    long = charts.note("n1", "2024-06-11", "word " * 30_000)
    shown = source_text(charts.record(long), "DocumentReference/n1")
    assert shown is not None
    assert len(shown.text or "") == 100_000
    assert shown.left_out_chars == len(("word " * 30_000).strip()) - 100_000
