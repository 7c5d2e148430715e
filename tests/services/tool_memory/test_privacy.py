"""Other patients stay out of what a model sees of a clinician's own things."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.language.people.names_within import CHECKED_LIMIT_CHARS, names_one_of
from services.tool_memory.extractors import with_time_only
from tests.tables import with_cases

OTHERS = frozenset({"patient_15", "MRN-77.4", "Zoë Çelik-Sørensen", "Doyle", "J Doyle"})


@with_cases("text")
def test_whoever_is_named_is_withheld_however_it_is_written(text: str) -> None:
    for row in ({"title": text}, {"attendees": [{"name": text}]}, {"body": f"a\n{text}\nb"}):
        assert names_one_of(row, OTHERS)
    row = {"id": "e", "title": text, "start": "2026-11-25T15:00:00Z", "location": text}
    assert [with_time_only(row, "calendar_event")] == [
        {"id": "e", "title": "other appointment", "start": "2026-11-25T15:00:00Z"}
    ]


@pytest.mark.parametrize("text", ["patient_1", "patient_155", "Doyleston", "Zoe", "MRN 77", ""])
def test_nobody_else_is(text: str) -> None:
    assert not names_one_of({"title": text}, OTHERS)


@given(before=st.text(max_size=20), after=st.text(max_size=20))
def test_what_stands_around_a_name_does_not_hide_it(before: str, after: str) -> None:
    assert names_one_of({"title": f"{before} Doyle {after}"}, OTHERS)


@pytest.mark.parametrize(
    ("told", "written"),
    [("Müller", "Mueller"), ("Mueller", "Müller"), ("Mueller", "Muller"), ("Ørsted", "Oersted")],
)
def test_both_spellings_of_a_vowel_are_one_name(told: str, written: str) -> None:
    assert names_one_of({"title": f"MRI of {written}"}, frozenset({told}))


@pytest.mark.slow
@given(before=st.integers(0, 90_000), blank=st.sampled_from(["word ", "x\n", "long-line", "é, "]))
def test_how_far_in_a_name_stands_makes_no_difference(before: int, blank: str) -> None:
    text = (blank * (before // len(blank) + 1))[:before]
    assert names_one_of({"body": f"{text} Zoë Çelik-Sørensen {text}"}, OTHERS)


@pytest.mark.slow
def test_a_text_too_long_to_look_through_is_taken_to_name_somebody() -> None:
    assert not names_one_of({"body": "word " * (CHECKED_LIMIT_CHARS // 5)}, OTHERS)
    assert names_one_of({"body": "word " * (CHECKED_LIMIT_CHARS // 5 + 1)}, OTHERS)


def test_a_thousand_patients_cost_little() -> None:
    many = frozenset(f"Given{number} Family{number}" for number in range(6_000))
    rows = [{"title": f"Meeting {number}", "body": "word " * 200} for number in range(25)]
    assert sum(names_one_of(row, many) for row in rows) == 0


NOVAK = frozenset({"patient_21", "Ji\u0159\u00ed Nov\u00e1k", "Nov\u00e1k", "J Nov\u00e1k"})


@with_cases("called", "is_other")
def test_a_namesake_in_the_address_book_is_nobody_elses(called: str, is_other: bool) -> None:
    row = {"id": "contact-p-novak", "name": called, "email": "p.novak@hospital.example"}
    assert names_one_of(row, NOVAK, called=called) is is_other
    assert names_one_of(
        {**row, "notes": "brother of Ji\u0159\u00ed Nov\u00e1k"}, NOVAK, called=called
    )


def test_what_is_withheld_is_called_by_its_kind() -> None:
    assert with_time_only({"id": "c", "name": "Doyle"}, "contact")["title"] == "other contact"
