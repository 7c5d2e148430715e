"""What was refused, discussed or of a relative is no fact of the patient; true ones beside it."""

from functools import cache

import pytest

from services.statements.check import MessageCheck
from services.statements.grounds import Speaker
from tests.services.statements.fresh import grounds_of
from tests.tables import with_cases

grounds = cache(grounds_of)


@with_cases("chart", "text")
@pytest.mark.slow
def test_what_is_untrue_is_not_supported(chart: str, text: str) -> None:
    found = MessageCheck(grounds=grounds(chart), speaker=Speaker()).check(text)
    assert found.state in ("unsupported", "contradicted")


@pytest.mark.slow
@with_cases("chart", "text")
def test_what_is_true_is_supported(chart: str, text: str) -> None:
    assert MessageCheck(grounds=grounds(chart), speaker=Speaker()).check(text).state == "supported"
