"""The main job over every surface, on every storage: the four turns of spec page 1.11."""

import re

import pytest

from data_models.identifiers import hashed
from tests.e2e.conftest import World
from tests.e2e.storage import Stored
from tests.e2e.talks import SURFACES, Answer, Surface, Talk, at_rest, footer, talking

pytestmark = pytest.mark.slow

ASKS = "Shall I go ahead with this plan?"
AGENTS = ["PatientHistory", "PatientStatus", "Radiology", "Pathology", "ReportCreation"]
FOUR, REGISTRY = "patient_patient_4_context.json", "patient_context_registry.json"
FIFTEEN = "patient_patient_15_context.json"
OTHERS_OF_FOUR = re.compile(r"patient_patient_4_(turns|artifacts)/.+|\w+_runs/[\d-]+\.json")


def assert_shows(answer: Answer, talk: Talk, active: str | None, patients: list[str]) -> None:
    """Every message, or the state, says which patient is active."""
    assert answer.failure is None
    if answer.state is None:
        assert answer.endings == {footer(talk.conversation, active, patients)}
    else:
        assert answer.state["patient_id"] == active
        assert answer.state["all_patient_ids"] == patients
        assert "PT_CTX" not in answer.text


def main_documents(stored: Stored) -> set[str]:
    return {name for name in stored.names() if not OTHERS_OF_FOUR.fullmatch(name)}


def tools_run(world: World, talk: Talk) -> list[str]:
    mine = hashed(talk.conversation)
    rows = world.server.log_lines("tool_run")
    return [row["tool"] for row in rows if row["conversation"] == mine]


async def propose(world: World, talk: Talk, stored: Stored) -> None:
    answer = await talk.say("start tumor board for patient_4", last_words=ASKS)
    assert answer.agents == ["Orchestrator"]
    assert ASKS in answer.text
    assert all(f"*{agent}*" in answer.text for agent in AGENTS)
    assert answer.waits in (True, None)
    assert_shows(answer, talk, "patient_4", ["patient_4"])
    await at_rest(stored)
    assert main_documents(stored) == {"conversation.json", FOUR, REGISTRY}
    assert stored.document(FOUR)["plan"]["status"] == "proposed"
    # The gate: nobody but the facilitator spoke, and no tool but the plan's ran.
    assert tools_run(world, talk) == ["propose_plan"]


async def carry_out(world: World, talk: Talk, stored: Stored) -> None:
    answer = await talk.say("yes proceed", last_words=world.last_words_of_a_plan)
    called, *together = answer.agents[:5]
    assert (called, sorted(together)) == ("Orchestrator", sorted(AGENTS[:4]))
    assert answer.agents[5:] == ["Orchestrator", "ReportCreation", "Orchestrator"]
    assert_shows(answer, talk, "patient_4", ["patient_4"])
    for number, agent in enumerate(AGENTS, 1):
        assert f"Step {number} of {len(AGENTS)}: *{agent}*" in answer.text
    await at_rest(stored)
    assert main_documents(stored) == {"conversation.json", FOUR, REGISTRY}
    # Whoever finished first, the history is in the plan's order.
    said = [row["agent"] for row in stored.document(FOUR)["chat_history"][-1]["agent_responses"]]
    assert said == ["Orchestrator", *AGENTS[:4], *answer.agents[5:]]
    plan = stored.document(FOUR)["plan"]
    assert plan["status"] == "done"
    assert [(step["agent"], step["status"]) for step in plan["steps"]] == [
        (agent, "done") for agent in AGENTS
    ]
    assert {"propose_plan", "create_report"} < {*tools_run(world, talk)}


async def switch(talk: Talk, stored: Stored) -> None:
    chart = stored.all_of("patient_4")
    answer = await talk.say("switch to patient_15", last_words="Switched to patient_15.")
    assert answer.text.startswith("Switched to patient_15.")
    assert "Zoë Łucja Çelik-Sørensen, born 1979-11-02 (patient_15)" in answer.text
    assert_shows(answer, talk, "patient_15", ["patient_15", "patient_4"])
    await at_rest(stored)
    assert main_documents(stored) == {"conversation.json", FOUR, REGISTRY, FIFTEEN}
    assert stored.all_of("patient_4") == chart
    registry = stored.document(REGISTRY)
    assert registry["active_patient_id"] == "patient_15"
    assert set(registry["patient_registry"]) == {"patient_4", "patient_15"}
    assert b"patient_4" not in stored.read(FIFTEEN)


