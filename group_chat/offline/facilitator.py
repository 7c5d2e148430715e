"""The offline rules of the agent who leads: plan, pass on, answer about the roster, close."""

from group_chat.offline.errands import SECRETARY_TOOL, is_of_recent
from group_chat.offline.plain_talk import courtesy, not_understood, plain_answer, what_next
from group_chat.offline.plans import close, propose
from group_chat.offline.prompt import OfflineReply, Prompt
from group_chat.offline.scenario import answer_in_scenario
from group_chat.offline.specialist import OVERVIEW_TOOL, report_of
from services.language.detection import is_unread
from services.language.held_statements import held_statements, stated_in
from services.language.judging import asks_for_judgement, caution_for
from services.language.phrases import says
from services.language.references import place_in
from services.language.text_words import asks_question
from services.language.tools_named import SEARCH
from services.language.work import LONG_CHARS, asks_overview, own_kind_in, points_only, wants_plan
from services.records.answers.as_said import held_of_same
from services.scenarios.session.commands import command_in

_KEYWORDS = 3


def answer_as_facilitator(prompt: Prompt) -> OfflineReply:
    """Answer by the first rule that fits."""
    if (guided := answer_in_scenario(prompt)) is not None:
        return guided
    if prompt.answers:
        return OfflineReply(text=f"{report_of(prompt)}\n\n{prompt.text('full_review')}")
    if (noted := _noted(prompt)) is not None:
        return noted
    match prompt.cue:
        case "close" | "step":
            return close(prompt)
        case "failed":
            return prompt.say("step_failed", agent=prompt.said[-1].agent if prompt.said else "")
        case "waiting":
            return _while_plan_waits(prompt)
        case _:
            return _answer(prompt)


def _noted(prompt: Prompt) -> OfflineReply | None:
    """Return that a statement is noted, where the message makes one and asks nothing."""
    is_turn = prompt.cue in ("none", "waiting") and not prompt.said
    if not is_turn or "?" in prompt.asked or prompt.patient_id is None:
        return None
    stated = [one.quote for one in held_statements(prompt.asked) if not one.only_if_held]
    # By name: whose name it is, who held it knows.
    stated = stated or [one.quote for one in stated_in(prompt.asked) if one.quote in prompt.held]
    if stated:
        return prompt.say("noted", quotes=" ".join(dict.fromkeys(stated)))
    if prompt.utterance is None or prompt.utterance.task != "tell":
        return None
    told = " ".join(prompt.asked.split())
    held = "; ".join(held_of_same(told, prompt.held))
    rest = f" {prompt.text('still_held', held=held)}" if held else ""
    return OfflineReply(text=f"{prompt.text('not_held', told=told)}{rest}")


def _answer(prompt: Prompt) -> OfflineReply:
    if not prompt.said:
        first = plain_answer(prompt) or _passed_on(prompt)
        if first is not None:
            return first
    if says(prompt.asked, "roster"):
        return _roster(prompt)
    if prompt.patient_id is None:
        return prompt.say("no_patient")
    is_for_several = prompt.utterance is not None and prompt.utterance.task == "plan"
    if is_for_several or wants_plan(prompt.asked):
        return propose(prompt)
    return prompt.say("nothing_else") if prompt.said else _looked_up(prompt)


def _passed_on(prompt: Prompt) -> OfflineReply | None:
    """Name who does what is asked for, or works on what was listed or booked last."""
    text, read = prompt.asked, prompt.utterance
    agent = None if read is None or read.about else read.agent
    changes = says(text, "cancel", "move_or_change", "when_is_it")
    if changes and prompt.recent == "appointment" and (points_only(text) or not own_kind_in(text)):
        agent = prompt.who_has("available_slots")
    elif agent is None and is_of_recent(prompt):
        agent = prompt.who_has(SECRETARY_TOOL)
    return None if agent is None else prompt.say("see_to_this", agent=agent)


def _looked_up(prompt: Prompt) -> OfflineReply:
    """Name who looks into the record, or say what the message may mean."""
    text, read = prompt.asked, prompt.utterance
    if is_unread(text) or len(text) > LONG_CHARS:
        return not_understood(prompt)
    if says(text, "turns_to"):
        return what_next(prompt)
    if place_in(text) is not None or says(text, "orders"):
        return prompt.say("nothing_of_that")  # what names nothing here is not looked up
    is_read = read is not None and bool(read.about)
    if asks_overview(text) and prompt.tool(OVERVIEW_TOOL) is not None and not is_read:
        return prompt.call(OVERVIEW_TOOL)
    is_keyword = len(text.split()) <= _KEYWORDS and not says(text, "cancel")
    asks = asks_question(text) or is_keyword or says(text, "comparison")
    agent = read.agent if read is not None else None
    if agent is None and prompt.query and asks:
        agent = next((one.name for one in prompt.team if SEARCH in one.answers), None)
    return _nobodys(prompt) if agent is None else prompt.say("from_the_record", agent=agent)


def _nobodys(prompt: Prompt) -> OfflineReply:
    asked = prompt.asked.casefold()
    if not prompt.query and any(one.casefold() in asked for one in prompt.patients):
        return what_next(prompt)  # "start with patient_4" opens a chart and wants nothing yet
    if asks_for_judgement(prompt.asked):
        caution = prompt.text(caution_for(prompt.asked))
        return OfflineReply(text=f"{caution}\n\n{prompt.text('ask_instead')}")
    command = command_in(prompt.asked)
    if command is not None and command.kind == "start" and command.name and not command.is_bare:
        return prompt.say("no_scenario", name=command.name)
    is_pointing = says(prompt.asked, "cancel")  # "cancel it" points at nothing that is known
    return prompt.say("nothing_of_that") if is_pointing else not_understood(prompt)


def _while_plan_waits(prompt: Prompt) -> OfflineReply:
    if wants_plan(prompt.asked) and prompt.patient_id is not None:
        return propose(prompt)
    asks = asks_question(prompt.asked) or says(prompt.asked, "roster")
    is_reply = courtesy(prompt) is not None or not (asks or plain_answer(prompt))
    return prompt.say("nothing_changed") if is_reply else _answer(prompt)


def _roster(prompt: Prompt) -> OfflineReply:
    active = f"{prompt.who} {prompt.text('active')}"
    names = [active if one == prompt.patient_id else f"`{one}`" for one in prompt.patients]
    if not names:
        return prompt.say("nobody_discussed")
    said = "one_discussed" if len(names) == 1 else "many_discussed"
    return prompt.say(said, count=len(names), names=", ".join(names))
