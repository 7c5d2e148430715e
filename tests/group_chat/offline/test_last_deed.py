"""Who asks whether something was done is told what was done, or left, last."""

import pytest

from group_chat.offline.plain_talk import plain_answer
from group_chat.offline.prompt import Prompt
from group_chat.window import Line

ANSWERED = (
    Line("Secretary", "*Secretary*, please see to this.\n\n**Added**\n- call the lab"),
    Line("PatientStatus", "**stage**: IVB, 2025-05-23 [DocumentReference/note-7]"),
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked", ["did you do it?", "what did you do today?", "hast du es erledigt?"]
)
def test_the_last_deed_is_told(asked: str) -> None:
    told = plain_answer(Prompt(asked=asked, earlier=ANSWERED))
    assert told is not None
    assert "**Added**\n- call the lab" in told.text


@pytest.mark.parametrize(
    "report",
    ["Cancelled: *Tumor board*, Sun 29 Nov 15:00.", "Nothing was changed: *A* stays as it is."],
)
def test_what_was_done_or_left_by_code_is_told(report: str) -> None:
    told = plain_answer(Prompt(asked="did you cancel it?", earlier=[*ANSWERED, Line("A", report)]))
    assert told is not None
    assert report in told.text
