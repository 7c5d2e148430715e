"""The socket, over real connections: plain mode, limits, order, stop, resume, access."""

import asyncio
from datetime import timedelta
from itertools import pairwise

import aiohttp
import pytest

from data_models.clock import SystemClock
from data_models.conversations import turn_events
from routes.requests.context import SocketLimits
from services.access.limits import MessageRate, SocketSlots
from services.access.principal import Handshake, Principal
from services.runs.hub import Run
from tests.fakes import FixedClock
from tests.routes.conftest import ADA, BEN, PATIENCE_SECONDS, Server, Start
from tests.routes.fakes import Held, echo, spoken, state, tell
from tests.waiting import until

FOOTER = """---
*PT_CTX:*
- **Patient ID:** `patient_4`
- **Session Patients:** `patient_4` (active)
- **Conversation ID:** `chat_1`"""


async def test_a_plain_client_gets_whole_messages_with_a_footer_and_done(server: Server) -> None:
    socket = await server.socket()
    await socket.say("hello", sender="Ada", client_message_id="mine-1")
    message, done = await socket.until_done()
    assert message == {
        "id": "run_00000000000000000000000000000001-m1",
        "content": "You said: hello\n\n" + FOOTER,
        "sender": "Orchestrator",
        "timestamp": "2030-01-02T03:04:05+00:00",
        "isBot": True,
        "mentions": None,
        "client_message_id": "mine-1",
    }
    assert done == {"type": "done"}


async def test_the_desk_gets_what_the_frame_and_the_handshake_say(server: Server) -> None:
    socket = await server.socket(headers={**ADA, "Accept-Language": "de-AT,en;q=0.8"})
    press = {"target_id": "plan_1", "answer": "confirm", "steps": [1, 3]}
    more = {"mentions": ["Radiology"], "time_zone": "Europe/Berlin", "press": press}
    await socket.say("Confirm", type="message", sender="Somebody Else", **more)
    await socket.until_done()
    [message] = server.scheduler.messages
    assert (message.conversation_id, message.channel, message.owner) == ("chat_1", "web", "key:ada")
    assert message.sender.principal_id == "key:ada"
    assert message.sender.display_name == "ada", "a signed-in user cannot take another name"
    assert message.language == "de", "a bare word is read in the language of the page"
    assert (message.mentions, message.time_zone) == (("Radiology",), "Europe/Berlin")
    assert message.press is not None
    assert message.press.model_dump() == press | {"steps": (1, 3), "edits": ()}


async def test_a_failed_turn_is_an_error_and_done_and_the_next_turn_works(server: Server) -> None:
    async def fail(run: Run) -> None:
        run.emit(turn_events.RunStarted(run_id=run.run_id, conversation_id=run.conversation_id))
        run.emit(turn_events.RunFailed(code="model_timeout", text="Too slow.", ref="ref_1"))

    server.scheduler.script = fail
    socket = await server.socket()
    await socket.say("one")
    assert await socket.until_done() == [
        {"error": "Too slow.", "code": "model_timeout", "ref": "ref_1"},
        {"type": "done"},
    ]
    server.scheduler.script = echo
    await socket.say("two")
    assert len(await socket.until_done()) == 2


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ({"content": "   "}, "empty_message"),
        ({"content": "x" * 16_001}, "message_too_long"),
        ({"content": 5}, "bad_frame"),
        ({}, "bad_frame"),
        ({"type": "command", "content": "x"}, "bad_frame"),
        ({"type": ["message"], "content": "x"}, "bad_frame"),
        ({"content": "x", "press": {"target_id": "", "answer": "yes"}}, "bad_frame"),
        ({"content": "x", "mentions": "Radiology"}, "bad_frame"),
        ([{"content": "x"}], "bad_frame"),
        ("content", "bad_frame"),
        (None, "bad_frame"),
    ],
)
@pytest.mark.slow
async def test_what_cannot_be_a_turn_is_refused_and_the_socket_stays_open(
    server: Server, frame: object, code: str
) -> None:
    socket = await server.socket()
    await socket.send(frame)
    refused, done = await socket.until_done()
    assert (refused["code"], refused["ref"][:4], done) == (code, "ref_", {"type": "done"})
    assert server.scheduler.messages == []
    await socket.say("still there?")
    assert len(await socket.until_done()) == 2


