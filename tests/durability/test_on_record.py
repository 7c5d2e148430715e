"""What a conversation leaves in logs and on the audit trail: who and what, and not a word of it."""

import io
from collections.abc import Iterator
from contextlib import suppress

import orjson
import pytest

from data_models.conversations.turn_events import RunFailed
from data_models.errors import StoreError
from services.audit.__main__ import verify
from services.runs.hub import Run
from tests.durability.recorded_chat import CANARY, CHAT, PATIENTS, Conversation
from tests.fakes_openai import RecordedRequest, Reply
from tests.logged import everything_logged

pytestmark = pytest.mark.slow


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    with everything_logged() as stream:
        yield stream


@pytest.fixture
def talk(log: io.StringIO) -> Iterator[Conversation]:
    talk = Conversation()
    yield talk
    talk.close()


def broken(_: RecordedRequest) -> Reply:
    return Reply(status=400, body=b'{"error": {"message": "agent-canary-session-00000 is wrong"}}')


def garbage(_: RecordedRequest) -> Reply:
    return Reply(body=b"<html>agent-canary-session-00000</html>", content_type="text/html")


def walk(talk: Conversation) -> list[Run]:
    """Say what is usually said, and let everything fail once."""
    runs = [talk.say(f"hello {talk.canary('user')}")]
    for patient in PATIENTS[:2]:
        talk.active = patient
        runs.append(talk.say(f"switch to {patient} and review {talk.canary('user')}"))
    good = talk.model.brain
    for brain in (broken, garbage):
        talk.model.brain = brain
        runs.append(talk.say(f"and now {talk.canary('user')}?"))
        assert isinstance(last(runs[-1]), RunFailed)
    talk.model.brain = good
    runs.append(talk.say(f"go on {talk.canary('user')}", stop=True))
    return runs


def last(run: Run) -> object:
    return run._events[-1]


def damage(talk: Conversation) -> None:
    """Damage the active patient's document; a new process meets it."""
    name = f"{CHAT}/patient_{talk.active}_context.json"

    async def cut() -> None:
        blob = await talk.sessions.read(name)
        assert blob is not None
        await talk.sessions.replace(name, blob.data[:-20], etag=blob.etag)

    talk.do(cut())
    talk.restart()


def test_no_line_of_any_log_holds_a_word_of_the_talk(
    talk: Conversation, log: io.StringIO, capfd: pytest.CaptureFixture[str]
) -> None:
    walk(talk)
    damage(talk)
    talk.say(f"what is wrong with {talk.canary('user')}?")
    with suppress(StoreError):
        talk.say("no")
    out, err = capfd.readouterr()
    logged = log.getvalue()
    assert logged.count("turn_finished") >= 7, "the log was not read"
    for text in (logged, out, err):
        assert CANARY.findall(text) == []
        assert "Alice" not in text
        for words in talk.record_words.values():
            assert not [word for word in words if word in text]
        for patient in PATIENTS:
            assert patient not in text
        assert CHAT not in text


def test_every_turn_is_once_on_a_trail_that_verifies(talk: Conversation) -> None:
    runs = walk(talk)
    stopped = runs[-1].run_id
    talk.say("clear")
    rows = [
        orjson.loads(line)
        for data in talk.audit.contents.values()
        for line in data.splitlines()
        if line
    ]
    turns = [row for row in rows if "turn" in row["actions"] and row["outcome"] == "begun"]
    by_run = {row["run_id"]: row for row in turns}
    assert len(by_run) == len(turns), "a turn is on record once"
    ended = [row for row in rows if "turn" in row["actions"] and row["outcome"] == "done"]
    assert len({row["run_id"] for row in ended}) == len(ended) > 3, "and its end, once"
    for row in ended:
        begun = by_run[row["run_id"]]
        # A turn that is stopped before its chart is read stands with the session.
        ends_in = {begun["patient"], None} if row["run_id"] == stopped else {begun["patient"]}
        assert row["patient"] in ends_in
        assert row["principal"] == begun["principal"]
        assert len(row["receipt"]) == 64
    assert [by_run[run.run_id]["patient"] for run in runs] == [
        None,
        "patient_4",
        "patient_7",
        "patient_7",
        "patient_7",
        "patient_7",
    ]
    assert [row["actions"] for row in rows if row["run_id"] not in by_run] == [["clear"]]
    assert CANARY.findall(str(rows)) == []
    report = talk.do(verify(talk.audit))
    assert (report.breaks, report.records >= 6) == ([], True)
