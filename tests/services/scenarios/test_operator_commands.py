"""An operator at the command line, on local files; what a session can need is kept (M16)."""

import argparse
import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from data_models.chat_context import ChatContext
from data_models.errors import CorruptDocumentError
from data_models.identifiers import ConversationLayout, PatientId
from data_models.scenarios.scenario_session import ScenarioSession
from services.scenarios.__main__ import main
from services.scenarios.definition.graph import Graph
from services.scenarios.migration.scenario_store import ScenarioStore
from services.scenarios.operators.operator_commands import (
    Pruned,
    Pruner,
    add_commands,
    lowest_in_use,
    prune,
)
from services.scenarios.scenario_settings import CONTAINER, RetentionConfig
from services.stores import INDEX_FILE, open_container
from tests.fakes import CountingIds
from tests.fakes_store import MemoryBlobStore
from tests.given_settings import given_settings
from tests.services.scenario_world import ScenarioWorld, step, version
from tests.services.scenarios.clinic import Clinic, crowd
from tests.services.scenarios.worlds import session_at

SAMPLES = Path(__file__).parent
FIRST = str(SAMPLES / "appointment_booking.yaml")
SECOND = str(SAMPLES / "appointment_booking_v2.yaml")
BOOKING = "appointment-booking"


class Terminal:
    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def run(self, *arguments: str) -> dict[str, Any]:
        assert main(arguments) == 0, self._capsys.readouterr().err
        found: dict[str, Any] = json.loads(self._capsys.readouterr().out)
        return found

    def refused(self, *arguments: str) -> str:
        assert main(arguments) == 1
        return self._capsys.readouterr().err


@pytest.fixture
def terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Terminal:
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    return Terminal(capsys)


@pytest.mark.slow
def test_a_version_goes_from_proposal_to_deployment_and_back(terminal: Terminal) -> None:
    assert terminal.run("publish", FIRST, "--by", "ann")["version"] == 1
    plan = terminal.run("propose", SECOND, "--by", "ann", "--json")["plan"]
    inserted = [*plan["transformation_map"]["new_nodes"]]
    assert (plan["status"], inserted) == ("pending", ["age_check", "rejected"])
    assert plan["summary"]["warnings"][0]["code"] == "redirect_blocked"
    assert "not approved" in terminal.refused("deploy", BOOKING, "--by", "bob")
    assert "second person" in terminal.refused("approve", BOOKING, "--by", "ann")
    assert terminal.run("approve", BOOKING, "--by", "bob")["approved_by"] == "bob"
    assert terminal.run("deploy", BOOKING, "--by", "bob")["state"] == "deployed"
    assert terminal.run("status", BOOKING)["active"] == 2

    back = terminal.run("rollback", BOOKING, "--to", "1", "--by", "bob")["plan"]
    assert (back["from_version"], back["to_version"]) == (2, 3)
    terminal.run("approve", BOOKING, "--by", "ann")
    terminal.run("deploy", BOOKING, "--by", "bob")
    assert terminal.run("status", BOOKING)["versions"] == [1, 2, 3]


@pytest.mark.slow
@pytest.mark.parametrize("again", [FIRST, SECOND])
def test_what_is_published_once_is_proposed_from_then_on(terminal: Terminal, again: str) -> None:
    terminal.run("publish", FIRST, "--by", "ann")
    assert "version 1 is published already; propose" in terminal.refused("publish", again, "--by=a")
    assert terminal.run("status", BOOKING)["versions"] == [1]


def test_a_setting_that_cannot_be_used_is_said(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PORT", "high")
    assert terminal.refused("status", BOOKING).startswith("PORT: ")
    monkeypatch.setenv("PORT", "4000")
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "typing-error"))
    assert terminal.refused("prune").startswith("DATA_DIR: ")
    assert terminal.refused("reindex").startswith("DATA_DIR: ")


@pytest.mark.slow
def test_a_cancelled_plan_stays_cancelled(terminal: Terminal) -> None:
    terminal.run("publish", FIRST, "--by", "ann")
    terminal.run("propose", SECOND, "--by", "ann")
    assert terminal.run("cancel", BOOKING, "--by", "bob")["status"] == "cancelled"
    assert terminal.refused("approve", BOOKING, "--by", "bob")


