"""A message that is answered again may be taken to be about somebody else than before."""

from datetime import timedelta

import pytest

from data_models.chat_context import AgentMessage, Turn, is_open
from data_models.conversations.conversation import RunningTurn
from data_models.conversations.incoming_message import IncomingMessage
from data_models.conversations.turn_events import AgentMessageFinished
from data_models.identifiers import PatientId
from services.runs.hub import Run
from tests.durability.evidence import Evidence
from tests.fakes_store import MemoryBlobStore
from tests.given import present
from tests.services.world import CHAT, World, heard
from tests.tables import with_cases

FOUR, DEAD, SAID = PatientId("patient_4"), "run_dead", "First words."


class Attempted:
    """A replica behind another that died while it answered for patient_4, after `SAID`."""

    def __init__(self) -> None:
        self.store = MemoryBlobStore()
        self.world = World(sessions=self.store, is_promised=True)

    async def answered_again(self, text: str, *, decided: bool = False) -> Run:
        await self.world.say("start with patient_4")
        await self.world.scheduler.idle()
        message = self.world.message(text)
        await self._leave_a_row(message)
        await self._leave_a_claim(message, decided=decided)
        run = present(await self.world.scheduler.go_on(message))
        await heard(run)
        await self.world.scheduler.idle()
        return run

    async def _leave_a_row(self, message: IncomingMessage) -> None:
        contexts, now = self.world.contexts, self.world.clock.now()
        stored = await contexts.read(CHAT, FOUR, epoch=0)
        context = stored.document
        said = AgentMessage(message_id="msg_1", agent="Orchestrator", text=SAID, timestamp=now)
        context.chat_history.append(
            Turn(
                turn_id=context.next_turn_id,
                run_id=DEAD,
                timestamp=now,
                user="Alice",
                user_message=message.text,
                agent_responses=[said],
                turn_status="IN_PROGRESS",
            )
        )
        context.next_turn_id += 1
        await contexts.write(context, etag=stored.etag)

    async def _leave_a_claim(self, message: IncomingMessage, *, decided: bool) -> None:
        stored = present(await self.world.conversations.read(CHAT))
        began = self.world.clock.now() - timedelta(minutes=2)
        stored.document.running_turn = RunningTurn(
            run_id=DEAD,
            message=message,
            replica="dead",
            patient_id=FOUR,
            decided=decided,
            started_at=began,
            expires_at=began + timedelta(minutes=1),
        )
        await self.world.conversations.write(stored.document, etag=stored.etag)

    def rows(self) -> dict[str | None, Turn]:
        found = Evidence(self.store.contents, CHAT).turns()
        return {one.patient_id: one.turn for one in found if one.turn.run_id == DEAD}


@pytest.mark.slow
@with_cases("text", "now", "decided")
async def test_what_was_begun_for_the_patient_of_before_is_closed_there(
    text: str, now: str | None, decided: bool
) -> None:
    attempted = Attempted()
    await attempted.answered_again(text, decided=decided)
    rows = attempted.rows()
    assert (rows[FOUR].turn_status, rows[FOUR].error_code) == ("FAILED", "interrupted")
    assert [one.text for one in rows[FOUR].agent_responses] == [SAID]
    assert [turn for turn in rows.values() if is_open(turn)] == []
    if text != "clear":
        assert rows[now if now is None else PatientId(now)].turn_status == "COMPLETED"
    closed = rows[FOUR].model_dump_json(exclude={"user_message"})
    assert "patient_15" not in closed, "who else it was for is nobody's business here"


async def test_what_was_begun_for_the_same_patient_goes_on_in_its_row() -> None:
    attempted = Attempted()
    attempted.world.team.say = lambda _: (SAID, "And the rest.")
    run = await attempted.answered_again("and the stage?")
    told = [e.message.text for e in run.past() if isinstance(e, AgentMessageFinished)]
    assert told == [SAID, "And the rest."]
    (row,) = attempted.rows().values()
    assert (row.turn_status, row.error_code) == ("COMPLETED", None)
    assert [one.text for one in row.agent_responses] == told
