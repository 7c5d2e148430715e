import pytest

from data_models.identifiers import PatientId
from services.patient_context.decision import decide
from services.patient_context.reading.reading import Reading, read_message
from tests.services.patient_context.world import PATTERN, says
from tests.tables import with_cases

TWO = ("patient_15", "patient_4")
THREE = ("patient_7", "patient_15", "patient_4")
NEEDS = "NEEDS_PATIENT_ID"


def read(text: str, roster: tuple[str, ...], active: str | None) -> Reading:
    pointer = None if active is None else PatientId(active)
    known = [PatientId(one) for one in roster]
    return read_message(text, active=pointer, known=known, pattern=PATTERN)


@with_cases("action", "said", "text", "roster", "active", "expected")
def test_the_table_of_decisions(
    action: str,
    said: str | None,
    text: str,
    roster: tuple[str, ...],
    active: str | None,
    expected: tuple[str, str | None],
) -> None:
    meant = says(action, said)  # type: ignore[arg-type]  # the table's own words
    outcome = decide(meant, read(text, roster, active), restored=False, pattern=PATTERN)
    assert (outcome.decision, outcome.patient_id) == expected


@pytest.mark.parametrize("action", ["UNCHANGED", "NONE"])
def test_a_restored_patient_is_said_to_be_restored(action: str) -> None:
    meant = says(action)  # type: ignore[arg-type]  # the table's own words
    outcome = decide(meant, read("labs", TWO, "patient_4"), restored=True, pattern=PATTERN)
    assert (outcome.decision, outcome.patient_id) == ("RESTORED_FROM_STORAGE", "patient_4")


def test_a_wish_to_clear_in_other_words_is_asked_about() -> None:
    outcome = decide(
        says("CLEAR"), read("wipe it", TWO, "patient_4"), restored=False, pattern=PATTERN
    )
    assert outcome.ask is not None
    assert outcome.ask.kind == "clear"


@pytest.mark.parametrize(
    ("action", "said", "text", "options"),
    [
        pytest.param(
            "SWITCH_EXISTING", "patient_15", "the patient", ["patient_15"], id="only a guess"
        ),
        pytest.param("ACTIVATE_NEW", "patient_99", "the patient", [], id="an invented id"),
        pytest.param(
            "UNCHANGED", None, "as in patient_15", ["patient_4", "patient_15"], id="in passing"
        ),
        pytest.param(
            "SWITCH_EXISTING",
            "patient_4",
            "as in patient_15",
            ["patient_4", "patient_15"],
            id="the active one beside another",
        ),
        pytest.param(
            "SWITCH_EXISTING",
            "patient_7",
            "as in patient_15",
            ["patient_4", "patient_15"],
            id="a third one",
        ),
        pytest.param(
            "SWITCH_EXISTING",
            "patient_15",
            "don't go to patient_15",
            ["patient_4", "patient_15"],
            id="negated",
        ),
        pytest.param(
            "UNCHANGED",
            None,
            "what did the other patient have?",
            ["patient_7", "patient_15"],
            id="the other of three",
        ),
        pytest.param(
            "SWITCH_EXISTING",
            "patient_15",
            "the previous patient had it",
            ["patient_15"],
            id="the previous one",
        ),
        pytest.param(
            "UNCHANGED", None, "patient 15 has it", ["patient_4", "patient_15"], id="digits"
        ),
        pytest.param(
            "SWITCH_EXISTING",
            "patient_15",
            "patient_4 or patient_15",
            ["patient_4", "patient_15"],
            id="two",
        ),
    ],
)
def test_a_model_cannot_talk_code_into_the_wrong_patient(
    action: str, said: str | None, text: str, options: list[str]
) -> None:
    meant = says(action, said)  # type: ignore[arg-type]  # the table's own words
    outcome = decide(meant, read(text, THREE, "patient_4"), restored=False, pattern=PATTERN)
    assert (outcome.decision, outcome.patient_id) == (NEEDS, "patient_4")
    assert outcome.ask is not None
    assert list(outcome.ask.options) == options


def test_the_active_patient_is_no_answer_to_the_other_patient() -> None:
    meant = says("SWITCH_EXISTING", "patient_4")
    reading = read("did the other patient have it?", TWO, "patient_4")
    outcome = decide(meant, reading, restored=False, pattern=PATTERN)
    assert (outcome.decision, outcome.patient_id) == (NEEDS, "patient_4")


def test_what_is_negated_and_read_as_staying_stays() -> None:
    outcome = decide(
        says("UNCHANGED"),
        read("don't switch to patient_15", TWO, "patient_4"),
        restored=False,
        pattern=PATTERN,
    )
    assert (outcome.decision, outcome.patient_id) == ("UNCHANGED", "patient_4")


@pytest.mark.parametrize("text", ["what about 15?", "now for 15"])
def test_typed_digits_let_a_model_switch_to_the_one_they_fit(text: str) -> None:
    outcome = decide(
        says("SWITCH_EXISTING", "patient_15"),
        read(text, TWO, "patient_4"),
        restored=False,
        pattern=PATTERN,
    )
    assert (outcome.decision, outcome.patient_id) == ("SWITCH_EXISTING", "patient_15")
