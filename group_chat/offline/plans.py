"""The plan that the built-in rules propose, and the summary that closes it."""

from group_chat.offline.prompt import OfflineReply, Prompt
from group_chat.offline.told import DIFFERS
from group_chat.offline.words import is_clinical, topics_of_agent
from group_chat.plan_text import PLAN_QUESTION
from group_chat.window import Line
from services.language.answer_words import answer_words
from services.language.full_dates import full_dates
from services.language.own_texts import ends_with_own
from services.language.phrases import found_in
from services.language.talk_texts import told_in

_STEP_LIMIT, _ROWS_OF_EACH_AGENT = 20, 8
_TASKS = ("document", "history", "status", "imaging", "pathology")
"""What agents do in a plan, in the order in which they are known by; our texts name each."""


def propose(prompt: Prompt) -> OfflineReply:
    """Propose one step for each agent that is wanted; who writes comes last."""
    chosen = {name: prompt.team[name] for name in _wanted(prompt)}
    tasks = {name: _task(name, description) for name, description in chosen.items()}
    ordered = sorted(chosen, key=lambda name: tasks[name] == "document")[:_STEP_LIMIT]
    steps = [
        {
            "agent": name,
            "text": prompt.text(f"task_{tasks[name]}") if tasks[name] else chosen[name].rstrip("."),
        }
        for name in ordered
    ]
    if not steps:
        return prompt.say("no_steps")
    size = "plan_of_one" if len(steps) == 1 else "plan_of"
    proposed = prompt.call("propose_plan", steps=steps)
    intro = prompt.text(size, count=len(steps), patient=prompt.patient_id)
    return OfflineReply(text=intro, calls=proposed.calls) if proposed.calls else proposed


def _wanted(prompt: Prompt) -> list[str]:
    """Return whom the user wants: those named, else all who read records, but those left out."""
    asked, left_out = prompt.asked.casefold(), " ".join(found_in(prompt.asked, "left_out"))
    without = {name for name in prompt.team if name.casefold() in left_out.casefold()}
    named = [name for name in prompt.team if name.casefold() in asked and name not in without]
    clinical = [name for name, description in prompt.team.items() if is_clinical(name, description)]
    return named or [name for name in clinical if name not in without]


def _task(name: str, description: str) -> str:
    """Return the work an agent is for; "" where its topics are not plain."""
    found = topics_of_agent(name, description)
    return next((topic for topic in _TASKS if topic in found), "")


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
        elif spoken.agent in prompt.team:
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
