"""What users said stands beside the rows it is about, and beside no others."""

from collections.abc import Sequence

import pytest

from services.language.utterance import ChartQuestion
from services.records.answers.as_said import said_of

LATEX, DNR, WEIGHT = "She is allergic to latex.", "She is DNR.", "She weighs 61 kg today."
HELD = (LATEX, DNR, WEIGHT)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (ChartQuestion("allergies"), [LATEX]),
        (ChartQuestion("allergies", name="latex"), [LATEX]),
        (ChartQuestion("allergies", name="penicillin"), []),
        (ChartQuestion("care", name="directive"), [DNR]),
        (ChartQuestion("results", {"names": ["weight"]}, name="weight"), [WEIGHT]),
        (ChartQuestion("results", {"names": ["CEA"]}, name="CEA"), []),
        (ChartQuestion("medications"), []),
    ],
)
def test_a_question_is_shown_what_was_said_of_it(
    question: ChartQuestion, said: Sequence[str]
) -> None:
    assert list(said_of([question], HELD)) == list(said)
