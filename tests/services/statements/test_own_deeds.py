"""What an agent says to have done, in words that no list holds, is believed of tools only."""

import pytest

from services.statements.check import MessageCheck
from services.statements.deeds import proven_by
from services.statements.grounds import Grounds, Speaker
from tests.tables import with_cases


def state(text: str, *, reads_records: bool, grounds: Grounds | None = None) -> str:
    check = MessageCheck(grounds=grounds or Grounds(), speaker=Speaker(reads_records=reads_records))
    return check.check(text).state


@pytest.mark.parametrize("reads_records", [True, False])
@with_cases("text")
def test_what_nobody_did_is_not_said_unmarked(text: str, reads_records: bool) -> None:
    assert state(text, reads_records=reads_records) in ("unsupported", "contradicted")


@pytest.mark.parametrize("reads_records", [True, False])
@with_cases("text")
def test_what_an_answer_is_made_by_is_no_deed(text: str, reads_records: bool) -> None:
    assert state(text, reads_records=reads_records) == "unchecked"


def test_a_deed_of_another_kind_than_the_tools_is_marked() -> None:
    done = Grounds(deeds=set(proven_by("draft_mail")))
    assert state("I have saved the mail.", reads_records=False, grounds=done) == "unchecked"
    assert state("I phoned the family.", reads_records=False, grounds=done) == "unsupported"


LEADS = Speaker(leads=True, reads_records=False)


@with_cases("text")
def test_what_who_leads_notes_as_done_is_not_believed(text: str) -> None:
    check = MessageCheck(grounds=Grounds(), speaker=LEADS)
    assert check.check(text).state in ("unsupported", "contradicted")


@with_cases("text")
def test_what_who_leads_says_without_a_deed_is_not_marked(text: str) -> None:
    assert MessageCheck(grounds=Grounds(), speaker=LEADS).check(text).state == "unchecked"


@pytest.mark.parametrize("tool", ["add_task", "start_scenario", "resume_scenario"])
def test_what_a_tool_of_who_leads_did_may_be_noted(tool: str) -> None:
    done = Grounds(deeds=set(proven_by(tool)))
    assert MessageCheck(grounds=done, speaker=LEADS).check("Resumed.").state == "unchecked"