@pytest.mark.parametrize(
    ("said", "told"),
    [("der Befund ", "Die Nachricht ist länger"), ("the ", "The message is longer")],
)
async def test_a_refusal_is_in_the_language_of_what_is_refused(
    server: Server, said: str, told: str
) -> None:
    socket = await server.socket()
    await socket.say(said * 5_000)
    refused, _ = await socket.until_done()
    assert refused["error"].startswith(told)


async def test_the_longest_message_passes(server: Server) -> None:
    socket = await server.socket()
    await socket.say("\N{FACE WITH TEARS OF JOY}" * 16_000)
    assert len(await socket.until_done()) == 2


async def test_a_frame_of_the_limit_passes_and_a_byte_more_closes_1009(server: Server) -> None:
    limit = server.context.limits.frame_bytes
    socket = await server.socket()
    await socket.raw.send_str("x" * limit)
    assert (await socket.until_done())[0]["code"] == "bad_frame"
    await socket.raw.send_str("x" * (limit + 1))
    message = await socket.raw.receive(timeout=PATIENCE_SECONDS)
    assert message.type is aiohttp.WSMsgType.CLOSE
    assert socket.raw.close_code == 1009


async def test_a_second_message_is_said_to_be_queued_and_is_answered(server: Server) -> None:
    server.scheduler.script = held = Held()
    socket = await server.socket()
    await socket.say("first")
    await socket.say("second", client_message_id="2")
    notice = await socket.next()
    assert (notice["notice"], notice["client_message_id"]) == ("queued", "2")
    held.gate.set()
    frames = [*await socket.until_done(), *await socket.until_done()]
    said = [frame["content"].splitlines()[0] for frame in frames if "content" in frame]
    assert said == ["You said: first", "You said: second"]


async def test_a_queued_run_is_told_in_the_running_one_and_numbered(server: Server) -> None:
    server.scheduler.script = held = Held()
    socket = await server.socket(query="?stream=1")
    await socket.say("first")
    await socket.say("second", client_message_id="2")
    started, notice = await socket.next(), await socket.next()
    assert started["type"] == "RUN_STARTED"
    assert (notice["value"]["kind"], notice["metadata"]["clientMessageId"]) == ("queued", "2")
    held.gate.set()
    first, second = await socket.until_finished(), await socket.until_finished()
    assert {frame["metadata"]["runId"] for frame in first} == {started["runId"]}
    assert second[0]["type"] == "RUN_STARTED"
    assert [frame["metadata"]["seq"] for frame in second] == list(range(1, len(second) + 1))


async def test_a_message_behind_another_devices_turn_starts_its_run_at_once(server: Server) -> None:
    server.scheduler.script = held = Held(begins=0)
    other, mine = await server.socket(), await server.socket(query="?stream=1")
    await other.say("first")
    await until(lambda: len(server.scheduler.messages) == 1)
    await mine.say("second")
    started = await mine.next()
    assert (started["type"], started["metadata"]["notice"]["kind"]) == ("RUN_STARTED", "queued")
    held.gate.set()
    assert (await mine.until_finished())[-1]["type"] == "RUN_FINISHED"


async def test_twenty_wait_and_the_next_is_refused(server: Server) -> None:
    server.scheduler.script = held = Held()
    socket = await server.socket()
    for number in range(22):
        await socket.say(str(number))
    frames = [await socket.next() for _ in range(22)]
    assert [frame["code"] for frame in frames if "code" in frame] == ["too_many_messages"]
    held.gate.set()
    for _ in range(21):
        await socket.until_done()
    assert [message.text for message in server.scheduler.messages] == [str(n) for n in range(21)]


