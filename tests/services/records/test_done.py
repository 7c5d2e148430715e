"""What procedures tell beside a list of its own kind."""

from tests.services.records.test_said_otherwise import row, said
from tests.tables import with_cases

_PREGNANCY = row("problem", "Normal pregnancy", "2019-09-04", status="resolved", end="2019-10-02")
_ENDED = row("procedure", "Induced termination of pregnancy", "2019-09-18")
_TOLD = row("procedure", "Counseling for termination of pregnancy", "2019-09-18")


@with_cases("text")
def test_how_a_pregnancy_ended_is_told_with_it(text: str) -> None:
    told = said(text, {"problems": (_PREGNANCY,), "procedures": (_ENDED, _TOLD)})
    assert "**Normal pregnancy**" in told
    assert "**Induced termination of pregnancy**" in told
    assert "Counseling" not in told
