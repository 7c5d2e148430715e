"""The offline rules of the agent that guides a scenario: hear the answer, say the next step."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from data_models.scenario import FieldDefinition
from group_chat.offline.prompt import Prompt
from group_chat.offline.reply import Call, OfflineReply
from group_chat.offline.words import asks_overview, topics_of, wants_plan
from services.language.field_answers import readings_in
from services.language.phrases import says
from services.language.text_words import quoted_in
from services.scenarios.session.step_text import GROUNDING_MARK

RECORD_TOOL = "record_fields"


def answer_in_scenario(prompt: Prompt) -> OfflineReply | None:
    """Return what the guide says or calls; None where the message is about something else."""
    if prompt.answers:
        return _after_tool(prompt)
    step = scenario_in(prompt.instructions)
    tool = prompt.tool(RECORD_TOOL)
    if step is None or tool is None or prompt.cue.kind != "none" or prompt.said:
        return None
    if not step.get("asked"):
        return OfflineReply(text=_said(prompt, step))
    found = readings_in(prompt.asked, _fields(step))
    if not found and _is_elsewhere(prompt.asked):
        return None
    if not found and not step["ask_for"]:
        return OfflineReply(text=_said(prompt, step))
    # What cannot be read is handed on as it is: the tool says why, and counts how often.
    values = {name: one.value for name, one in found.items()}
    values = values or {step["ask_for"][0]["name"]: prompt.asked}
    quotes = {name: one.quote for name, one in found.items()}
    return OfflineReply(calls=(Call(tool.wire_name, {"values": values, "quotes": quotes}),))


def scenario_in(text: str) -> Mapping[str, Any] | None:
    """Return the step that a prompt's system messages, or a tool's result, tell of."""
    _, mark, rest = text.rpartition(GROUNDING_MARK)
    if not mark:
        return None
    try:
        found = orjson.loads(rest.strip().partition("\n")[0])
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


def _after_tool(prompt: Prompt) -> OfflineReply | None:
    """Say the step that recording led to, or what is wrong with the values."""
    last = prompt.answers[-1]
    if last.name != RECORD_TOOL:
        return None
    step = scenario_in(str(last.data.get("scenario_now", "")))
    if step is None:
        problem = last.data.get("error")
        reason = str(problem or "").partition(";")[0].rstrip(".")
        return OfflineReply(
            text=f"{prompt.text('unread_answer')} {reason}."
            if reason
            else prompt.text("noted_plainly")
        )
    return OfflineReply(text=_said(prompt, step))


def _said(prompt: Prompt, step: Mapping[str, Any]) -> str:
    if step.get("finished"):
        return prompt.text("scenario_complete", scenario=step["scenario"])
    head = f"**{step['scenario']}**, {step['step']}:"
    if "failed_tool" in step:
        return f"{head} {prompt.text('try_again', tool=step['failed_tool'])}"
    if step.get("asks_itself"):
        return f"{head[:-1]}."
    if step["ask_for"]:
        return f"{head} {_asked(prompt, step['ask_for'])}"
    # The rest of the text is the author's word to an agent, not to whoever reads this.
    says = " ".join(quoted_in(str(step["says"])))
    told = f"{head} {says}" if says else f"{head[:-1]}."
    return told if step.get("is_last") else f"{told} {prompt.text('go_on')}"


def _asked(prompt: Prompt, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return one question for all rows: the labels first, then what authors ask themselves."""
    hinted = [(row, _hint(prompt, str(row["type"]))) for row in rows]
    names = [f"{row['label']}{hint}" for row, hint in hinted if "question" not in row]
    own = [f"{row['question']}{hint}" for row, hint in hinted if "question" in row]
    if not names:
        return " ".join(own)
    plain = (
        names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {prompt.text('and')} {names[-1]}"
    )
    return " ".join([f"{plain[:1].upper()}{plain[1:]}?", *own])


_HINTS = frozenset({"boolean", "date"})


def _hint(prompt: Prompt, kind: str) -> str:
    return prompt.text(f"hint_{kind}") if kind in _HINTS else ""


def _fields(step: Mapping[str, Any]) -> list[FieldDefinition]:
    return [
        FieldDefinition(name=row["name"], display_name=row["label"], value_type=row["type"])
        for row in step["ask_for"]
    ]


def _is_elsewhere(text: str) -> bool:
    """Whether a message that is no answer is a question or a request of its own."""
    is_request = wants_plan(text) or says(text, "roster") or asks_overview(text)
    return is_request or text.rstrip().endswith("?") or bool(topics_of(text))
