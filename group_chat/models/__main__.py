"""`python -m group_chat.models check`: says what the configured model can do, by asking it."""

import argparse
import asyncio
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import orjson

from data_models.errors import ConfigurationError, ModelError, ModelUnfitError
from group_chat.kernel_import import import_kernel
from group_chat.models.answer import Answer
from group_chat.models.completions import Completions
from group_chat.models.factory import server_of
from group_chat.models.learned import LearnedModel
from group_chat.models.model_settings import ModelSettings, model_settings_of
from group_chat.models.probing import probe_window
from group_chat.models.profile import ModelProfile
from services.language.model_text import ModelText, without_thoughts
from settings import Settings

_TOOL = {
    "type": "function",
    "function": {
        "name": "current_status",
        "description": "The patient's current status.",
        "parameters": {"type": "object", "properties": {}, "additionalProperties": False},
    },
}
_SCHEMA = {
    "type": "object",
    "properties": {"colour": {"type": "string", "enum": ["red", "green"]}},
    "required": ["colour"],
    "additionalProperties": False,
}
_FORMAT = {
    "type": "json_schema",
    "json_schema": {"name": "answer", "strict": True, "schema": _SCHEMA},
}
_TALK = (
    {"role": "system", "content": "Answer in one word."},
    {"role": "user", "content": "Which colour is grass?"},
    {"role": "assistant", "content": "[Botany] Green."},
    {"role": "user", "content": "And blood?"},
)
_ASK_TOOL = ({"role": "user", "content": "Call the tool current_status."},)
_TOKENS = 800  # a thought may come before the answer


@dataclass(frozen=True, slots=True)
class Question:
    """One thing that is asked.

    Attributes:
        lack: What to put into MODEL_LACKS where it fails; "" where nothing helps.
    """

    name: str
    body: Mapping[str, Any]
    lack: str = ""


QUESTIONS: tuple[Question, ...] = (
    Question("answers at all", {"messages": _ASK_TOOL}),
    Question("system message, talk in turns", {"messages": _TALK}, "system_role"),
    Question("calls a tool", {"messages": _ASK_TOOL, "tools": [_TOOL]}, "tools"),
    Question(
        "calls a tool that it must",
        {"messages": _TALK, "tools": [_TOOL], "tool_choice": "required"},
        "forced_tools",
    ),
    Question("answers by a schema", {"messages": _TALK, "response_format": _FORMAT}, "json_schema"),
)


async def check_model(settings: ModelSettings) -> tuple[str, bool]:
    """Return what the model's profile is and how the questions went, and whether it serves."""
    server = server_of(settings)
    learned = LearnedModel(profile=replace(settings.profile, model=settings.model))
    completions = Completions(server=server, limits=settings.limits, learned=learned)
    try:
        results = [await _ask(one, completions, settings.model) for one in QUESTIONS]
        learned.profile = await probe_window(server, learned.profile)
    finally:
        await server.close()
    lines = [*_profile_lines(learned.profile), ""]
    asked = list(zip(QUESTIONS, results, strict=True))
    lines += [f"  {one.name:36}{said}" for one, said in asked]
    serves = results[0] == "ok"
    try:
        learned.check()
    except ModelUnfitError as error:
        lines += ["", f"Not usable: {error}"]
        serves = False
    lacks = [one.lack for one, said in asked if said != "ok" and one.lack]
    if lacks and serves:
        lines += ["", f"Set MODEL_LACKS={','.join(lacks)}"]
    return "\n".join(lines) + "\n", serves


def _profile_lines(profile: ModelProfile) -> list[str]:
    shown = asdict(profile)
    window = shown.pop("window_tokens")
    window_text = f"{window:,}" if window is not None else "unknown: set MODEL_CONTEXT_TOKENS"
    shown = {"model": shown.pop("model"), "window_tokens": window_text, **shown}
    return [f"{name:16} {value}" for name, value in shown.items()]


async def _ask(question: Question, completions: Completions, model: str) -> str:
    body = {"model": model, "max_tokens": _TOKENS, **question.body}
    try:
        answer = await completions.complete(body, purpose="check")
    except ModelError as error:
        return f"failed: {error}"
    return _verdict(question, answer)


def _verdict(question: Question, answer: Answer) -> str:
    """Say whether the answer is what was asked for; none of its words are repeated."""
    if "tools" in question.body:
        reader = ModelText()
        reader.feed(answer.text)
        reader.finish()
        names = [call.name for call in answer.tool_calls]
        names += [call.name for call in reader.calls]
        return "ok" if "current_status" in names else "no call came"
    if "response_format" not in question.body:
        return "ok"
    try:
        said = orjson.loads(without_thoughts(answer.text))
    except orjson.JSONDecodeError:
        return "not JSON"
    return "ok" if isinstance(said, dict) and set(said) == {"colour"} else "not by the schema"


def main() -> int:
    """Print the model's profile and what became of five questions; 1 if it does not serve."""
    parser = argparse.ArgumentParser(prog="python -m group_chat.models", description=__doc__)
    parser.add_argument("command", choices=["check"], help="ask the configured model five things")
    parser.parse_args()
    try:
        settings = model_settings_of(Settings())
        if settings.provider == "offline":
            sys.stdout.write("No model is configured: set OPENAI_BASE_URL and OPENAI_MODEL.\n")
            return 1
        import_kernel()
        from group_chat.models.__main__ import check_model

        text, serves = asyncio.run(check_model(settings))
    except ConfigurationError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(text)
    return 0 if serves else 1


if __name__ == "__main__":
    sys.exit(main())