async def test_stop_cancels_the_running_turn(server: Server) -> None:
    async def endless(run: Run) -> None:
        run.emit(turn_events.RunStarted(run_id=run.run_id, conversation_id=run.conversation_id))
        await asyncio.Event().wait()

    server.scheduler.script = endless
    socket = await server.socket(query="?stream=1")
    await socket.say("go")
    await socket.next()
    await socket.send({"type": "stop"})
    finished = await socket.next()
    assert (finished["type"], finished["outcome"]) == ("RUN_FINISHED", {"type": "cancelled"})


async def test_a_stop_for_another_run_does_nothing(server: Server) -> None:
    server.scheduler.script = held = Held(begins=0)
    socket = await server.socket()
    await socket.say("go")
    await socket.send({"type": "stop", "run_id": "run_of_yesterday"})
    await socket.send({"type": "nonsense"})
    assert (await socket.until_done())[0]["code"] == "bad_frame"
    held.gate.set()
    assert len(await socket.until_done()) == 2


async def test_a_repeated_message_gets_the_same_answer_and_no_second_turn(server: Server) -> None:
    socket = await server.socket()
    await socket.say("once", client_message_id="same")
    first = await socket.until_done()
    await socket.say("once", client_message_id="same")
    assert await socket.until_done() == first
    assert len(server.scheduler.messages) == 1


async def test_streaming_frames_are_numbered_without_gaps(server: Server) -> None:
    socket = await server.socket(query="?stream=1")
    await socket.say("hello", client_message_id="mine")
    frames = await socket.until_finished()
    assert [frame["metadata"]["seq"] for frame in frames] == list(range(1, len(frames) + 1))
    assert frames[0]["type"] == "RUN_STARTED"
    assert frames[0]["metadata"]["clientMessageId"] == "mine"
    assert frames[0]["threadId"] == "chat_1"


async def test_a_refused_message_is_a_run_error_in_streaming_mode(server: Server) -> None:
    socket = await server.socket(query="?stream=1")
    await socket.send({"content": "", "client_message_id": "c1"})
    refused = await socket.next()
    assert (refused["type"], refused["code"]) == ("RUN_ERROR", "empty_message")
    metadata = refused["metadata"]
    assert (metadata["seq"], metadata["clientMessageId"]) == (1, "c1")
    assert metadata["ref"].startswith("ref_")


async def test_a_turn_goes_on_without_its_client_who_comes_back_for_the_rest(
    server: Server,
) -> None:
    server.scheduler.script = held = Held(begins=5)
    socket = await server.socket(query="?stream=1")
    await socket.say("go")
    seen = [await socket.next() for _ in range(3)]
    await socket.raw.close()
    held.gate.set()
    run_id = seen[0]["runId"]
    again = await server.socket(query=f"?stream=1&run={run_id}&after=3")
    rest = await again.until_finished()
    assert [frame["metadata"]["seq"] for frame in rest] == list(range(4, 10))
    whole = await (await server.socket(query=f"?stream=1&run={run_id}")).until_finished()
    assert whole[3:] == rest
    assert whole[0]["input"]["messages"][0]["content"] == "go", "another device knows the question"


async def test_a_delta_after_the_resume_fits_the_state_before_it(server: Server) -> None:
    async def script(run: Run) -> None:
        run.emit(turn_events.RunStarted(run_id=run.run_id, conversation_id=run.conversation_id))
        run.emit(turn_events.StateChanged(state=state(run.conversation_id)))
        run.emit(turn_events.StateChanged(state=state(run.conversation_id, decision="CLEAR")))
        run.emit(turn_events.RunFinished(outcome="success", timing=turn_events.TurnTiming()))

    server.scheduler.script = script
    socket = await server.socket(query="?stream=1")
    await socket.say("go")
    frames = await socket.until_finished()
    again = await server.socket(query=f"?stream=1&run={frames[0]['runId']}&after=2")
    delta = await again.next()
    assert delta["delta"] == [{"op": "replace", "path": "/decision", "value": "CLEAR"}]


