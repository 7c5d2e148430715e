"""A constructed run whose figures are known beforehand, through the real server."""

from collections.abc import Callable
from itertools import count
from pathlib import Path

import orjson
import pytest

from evals.__main__ import main
from tests.e2e.models import running_model
from tests.fakes_openai import RecordedRequest, Reply

USAGE = {
    "prompt_tokens": 1_000,
    "completion_tokens": 100,
    "total_tokens": 1_100,
    "prompt_tokens_details": {"cached_tokens": 400},
}
SAID = ("ECOG performance status: 1 [Observation/ecog-3]", "How can I help you?")


def telling() -> Callable[[RecordedRequest], Reply]:
    """Return a model that is right every other time, and tells its tokens."""
    numbers = count()

    def brain(request: RecordedRequest) -> Reply:
        if not request.body.get("stream"):
            return Reply(text="ok")
        text = SAID[next(numbers) % 2]
        parts = (
            {"choices": [{"index": 0, "delta": {"role": "assistant", "content": text}}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
            {"choices": [], "usage": USAGE},
        )
        head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        lines = [b"data: " + orjson.dumps({**head, **part}) for part in parts]
        body = b"\n\n".join([*lines, b"data: [DONE]", b""])
        return Reply(body=body, content_type="text/event-stream")

    return brain


@pytest.mark.slow
def test_shares_intervals_tries_tokens_costs_and_who_decided_are_those_that_are_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_model(telling()) as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        case = ["run", "--suite", "tools", "--only", "ecog-conflict", "--model", "configured"]
        how = ["--repeat", "2", "--parallel", "1", "--prices", "2,0.5,8", "--out", str(tmp_path)]
        assert main([*case, *how]) == 0
    _, row = orjson.loads((tmp_path / "results.json").read_bytes())["table"]
    assert (row["n"], row["cases"], row["share"]) == (2, 1, 0.5)
    # Wilson: (0.5 + z²/4 ± z √(0.25/2 + z²/16)) / (1 + z²/2) with z = 1.96.
    assert (round(row["low"], 3), round(row["high"], 3)) == (0.095, 0.905)
    assert (row["k"], row["all_right"]) == (2, 0.0)
    assert row["decided"] == {"rule": 2}
    assert (row["calls"], row["prompt_tokens"], row["answer_tokens"]) == (2, 2_000, 200)
    assert (row["cached_tokens"], row["is_estimated"]) == (800, False)
    # A call: 600 fresh at 2, 400 cached at 0.5, 100 answered at 8 dollars a million.
    assert row["cost"] == pytest.approx(2 * 0.0022)
