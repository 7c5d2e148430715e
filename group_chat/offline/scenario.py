"""The offline rules of the agent that guides a scenario: hear the answer, say the next step."""

from collections.abc import Mapping, Sequence
from typing import Any

from data_models.scenario import FieldDefinition
from group_chat.offline.prompt import OfflineReply, Prompt, data_behind
from services.language.field_answers import readings_in
from services.language.phrases import says
from services.language.text_words import quoted_in
from services.language.work import asks_overview, wants_plan
from services.scenarios.session.step_text import GROUNDING_MARK

RECORD_TOOL = "record_fields"
_HINTS = frozenset({"boolean", "date"})


def answer_in_scenario(prompt: Prompt) -> OfflineReply | None:
    """Return what the guide says or calls; None where the message is about something else."""
    if prompt.answers:
        return _after_tool(prompt)
    step, is_turn = prompt.scenario, prompt.cue == "none" and not prompt.said
    if not step or prompt.tool(RECORD_TOOL) is None or not is_turn:
        return None
    if not step.get("asked"):
        return _said(prompt, step)
    found = readings_in(prompt.asked, [field_of(row) for row in step["ask_for"]])
    if not found and _is_elsewhere(prompt):
        return None
    if not found and not step["ask_for"]:
        return _said(prompt, step)
    # What cannot be read is handed on as it is: the tool says why, and counts how often.
    values = {name: one.value for name, one in found.items()}
    values = values or {step["ask_for"][0]["name"]: prompt.asked}
    quotes = {name: one.quote for name, one in found.items()}
    return prompt.call(RECORD_TOOL, values=values, quotes=quotes)


def field_of(row: Mapping[str, Any]) -> FieldDefinition:
    """Return a field as a question or a step describes it."""
    return FieldDefinition(name=row["name"], display_name=row["label"], value_type=row["type"])


def _after_tool(prompt: Prompt) -> OfflineReply | None:
    """Say the step that recording led to, or what is wrong with the values."""
    last = prompt.answers[-1]
    if last.name != RECORD_TOOL:
        return None
    if step := data_behind(GROUNDING_MARK, str(last.data.get("scenario_now", ""))):
        return _said(prompt, step)
    reason = last.error.partition(";")[0].rstrip(".")
    if not reason:
        return prompt.say("noted_plainly")
    return OfflineReply(text=f"{prompt.text('unread_answer')} {reason}.")


def _said(prompt: Prompt, step: Mapping[str, Any]) -> OfflineReply:
    if step.get("finished"):
        return prompt.say("scenario_complete", scenario=step["scenario"])
    head, go_on = f"**{step['scenario']}**, {step['step']}", ""
    if "failed_tool" in step:
        told = prompt.text("try_again", tool=step["failed_tool"])
    elif step.get("asks_itself"):
        told = ""
    elif step["ask_for"]:
        told = _asked(prompt, step["ask_for"])
    else:
        # The rest of the text is the author's word to an agent, not to whoever reads this.
        told = " ".join(quoted_in(str(step["says"])))
        go_on = "" if step.get("is_last") else f" {prompt.text('go_on')}"
    return OfflineReply(text=(f"{head}: {told}" if told else f"{head}.") + go_on)


def _asked(prompt: Prompt, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return one question for all rows: the labels first, then what authors ask themselves."""
    hints = [prompt.text(f"hint_{row['type']}") if row["type"] in _HINTS else "" for row in rows]
    hinted = list(zip(rows, hints, strict=True))
    own = [f"{row['question']}{hint}" for row, hint in hinted if "question" in row]
    names = [f"{row['label']}{hint}" for row, hint in hinted if "question" not in row]
    if not names:
        return " ".join(own)
    last = f" {prompt.text('and')} ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return " ".join([f"{last[:1].upper()}{last[1:]}?", *own])


def _is_elsewhere(prompt: Prompt) -> bool:
    """Whether a message that is no answer is a question or a request of its own."""
    text, read = prompt.asked, prompt.utterance
    is_request = wants_plan(text) or says(text, "roster") or asks_overview(text)
    return is_request or text.rstrip().endswith("?") or (read is not None and bool(read.about))
