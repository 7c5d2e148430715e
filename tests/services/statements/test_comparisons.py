"""Comparisons, ranges, classes of drugs, grave reactions: each beside its lie."""

from tests.services.statements.test_check import state
from tests.tables import with_cases


@with_cases("text")
def test_what_the_rows_bear_out_is_supported(text: str) -> None:
    assert state(text) == "supported"


@with_cases("text")
def test_what_the_rows_do_not_bear_out_is_marked(text: str) -> None:
    assert state(text) in ("contradicted", "unsupported")