async def test_a_run_that_nobody_keeps_is_unknown_and_the_socket_works(server: Server) -> None:
    socket = await server.socket(query="?stream=1&run=run_gone&after=7")
    unknown = await socket.next()
    assert (unknown["name"], unknown["value"]) == ("run_unknown", {"runId": "run_gone"})
    await socket.say("hello")
    assert (await socket.until_finished())[-1]["type"] == "RUN_FINISHED"


async def test_a_resume_place_that_is_no_number_is_refused(server: Server) -> None:
    assert await server.refusal(query="?stream=1&run=run_1&after=-1", headers=ADA) == 400


async def test_a_stranger_gets_the_answer_of_an_unknown_conversation(server: Server) -> None:
    socket = await server.socket(chat_id="chat_of_ada")
    await socket.say("mine")
    await socket.until_done()
    ids = ("chat_of_ada", "..%2Fetc")
    assert [await server.refusal(chat_id, headers=BEN) for chat_id in ids] == [404, 404]


@pytest.mark.slow
@pytest.mark.parametrize(
    "chat_id", ["19%3Aabc%40thread.tacv2", "a%3A1", "bot%3Amsteams%3At%3Ac", "19:x@thread.v2"]
)
async def test_no_page_claims_a_conversation_that_a_channel_may_begin(
    server: Server, chat_id: str
) -> None:
    assert await server.refusal(chat_id, headers=ADA) == 404


async def test_a_conversation_begun_on_the_web_under_such_an_id_stays_open(server: Server) -> None:
    server.scheduler.owners["old:one"] = "key:ada"
    socket = await server.socket(chat_id="old%3Aone")
    await socket.say("hello")
    assert (await socket.until_done())[-1]


async def test_a_conversation_claimed_by_another_meanwhile_is_refused_in_the_open_socket(
    server: Server,
) -> None:
    late = await server.socket(chat_id="shared", headers=BEN)
    first = await server.socket(chat_id="shared", headers=ADA)
    await first.say("mine")
    await first.until_done()
    await late.say("mine too")
    assert (await late.next())["code"] == "not_found"


async def test_no_token_and_a_foreign_origin_are_refused_at_the_handshake(server: Server) -> None:
    assert await server.refusal(headers={}) == 401
    assert await server.refusal(headers=ADA | {"Origin": "http://evil.example"}) == 403


async def test_too_many_sockets_are_refused_and_a_closed_one_makes_room(start: Start) -> None:
    server = await start(slots=SocketSlots(limit=2))
    sockets = [await server.socket() for _ in range(2)]
    assert await server.refusal(headers=ADA) == 429
    await sockets[0].raw.close()
    await until(lambda: server.context.slots.total == 1)
    await server.socket()


async def test_a_flood_is_refused_without_reaching_the_desk(start: Start) -> None:
    server = await start(rate=MessageRate(per_minute=2, clock=SystemClock()))
    socket = await server.socket()
    for _ in range(3):
        await socket.say("hello")
    codes = [(await socket.next()).get("code") for _ in range(6)]
    assert codes.count("rate_limited") == 1
    assert len(server.scheduler.messages) == 2


@pytest.mark.slow
async def test_an_idle_socket_is_signed_out(start: Start) -> None:
    server = await start(limits=SocketLimits(idle_seconds=0.2))
    socket = await server.socket()
    await socket.raw.receive(timeout=PATIENCE_SECONDS)
    assert socket.raw.close_code == 4401


@pytest.mark.slow
async def test_a_socket_whose_turn_runs_is_not_idle(start: Start) -> None:
    clock = FixedClock()
    server = await start(limits=SocketLimits(idle_seconds=0.1), clock=clock)

    async def slow(run: Run) -> None:
        clock.advance(60)
        await asyncio.sleep(0.3)  # the socket looks at the clock three times
        await echo(run)

    server.scheduler.script = slow
    socket = await server.socket()
    await socket.say("hello")
    assert len(await socket.until_done()) == 2


