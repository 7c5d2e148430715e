"""`python -m group_chat.models check`: says what the configured model can do, by asking it."""

import argparse
import asyncio
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import structlog
from pydantic import BaseModel

from data_models.errors import ConfigurationError, ModelError, ModelUnfitError
from data_models.values import read_if_whole
from group_chat.late_start import import_kernel
from group_chat.models import model_settings
from group_chat.models.completions import Completions
from group_chat.models.factory import in_strict_form, probe_window, server_of
from group_chat.models.learned import LearnedModel
from services.language.model_output.model_text import ModelText
from services.language.model_output.thoughts import without_thoughts
from settings import load_settings

_TOOL = {
    "type": "function",
    "function": {
        "name": "current_status",
        "description": "The patient's current status.",
        "parameters": {"type": "object", "properties": {}, "additionalProperties": False},
    },
}


class _Colour(BaseModel, extra="forbid"):
    colour: Literal["red", "green"]


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
    Question("answers by a schema", {"messages": _TALK, **in_strict_form(_Colour)}, "json_schema"),
)


async def check_model(settings: model_settings.ModelSettings) -> tuple[str, bool]:
    """Return what the model's profile is and how the questions went, and whether it serves."""
    server = server_of(settings)
    learned = LearnedModel(profile=replace(settings.profile, model=settings.model))
    completions = Completions(server=server, limits=settings.limits, learned=learned)
    said: dict[str, str] = {}
    try:
        for one in QUESTIONS:
            said[one.name] = await _ask(one, completions, settings.model)
            if said[QUESTIONS[0].name] != "ok":
                break
        learned.profile = await probe_window(server, learned.profile)
    finally:
        await server.close()
    failed = {one.lack for one in QUESTIONS if said.get(one.name, "ok") != "ok"}
    lacks = (learned.profile.lacks | failed) & {*model_settings.LACKS}
    problem = _problem(said[QUESTIONS[0].name], learned, settings)
    lines = [*_profile_lines(learned.profile, lacks), ""]
    lines += [f"  {name:36}{verdict}" for name, verdict in said.items()]
    if problem:
        lines += ["", f"Not usable: {problem}"]
    elif lacks != settings.profile.lacks:
        lines += ["", f"Set MODEL_LACKS={','.join(sorted(lacks))}"]
    return "\n".join(lines) + "\n", not problem


def _problem(first: str, learned: LearnedModel, settings: model_settings.ModelSettings) -> str:
    """Return why the model cannot be used, and what to set; "" where it can."""
    if first != "ok":
        kind = "AZURE_OPENAI_" if settings.provider == "azure" else "OPENAI_"
        return (
            f"{settings.url} gave no answer as {settings.model!r}. Is the server running, and "
            f"are the address, the model's name and the key of {kind}… right?"
        )
    try:
        learned.check()
    except ModelUnfitError as error:
        return str(error)
    return ""


def _profile_lines(profile: model_settings.ModelProfile, lacks: Collection[str]) -> list[str]:
    window, prices = profile.window_tokens, profile.prices
    is_known = f"{window:,} ({profile.window_from})" if window is not None else ""
    shown = {
        "model": profile.model,
        "window_tokens": is_known or "unknown: set MODEL_CONTEXT_TOKENS",
        "output_tokens": f"{profile.output_tokens:,}",
        **{
            name: "no" if name in lacks else "yes"
            for name in model_settings.LACKS
            if name != "thoughts_open"
        },
        "thoughts_open": "yes" if "thoughts_open" in lacks else "no",
        "prices": f"{prices.prompt}, {prices.cached}, {prices.answer} dollars for a million tokens",
    }
    if prices == model_settings.Prices():
        shown["prices"] = "unknown: set MODEL_PRICES to see costs"
    return [f"{name:16} {value}" for name, value in shown.items()]


async def _ask(question: Question, completions: Completions, model: str) -> str:
    body = {"model": model, "max_tokens": _TOKENS, **question.body}
    try:
        answer = await completions.complete(body, purpose="check")
    except ModelError as error:
        return f"failed: {error}"
    if "tools" in question.body:
        reader = ModelText()
        reader.feed(answer.text)
        reader.finish()
        names = [call.name for call in answer.tool_calls]
        names += [call.name for call in reader.calls]
        return "ok" if "current_status" in names else "no call came"
    if "response_format" not in question.body:
        return "ok"
    said = read_if_whole(without_thoughts(answer.text), _Colour)
    return "ok" if said is not None else "not by the schema"


def main() -> int:
    """Print the model's profile and what became of five questions; 1 if it does not serve."""
    parser = argparse.ArgumentParser(prog="python -m group_chat.models", description=__doc__)
    parser.add_argument("command", choices=["check"], help="ask the configured model five things")
    parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger("critical"))
    try:
        settings = model_settings.model_settings_of(load_settings())
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
