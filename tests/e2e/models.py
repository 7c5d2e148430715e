"""Language models over HTTP, beside the tests: scripted ones, and a real one."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from tests.e2e.beside import running_beside
from tests.fakes_openai import Brain, FakeOpenAI, RecordedRequest, Reply, ToolCall
from tests.fakes_openai_brain import brain

BOARD = ["PatientHistory", "PatientStatus", "Radiology", "Pathology", "ReportCreation"]
"""Who works on a tumor board; the team has more agents, for other work."""


def board_brain(request: RecordedRequest) -> Reply:
    """Answer as the generic brain does, with plans for the members of a tumor board only."""
    reply = brain(request)
    return replace(reply, tool_calls=[_for_board(call) for call in reply.tool_calls])


def _for_board(call: ToolCall) -> ToolCall:
    if not call.name.endswith("propose_plan") or not isinstance(call.arguments, Mapping):
        return call
    steps = [step for step in call.arguments["steps"] if step["agent"] in BOARD]
    return replace(call, arguments={"steps": steps})


class ModelServer(FakeOpenAI):
    """`FakeOpenAI` with a loop of its own, so that tests of any loop may share it."""

    def settings(self) -> dict[str, str]:
        """Return the settings that make a server use it."""
        return {"LLM_PROVIDER": "openai", "OPENAI_BASE_URL": self.base_url, "OPENAI_API_KEY": "k"}


@contextmanager
def running_model(brain: Brain) -> Iterator[ModelServer]:
    """Run a scripted model in a thread."""
    server = ModelServer(brain=brain)
    with running_beside(server):
        yield server
