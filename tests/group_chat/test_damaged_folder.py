"""A folder of everything that goes wrong: what can be read is answered and cited, by a turn."""

import base64
import gzip
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from data_models.conversations.turn_events import AgentMessageFinished, ToolCallResult
from services.language.utterance import Utterance
from services.records.folder.files import VALUE_LIMIT_CHARS
from services.records.folder.records import CHECK
from tests.fakes import FixedClock
from tests.fakes_openai import Reply, ToolCall
from tests.group_chat.team_world import TeamWorld
from tests.services.records.charts import (
    PATIENT_ID,
    Json,
    bundle,
    ecog,
    patient,
    records_in,
    resource,
)
from tests.services.records.readers.made import MEDICATIONS, RTF, WORD, cda, pdf, word

ASKED = "What is there?"
CHANGES: Json = {
    "patient_id": PATIENT_ID,
    "all_patient_ids": (PATIENT_ID,),
    "utterance": Utterance(text=ASKED, task="answer", agent="PatientHistory"),
}
LETTERS = {
    "pdf": ("application/pdf", pdf(["Page one", "The echo shows a severe aortic stenosis"])),
    "rtf": ("application/rtf", RTF),
    "cda": ("application/hl7-v3+xml", cda(MEDICATIONS)),
    "word": (WORD, word(["Dear colleague", "The wound has healed by now."])),
}
FOUND = {
    "pdf": ("aortic stenosis", "severe aortic stenosis"),
    "rtf": ("sodium", "Sodium 139 mmol/l"),
    "cda": ("apixaban", "Apixaban"),
    "word": ("wound healed", "The wound has healed by now."),
}


def letter(key: str) -> Json:
    media_type, data = LETTERS[key]
    attachment = {"contentType": media_type, "data": base64.b64encode(data).decode()}
    return resource(
        "DocumentReference", key, status="current", date="2026-03-12T10:00:00Z",
        type={"text": f"Letter {key}"}, content=[{"attachment": attachment}],
    )  # fmt: skip


def circle(key: str, other: str) -> Json:
    pointer = {"reference": f"CarePlan/{other}"}
    return resource(
        "CarePlan", key, status="active", title=f"Plan {key}", intent="plan",
        partOf=[pointer], activity=[{"reference": pointer}],
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A chart in five files: whole, cut off, of wrong types, in circles, and a gzip bomb."""
    whole = bundle(patient(), *(letter(key) for key in LETTERS))
    cut = json.dumps(bundle(ecog("first", "2024-01-01", "1"), ecog("second", "2024-01-02", "2")))
    wrong: Any = bundle(resource("Condition", "odd", code=7), circle("a", "b"), circle("b", "a"))
    wrong["entry"] += [7, {"resource": "text"}]
    (tmp_path / "letters.json").write_text(json.dumps(whole), encoding="utf-8")
    (tmp_path / "cut.json").write_text(cut[: cut.index('"second"') + 5], encoding="utf-8")
    (tmp_path / "wrong.json").write_text(json.dumps(wrong), encoding="utf-8")
    bomb = json.dumps(bundle(ecog("kept", "2024-01-03", "1")))[:-2] + ', {"x": "'
    packed = gzip.compress(bomb.encode() + b"0" * (VALUE_LIMIT_CHARS + 10_000_000), 1)
    (tmp_path / "bomb.json.gz").write_bytes(packed)
    return tmp_path


@pytest.fixture
async def world(folder: Path) -> AsyncIterator[TeamWorld]:
    records = records_in(folder, FixedClock())
    async with TeamWorld(records=records) as made:
        yield made
    records.close()


@pytest.mark.slow
@pytest.mark.parametrize("kind", FOUND)
async def test_any_letter_is_found_and_cited_by_its_passage(world: TeamWorld, kind: str) -> None:
    query, words = FOUND[kind]
    ref = f"DocumentReference/{kind}"
    call = ToolCall("search_record", {"query": query})
    heard = await world.say(
        ASKED, Reply(tool_calls=(call,)), Reply(text=f"It is in a letter [{ref}]."), **CHANGES
    )
    (found,) = heard.of(ToolCallResult)
    assert words in str(found.content)
    assert ref in str(found.content)
    (said,) = [e.message for e in heard.of(AgentMessageFinished) if e.message.citations]
    assert [(one.ref, words in (one.quote or "")) for one in said.citations] == [(ref, True)]


@pytest.mark.slow
async def test_the_rest_of_a_damaged_chart_is_served_and_what_is_lacking_is_said(
    world: TeamWorld, capsys: pytest.CaptureFixture[str]
) -> None:
    heard = await world.say(
        ASKED,
        Reply(tool_calls=(ToolCall("care", {}), ToolCall("results", {"names": ["ECOG"]}))),
        Reply(text="Two plans."),
        **CHANGES,
    )
    plans, scores = (str(one.content) for one in heard.of(ToolCallResult))
    assert "Plan a" in plans
    assert "Plan b" in plans
    assert "Observation/first" in scores
    assert "Observation/kept" in scores
    assert "entries could not be read" in plans
    logged = capsys.readouterr().out
    for place in ("cut.json", "after entry", "bomb.json.gz", "Condition/odd: code", "wrong.json"):
        assert place not in logged  # the command that the log names tells them
    assert "records_skipped" in logged
    assert CHECK in logged
