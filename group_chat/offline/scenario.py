"""The offline rules of the agent that guides a scenario: hear the answer, say the next step."""

from collections.abc import Mapping, Sequence
from typing import Any

from data_models.scenario import FieldDefinition
from group_chat.offline.prompt import OfflineReply, Prompt, data_behind
from services.language.field_answers import readings_in
from services.language.text_words import quoted_in
from services.language.work import leaves_question
from services.scenarios.session.step_text import GROUNDING_MARK

RECORD_TOOL = "record_fields"


def answer_in_scenario(prompt: Prompt) -> OfflineReply | None:
    """Return what the guide says or calls; None where the message is about something else."""
    if prompt.answers:
        return _after_tool(prompt)
    step, is_turn = prompt.scenario, prompt.cue == "none" and not prompt.said
    if not step or prompt.tool(RECORD_TOOL) is None or not is_turn:
        return None
    if not step.get("asked"):
        return _said(prompt, step)
    fields = [
        FieldDefinition(name=row["name"], display_name=row["label"], value_type=row["type"])
        for row in step["ask_for"]
    ]
    found = readings_in(prompt.asked, fields)
    read, is_question = prompt.utterance, prompt.asked.rstrip().endswith("?")
    if not found and (is_question or (read and leaves_question(read, prompt.agent))):
        return None
    if not found and not step["ask_for"]:
        return _said(prompt, step)
    # What cannot be read is handed on as it is: the tool says why, and counts how often.
    values = {name: one.value for name, one in found.items()}
    values = values or {step["ask_for"][0]["name"]: prompt.asked}
    quotes = {name: one.quote for name, one in found.items()}
    return prompt.call(RECORD_TOOL, values=values, quotes=quotes)


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
        told = _asked(step["ask_for"])
    else:
        # The rest of the text is the author's word to an agent, not to whoever reads this.
        told = " ".join(quoted_in(str(step["says"])))
        go_on = "" if step.get("is_last") else f" {prompt.text('go_on')}"
    return OfflineReply(text=(f"{head}: {told}" if told else f"{head}.") + go_on)


def _asked(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return one question for all rows: the labels first, then what authors ask themselves."""
    own = [row["question"] for row in rows if "question" in row]
    names = ", ".join(row["label"] for row in rows if "question" not in row)
    return " ".join([f"{names[:1].upper()}{names[1:]}?", *own] if names else own)
