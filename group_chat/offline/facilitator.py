"""The offline rules of the agent who leads: plan, pass on, answer about the roster, close."""

from collections.abc import Mapping, Sequence
from typing import Any

from data_models.scenarios.scenario import FieldDefinition
from group_chat.drafts.checked_output import RECORD_TOOLS
from group_chat.offline.plain_talk import (
    as_said,
    courtesy,
    nobody_called,
    nobody_open,
    not_understood,
    noted,
    plain_answer,
    what_next,
)
from group_chat.offline.prompt import OfflineReply, Prompt, data_behind
from group_chat.offline.specialist import OVERVIEW_TOOL, SECRETARY_TOOL, is_of_recent, report_of
from group_chat.speakers.plan_text import PLAN_QUESTION
from services.language.charts.tools_named import SEARCH
from services.language.people.strange_words import is_strange
from services.language.replies.commands import is_retracted
from services.language.replies.corrections import correction_in
from services.language.replies.field_answers import readings_in
from services.language.replies.judging import caution_for
from services.language.replies.plan_change import begins_change
from services.language.replies.references import place_in
from services.language.requests.tool_requests import as_move, is_time_alone
from services.language.requests.work import (
    LONG_CHARS,
    asks_overview,
    leaves_question,
    orders_work,
    own_kind_in,
    points_only,
    wants_plan,
)
from services.language.utterance import TeamMember
from services.language.words.detection import is_unread
from services.language.words.folding import words_of
from services.language.words.in_english import in_english
from services.language.words.own_texts import ends_with_own
from services.language.words.phrases import found_in, says
from services.language.words.text_words import asks_question, quoted_in
from services.records.answers.choosing.row_line import summary_of
from services.scenarios.session.commands import command_in
from services.scenarios.session.step_text import GROUNDING_MARK

RECORD_TOOL, _WRITES = "record_fields", "create_report"
_TASKS = (_WRITES, "timeline", "current_status", "imaging_reports", "pathology_reports")
"""Tools whose questions agents answer in a plan; our texts name what each is there for."""
_OF_DEEDS = ("agrees_send", "another_hour", "orders", "withdraws_order")
_KEYWORDS, _STEP_LIMIT = 5, 20


def answer_as_facilitator(prompt: Prompt) -> OfflineReply:
    """Answer by the first rule that fits."""
    if (guided := answer_in_scenario(prompt)) is not None:
        return guided
    if prompt.answers:
        return OfflineReply(text=f"{report_of(prompt)}\n\n{prompt.text('full_review')}")
    if (told := noted(prompt)) is not None:
        return told
    match prompt.cue:
        case "close" | "step":
            return close(prompt)
        case "failed":
            return prompt.say("step_failed", agent=prompt.said[-1].agent if prompt.said else "")
        case "waiting":
            return _while_plan_waits(prompt)
        case _:
            return _answer(prompt)


def _answer(prompt: Prompt) -> OfflineReply:
    read = prompt.utterance
    if read is not None and read.command == "where_are_we":
        return OfflineReply(text=prompt.roster)
    if not prompt.said:
        first = plain_answer(prompt) or _passed_on(prompt)
        if first is not None:
            return first
    if says(prompt.asked, "roster"):
        return OfflineReply(text=prompt.roster)
    if prompt.patient_id is None:
        return nobody_open(prompt)
    is_for_several = prompt.utterance is not None and prompt.utterance.task == "plan"
    if is_for_several or wants_plan(prompt.asked):
        return propose(prompt)
    return prompt.say("nothing_else") if prompt.said else _looked_up(prompt)


def _passed_on(prompt: Prompt) -> OfflineReply | None:
    """Name who does what is asked for, or works on what was listed or booked last."""
    text, read = as_move(prompt.asked, prompt.shown_before), prompt.utterance
    agent = None if read is None or read.about else read.agent
    changes = says(text, "cancel", "move_or_change", "when_is_it")
    is_late = says(prompt.asked, "another_time") and _has_read_since(prompt)
    is_late |= prompt.recent == "task" and says(
        prompt.asked, "asks_for_time"
    )  # it is moved at once
    if changes and prompt.recent == "appointment" and (points_only(text) or not own_kind_in(text)):
        agent = agent if is_late else prompt.who_has("available_slots")
    elif agent is None and is_of_recent(prompt) and not (is_late or says(text, "roster")):
        agent = prompt.who_has(SECRETARY_TOOL)
    return None if agent is None else prompt.say("see_to_this", agent=agent)


