"""A scripted model over the real wire: capable by default, misbehaving where a case says so.

It knows of a request only what every server's prompt shows: which tools are offered, whether a
schema is asked for, and whose results came back. So it outlives changes of the prompts. Where a
case has no script it does what the case expects, so that what fails then is the way, not the model.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from evals.cases import Script
from tests.fakes_openai import RecordedRequest, Reply, ToolCall
from tests.fakes_openai_brain import brain as plain_brain
from tests.fakes_openai_brain import structured_answer

_REPAIR = re.compile(
    r"(?i)not supported|contradict|unsupported|put (?:it|your answer) right|repair"
)


_BACK = re.compile(r"Back to you \*[\w-]+\*\.?")
ANYTHING = (".",)
"""What is to be read where no words are wanted: one look, as calls of a turn are bounded."""
NOTHING = ("(?!)",)
"""Everything is looked up and nothing quoted: what the script says follows from it."""
RECORD = frozenset(
    {
        *("chart_summary", "problems", "medications", "results", "allergies", "procedures"),
        *("encounters", "care", "history", "timeline", "current_status", "imaging_reports"),
        *("pathology_reports", "biomarkers", "immunizations"),
    }
)


class ScriptedModel:
    """Answers as the case of the conversation says."""

    def __init__(self, *, script_of: Callable[[str], Script | None]) -> None:
        self._script_of = script_of

    def brain(self, request: RecordedRequest) -> Reply:
        """Answer one request."""
        script = self._script_of(request.text)
        if script is None:
            return plain_brain(request)
        if "response_format" in request.body or "JSON Schema" in request.instructions:
            return Reply(text=_reading(request, script))
        tools = {name.rpartition("-")[2]: name for name in request.tool_names}
        if "hand_over" in tools or "propose_plan" in tools:
            return _facilitator(request, script, tools)
        return _agent(request, script, tools)


def _reading(request: RecordedRequest, script: Script) -> str:
    """Return the smallest answer that fits, with the agent and the fields of the script."""
    answer: dict[str, Any] = orjson.loads(structured_answer(request.body))
    if script.stays and answer.get("patient") == "clear":
        answer["patient"] = "open"  # the plain double takes "is the margin clear?" for an order
    if "task" in answer and script.plans:
        answer["task"] = "plan"
    shape = request.body.get("response_format", {}).get("json_schema", {}).get("schema", {})
    for name, row in shape.get("properties", {}).items():
        options = _options(row, shape)
        if script.agent in options and name in ("agent", "addressee", "speaker", "next"):
            answer[name] = script.agent
    return orjson.dumps(
        {**answer, **{k: v for k, v in script.reader.items() if k in answer}}
    ).decode()


def _options(row: Mapping[str, Any], shape: Mapping[str, Any]) -> list[Any]:
    if "$ref" in row:
        return _options(shape.get("$defs", {}).get(str(row["$ref"]).rsplit("/", 1)[-1], {}), shape)
    found = list(row.get("enum", ()))
    for part in row.get("anyOf", ()):
        found += _options(part, shape)
    return found


def _facilitator(request: RecordedRequest, script: Script, tools: Mapping[str, str]) -> Reply:
    if script.facilitator is not None:
        return Reply(text=script.facilitator)
    if _results(request):
        return Reply(text="Done.")
    if script.plans and "propose_plan" in tools:
        steps = [{"agent": one, "text": "say what is known", "needs": []} for one in script.plans]
        call = ToolCall(tools["propose_plan"], {"steps": steps})
        return Reply(text="I propose this plan.", tool_calls=[call])
    if script.reads and not script.agent:
        return _reader(request, script, tools)
    if not script.agent:
        return Reply(text=script.says)
    if "hand_over" in tools:
        properties = _properties(request, tools["hand_over"])
        given = {
            name: script.agent if name == "agent" else "answer the question" for name in properties
        }
        return Reply(text=None, tool_calls=[ToolCall(tools["hand_over"], given)])
    return Reply(text=f"*{script.agent}*, please answer this from the record.")


def _properties(request: RecordedRequest, tool: str) -> list[str]:
    for one in request.body.get("tools") or ():
        if one["function"]["name"] == tool:
            return list(one["function"].get("parameters", {}).get("properties", {}))
    return []


def _agent(request: RecordedRequest, script: Script, tools: Mapping[str, str]) -> Reply:
    if script.reads:
        return _reader(request, script, tools)
    last = str(request.messages[-1].get("content") or "")
    if (
        script.repairs is not None
        and request.messages[-1]["role"] != "tool"
        and _REPAIR.search(last)
    ):
        return Reply(text=script.repairs)
    made = _called(request)
    calls = [
        ToolCall(tools[one.tool], one.arguments)
        for one in script.calls
        if one.tool in tools and one.tool not in made
    ]
    if calls:
        return Reply(text=None, tool_calls=calls)
    return Reply(text=script.says or script.facilitator or "")


def _reader(request: RecordedRequest, script: Script, tools: Mapping[str, str]) -> Reply:
    """Look everything up that needs no argument, and quote the lines that were asked for."""
    if left := _to_read(request, script, tools):
        return Reply(text=None, tool_calls=left)
    lines = [
        line.strip()
        for one in request.messages
        if one["role"] == "tool"
        for line in str(one.get("content") or "").splitlines()
    ]
    quoted = [
        next((line for line in lines if re.search(wanted, line, re.IGNORECASE)), "")
        for wanted in script.reads
    ]
    found = "\n".join(f"- {line}" for line in dict.fromkeys(filter(None, quoted)))
    back = _BACK.search(request.asked)
    return Reply(
        text=(found or script.says or "It is not in the record.")
        + (f"\n\n{back[0]}" if back else "")
    )


def _to_read(request: RecordedRequest, script: Script, tools: Mapping[str, str]) -> list[ToolCall]:
    made = {one.tool for one in script.calls}
    asked = [
        ToolCall(tools[one.tool], one.arguments)
        for one in script.calls
        if one.tool in tools and one.tool not in _called(request)
    ]
    if asked or made:
        return asked
    has_rows = request.messages[-1]["role"] == "tool"
    rows = "\n".join(str(one.get("content")) for one in request.messages if one["role"] == "tool")
    if has_rows and all(re.search(one, rows, re.IGNORECASE) for one in script.reads):
        return []
    free = [
        ToolCall(name, {})
        for tool, name in tools.items()
        if tool in RECORD and not _required(request, name) and tool not in _called(request)
    ]
    return free if script.reads != ANYTHING else free[-1:]


def _required(request: RecordedRequest, tool: str) -> bool:
    return any(
        one["function"]["name"] == tool and one["function"].get("parameters", {}).get("required")
        for one in request.body.get("tools") or ()
    )


def _called(request: RecordedRequest) -> set[str]:
    """Return the tools that were called since the user's last words, by whomever."""
    found: set[str] = set()
    for message in reversed(request.messages):
        if message["role"] == "user":
            break
        for call in message.get("tool_calls") or ():
            found.add(str(call["function"]["name"]).rpartition("-")[2])
    return found


def _results(request: RecordedRequest) -> list[dict[str, Any]]:
    """Return the results of tools since the user's last words."""
    found: list[dict[str, Any]] = []
    for message in reversed(request.messages):
        if message["role"] == "tool":
            found.append(message)
        elif message["role"] == "user":
            break
    return found
