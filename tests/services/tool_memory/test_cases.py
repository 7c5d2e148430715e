"""The command that answers reference cases from a file (spec page 3.7)."""

import json
from pathlib import Path
from typing import Any

import pytest

from evals.parts.references import main
from tests.services.tool_memory.memory_world import NOW, SCHEDULER, ask
from tests.tables import tables_beside, with_cases


def case(message: str, **more: Any) -> dict[str, Any]:
    context = {"now": NOW, "session": "patient_4", "turn": 5, "focus": None, "last_list": []}
    rows = [
        {"session": "patient_4", "status": "active", "access_count": 1, **one} for one in SCHEDULER
    ]
    return {"id": message, "context": context, "entities": rows, "message": message, **more}


def written(tmp_path: Path, content: object) -> str:
    path = tmp_path / "cases.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return str(path)


def test_every_case_has_its_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = [
        case("cancel the lunch", parameters={}),
        case("don't cancel it", parameters=None),
        case("cancel the meeting tomorrow"),
    ]
    assert main(["resolve", written(tmp_path, {"cases": cases})]) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    assert results["cancel the lunch"] == {"id": "evt_2"}
    assert results["don't cancel it"] == {"id": None}
    assert set(results["cancel the meeting tomorrow"]["ambiguous"]) == {"evt_1", "evt_2"}


def test_kinds_and_states_that_we_do_not_know_stop_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = case("delete the lunch")
    odd["entities"] += [
        {"id": "n1", "type": "note", "name": "Lunch ideas", "data": {}, "status": "archived"},
        {"id": "n2", "type": "note", "name": None, "data": None, "turn": 1},
    ]
    assert main(["resolve", written(tmp_path, {"cases": [odd]})]) == 0
    assert json.loads(capsys.readouterr().out)["results"] == {"delete the lunch": {"id": "evt_2"}}


@pytest.mark.parametrize("content", [[], {"cases": [{"id": "x"}]}, {"case": []}, 1])
def test_what_is_no_case_file_is_said_without_its_text(
    content: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["resolve", written(tmp_path, content)]) == 2
    assert capsys.readouterr().err


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    assert main(["resolve", str(tmp_path / "none.json")]) == 2


REFUSALS: tuple[str, ...] = tuple(tables_beside(Path(__file__))["refusals"])


@pytest.mark.slow
@with_cases("message", "right")
def test_a_right_id_is_taken_and_found_without_it(message: str, right: str) -> None:
    assert ask(message, given={"event_id": right}) == right
    assert ask(message) == right


@pytest.mark.parametrize("message", REFUSALS)
def test_a_refusal_is_one_in_each_language_whatever_the_model_says(message: str) -> None:
    assert ask(message, focus="evt_1") is None
    assert ask(message, focus="evt_1", given={"event_id": "evt_1"}) is None


@with_cases("message", "named")
def test_an_id_of_something_else_than_is_named_is_asked_about(message: str, named: str) -> None:
    assert ask(message, given={"event_id": "evt_5"}) == sorted([named, "evt_5"])


def test_a_word_that_no_entity_has_takes_no_id_where_nobody_is_asked() -> None:
    assert ask("complete the physio", given={"event_id": "evt_5"}) is None