@pytest.mark.slow
def test_policies_come_from_a_file_and_are_checked(terminal: Terminal, tmp_path: Path) -> None:
    terminal.run("publish", FIRST, "--by", "ann")
    policies = tmp_path / "policies.json"
    policies.write_text('{"slot": {"update_downstream": "perhaps"}}', "utf-8")
    refused = terminal.refused("propose", SECOND, "--by", "ann", "--policies", str(policies))
    assert "policies, slot, update_downstream" in refused
    policies.write_text('{"slot": {"update_downstream": false}}', "utf-8")
    plan = terminal.run("propose", SECOND, "--by", "ann", "--policies", str(policies))
    assert plan["plan"]["status"] == "pending"


@pytest.mark.slow
def test_what_is_not_there_is_refused(terminal: Terminal) -> None:
    assert terminal.refused("status", "nowhere")
    assert "cannot be read" in terminal.refused("publish", "nowhere.yaml", "--by", "ann")
    no_json = ("set-mapping", BOOKING, "--mapping", FIRST, "--by", "ann")
    assert "is not JSON" in terminal.refused(*no_json)
    for command in ("deploy", "pause", "resume", "cancel"):
        assert terminal.refused(command, "nowhere", "--by", "ann")
    terminal.run("publish", FIRST, "--by", "ann")
    assert "published already" in terminal.refused("publish", FIRST, "--by", "ann")


def test_a_wrong_data_dir_is_said_and_not_made(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "wrong"))
    for command in (["scenarios"], ["sessions", BOOKING], ["pause", BOOKING, "--by", "ann"]):
        assert "there is no folder" in terminal.refused(*command)
    assert not (tmp_path / "wrong").exists()


async def opened(folder: Path) -> None:
    await Clinic(folder).open(crowd(50))


@pytest.mark.slow
def test_sessions_are_counted_tried_and_listed(terminal: Terminal, tmp_path: Path) -> None:
    asyncio.run(opened(tmp_path))
    assert terminal.run("scenarios")["scenarios"][0]["active"] == 1
    terminal.run("propose", SECOND, "--by", "ann")
    dry = terminal.run("dry-run", BOOKING, "--limit", "3", "--json")
    assert (len(dry["rows"]), dry["score"]) == (3, None)
    assert len(terminal.run("dry-run", BOOKING, "--after", dry["cursor"])["rows"]) == 47
    assert "patient_4" not in str(dry)
    assert terminal.run("diff", BOOKING)["new"]["version"] == 2
    assert len(terminal.run("show", BOOKING, "1")["nodes"]) == 10
    assert terminal.run("review", BOOKING)["rows"][0]["reason"] == "undecidable"
    terminal.run("approve", BOOKING, "--by", "bob")
    canary = terminal.run("deploy", BOOKING, "--by", "bob", "--share", "20")
    assert (canary["state"], canary["seen"]) == ("flipped", 50)
    assert terminal.run("share", BOOKING, "--by", "bob", "--share", "100")["state"] == "deployed"
    assert terminal.run("status", BOOKING)["counts"][0]["marked"] == 50
    acts = [entry["action"] for entry in terminal.run("history", BOOKING)["entries"]]
    assert acts == ["set_share", "deploy", "approve", "propose"]


@pytest.mark.slow
def test_policies_change_a_plan_that_waits(terminal: Terminal, tmp_path: Path) -> None:
    terminal.run("publish", FIRST, "--by", "ann")
    before = terminal.run("propose", SECOND, "--by", "ann")["plan"]
    policies = tmp_path / "policies.json"
    policies.write_text('{"*": {"force_scenario": "clean_graft"}}', "utf-8")
    after = terminal.run("set-policies", BOOKING, "--policies", str(policies), "--by", "bob")
    assert (after["plan"]["status"], after["plan"]["id"] != before["id"]) == ("pending", True)