def _has_read_since(prompt: Prompt) -> bool:
    """Whether the record was read last: "no, Friday" is of that, whatever was booked before."""
    readers = {one.name for one in prompt.team if _works_on_record(one)}
    return any(one.agent in readers for one in prompt.earlier[-1:])


def _looked_up(prompt: Prompt) -> OfflineReply:
    """Name who looks into the record, or say what the message may mean."""
    text, read = prompt.asked, prompt.utterance
    if is_unread(text) or len(text) > LONG_CHARS:
        return not_understood(prompt)
    if says(text, "turns_to"):
        return what_next(prompt)
    is_of_deed = says(text, *_OF_DEEDS) or as_move(text) != text or is_time_alone(text)
    if place_in(text) is not None or is_of_deed or is_retracted(text):
        return prompt.say("nothing_of_that")  # what names nothing here is not looked up
    if name := _starts_scenario(prompt):
        return nobody_called(prompt) or prompt.say("no_scenario", name=name)
    is_read = read is not None and bool(read.about)
    if asks_overview(text) and prompt.tool(OVERVIEW_TOOL) is not None and not is_read:
        return prompt.call(OVERVIEW_TOOL)
    longest = _KEYWORDS - 2 * any(map(is_strange, words_of(text)))
    is_keyword = len(text.split()) <= longest and not says(text, "cancel")
    asks = asks_question(text) or is_keyword or says(text, "comparison")
    agent = read.agent if read is not None else None
    if agent is None and prompt.query and asks:
        agent = next((one.name for one in prompt.team if SEARCH in one.answers), None)
    return _nobodys(prompt) if agent is None else prompt.say("from_the_record", agent=agent)


def _nobodys(prompt: Prompt) -> OfflineReply:
    asked = prompt.asked.casefold()
    if not prompt.query and any(one.casefold() in asked for one in prompt.patients):
        return what_next(prompt)  # "start with patient_4" opens a chart and wants nothing yet
    if caution := caution_for(prompt.asked):
        return OfflineReply(text=f"{prompt.text(caution)}\n\n{prompt.text('ask_instead')}")
    if asks_question(prompt.asked) and (said := as_said(prompt)):
        return OfflineReply(text=said)
    is_pointing = says(prompt.asked, "cancel")  # "cancel it" points at nothing that is known
    return prompt.say("nothing_of_that") if is_pointing else not_understood(prompt)


def _while_plan_waits(prompt: Prompt) -> OfflineReply:
    if wants_plan(prompt.asked) and prompt.patient_id is not None:
        return propose(prompt)
    read, text = prompt.utterance, prompt.asked.casefold()
    is_named = says(text, "names_plan") or any(one.name.casefold() in text for one in prompt.team)
    if says(prompt.asked, "asks_plan") or (is_named and begins_change(prompt.asked)):
        return _unchanged(prompt)  # and the plan is shown behind it
    asks = asks_question(prompt.asked) or says(prompt.asked, "roster", "comparison")
    asks = asks or bool(_starts_scenario(prompt)) or (read is not None and read.agent is not None)
    is_reply = courtesy(prompt) is not None or not (asks or plain_answer(prompt))
    return _unchanged(prompt) if is_reply else _answer(prompt)


def _unchanged(prompt: Prompt) -> OfflineReply:
    is_unfit = begins_change(prompt.asked)
    return prompt.say("no_such_step" if is_unfit else "nothing_changed", asked=prompt.asked)


def _starts_scenario(prompt: Prompt) -> str:
    """Return the name behind "start", where it is none of a part of the chart."""
    command, read = command_in(prompt.asked), prompt.utterance
    is_start = command is not None and command.kind == "start" and not command.is_bare
    is_of_chart = not prompt.query or (read is not None and bool(read.about))
    return command.name if command is not None and is_start and not is_of_chart else ""


