"""The plan that the built-in rules propose, and the summary that closes it."""

from group_chat.checked_output import RECORD_TOOLS
from group_chat.offline.prompt import OfflineReply, Prompt
from group_chat.plan_text import PLAN_QUESTION
from services.group_chat_port import AgentCard
from services.language.own_texts import ends_with_own
from services.language.phrases import found_in, says
from services.language.telling import is_told
from services.records.answers.closing import summary_of

_STEP_LIMIT = 20
_WRITES = "create_report"
_TASKS = {
    _WRITES: "document",
    "timeline": "history",
    "current_status": "status",
    "imaging_reports": "imaging",
    "pathology_reports": "pathology",
}
"""What agents do in a plan, by the tool whose questions they answer; our texts name each."""


def propose(prompt: Prompt) -> OfflineReply:
    """Propose one step for each agent that is wanted; who writes comes last."""
    ordered = sorted(_wanted(prompt), key=lambda one: _WRITES in one.tools)[:_STEP_LIMIT]
    steps = [{"agent": one.name, "text": _text_for(prompt, one)} for one in ordered]
    if not steps:
        return prompt.say("no_steps")
    size = "plan_of_one" if len(steps) == 1 else "plan_of"
    proposed = prompt.call("propose_plan", steps=steps)
    intro = prompt.text(size, count=len(steps), patient=prompt.who)
    return OfflineReply(text=intro, calls=proposed.calls) if proposed.calls else proposed


def _wanted(prompt: Prompt) -> list[AgentCard]:
    """Return whom the user wants: those named, else all who read records, but those left out."""
    asked, left_out = prompt.asked.casefold(), " ".join(found_in(prompt.asked, "left_out"))
    kept = [one for one in prompt.team if one.name.casefold() not in left_out.casefold()]
    named = [one for one in kept if one.name.casefold() in asked]
    return named or [one for one in kept if _works_on_record(one)]


def _works_on_record(card: AgentCard) -> bool:
    """Whether an agent reports on the patient: no complaint of the user's, no guideline."""
    first = card.answers or card.tools
    is_reading = not RECORD_TOOLS.isdisjoint(first) and not says(card.description, "topic_health")
    return is_reading or _WRITES in card.tools


def _text_for(prompt: Prompt, card: AgentCard) -> str:
    """Return the work an agent is for; its description where its tools are for none."""
    own = (*card.answers, *({_WRITES} & {*card.tools}))
    task = next((task for tool, task in _TASKS.items() if tool in own), "")
    return prompt.text(f"task_{task}") if task else card.description.rstrip(".")


def close(prompt: Prompt) -> OfflineReply:
    """Close a plan with the last message of each agent since it was proposed, and what was told."""
    since: dict[str, str] = {}
    for spoken in [*prompt.earlier, *prompt.said]:
        if ends_with_own(spoken.text, PLAN_QUESTION):
            since.clear()
        elif spoken.agent is not None and spoken.agent != prompt.agent:
            since[spoken.agent] = spoken.text
    told = [one.text for one in prompt.earlier if one.agent is None and is_told(one.text)]
    text = summary_of(since, prompt.language, told=[*prompt.held, *told])
    return OfflineReply(text=text)
