"""What procedures tell beside a list of its own kind."""

import pytest

from tests.services.records.test_said_otherwise import row, said

_PREGNANCY = row("problem", "Normal pregnancy", "2019-09-04", status="resolved", end="2019-10-02")
_ENDED = row("procedure", "Induced termination of pregnancy", "2019-09-18")
_TOLD = row("procedure", "Counseling for termination of pregnancy", "2019-09-18")


@pytest.mark.parametrize(
    "text",
    ["what was the outcome of her pregnancy?", "how did her pregnancy end", "G/P?",
     "ever been pregnant?", "Wie endete die Schwangerschaft?"],
)  # fmt: skip
def test_how_a_pregnancy_ended_is_told_with_it(text: str) -> None:
    told = said(text, {"problems": (_PREGNANCY,), "procedures": (_ENDED, _TOLD)})
    assert "**Normal pregnancy**" in told
    assert "**Induced termination of pregnancy**" in told
    assert "Counseling" not in told


def test_who_is_asked_about_now_is_told_of_no_earlier_end() -> None:
    told = said("is she pregnant?", {"problems": (_PREGNANCY,), "procedures": (_ENDED,)})
    assert told.startswith("No longer")
    assert "termination" not in told
