"""What a model said of charts that have it otherwise: another way, later, declined, long ago."""

from datetime import date

import pytest

from services.language.sentences.sentences import sentences_of
from services.statements.check import MessageCheck
from services.statements.grounds import Speaker
from tests.services.statements.fresh import grounds_of
from tests.tables import with_cases

TODAY = date(2026, 11, 22)


def state(chart: str, text: str) -> str:
    grounds = grounds_of(chart)
    grounds.rows.today = TODAY
    check = MessageCheck(grounds=grounds, speaker=Speaker())
    return [check.check(one).state for one in sentences_of(text)][-1]


@pytest.mark.slow
@with_cases("chart", "text")
def test_what_the_chart_has_otherwise_is_marked(chart: str, text: str) -> None:
    assert state(chart, text) in ("unsupported", "contradicted")


@pytest.mark.slow
@with_cases("chart", "text")
def test_what_the_chart_has_so_is_not_marked(chart: str, text: str) -> None:
    assert state(chart, text) in ("supported", "unchecked")


@pytest.mark.slow
@with_cases("text")
def test_what_is_said_in_another_language_is_marked(text: str) -> None:
    assert state("patient_7", text) == "unsupported"


@pytest.mark.slow
@with_cases("text")
def test_what_claims_nothing_is_not_marked(text: str) -> None:
    assert state("patient_7", text) == "unchecked"
