"""The offline rules of the agent who leads: plan, route, answer about the roster, close."""

from group_chat.offline.elsewhere import is_handed_back
from group_chat.offline.errands import RECALL, only_points, run
from group_chat.offline.plain_talk import (
    LONG_CHARS,
    courtesy,
    not_understood,
    only_names_patient,
    plain_answer,
    what_next,
)
from group_chat.offline.plans import propose, summary_of
from group_chat.offline.prompt import OfflineReply, Prompt
from group_chat.offline.scenario import answer_in_scenario
from group_chat.offline.secretary import is_office_request, is_own_recent, names_office_thing
from group_chat.offline.specialist import answer_as_specialist
from group_chat.offline.words import (
    asks_overview,
    best_match,
    is_clinical,
    query_of,
    topics_of,
    wants_plan,
)
from services.language.detection import is_unread
from services.language.judging import asks_for_judgement, caution_for
from services.language.phrases import says
from services.language.references import place_in
from services.language.text_words import asks_question
from services.language.work import work_in
from services.scenarios.session.commands import command_in

_KEYWORDS = 3
_OVERVIEW_TOOL = "load_patient_data"
_WORDS_OF = {
    "own": "calendar mail contacts tasks",
    "persons": "register person",
    "visits": "appointment",
    "drafts": "drafts of orders",
}


def answer_as_facilitator(prompt: Prompt) -> OfflineReply:
    """Answer by the first rule that fits."""
    if (guided := answer_in_scenario(prompt)) is not None:
        return guided
    if RECALL.is_for(prompt):
        return run(prompt, RECALL)
    if prompt.answers:
        return _after_tools(prompt)
    match prompt.cue:
        case "close":
            return summary_of(prompt)
        case "failed":
            return prompt.say("step_failed", agent=prompt.said[-1].agent if prompt.said else "")
        case "waiting":
            return _while_plan_waits(prompt)
        case "step":
            return answer_as_specialist(prompt)
        case _:
            return _answer(prompt)


def _answer(prompt: Prompt) -> OfflineReply:
    has_answer = bool(prompt.said) and not is_handed_back(prompt)
    rules = () if has_answer else (_drafted, plain_answer, _seen_to)
    if (first := next(filter(None, (rule(prompt) for rule in rules)), None)) is not None:
        return first
    if says(prompt.asked, "roster"):
        return _roster(prompt)
    if prompt.patient_id is None:
        return prompt.say("no_patient")
    if wants_plan(prompt.asked):
        return propose(prompt)
    return prompt.say("nothing_else") if has_answer else _passed_on(prompt)


def _drafted(prompt: Prompt) -> OfflineReply | None:
    """Name who drafts orders, where the user orders a test or takes a draft of one back."""
    drafts = says(prompt.asked, "orders_test", "asks_whether_drafted", "withdraws_order")
    agent = best_match(_WORDS_OF["drafts"], prompt.team) if drafts and prompt.patient_id else None
    is_theirs = agent is not None and _WORDS_OF["drafts"] in prompt.team[agent]
    return prompt.say("see_to_this", agent=agent) if is_theirs else None


def _seen_to(prompt: Prompt) -> OfflineReply | None:
    """Name whose work the message asks for, where that is none on the record."""
    work = _work_in(prompt)
    agent = best_match(_WORDS_OF[work], prompt.team) if work is not None else None
    return prompt.say("see_to_this", agent=agent) if agent is not None else None


def _work_in(prompt: Prompt) -> str | None:
    text = prompt.asked
    changes = says(text, "cancel", "move_or_change", "when_is_it")
    is_pointed_at = only_points(text) or not names_office_thing(text)
    if changes and prompt.recent == "appointment" and is_pointed_at:
        return "visits"  # the one that was listed or booked last
    if (work := work_in(text)) is not None or says(text, "starts_plan"):
        return work
    # Whatever it is for: "book a CT" asks for no report on a CT.
    if is_office_request(prompt):
        return "own"
    if says(text, "wants_booking", "next_visit") and not wants_plan(text):
        return "visits"
    is_named = bool(topics_of(text)) or only_points(text)
    return "own" if says(text, "orders") and (is_own_recent(prompt) or not is_named) else None


def _passed_on(prompt: Prompt) -> OfflineReply:
    """Name the agent whose work this is; say so where it is nobody's."""
    topics = topics_of(prompt.asked)
    if (is_unread(prompt.asked) and not topics) or len(prompt.asked) > LONG_CHARS:
        return not_understood(prompt)
    if says(prompt.asked, "turns_to"):
        return what_next(prompt)
    if place_in(prompt.asked) is not None:
        return prompt.say("nothing_of_that")
    if says(prompt.asked, "orders"):
        return prompt.say("nothing_of_that")  # one that names nothing here is not looked up
    if asks_overview(prompt.asked) and not topics and prompt.tool(_OVERVIEW_TOOL) is not None:
        return prompt.call(_OVERVIEW_TOOL)
    agent = best_match(prompt.asked, prompt.team) or _who_searches(prompt)
    if agent is not None:
        is_of_record = is_clinical(agent, prompt.team[agent])
        return prompt.say("from_the_record" if is_of_record else "see_to_this", agent=agent)
    return _nobodys(prompt)


def _nobodys(prompt: Prompt) -> OfflineReply:
    if only_names_patient(prompt):
        return what_next(prompt)
    if asks_for_judgement(prompt.asked):
        caution = prompt.text(caution_for(prompt.asked))
        return OfflineReply(text=f"{caution}\n\n{prompt.text('ask_instead')}")
    command = command_in(prompt.asked)
    if command is not None and command.kind == "start" and command.name and not command.is_bare:
        return prompt.say("no_scenario", name=command.name)
    points = says(prompt.asked, "cancel")  # "cancel it" points at nothing that is known
    return prompt.say("nothing_of_that") if points else not_understood(prompt)


def _who_searches(prompt: Prompt) -> str | None:
    """Return whose notes may hold the answer to a question that fits nobody's work."""
    words, query = prompt.asked.split(), query_of(prompt.asked, besides=prompt.patients)
    is_keyword = len(words) <= _KEYWORDS and not says(prompt.asked, "cancel")
    asks = query and (asks_question(prompt.asked) or is_keyword)
    asks = asks or says(prompt.asked, "comparison")
    return best_match("notes", prompt.team) if asks else None


def _while_plan_waits(prompt: Prompt) -> OfflineReply:
    if wants_plan(prompt.asked) and prompt.patient_id is not None:
        return propose(prompt)
    asks = asks_question(prompt.asked) or topics_of(prompt.asked) or says(prompt.asked, "roster")
    is_reply = courtesy(prompt) is not None or not (asks or plain_answer(prompt))
    return prompt.say("nothing_changed") if is_reply else _answer(prompt)


def _after_tools(prompt: Prompt) -> OfflineReply:
    report = answer_as_specialist(prompt).text
    return OfflineReply(text=f"{report}\n\n{prompt.text('full_review')}")


def _roster(prompt: Prompt) -> OfflineReply:
    active = f" {prompt.text('active')}"
    names = [f"`{one}`{active if one == prompt.patient_id else ''}" for one in prompt.patients]
    if not names:
        return prompt.say("nobody_discussed")
    said = "one_discussed" if len(names) == 1 else "many_discussed"
    return prompt.say(said, count=len(names), names=", ".join(names))
