"""Sentences over small charts: what each rule of the check finds of right and of wrong ones."""

import pytest

from tests.services.statements.charted import Case, cases


@pytest.mark.parametrize(
    "case", [pytest.param(one, id=f"{one.chart}: {one.rule}") for one in cases()]
)
@pytest.mark.slow
def test_a_sentence_is_judged_by_the_rows_of_its_chart(case: Case) -> None:
    assert case.state() in case.wanted, case.said
