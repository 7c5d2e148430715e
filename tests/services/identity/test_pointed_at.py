"""Somebody told by age, by being a child, by initials or by half a name is not the open patient."""

import pytest

from tests.services.identity.test_better_fit import ids, subject_of
from tests.tables import with_cases


@pytest.mark.slow
@with_cases("active", "text")
async def test_who_is_pointed_at_is_no_open_patient(active: int, text: str) -> None:
    assert (await subject_of(text, active=active)).outcome in ("unsure", "other")


@with_cases("text", "reason", "meant")
async def test_who_is_near_a_name_of_nobody_is_shown(text: str, reason: str, meant: str) -> None:
    found = await subject_of(text, active=9, roster=(12, 15))

    assert (found.outcome, found.reason, ids(found)) == ("unsure", reason, [meant])


@pytest.mark.slow
@with_cases("active", "text")
async def test_the_open_patient_is_pointed_at(active: int, text: str) -> None:
    assert (await subject_of(text, active=active)).outcome == "same"


async def test_a_first_name_goes_back_to_the_one_bearer_who_was_spoken_of() -> None:
    assert (await subject_of("back to timo", active=9, roster=(12,))).outcome == "other"
    assert (await subject_of("back to timo", active=9)).outcome == "unsure"
    assert (await subject_of("back to falk", active=9, roster=(12,))).outcome == "unsure"


@with_cases("active", "text", "meant")
async def test_the_one_man_or_woman_before_is_gone_back_to(
    active: int, text: str, meant: str
) -> None:
    found = await subject_of(text, active=active, roster=(12, 13, 9))

    assert (found.outcome, ids(found)) == (("other", [meant]) if meant else ("unsure", ids(found)))