def propose(prompt: Prompt) -> OfflineReply:
    """Propose one step for each agent that is wanted; who writes comes last."""
    ordered = sorted(_wanted(prompt), key=lambda one: _WRITES in one.tools)[:_STEP_LIMIT]
    rest = [*map(str, range(1, len(ordered)))]  # what is added is written down, too
    needs = [rest if _WRITES in one.tools else [] for one in ordered]
    told = [_text_for(prompt, one) for one in ordered]
    rows = zip(ordered, told, needs, strict=True)
    steps = [{"agent": one.name, "text": text, "needs": each} for one, text, each in rows]
    if not steps:
        return prompt.say("no_steps")
    size = "plan_of_one" if len(steps) == 1 else "plan_of"
    proposed = prompt.call("propose_plan", steps=steps)
    intro = prompt.text(size, count=len(steps), patient=prompt.who)
    return OfflineReply(text=intro, calls=proposed.calls) if proposed.calls else proposed


def _wanted(prompt: Prompt) -> list[TeamMember]:
    """Return whom the user wants: those named, else all who read records, but those left out."""
    asked = in_english(prompt.asked).casefold()
    left_out = " ".join(found_in(asked, "left_out"))
    kept = [one for one in prompt.team if one.name.casefold() not in left_out]
    named = [one for one in kept if one.name.casefold() in asked]
    return named or [one for one in kept if _works_on_record(one)]


def _works_on_record(card: TeamMember) -> bool:
    """Whether an agent reports on the patient: no complaint of the user's, no guideline."""
    first = card.answers or card.tools
    is_reading = not RECORD_TOOLS.isdisjoint(first) and not says(card.description, "topic_health")
    return is_reading or _WRITES in card.tools


def _text_for(prompt: Prompt, card: TeamMember) -> str:
    """Return the work an agent is for; its description where its tools are for none."""
    own = (*card.answers, *({_WRITES} & {*card.tools}))
    task = next((tool for tool in _TASKS if tool in own), "")
    return prompt.text(f"task_{task}") if task else card.description.rstrip(".")


def close(prompt: Prompt) -> OfflineReply:
    """Close a plan with the last message of each agent since it was proposed."""
    since: dict[str, str] = {}
    for spoken in [*prompt.earlier, *prompt.said]:
        if ends_with_own(spoken.text, PLAN_QUESTION):
            since.clear()
        elif spoken.agent is not None and spoken.agent != prompt.agent:
            since[spoken.agent] = spoken.text
    return OfflineReply(text=summary_of(since, prompt.language))


def answer_in_scenario(prompt: Prompt) -> OfflineReply | None:
    """Return what the guide says or calls; None where the message is about something else."""
    if prompt.answers:
        return _after_tool(prompt)
    step, is_turn = prompt.scenario, prompt.cue == "none" and not prompt.said
    if not step or prompt.tool(RECORD_TOOL) is None or not is_turn:
        return None
    if not step.get("asked"):
        said, read = _said(prompt, step), prompt.utterance
        is_left = bool(read and (read.about or read.agent)) or says(prompt.asked, "asks_bookings")
        is_left = is_left and not says(prompt.asked, "scenario_start", "scenario_resume")
        is_left &= asks_question(prompt.asked) or correction_in(prompt.asked) is None
        left = f"\n\n{prompt.text('left_unanswered', asked=prompt.asked)}" if is_left else ""
        return OfflineReply(text=f"{said.text}{left}")
    fields = [
        FieldDefinition(name=row["name"], display_name=row["label"], value_type=row["type"])
        for row in step["ask_for"]
    ]
    found = readings_in(prompt.asked, fields, now=prompt.now)
    read, is_question = prompt.utterance, prompt.asked.rstrip().endswith("?")
    is_free = all(one.value == prompt.asked.strip() for one in found.values())
    if read and is_free and orders_work(read, prompt.agent):
        return None  # where a free text is asked for, any words would be its answer
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
    if not (reason := last.error.partition(";")[0].rstrip(".")):
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