class ShortLived:
    """Lets everybody in for a minute."""

    def __init__(self, *, clock: FixedClock) -> None:
        self._expires_at = clock.now() + timedelta(minutes=1)

    async def authenticate(self, _: Handshake) -> Principal:
        return Principal(id="entra:t:u", name="Ada", kind="entra", expires_at=self._expires_at)


async def test_a_token_that_expires_closes_its_socket_with_4401_and_the_turn_goes_on(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.routes import conftest

    usual, clock = conftest.web_access(), FixedClock()
    short = type(usual)(authenticator=ShortLived(clock=clock), origins=usual.origins)
    monkeypatch.setattr(conftest, "web_access", lambda: short)
    server = await start(limits=SocketLimits(idle_seconds=0.1), clock=clock)
    gate, runs = asyncio.Event(), list[Run]()

    async def held(run: Run) -> None:
        runs.append(run)
        clock.advance(61)
        await gate.wait()
        await echo(run)

    server.scheduler.script = held
    socket = await server.socket()
    await socket.say("hello")
    await socket.raw.receive(timeout=PATIENCE_SECONDS)
    assert socket.raw.close_code == 4401
    (run,) = runs
    assert not run.is_finished
    gate.set()
    await run.wait()
    assert isinstance(run.past()[-1], turn_events.RunFinished)


async def test_a_dead_peer_is_noticed(start: Start) -> None:
    server = await start(limits=SocketLimits(heartbeat_seconds=0.2), slots=SocketSlots(limit=1))
    url = f"{server.base}/api/ws/chats/chat_1/messages"
    await server.client.ws_connect(url, headers=ADA, autoping=False)
    await until(lambda: server.context.slots.total == 0)


async def test_a_slow_reader_holds_nobody_up_and_gets_everything(start: Start) -> None:
    is_said = asyncio.Event()

    async def flood(run: Run) -> None:
        run.emit(turn_events.RunStarted(run_id=run.run_id, conversation_id=run.conversation_id))
        for _ in range(400):
            run.emit(turn_events.AgentTextDelta(message_id="m1", text="x" * 20_000))
            await asyncio.sleep(0)
        run.emit(turn_events.RunFinished(outcome="success", timing=turn_events.TurnTiming()))
        is_said.set()

    server = await start()
    server.scheduler.script = flood
    slow = await server.socket(chat_id="slow", query="?stream=1")
    await slow.say("go")
    await asyncio.wait_for(is_said.wait(), PATIENCE_SECONDS)  # 8 MB wait in the run
    server.scheduler.script = echo
    quick = await server.socket(chat_id="quick")
    await quick.say("hello")
    assert len(await quick.until_done()) == 2
    frames = await slow.until_finished()
    assert len(frames) == 402
    assert all(b["metadata"]["seq"] - a["metadata"]["seq"] == 1 for a, b in pairwise(frames))


async def test_a_server_that_stops_says_so(server: Server) -> None:
    socket = await server.socket()
    closing = asyncio.create_task(server.runner.shutdown())
    await socket.raw.receive(timeout=PATIENCE_SECONDS)
    assert socket.raw.close_code == 1001
    await closing


async def test_two_agents_are_two_messages(server: Server) -> None:
    async def two(run: Run) -> None:
        run.emit(turn_events.RunStarted(run_id=run.run_id, conversation_id=run.conversation_id))
        tell(run, spoken("m1", "Over to *Radiology*."))
        tell(run, spoken("m2", "No lesion.", agent="Radiology"))
        run.emit(turn_events.RunFinished(outcome="success", timing=turn_events.TurnTiming()))

    server.scheduler.script = two
    socket = await server.socket()
    await socket.say("go")
    frames = await socket.until_done()
    assert [frame.get("sender") for frame in frames] == ["Orchestrator", "Radiology", None]