@pytest.mark.slow
def test_a_lost_index_is_made_anew_from_the_documents(terminal: Terminal, tmp_path: Path) -> None:
    asyncio.run(opened(tmp_path))
    for file in tmp_path.glob(f"{INDEX_FILE}*"):
        file.unlink()
    assert terminal.run("status", BOOKING)["counts"] == []
    assert terminal.run("reindex") == {"conversations": 50, "sessions": 50}
    counts = terminal.run("status", BOOKING)["counts"]
    assert (counts[0]["sessions"], counts[0]["flagged"]) == (50, 2)


@pytest.mark.slow
def test_single_sessions_are_looked_at_and_acted_on(terminal: Terminal, tmp_path: Path) -> None:
    asyncio.run(opened(tmp_path))
    who = terminal.run("sessions", BOOKING, "--step", "service")["rows"][0]["session"]
    shown = terminal.run("session", BOOKING, who)
    assert (shown["step"], shown["way"][0]["step"]) == ("service", "welcome")
    why = ("--reason", "stuck at the service", "--by", "ann")
    assert terminal.run("act", BOOKING, who, "move", "--step", "contact", *why)["done"] == 1
    assert terminal.run("session", BOOKING, who)["step"] == "contact"
    assert "no step" in terminal.refused("act", BOOKING, who, "move", "--step", "x", *why)
    for action in ("pin", "resume"):
        assert terminal.run("act", BOOKING, who, action, *why)["done"] == 1
    again = terminal.run("act", BOOKING, who, "ask_again", "--field", "service", *why)
    assert again["done"] == 1
    assert terminal.run("act", BOOKING, who, "end", *why)["done"] == 1
    assert terminal.refused("session", BOOKING, who)
    assert "must be given" in terminal.refused("act-on-all", BOOKING, "resume", *why)
    done = terminal.run("act-on-all", BOOKING, "resume", "--review", "*", *why)
    assert (done["done"], done["refused"]) == (2, [])
    assert terminal.run("review", BOOKING)["rows"] == []
    acts = [entry["action"] for entry in terminal.run("history", BOOKING)["entries"]]
    assert acts[:2] == ["session_resume", "session_end"]


@pytest.mark.slow
def test_a_scenario_is_withdrawn_and_mapped_by_hand(terminal: Terminal, tmp_path: Path) -> None:
    terminal.run("publish", FIRST, "--by", "ann")
    terminal.run("propose", SECOND, "--by", "ann")
    pairs = tmp_path / "pairs.json"
    pairs.write_text('{"reminder": "confirmation", "confirmation": "reminder"}', "utf-8")
    mapped = terminal.run("set-mapping", BOOKING, "--mapping", str(pairs), "--by", "ann")
    anchors = {one["step"]: one["target"] for one in mapped["anchors"]}
    assert anchors["reminder"] == "confirmation"
    pairs.write_text("[]", "utf-8")
    wrong = terminal.refused("set-mapping", BOOKING, "--mapping", str(pairs), "--by", "ann")
    assert "mapping: Input should be a valid dictionary" in wrong
    gone = terminal.run("withdraw", BOOKING, "--reason", "wrong fees", "--by", "ann")
    assert gone["withdrawn"] == "wrong fees"
    assert terminal.run("offer-again", BOOKING, "--by", "ann")["withdrawn"] == ""


@pytest.mark.parametrize(
    ("command", "field"), [("sessions b --at s1", "step"), ("act-on-all b move --at s1", "at_step")]
)
def test_where_sessions_are_is_told_by_the_earlier_option_too(command: str, field: str) -> None:
    parser = argparse.ArgumentParser()
    add_commands(parser.add_subparsers())
    more = ["--reason", "why", "--by", "op"] if command.startswith("act") else []
    told = vars(parser.parse_args([*command.split(), *more, "--in-version", "2", "--flagged", "x"]))
    assert (told[field], int(told["version"]), told["review"]) == ("s1", 2, "x")
    assert (told["step"] == "s1") is (field == "step")


PATIENT = PatientId("patient_4")
DAY = 86_400.0
END = step("end", instructions="End.")


