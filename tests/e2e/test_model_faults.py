"""Every fault of a model, through the whole server: one plain message, and the talk goes on."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle

import pytest

from tests.e2e.models import ModelServer, running_model
from tests.e2e.server import Server, running_server
from tests.e2e.storage import Stored, StoredFiles
from tests.e2e.talks import Answer, Surface, Talk, at_rest, talking
from tests.fakes_openai import Brain, RecordedRequest, Reply, ToolCall
from tests.fakes_openai_brain import brain as good_brain

pytestmark = pytest.mark.slow

QUESTION = "Did the radiotherapy of 2025 end as intended?"
CANARY = "Words-of-a-broken-model"
SURFACES: tuple[Surface, ...] = ("plain", "stream")
"""Each fault meets one of them: behind the run's outcome both are the same."""
FOUR = "patient_patient_4_context.json"
EVENTS = "text/event-stream"

FAULTS = {
    "429": Reply(status=429, headers={"Retry-After": "1"}),
    "500": Reply(status=500),
    "503 with html": Reply(status=503, body=b"<html>", content_type="text/html"),
    "401": Reply(status=401),
    "reset before the answer": Reply(drop_after_bytes=-1),
    "silence": Reply(text=CANARY, delay_seconds=30.0),
    "empty": Reply(text=""),
    "null": Reply(text=None),
    "content filter of the prompt": Reply(
        status=400, body=b'{"error":{"message":"no","code":"content_filter"}}'
    ),
    "refusal": Reply(refusal="I will not."),
    "html": Reply(body=b"<html>Sign in</html>", content_type="text/html"),
    "no choices": Reply(choices=False),
    "malformed": Reply(body=b'data: {"choices": [{"delta": \n\n', content_type=EVENTS),
}
CUTS = {
    "reset within the answer": Reply(text=CANARY * 9, drop_after_bytes=400),
    "a drop a second": Reply(text=CANARY * 90, tokens_per_second=1.0),
    "cut off": Reply(text=CANARY, finish_reason="length"),
    "content filter": Reply(text=CANARY, finish_reason="content_filter"),
    "never ends": Reply(text=CANARY, end_stream=False),
}
"""What begins an answer: the record's own rows end it, after a search where they need one."""


def endless_tools(request: RecordedRequest) -> Reply:
    if not request.tool_names:
        return Reply(text="{}")
    return Reply(tool_calls=[ToolCall(request.tool_names[-1], {})])


def unknown_tool(request: RecordedRequest) -> Reply:
    return Reply(tool_calls=[ToolCall("rounds-delete_everything", {"patient_id": "patient_15"})])


def broken_arguments(request: RecordedRequest) -> Reply:
    if not request.tool_names:
        return Reply(text="{}")
    return Reply(tool_calls=[ToolCall(request.tool_names[0], '{"query": "')])


def floods(request: RecordedRequest) -> Reply:
    """Ends at the limit of a message or at that of a turn, whichever is counted first."""
    return Reply(text="x" * 1_500_000, chunk_chars=4_096)


def unknown_agent(request: RecordedRequest) -> Reply:
    return Reply(text="This is for another.\n\n*Neurosurgery*, please answer this.")


# What a model may also do: here the team's own rules end the turn, well or badly.
ODDITIES: dict[str, Brain] = {
    "endless tool calls": endless_tools,
    "unknown tool": unknown_tool,
    "broken arguments": broken_arguments,
    "unknown agent": unknown_agent,
    "1.5 MB": floods,
}


@dataclass(frozen=True)
class Site:
    """A server whose model can be made to fail."""

    server: Server
    model: ModelServer


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("faults")
    short = {"LLM_SILENCE_SECONDS": "1.5", "LLM_CALL_SECONDS": "4"}
    with running_model(good_brain) as model:
        settings = {**model.settings(), **short}
        with running_server(folder, **settings) as server:
            yield Site(server, model)


async def failing(site: Site, talk: Talk, text: str, brain: Brain) -> Answer:
    site.model.brain = brain
    try:
        return await talk.say(text, last_words="")
    finally:
        site.model.brain = good_brain


async def assert_goes_on(site: Site, talk: Talk) -> None:
    """The question is kept, and the next turn is answered as if nothing had been."""
    stored = Stored(StoredFiles(site.server.data), talk.conversation)
    await at_rest(stored)
    turns = stored.document(FOUR)["chat_history"]
    assert turns[-1]["user_message"] == QUESTION
    answer = await talk.say(QUESTION, last_words="")
    assert answer.failure is None
    assert answer.said


@pytest.mark.parametrize(("name", "surface"), list(zip(FAULTS, cycle(SURFACES))))
async def test_a_fault_ends_in_one_plain_message(site: Site, surface: Surface, name: str) -> None:
    async with talking(site.server.url, surface) as talk:
        await talk.say("switch to patient_4", last_words="")
        answer = await failing(site, talk, QUESTION, lambda _: FAULTS[name])
        assert answer.failure is not None
        assert answer.failure.startswith("model")
        assert len(answer.said) <= 1
        await assert_goes_on(site, talk)
    stored = Stored(StoredFiles(site.server.data), talk.conversation)
    failed, following = stored.document(FOUR)["chat_history"][-2:]
    assert (failed["turn_status"], failed["error_code"]) == ("FAILED", answer.failure)
    assert following["turn_status"] == "COMPLETED"
    assert CANARY not in site.server.log


@pytest.mark.parametrize(("name", "surface"), list(zip(CUTS, cycle(SURFACES))))
async def test_a_cut_answer_is_ended_by_the_rows(site: Site, surface: Surface, name: str) -> None:
    async with talking(site.server.url, surface) as talk:
        await talk.say("switch to patient_4", last_words="")
        answer = await failing(site, talk, QUESTION, lambda _: CUTS[name])
        assert answer.failure is None
        assert "The language model broke off here." in "".join(one.text for one in answer.said)
        await assert_goes_on(site, talk)
    assert CANARY not in site.server.log


@pytest.mark.parametrize(("name", "surface"), list(zip(ODDITIES, cycle(SURFACES))))
async def test_an_oddity_ends_the_turn_soon(site: Site, surface: Surface, name: str) -> None:
    async with talking(site.server.url, surface) as talk:
        await talk.say("switch to patient_4", last_words="")
        answer = await failing(site, talk, QUESTION, ODDITIES[name])
        # A turn that its limits end says so in a notice and offers to continue.
        assert answer.said or answer.failure is not None or answer.notices == ("limit",)
        await assert_goes_on(site, talk)


@pytest.mark.parametrize("name", ["silence", "malformed"])
async def test_a_classifier_that_fails_changes_no_patient(site: Site, name: str) -> None:
    async with talking(site.server.url, "stream") as talk:
        await talk.say("switch to patient_15", last_words="")
        await talk.say("switch to patient_4", last_words="")
        said = "Forget the patient from before and go back to the previous one please"
        answer = await failing(site, talk, said, lambda _: FAULTS[name])
        assert answer.state is None or answer.state["patient_id"] == "patient_4"
        following = await talk.say(QUESTION, last_words="")
        assert following.state is not None
        assert following.state["patient_id"] == "patient_4"
        assert following.state["all_patient_ids"] == ["patient_15", "patient_4"]


async def test_a_model_that_is_gone_is_said_and_found_again(site: Site) -> None:
    async with talking(site.server.url, "plain") as talk:
        await talk.say("switch to patient_4", last_words="")
        down = await failing(site, talk, QUESTION, lambda _: Reply(drop_after_bytes=-1))
        assert down.failure == "model_unavailable"
        await assert_goes_on(site, talk)
