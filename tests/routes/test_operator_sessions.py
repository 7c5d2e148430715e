"""Single sessions over HTTP: looked at, moved, resumed, asked again, ended, pinned, withdrawn."""

from typing import Any

import pytest

from data_models.chat_context import ChatContext
from data_models.identifiers import ConversationLayout, hashed
from tests.given import present
from tests.routes.test_operator import ONE, Office, office
from tests.services.scenarios.clinic import BOOKING, FIRST, SECOND
from tests.tables import with_cases

__all__ = ["office"]
MINOR = hashed("session-minor")
WHO = hashed("session-000004")


async def stored(office: Office, name: str) -> ChatContext:
    """Return a visitor's document as it is stored now."""
    layout = ConversationLayout.of(f"chat-{name}")
    blob = await office.documents.read(layout.context("patient_4"))  # type: ignore[arg-type]
    assert blob is not None
    return ChatContext.model_validate_json(blob.data)


async def published(office: Office) -> None:
    assert (await office.call("POST", "scenarios", {"definition": FIRST}))[0] == 201


async def act(office: Office, session: str, **more: Any) -> tuple[int, Any]:
    body = {"reason": "stuck at the service", **more}
    return await office.call("POST", f"{ONE}/sessions/{session}/act", body)


@pytest.mark.slow
async def test_a_session_is_shown_with_its_way_and_no_words_of_the_patient(office: Office) -> None:
    await office.planned()
    status, view = await office.call("GET", f"{ONE}/sessions/{MINOR[:10]}")
    assert (status, view["step"], view["version"]) == (200, "confirmation", 1)
    assert view["way"][0]["name"] == "Welcome"
    assert view["checkpoints"] == ["Payment Processed"]
    assert (view["next"]["version"], view["next"]["effect"]) == (2, "blocked")
    assert "patient_4" not in str(view)
    assert office.ledger.entries[-1].actions[0] == "operator.show_session"
    status, problem = await office.call("GET", f"{ONE}/sessions/0123456789")
    assert (status, problem["code"]) == (404, "scenario_not_found")


@pytest.mark.slow
async def test_a_session_is_moved_pinned_resumed_and_ended_with_a_reason(office: Office) -> None:
    await published(office)
    assert (await act(office, WHO, action="move", step="contact"))[0] == 200
    document = await stored(office, "000004")
    assert document.scenario is not None
    assert document.scenario.step == "contact"
    assert (await act(office, WHO, action="pin"))[0] == 200
    _, listed = await office.call("GET", f"{ONE}/sessions?step=contact")
    assert [row["pinned"] for row in listed["rows"] if row["session"] == WHO] == [True]
    assert (await act(office, WHO, action="resume"))[0] == 200
    assert (await act(office, WHO, action="ask_again", fields=["service"]))[0] == 200
    document = await stored(office, "000004")
    assert present(document.scenario).notices[-1] == "Please answer again: service."
    assert (await act(office, WHO, action="end"))[0] == 200
    assert (await office.call("GET", f"{ONE}/sessions/{WHO}"))[0] == 404
    _, history = await office.call("GET", f"{ONE}/history")
    acts = [(one["action"], one["outcome"]) for one in history["entries"]]
    assert acts[0] == ("session_end", "done")
    assert "stuck at the service" in history["entries"][0]["note"]
    assert any("session:" in action for one in office.ledger.entries for action in one.actions)


@pytest.mark.slow
@with_cases("body", "status")
async def test_what_cannot_be_done_is_refused_and_changes_nothing(
    office: Office, body: dict[str, Any], status: int
) -> None:
    await published(office)
    before = await stored(office, "000004")
    assert (await act(office, WHO, **body))[0] == status
    assert await stored(office, "000004") == before


async def test_an_act_that_cannot_be_on_record_does_not_happen(office: Office) -> None:
    await published(office)
    office.ledger.is_down = True
    assert (await act(office, WHO, action="end"))[0] == 503
    document = await stored(office, "000004")
    assert present(document.scenario).step is not None


async def test_all_flagged_sessions_are_resumed_in_one_act(office: Office) -> None:
    await published(office)
    body = {"action": "resume", "reason": "the rule is mended", "review": "*"}
    status, result = await office.call("POST", f"{ONE}/sessions/act", body)
    assert (status, result["refused"], result["cursor"]) == (200, [], "")
    assert result["done"] == 2
    assert (await office.call("GET", f"{ONE}/review"))[1]["rows"] == []
    status, _ = await office.call(
        "POST", f"{ONE}/sessions/act", {"action": "end", "reason": "no filter"}
    )
    assert status == 400


@pytest.mark.slow
async def test_what_one_session_refuses_the_others_do_not_miss(office: Office) -> None:
    await published(office)
    body = {"action": "move", "reason": "again", "step": "day", "version": 1}
    _, result = await office.call("POST", f"{ONE}/sessions/act", body)
    assert result["done"] > 0
    assert any("cannot be done twice" in one["why"] for one in result["refused"])


async def test_a_scenario_is_withdrawn_and_offered_again(office: Office) -> None:
    await published(office)
    status, view = await office.call("POST", f"{ONE}/withdraw", {"reason": "wrong fees"})
    assert (status, view["withdrawn"]) == (200, "wrong fees")
    assert (await office.call("POST", f"{ONE}/withdraw", {}))[0] == 400
    status, view = await office.call("POST", f"{ONE}/offer-again")
    assert (status, view["withdrawn"]) == (200, "")


async def test_steps_are_paired_by_hand(office: Office) -> None:
    await office.planned()
    body = {"mapping": {"reminder": "confirmation", "confirmation": "reminder"}}
    status, view = await office.call("PUT", f"{ONE}/plan/mapping", body)
    assert status == 200
    targets = {one["step"]: one["target"] for one in view["anchors"]}
    assert (targets["reminder"], targets["confirmation"]) == ("confirmation", "reminder")
    wrong = {"mapping": {"nowhere": "day"}}
    assert (await office.call("PUT", f"{ONE}/plan/mapping", wrong))[0] == 409


async def test_a_version_is_played_before_it_is_published(office: Office) -> None:
    body = {"definition": SECOND, "answers": []}
    status, play = await office.call("POST", "preview", body)
    assert (status, play["is_over"]) == (200, False)
    assert play["suggestion"]
    assert (await office.call("GET", "scenarios"))[1]["scenarios"] == []


async def test_a_fault_is_named_and_nothing_is_stored(office: Office) -> None:
    loop = FIRST.replace("{target: contact, condition: slot_accepted}", "{target: slot}")
    status, problem = await office.call("POST", "scenarios", {"definition": loop})
    assert status == 400
    assert any("endless loop" in one or "no way leads" in one for one in problem["problems"])
    assert (await office.call("GET", "scenarios"))[1]["scenarios"] == []


@pytest.mark.slow
async def test_anchors_count_the_sessions_of_all_versions_behind_them(office: Office) -> None:
    view = await office.planned()
    before = {one["step"]: one["sessions"] for one in view["anchors"]}
    await office.call("POST", f"{ONE}/approve", who="bob")
    await office.call("POST", f"{ONE}/deploy", {}, who="bob")
    await office.rests()
    third = SECOND.replace("version: 2", "version: 3").replace("name: Reminder", "name: A word")
    status, view = await office.call("POST", "plans", {"definition": third})
    assert status == 201
    after = {one["step"]: one["sessions"] for one in view["anchors"]}
    assert {step: after[step] for step in before if step in after} == before
    assert BOOKING in str(view["plan"])