class Archive:
    """Four deployed versions, and conversations with sessions in some of them."""

    def __init__(self) -> None:
        self.world = ScenarioWorld()
        self.sessions = MemoryBlobStore()

    async def fill(self) -> None:
        await self.world.publish(graph(1))
        for number in (2, 3, 4):
            await self.world.deploy(graph(number))

    async def admit(self, name: str, session: ScenarioSession, *, left: bool = False) -> None:
        context = ChatContext(conversation_id=name, patient_id=PATIENT)
        if left:
            context.left_scenarios = [session]
        else:
            context.scenario = session
        place = ConversationLayout.of(name).context(PATIENT)
        await self.sessions.create(place, context.model_dump_json().encode())

    async def prune(self) -> Pruned:
        lowest = await lowest_in_use(self.sessions)
        config = RetentionConfig(version_retention_days=7, plan_retention_days=30)
        pruner = Pruner(
            store=ScenarioStore(blobs=self.world.blobs),
            blobs=self.world.blobs,
            clock=self.world.clock,
            config=config,
        )
        return await pruner.prune("visit", lowest=lowest.get("visit"))


def graph(number: int) -> Graph:
    extra = step(f"extra{number}", "end", instructions=f"Extra {number}.")
    return version(number, step("greet", extra.id, instructions="Greet."), extra, END)


@pytest.fixture
async def archive() -> Archive:
    found = Archive()
    await found.fill()
    return found


async def test_m16_what_nobody_needs_goes_after_its_days_and_plans_later(archive: Archive) -> None:
    assert (await archive.prune()).versions == []
    archive.world.clock.advance(6 * DAY)
    assert (await archive.prune()).versions == []
    archive.world.clock.advance(1 * DAY)
    done = await archive.prune()
    assert (done.versions, done.plans) == ([1, 2], [])
    archive.world.clock.advance(23 * DAY)
    assert (await archive.prune()).plans == [1, 2]


@pytest.mark.parametrize("left", [False, True], ids=["open", "left"])
async def test_m16_a_session_keeps_its_version_and_all_later(archive: Archive, left: bool) -> None:
    await archive.admit("one", session_at(graph(2), ["greet"], []), left=left)
    await archive.prune()
    archive.world.clock.advance(40 * DAY)
    done = await archive.prune()
    assert (done.versions, done.plans) == ([1], [1])


async def test_m16_a_checkpoint_of_an_older_version_keeps_that_version(archive: Archive) -> None:
    session = session_at(graph(3), ["greet"], ["greet"])
    passed = [one.model_copy(update={"version": 1}) for one in session.completed_checkpoints]
    await archive.admit("one", session.model_copy(update={"completed_checkpoints": passed}))
    await archive.prune()
    archive.world.clock.advance(40 * DAY)
    assert (await archive.prune()).versions == []


async def test_m16_days_begin_anew_when_it_was_needed_in_between(archive: Archive) -> None:
    await archive.prune()
    archive.world.clock.advance(5 * DAY)
    await archive.admit("one", session_at(graph(1), ["greet"], []))
    await archive.prune()
    await archive.sessions.delete(ConversationLayout.of("one").context(PATIENT))
    archive.world.clock.advance(5 * DAY)
    assert (await archive.prune()).versions == []


async def test_m16_an_ended_session_keeps_nothing(archive: Archive) -> None:
    session = session_at(graph(1), ["greet"], []).model_copy(update={"step": None})
    await archive.admit("one", session)
    await archive.prune()
    archive.world.clock.advance(8 * DAY)
    assert (await archive.prune()).versions == [1, 2]


async def test_m16_a_document_that_cannot_be_read_stops_everything(archive: Archive) -> None:
    place = ConversationLayout.of("torn").context(PATIENT)
    await archive.sessions.create(place, b"{")
    with pytest.raises(CorruptDocumentError):
        await lowest_in_use(archive.sessions)


@pytest.mark.slow
async def test_m16_the_command_looks_through_the_servers_own_data(tmp_path: Path) -> None:
    settings = given_settings(data_dir=tmp_path)
    blobs = open_container(settings, CONTAINER, ids=CountingIds())
    world = ScenarioWorld(blobs=blobs)
    await world.publish(graph(1))
    for number in (2, 3):
        await world.deploy(graph(number))
    found = await prune(settings)
    report = found["visit"]
    assert isinstance(report, dict)
    assert report["versions"] == []
    assert list(report["unneeded_since"]) == ["1"]  # type: ignore[arg-type]
