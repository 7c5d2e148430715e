"""Who decided is told from what stood on the wire."""

from typing import Any

import orjson
import pytest

from evals.runner import decided_by
from evals.talk import Turn
from evals.wire import Asked

SCHEMA: dict[str, Any] = {"json_schema": {"schema": {"properties": {"patient": {}, "task": {}}}}}


def reading(patient: str, *, message: str = "CT?", patients: bool = True) -> Asked:
    given: dict[str, Any] = {"message": message, **({"patients": ["p0", "p1"]} if patients else {})}
    content = orjson.dumps({"patient": patient, "task": "answer"}).decode()
    answer = orjson.dumps({"choices": [{"message": {"content": content}}]}).decode()
    messages = [{"role": "user", "content": orjson.dumps(given).decode()}]
    body = {"messages": messages, "response_format": SCHEMA}
    return Asked(path="/v1/chat/completions", body=body, answer=answer)


@pytest.mark.parametrize(
    ("asked", "question", "who"),
    [
        ([], None, "rule"),
        ([], "subject", "rule"),
        ([reading("open", patients=False)], None, "rule"),
        ([reading("p1", message="earlier")], None, "rule"),
        ([reading("open")], None, "model"),
        ([reading("p1")], None, "model"),
        ([reading("another")], "which_patient", "model"),
        ([reading("p1")], "which_patient", "guard"),
        ([reading("open")], "subject", "guard"),
        ([reading("open")], "plan", "model"),
    ],
)
def test_rule_model_and_guard_are_told_apart(
    asked: list[Asked], question: str | None, who: str
) -> None:
    state = {"question": None if question is None else {"kind": question}}
    assert decided_by(Turn(user="CT?", state=state), asked) == who
