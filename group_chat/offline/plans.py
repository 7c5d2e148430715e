"""The plan that the built-in rules propose, and the summary that closes it."""

from group_chat.checked_output import RECORD_TOOLS
from group_chat.offline.prompt import OfflineReply, Prompt
from group_chat.offline.told import DIFFERS
from group_chat.plan_text import PLAN_QUESTION
from group_chat.window import Line
from services.group_chat_port import AgentCard
from services.language.answer_words import answer_words
from services.language.full_dates import full_dates
from services.language.own_texts import ends_with_own
from services.language.phrases import found_in, says
from services.language.talk_texts import told_in

_STEP_LIMIT, _ROWS_OF_EACH_AGENT = 20, 8
_TASKS = {
    "create_report": "document",
    "timeline": "history",
    "current_status": "status",
    "imaging_reports": "imaging",
    "pathology_reports": "pathology",
}
"""What agents do in a plan, by the tool whose questions they answer; our texts name each."""


def propose(prompt: Prompt) -> OfflineReply:
    """Propose one step for each agent that is wanted; who writes comes last."""
    ordered = sorted(_wanted(prompt), key=lambda one: _task(one) == "document")[:_STEP_LIMIT]
    steps = [{"agent": one.name, "text": _text_for(prompt, one)} for one in ordered]
    if not steps:
        return prompt.say("no_steps")
    size = "plan_of_one" if len(steps) == 1 else "plan_of"
    proposed = prompt.call("propose_plan", steps=steps)
    intro = prompt.text(size, count=len(steps), patient=prompt.patient_id)
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
    return is_reading or "create_report" in card.tools


def _text_for(prompt: Prompt, card: AgentCard) -> str:
    task = _task(card)
    return prompt.text(f"task_{task}") if task else card.description.rstrip(".")


def _task(card: AgentCard) -> str:
    """Return the work an agent is for; "" where its tools are for none in particular."""
    own = {*card.answers, *({"create_report"} & {*card.tools})}
    return next((task for tool, task in _TASKS.items() if tool in own), "")


def summary_of(prompt: Prompt) -> OfflineReply:
    """Close a plan: what each agent found, what is missing, where sources differ."""
    reports = _reports(prompt)
    lines = [prompt.text("summary")]
    for spoken in reports:
        if rows := bullets_of(spoken):
            lines += ["", f"**{spoken.agent}**", *_newest(prompt, rows)]
    if gaps := [gap for spoken in reports for gap in _gaps(spoken)]:
        lines += ["", prompt.text("missing"), *dict.fromkeys(gaps)]
    differ = answer_words(prompt.language).word(DIFFERS)
    differing = [row for spoken in reports for row in bullets_of(spoken) if differ in row]
    if differing:
        lines += ["", prompt.text("to_settle"), *dict.fromkeys(differing)]
    return OfflineReply(text="\n".join([*lines, "", prompt.text("steps_done")]))


def bullets_of(spoken: Line) -> list[str]:
    """Return the rows of a report."""
    return [line for line in spoken.text.splitlines() if line.startswith("- ")]


def _reports(prompt: Prompt) -> list[Line]:
    """Return what the team said since the plan was proposed, its last message of each agent."""
    since: dict[str, Line] = {}
    for spoken in [*prompt.earlier, *prompt.said]:
        if ends_with_own(spoken.text, PLAN_QUESTION):
            since.clear()
        elif spoken.agent is not None and spoken.agent != prompt.agent:
            since[spoken.agent] = spoken
    return list(since.values())


def _newest(prompt: Prompt, rows: list[str]) -> list[str]:
    """Return the rows of one agent that count most: the end of a timeline, else the beginning."""
    more = len(rows) - _ROWS_OF_EACH_AGENT
    note = [prompt.text("more_above", count=more)] if more > 0 else []
    days = [min(found[0].readings) for row in rows if (found := full_dates(row))]
    if len(days) > 1 and days[0] < days[-1]:
        return [*note, *rows[-_ROWS_OF_EACH_AGENT:]]
    return [*rows[:_ROWS_OF_EACH_AGENT], *note]


def _gaps(spoken: Line) -> list[str]:
    gaps = []
    for line in spoken.text.splitlines():
        if (missing := told_in("not_in_record", line)) is not None:
            gaps.append(f"- {missing['names']}")
        elif any(told_in(name, line) is not None for name in ("unreadable", "holds_nothing")):
            gaps.append(f"- {spoken.agent}: {line.replace('**', '')}")
    return gaps
