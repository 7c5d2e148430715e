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

TEAM = ("Orchestrator", "PatientHistory", "Radiology", "Pathology")
BACK = HandsBack("Orchestrator")
NOBODY = HandsToNobody()


def read(text: str, speaker: str = "PatientHistory") -> HandOver:
    return read_hand_over(text, speaker=speaker, names=TEAM)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Back to you *Orchestrator*.", BACK),
        ("Back to you Orchestrator.", BACK),
        ("Zurück an *Orchestrator*.", BACK),
        ("back to you, *orchestrator*", BACK),
        ("Imaging is reviewed. Back to you *Orchestrator*.", BACK),
        ("Done.\n\n  Back to you **Orchestrator**!  \n\n", BACK),
        ("Back to you *Radiology*.", HandsBack("Radiology")),
        ("*Radiology*, please compare the CTs.", Addresses(("Radiology",))),
        ("*Radiology* please compare the CTs", Addresses(("Radiology",))),
        ("*Radiology*, is the lesion new?", Addresses(("Radiology",))),
        ("- *Radiology*: compare the CTs", Addresses(("Radiology",))),
        ("Step 2 of 3: *Radiology*, review imaging", Addresses(("Radiology",))),
        ("Over to *Radiology*.", Addresses(("Radiology",))),
        ("*Radiology* and *Pathology*, please go on.", Addresses(("Radiology", "Pathology"))),
        ("*Radiology*, *Pathology*: please go on.", Addresses(("Radiology", "Pathology"))),
        ("Shall I go ahead?", AsksUser()),
        ("Shall I hand over to *Radiology*?", AsksUser()),
        ("Should *Radiology* review it?", AsksUser()),
        ("*Shall I go ahead?*", AsksUser()),
        ("続けますか？", AsksUser()),  # noqa: RUF001
        ("The CT is stable.", NOBODY),
        ("*Radiology* found a stable lesion.", NOBODY),
        ("As *Radiology* said, it is stable.", NOBODY),
        ("*Oncology*, please go on.", NOBODY),
        ("Back to you *Oncology*.", NOBODY),
        ("I said back to you *Orchestrator* earlier in this note", NOBODY),
        ("Back to you *Orchestrator*.\nThe end.", NOBODY),
        ("Is it new?\nYes, it is.", NOBODY),
        ("", NOBODY),
        ("\n \n", NOBODY),
    ],
)
def test_the_last_line_says_who_goes_on(text: str, expected: HandOver) -> None:
    assert read(text) == expected


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
