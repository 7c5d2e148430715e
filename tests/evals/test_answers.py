"""How answers to questions on the record are scored."""

from evals.cases import Answer
from evals.scoring.answers import score
from tests.tables import with_cases

POTASSIUM = Answer(
    kind="value", name="potassium", values=("4.1",), unit="mmol/L", dates=("2025-05-19",),
    others=("5.2",), persons=("Tunde Adeyemi",),
)  # fmt: skip


@with_cases("text", "verdict")
def test_a_value_is_right_only_if_it_is_the_first_that_is_told(text: str, verdict: str) -> None:
    assert score(POTASSIUM, text).verdict == verdict


def test_a_value_may_be_rounded_to_four_digits_and_not_to_three() -> None:
    recorded = Answer(kind="value", name="MCV", values=("90.52822145011586",), unit="fL")
    assert score(recorded, "MCV: 90.53 fL").verdict == "right"
    assert score(recorded, "MCV: 90.5 fL").verdict == "wrong"


def test_a_blood_pressure_is_one_value() -> None:
    recorded = Answer(kind="value", name="blood pressure", values=("128/76",), unit="mm[Hg]")
    assert score(recorded, "Blood pressure 128/76 mmHg, 2025-01-02").verdict == "right"
    assert score(recorded, "Blood pressure 128/78 mmHg").verdict == "wrong"


def test_rows_beside_the_text_answer_too() -> None:
    assert (
        score(POTASSIUM, "See the table.", "2025-05-19  Potassium  4.1  mmol/L").verdict == "right"
    )


def test_a_series_must_hold_the_values_and_no_strange_one() -> None:
    wanted = Answer(kind="series", name="CEA", values=("18.4", "3.1", "9.7"), unit="ng/mL")
    assert score(wanted, "CEA: 9.7 ng/mL, earlier 3.1 ng/mL, 18.4 ng/mL").verdict == "right"
    assert score(wanted, "CEA: 9.7 ng/mL, earlier 3.1 ng/mL").verdict == "other"
    assert score(wanted, "CEA: 9.7 ng/mL, 3.1 ng/mL, 19.4 ng/mL").verdict == "wrong"


def test_a_list_must_be_whole_and_hold_nothing_that_is_over() -> None:
    wanted = Answer(kind="list", values=("apixaban", "ramipril"), others=("dexamethasone",))
    assert score(wanted, "- Apixaban 5 mg\n- Ramipril 5 mg").verdict == "right"
    assert score(wanted, "- Apixaban 5 mg").verdict == "missing"
    assert score(wanted, "- Apixaban\n- Ramipril\n- Dexamethasone 4 mg").verdict == "wrong"
    assert score(wanted, "- Apixaban\n- Ramipril\n- Dexamethasone, stopped").verdict == "right"


@with_cases("kind", "text", "verdict")
def test_yes_is_not_no(kind: str, text: str, verdict: str) -> None:
    wanted = Answer(kind="yes" if kind == "yes" else "no", name="essential hypertension")
    assert score(wanted, text).verdict == verdict


def test_what_is_not_there_must_be_said_not_to_be_there() -> None:
    wanted = Answer(kind="absent", name="troponin")
    assert score(wanted, "Troponin is not in the record.").verdict == "right"
    assert score(wanted, "Troponin: 12 ng/L [Observation/t-1]").verdict == "wrong"
    assert score(wanted, "Here is an overview.").verdict == "other"


def test_a_date_may_be_written_in_words() -> None:
    wanted = Answer(kind="date", dates=("2024-02-29",), others=("2023-01-01",))
    assert score(wanted, "The last one was on 29 February 2024.").verdict == "right"
    assert score(wanted, "The last one was on 2023-01-01.").verdict == "wrong"
    assert score(wanted, "No visit is recorded.").verdict == "missing"


def test_a_name_inside_a_longer_one_that_is_wanted_is_not_told() -> None:
    wanted = Answer(kind="list", values=("Chronic sinusitis",), others=("Sinusitis",))
    rows = "- **Chronic sinusitis**, active, 2019-12-13 [Condition/a]"
    assert score(wanted, rows).verdict == "right"
    assert score(wanted, f"{rows}\n- **Sinusitis**, active [Condition/b]").verdict == "wrong"
