# Look-alike letters are meant here.
# ruff: noqa: RUF001


import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_models.identifiers import PatientId
from services.patient_context.reading.candidates import digits_of, find_candidates
from services.patient_context.reading.pattern import PatientIdPattern
from services.patient_context.reading.reading import Ask, Reading, read_message
from services.patient_context.reading.rules import decide_by_rules, is_negated
from tests.services.patient_context.world import PATTERN
from tests.tables import with_cases
from tests.work import counted_calls

FOUR, FIFTEEN = PatientId("patient_4"), PatientId("patient_15")


def ids_in(text: str, *roster: str) -> tuple[str, ...]:
    return find_candidates(text, pattern=PATTERN, roster=[PatientId(one) for one in roster]).ids


def read(text: str, *roster: str, active: str | None = None) -> Reading:
    pointer = None if active is None else PatientId(active)
    known = [PatientId(one) for one in roster]
    return read_message(text, active=pointer, known=known, pattern=PATTERN)


@with_cases("text")
def test_an_id_is_found_whatever_stands_around_it(text: str) -> None:
    assert ids_in(text) == ("patient_15",)


@with_cases("text")
def test_no_id_is_found_where_none_is(text: str) -> None:
    assert ids_in(text) == ()


def test_several_ids_come_in_the_order_of_the_text() -> None:
    assert ids_in("patient_15, then patient_4/patient_7") == (
        "patient_15",
        "patient_4",
        "patient_7",
    )


def test_the_roster_decides_the_spelling_and_may_hold_older_forms() -> None:
    assert ids_in("open LEGACY-7 now", "legacy-7") == ("legacy-7",)


@given(
    st.text(alphabet=" \n\"'`*()[]{}<>,;:!?#@/|~—「」的", max_size=5),
    st.integers(0, 10**9),
    st.text(alphabet=" \n\"'`*()[]{}<>,;:!?#@/|~—「」的", max_size=5),
    st.sampled_from([str.lower, str.upper, str.title]),
)
def test_punctuation_and_case_never_hide_an_id(
    before: str, number: int, after: str, cased: object
) -> None:
    assert callable(cased)
    assert ids_in(f"{before}{cased(f'patient_{number}')}{after}") == (f"patient_{number}",)


@given(st.text())
def test_whatever_is_found_is_an_id_that_was_typed(text: str) -> None:
    for found in ids_in(text):
        assert PATTERN.matches(found)
        assert found in text.lower()


@given(st.integers(0, 999), st.sampled_from(["\u200b", "\u00ad", "\u2060", "\u0301"]), st.data())
def test_an_invisible_character_never_lets_an_id_pass_for_another(
    number: int, invisible: str, data: st.DataObject
) -> None:
    typed = f"patient_1{number}"
    place = data.draw(st.integers(1, len(typed) - 1))
    reading = read(
        f"show {typed[:place]}{invisible}{typed[place:]}", "patient_4", active="patient_4"
    )
    assert reading.doubt is not None
    assert typed in reading.doubt.options


@with_cases("text")
def test_foreign_letters_and_digits_are_asked_about_and_never_guessed(text: str) -> None:
    reading = read(text, "patient_4", active="patient_4")
    assert FIFTEEN not in reading.named
    assert reading.doubt is not None
    assert FIFTEEN in reading.doubt.options


def test_an_id_cut_short_by_a_foreign_digit_is_not_taken_for_the_shorter_one() -> None:
    reading = read("patient_1５", "patient_4", active="patient_4")
    assert reading.doubt == Ask("which", (FIFTEEN, PatientId("patient_1")))


@pytest.mark.parametrize(
    "text", ["naïve café patient_15", "β-catenin in patient_15", "15 µg patient_15"]
)
def test_accents_and_symbols_elsewhere_raise_no_doubt(text: str) -> None:
    reading = read(text, "patient_4", active="patient_4")
    assert reading.doubt is None
    assert reading.named == (FIFTEEN,)


