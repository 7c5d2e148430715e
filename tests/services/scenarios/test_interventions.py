"""What operators do to one session: pure decisions, refused with a reason."""

from datetime import UTC, datetime

import pytest

from data_models.errors import ScenarioPlanError
from data_models.scenarios.scenario_session import (
    Evidence,
    MigrationProgress,
    ReviewFlag,
    ScenarioSession,
)
from services.scenarios.operators.asked import ActionKind, Intervention, intervened
from tests.services.scenarios.clinic import Clinic, Visitor

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def visitor(step: str, **more: object) -> ScenarioSession:
    session = Clinic(data=None).session(Visitor("jo", step))  # type: ignore[arg-type]
    return session.model_copy(update=more)


def after(
    session: ScenarioSession, kind: ActionKind, *, step: str = "", fields: tuple[str, ...] = ()
) -> ScenarioSession:
    graph = Clinic(data=None).graph  # type: ignore[arg-type]
    act = Intervention(action=kind, reason="stuck", step=step, fields=fields)
    return intervened(session, graph, act, newest=4, now=NOW)


FLAG = ReviewFlag(target_version=2, reason="asked_too_often", flagged_at=NOW)


def test_a_moved_session_keeps_its_way_and_is_told() -> None:
    moved = after(visitor("day", review=FLAG), "move", step="contact")
    assert (moved.step, moved.path[-2:], moved.review) == ("contact", ["day", "contact"], None)
    assert moved.step_history[-2].transition == "contact"
    assert moved.notices == ["An operator moved Appointment booking to “Contact”."]


def test_no_move_leads_to_a_completed_checkpoint_again() -> None:
    with pytest.raises(ScenarioPlanError, match="cannot be done twice"):
        after(visitor("confirmation"), "move", step="day")
    assert after(visitor("confirmation"), "move", step="reminder").step == "reminder"


def test_a_step_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ScenarioPlanError, match="there are: welcome, service"):
        after(visitor("day"), "move", step="nowhere")


def test_a_resumed_session_is_tried_again_from_the_beginning() -> None:
    waits = MigrationProgress(target_version=2, attempts={"age": 3})
    again = after(visitor("day", review=FLAG, progress=waits, is_left=True), "resume")
    assert (again.review, again.progress, again.is_left, again.step) == (None, None, False, "day")


def test_a_value_that_is_asked_again_is_forgotten_and_its_step_comes_again() -> None:
    said = visitor(
        "contact",
        variables={"service": "check-up", "preferred_day": "2030-02-01"},
        evidence={"service": Evidence(turn=1, quote="a check-up")},
    )
    again = after(said, "ask_again", fields=("service",))
    assert (again.step, again.variables) == ("service", {"preferred_day": "2030-02-01"})
    assert again.notices == ["Please answer again: service."]
    assert [one.quote for one in again.spent] == ["a check-up"]
    with pytest.raises(ScenarioPlanError, match="no such field: shoe_size"):
        after(said, "ask_again", fields=("shoe_size",))
    with pytest.raises(ScenarioPlanError, match="no field is named"):
        after(said, "ask_again")


def test_an_ended_session_keeps_what_was_said() -> None:
    over = after(visitor("day", variables={"service": "check-up"}), "end")
    assert (over.step, over.variables) == (None, {"service": "check-up"})
    assert "was ended by an operator" in over.notices[0]
    with pytest.raises(ScenarioPlanError, match="has ended"):
        after(over, "resume")


def test_a_pinned_session_stays_on_its_version_against_all_that_there_are() -> None:
    pinned = after(visitor("day", review=FLAG), "pin")
    assert pinned.pinned_to is not None
    assert (pinned.pinned_to.version, pinned.pinned_to.decided_for) == (1, 4)
    assert pinned.review is None
