"""What the check of a sentence costs, in calls: as it is shown while a model writes."""

from services.statements.check import MessageCheck
from services.statements.grounds import Grounds, Speaker
from services.statements.rows.known import KnownRows
from tests.services.statements.test_check import VIEWS
from tests.tables import with_cases
from tests.work import counted_calls


def calls_for(text: str) -> int:
    rows = KnownRows()
    for view in VIEWS:
        rows.add_view(view)
    check = MessageCheck(grounds=Grounds(rows=rows), speaker=Speaker())
    check.check(text)  # the first sentence sorts the rows, for all that follow
    with counted_calls() as made:
        check.check(text)
    return made.count


@with_cases("text", "most")
def test_a_sentence_is_checked_in_few_calls(text: str, most: int) -> None:
    calls_for(text)  # what measures coverage calls from each line that did not run before
    assert calls_for(text) < most