async def clear(talk: Talk, stored: Stored) -> None:
    before = {name: stored.read(name) for name in stored.names()}
    epoch = stored.document("conversation.json")["epoch"]
    answer = await talk.say("clear patient context", last_words="Cleared.")
    assert_shows(answer, talk, None, [])
    await at_rest(stored)
    archived = {name for name in stored.names() if name.startswith("archive/")}
    assert stored.names() - archived == {"conversation.json", "session_context.json"}
    assert stored.document("conversation.json")["epoch"] == epoch + 1
    assert stored.document("session_context.json")["chat_history"] == []
    assert_archived(stored, archived, before)


def assert_archived(stored: Stored, archived: set[str], before: dict[str, bytes]) -> None:
    """Everything is there byte for byte, under the names of page 1.1, and on the manifest."""
    folders = {name.rpartition("/")[0] for name in archived if name.endswith("manifest.json")}
    (folder,) = folders
    stamp = folder.split("/")[1]
    assert re.fullmatch(r"\d{8}T\d{6}", stamp)
    for document, kept in (
        (FOUR, "patient_patient_4"),
        (FIFTEEN, "patient_patient_15"),
        (REGISTRY, "patient_context_registry"),
    ):
        assert stored.read(f"{folder}/{stamp}_{kept}_archived.json") == before[document]
    assert f"{folder}/{stamp}_session_archived.json" in archived
    manifest = stored.document(f"{folder}/manifest.json")
    rows = {row["name"] for row in manifest["documents"]}
    assert rows == {name.rpartition("/")[2] for name in archived} - {"manifest.json"}
    copies = sorted(stored.read(name) for name in archived)
    originals = [data for name, data in before.items() if name != "conversation.json"]
    assert all(data in copies for data in originals)


@pytest.mark.parametrize("surface", SURFACES)
async def test_a_clinician_reviews_two_patients_and_clears(world: World, surface: Surface) -> None:
    async with talking(world.server.url, surface) as talk:
        stored = Stored(world.stored_blobs, talk.conversation)
        await propose(world, talk, stored)
        await carry_out(world, talk, stored)
        await switch(talk, stored)
        await clear(talk, stored)
        again = await talk.say("switch to patient_4", last_words="Switched to patient_4.")
        assert_shows(again, talk, "patient_4", ["patient_4"])
        await at_rest(stored)
        # What was cleared is out of reach: the chart is blank.
        assert len(stored.document(FOUR)["chat_history"]) == 1


@pytest.mark.parametrize("surface", SURFACES)
async def test_switching_back_brings_everything_back(world: World, surface: Surface) -> None:
    async with talking(world.server.url, surface) as talk:
        stored = Stored(world.stored_blobs, talk.conversation)
        await propose(world, talk, stored)
        await talk.say("switch to patient_15", last_words="Switched to patient_15.")
        seen = len(world.model.requests) if world.model else 0
        status = await talk.say("@PatientStatus what is the status?", last_words="(active)")
        assert status.agents == ["PatientStatus"]
        await talk.say("switch to patient_4", last_words="Switched to patient_4.")
        if world.model:
            asked = [request.text for request in list(world.model.requests)[seen:]]
            assert asked
            assert not any("start tumor board" in text for text in asked)
        done = await talk.say("yes proceed", last_words=world.last_words_of_a_plan)
        assert done.agents[-1] == "Orchestrator"
        assert sorted({*done.agents} - {"Orchestrator"}) == sorted(AGENTS)
        assert_shows(done, talk, "patient_4", ["patient_15", "patient_4"])
        await at_rest(stored)
        assert stored.document(FOUR)["plan"]["status"] == "done"
        if world.model:
            assert "start tumor board" in world.model.requests[-1].text
            assert "patient_15" not in stored.read(FOUR).decode()
