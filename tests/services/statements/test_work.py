"""What the check of a sentence costs, in calls: as it is shown while a model writes."""

from services.statements.check import MessageCheck
from services.statements.grounds import Grounds, Speaker
from services.statements.rows.known import KnownRows
from tests.services.statements.test_check import VIEWS
from tests.tables import with_cases
from tests.work import counted_calls


def calls_for(text: str, *earlier: str) -> int:
    rows = KnownRows()
    for view in VIEWS:
        rows.add_view(view)
    for one in earlier:
        rows.add_text(one, date=None, sources=("MedicationStatement/rami",))
    check = MessageCheck(grounds=Grounds(rows=rows), speaker=Speaker())
    check.check(text)  # the first sentence sorts the rows, for all that follow
    with counted_calls() as made:
        check.check(text)
    return made.count


@with_cases("text", "most")
def test_a_sentence_is_checked_in_few_calls(text: str, most: int) -> None:
    calls_for(text)  # what measures coverage calls from each line that did not run before
    assert calls_for(text) < most


def test_a_sentence_is_compared_with_earlier_answers_until_one_has_all_its_words() -> None:
    earlier = [f"Ramipril was given in {year}." for year in range(1940, 2020)]
    alone, beside = (calls_for("She takes ramipril.", *told) for told in (earlier[:1], earlier))
    assert (beside - alone) / len(earlier) < 150