@pytest.mark.parametrize(
    ("text", "roster", "named", "doubt"),
    [
        ("switch to 15", ["patient_15"], (FIFTEEN,), None),
        ("patient 15", ["patient_15"], (FIFTEEN,), None),
        ("Patient-15", ["patient_15"], (FIFTEEN,), None),
        ("patient15", ["patient_15"], (FIFTEEN,), None),
        ("patient no. 15", ["patient_15"], (FIFTEEN,), None),
        ("patient #015", ["patient_15"], (FIFTEEN,), None),
        ("Patient ID: 15", ["patient_15"], (FIFTEEN,), None),
        ("switch to 15", [], (), Ask("meant", (FIFTEEN,))),
        ("move to 5", [], (), None),
        ("move to 9:30", [], (), None),
        ("patients 4 and 15", ["patient_15"], (FOUR, FIFTEEN), Ask("which", (FOUR, FIFTEEN))),
        (
            "switch to 15",
            ["patient_15", "mrn-15"],
            (),
            Ask("which", (FIFTEEN, PatientId("mrn-15"))),
        ),
        ("open 15 and 16", [], (), Ask("which", (FIFTEEN, PatientId("patient_16")))),
        ("open 4 and 15", [], (FOUR,), Ask("which", (FOUR, FIFTEEN))),
        ("patient_15 and patient_4", [], (FIFTEEN, FOUR), Ask("which", (FIFTEEN, FOUR))),
        ("patient_4x", [], (), Ask("id", unfit="patient_4x")),
        ("pateint_15 hb", [], (), Ask("meant", (FIFTEEN,))),
        ("switch to patient_abc", [], (), Ask("id", unfit="patient_abc")),
        ("patient_abc", [], (), Ask("id", unfit="patient_abc")),
        ("and patient_abc, please?", [], (), Ask("id", unfit="patient_abc")),
        ("what about patient_abc", [], (), Ask("id", unfit="patient_abc")),
        ("show me patient_abc", [], (), Ask("id", unfit="patient_abc")),
        ("give me the stage of patient_abc", [], (), Ask("id", unfit="patient_abc")),
        ("for patient_abc: what is the stage?", [], (), Ask("id", unfit="patient_abc")),
    ],
)
def test_who_is_named(
    text: str, roster: list[str], named: tuple[PatientId, ...], doubt: Ask | None
) -> None:
    reading = read(text, "patient_4", *roster, active="patient_4")
    assert (reading.named, reading.doubt) == (named, doubt)


@with_cases("text")
def test_numbers_and_words_of_medicine_name_nobody(text: str) -> None:
    reading = read(text, "patient_4", "patient_15", active="patient_4")
    assert (reading.named, reading.doubt, reading.digits) == ((), None, ())


def test_an_id_inside_a_token_too_long_to_take_apart_is_asked_about() -> None:
    reading = read("x." * 400 + "patient_15" + ".x" * 400, "patient_4", active="patient_4")
    assert reading.doubt is not None
    assert read("x9." * 400, "patient_4", active="patient_4").doubt is None


def test_digits_are_compared_without_leading_zeros() -> None:
    assert digits_of("patient_007") == digits_of("mrn-7") == "7"
    assert digits_of("patient_0") == "0"


@pytest.mark.slow
def test_case_that_the_pattern_does_not_allow_is_not_guessed() -> None:
    pattern = PatientIdPattern.compile("^Pat_[0-9]+$")
    found = find_candidates("open pAT_4", pattern=pattern, roster=())
    assert (found.ids, found.unfit) == ((), ("pAT_4",))


@pytest.mark.parametrize(
    "text",
    [
        "a." * 8_000,
        "patient_4 " * 1_600,
        "patient_" * 2_000,
        "1 " * 8_000,
        "patient 1 " * 1_600,
        "no, " * 4_000,
        "ok: " * 4_000,
        "патиент_1 " * 1_600,
        "not " * 4_000,
        "switch to the " * 1_100,
        "patient_4 " + "not " * 3_990,
        "patient " + "id " * 5_000,
        "switch to " + "the patient " * 1_200,
    ],
)
@pytest.mark.slow
def test_a_long_hostile_text_is_read_without_looking_back(text: str) -> None:
    roster = [PatientId(f"patient_{number}") for number in range(1_000)]

    def calls(some: str) -> int:
        with counted_calls() as made:
            reading = read_message(some, active=roster[0], known=roster, pattern=PATTERN)
            decide_by_rules(reading)
            is_negated(reading)
        return made.count

    calls(
        text[: len(text) // 8]
    )  # what measures coverage calls from each line that did not run before
    # Eight times as long takes eight times the work; squared, 64 times.
    assert calls(text) < 16 * calls(text[: len(text) // 8])
