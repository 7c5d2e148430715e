"""A generic brain for the fake server: enough sense for a whole tumor-board turn, and cheap.

It knows nothing of the team but what the prompt says: it proposes a plan for the agents that the
instructions list, calls the tools it is offered, cites what they returned, hands back, and answers
questions for JSON by their schema.
"""

import re
from collections.abc import Mapping
from typing import Any

import orjson

from tests.fakes_openai import RecordedRequest, Reply, ToolCall

ANSWER_CHUNK_CHARS = 48

_MEMBER = re.compile(r"^- \*([A-Za-z][\w-]*)\*: ", re.MULTILINE)
_BACK = re.compile(r"Back to you \*([\w-]+)\*")
_REF = re.compile(r'"ref":"([A-Za-z]+/[A-Za-z0-9.-]{1,64})"')
_PATIENT = re.compile(r"\bpatient_[0-9]+\b")
_CLEAR = re.compile(r"(?i)\b(?:clear|reset|forget)\b")
_BOARD = re.compile(r"(?i)tumou?r board|\bplan\b")
_SERVER = re.compile(r"<<SERVER \w+>>\n(.*?)\n<<END", re.DOTALL)
_CLOSE = "All steps of the plan are done"


def brain(request: RecordedRequest) -> Reply:
    """Answer like a model that does what it is told."""
    body = request.body
    if "response_format" in body or "JSON Schema" in request.instructions:
        return Reply(text=structured_answer(body))
    if request.messages[-1]["role"] == "tool":
        return _from_tools(request)
    cue = _cue(request)
    if _CLOSE in cue:
        return _said("In summary, the findings above are consistent. Nothing else is missing.")
    return _calls(request, cue) or _said("Noted. The record shows no change since the last visit.")


def structured_answer(body: Mapping[str, Any]) -> str:
    """Return JSON that fits the schema in the request, with the patient that the user names."""
    shape = body.get("response_format", {}).get("json_schema", {}).get("schema", {})
    text = str(body["messages"][-1]["content"])
    answer = {name: _value(row, shape) for name, row in shape.get("properties", {}).items()}
    if "patient" in answer:
        answer["patient"] = _patient_meant(text)
    return orjson.dumps(answer).decode()


def _patient_meant(text: str) -> str:
    """Return what the reader's JSON question plainly says."""
    asked: dict[str, Any] = orjson.loads(text) if text.startswith("{") else {"message": text}
    message, rows = str(asked.get("message", "")), asked.get("patients") or {}
    named = _PATIENT.findall(message)
    refs = [ref for ref, row in rows.items() if str(row).split(",")[0] in named]
    if refs:
        return str(refs[-1])
    return "clear" if rows and _CLEAR.search(message) else "open"


def _value(row: Mapping[str, Any], shape: Mapping[str, Any]) -> Any:
    """Return the smallest value that fits `row`."""
    if "$ref" in row:
        name = str(row["$ref"]).rsplit("/", 1)[-1]
        return _value(shape["$defs"][name], shape)
    if "enum" in row:
        return row["enum"][0]
    if "const" in row:
        return row["const"]
    if "anyOf" in row:
        options = [option.get("type") for option in row["anyOf"]]
        return None if "null" in options else _value(row["anyOf"][0], shape)
    if row.get("type") == "object":
        return {name: _value(part, shape) for name, part in row.get("properties", {}).items()}
    plain: dict[str, Any] = {"array": [], "integer": 0, "number": 0.0, "boolean": False}
    return plain.get(str(row.get("type")), "")


def _calls(request: RecordedRequest, cue: str) -> Reply | None:
    tools = {name.rpartition("-")[2]: name for name in request.tool_names}
    asked = request.said
    if "propose_plan" in tools:
        if cue or not _BOARD.search(asked):
            return None
        members = _MEMBER.findall(request.instructions)
        steps = [{"agent": name, "text": f"do the work of {name}", "needs": []} for name in members]
        return Reply(
            text="I propose this plan.",
            tool_calls=[ToolCall(tools["propose_plan"], {"steps": steps})],
            chunk_chars=ANSWER_CHUNK_CHARS,
        )
    for tool in request.body.get("tools") or ():
        function = tool["function"]
        if not function.get("parameters", {}).get("required"):
            return Reply(tool_calls=[ToolCall(function["name"], {})])
    return None


def _from_tools(request: RecordedRequest) -> Reply:
    result = str(request.messages[-1]["content"])
    refs = list(dict.fromkeys(_REF.findall(result)))[:3]
    found = "The record was read and shows these findings. " if refs else "Nothing was found. "
    text = found + " ".join(f"See [{ref}]." for ref in refs)
    back = _BACK.search(_cue(request))
    return _said(f"{text}\n\nBack to you *{back[1]}*." if back else text)


def _said(text: str) -> Reply:
    return Reply(text=text, chunk_chars=ANSWER_CHUNK_CHARS)


def _cue(request: RecordedRequest) -> str:
    """Return what the server asks for in its last message before the tool calls, if it does."""
    found = _SERVER.search(request.asked)
    return found[1] if found is not None else ""
