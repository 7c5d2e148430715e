import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.language.model_output.hand_over import (
    Addresses,
    AsksUser,
    HandOver,
    HandsBack,
    HandsToNobody,
    read_hand_over,
)
from tests.tables import with_cases

TEAM = ("Orchestrator", "PatientHistory", "Radiology", "Pathology")
NOBODY = HandsToNobody()


def read(text: str, speaker: str = "PatientHistory") -> HandOver:
    return read_hand_over(text, speaker=speaker, names=TEAM)


@with_cases("text", "goes_on")
def test_the_last_line_says_who_goes_on(text: str, goes_on: list[str]) -> None:
    how, *agents = goes_on
    assert (
        read(text)
        == {
            "back": HandsBack("".join(agents)),
            "to": Addresses(tuple(agents)),
            "asks": AsksUser(),
            "nobody": NOBODY,
        }[how]
    )


def test_a_speaker_cannot_hand_to_itself() -> None:
    assert read("*Radiology*, go on.", speaker="Radiology") == NOBODY
    assert read("Back to you *Radiology*.", speaker="Radiology") == NOBODY


@given(st.text(max_size=200), st.text(alphabet="*Rradiology,.?: back to you", max_size=200))
def test_any_text_is_read_and_only_the_team_is_named(first: str, second: str) -> None:
    found = read(f"{first}\n{second}")
    named = found.agents if isinstance(found, Addresses) else ()
    assert set(named) <= set(TEAM)


@pytest.mark.timeout(60)
def test_a_long_hostile_line_is_read_at_once() -> None:
    assert read("*Radiology* and " * 100_000) == NOBODY
    assert read("*" * 1_000_000) == NOBODY
