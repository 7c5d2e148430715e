"""The offline rules of the agent who leads: plan, route, answer about the roster, close."""

from group_chat.offline.assistant import (
    is_office_request,
    is_own_recent,
    names_office_thing,
    only_points,
)
from group_chat.offline.elsewhere import is_handed_back
from group_chat.offline.order_drafts import who_drafts
from group_chat.offline.plain_talk import (
    LONG_CHARS,
    courtesy,
    not_understood,
    only_names_patient,
    plain_answer,
    what_next,
)
from group_chat.offline.prompt import Prompt, Spoken
from group_chat.offline.remembering import answer_from_memory, asks_to_remember
from group_chat.offline.reply import Call, OfflineReply
from group_chat.offline.scenario import answer_in_scenario
from group_chat.offline.specialist import answer_as_specialist, bullets_of
from group_chat.offline.words import (
    asks_overview,
    best_match,
    is_clinical,
    known_word_like,
    others_wanted,
    query_of,
    topics_named_in,
    topics_of,
    wants_plan,
)
from group_chat.plan_text import PLAN_QUESTION
from services.language.detection import is_unread
from services.language.judging import asks_for_judgement, caution_for, compares
from services.language.own_texts import ends_with_own
from services.language.phrases import found_in, says
from services.language.talk_texts import talk_text, told_in
from services.language.text_words import asks_question
from services.language.work import work_in
from services.scenarios.session.commands import command_in

_ROWS_OF_EACH_AGENT = 8
_STEP_LIMIT = 20
_KEYWORDS = 3
_ROSTER_TOOL = "list_roster"
_WORDS_OF = {
    "own": "calendar mail contacts tasks",
    "persons": "register person",
    "visits": "appointment",
}
_TASKS = ("history", "status", "imaging", "pathology", "document")
"""What agents do in a plan, in the order in which they are known by; our texts name each."""


def answer_as_facilitator(prompt: Prompt) -> OfflineReply:
    """Answer by the first rule that fits."""
    guided = answer_in_scenario(prompt)
    if guided is not None:
        return guided
    if asks_to_remember(prompt):
        return answer_from_memory(prompt)
    if prompt.answers:
        return _after_tools(prompt)
    match prompt.cue.kind:
        case "close":
            return OfflineReply(text=_summary(prompt))
        case "failed":
            return OfflineReply(text=_failed(prompt))
        case "waiting":
            return _while_plan_waits(prompt)
        case "own_step":
            return answer_as_specialist(prompt)
        case _:
            return _answer(prompt)


def _answer(prompt: Prompt) -> OfflineReply:
    has_answer = bool(prompt.said) and not is_handed_back(prompt)
    if not has_answer and prompt.patient_id and (agent := who_drafts(prompt)) is not None:
        return OfflineReply(text=prompt.text("see_to_this", agent=agent))
    plain = None if has_answer else plain_answer(prompt)
    office = _clinic(prompt) or _by_work(prompt) or _office(prompt)
    if office is not None and not has_answer and plain is None:
        return OfflineReply(text=prompt.text("see_to_this", agent=office))
    if plain is not None:
        return OfflineReply(text=plain)
    if says(prompt.asked, "roster"):
        return _roster(prompt)
    if prompt.patient_id is None:
        return OfflineReply(text=prompt.text("no_patient"))
    if wants_plan(prompt.asked):
        return _propose(prompt)
    if has_answer:
        return OfflineReply(text=prompt.text("nothing_else"))
    return _passed_on(prompt)


def _passed_on(prompt: Prompt) -> OfflineReply:
    """Name the agent whose work this is; say so where it is nobody's."""
    is_strange = is_unread(prompt.asked) and not topics_of(prompt.asked)
    if is_strange or len(prompt.asked) > LONG_CHARS:
        return OfflineReply(text=not_understood(prompt))
    if says(prompt.asked, "turns_to"):
        return OfflineReply(text=what_next(prompt))
    if says(prompt.asked, "orders"):
        return _ordered(prompt)
    agent = _who_books(prompt) or best_match(prompt.asked, prompt.team) or _who_searches(prompt)
    overview = prompt.tool("load_patient_data")
    if overview is not None and asks_overview(prompt.asked) and not topics_of(prompt.asked):
        return OfflineReply(calls=(Call(overview.wire_name, {}),))
    if agent is not None:
        is_of_record = is_clinical(agent, prompt.team[agent])
        handed = prompt.text("from_the_record" if is_of_record else "see_to_this", agent=agent)
        rest = others_wanted(prompt.asked, agent, prompt.team) if is_of_record else []
        first = [prompt.text("ask_next", agent=rest[0])] if rest else []
        return OfflineReply(text="\n\n".join([*first, handed]))
    if only_names_patient(prompt):
        return OfflineReply(text=what_next(prompt))
    if asks_for_judgement(prompt.asked):
        caution = prompt.text(caution_for(prompt.asked))
        return OfflineReply(text=f"{caution}\n\n{prompt.text('ask_instead')}")
    points = says(prompt.asked, "cancel")  # "cancel it" points at nothing that is known
    nothing = prompt.text("nothing_of_that") if points else not_understood(prompt)
    return OfflineReply(text=_no_scenario(prompt) or nothing)


def _ordered(prompt: Prompt) -> OfflineReply:
    """Pass on an order on the user's own things; one that names nothing here is not looked up."""
    is_own = is_own_recent(prompt) or not (topics_of(prompt.asked) or only_points(prompt.asked))
    own = best_match(_WORDS_OF["own"], prompt.team) if is_own else None
    known = prompt.text("see_to_this", agent=own) if own else prompt.text("nothing_of_that")
    return OfflineReply(text=known)


def _no_scenario(prompt: Prompt) -> str | None:
    """Return what to do where the user starts something that nobody here knows."""
    command = command_in(prompt.asked)
    if command is None or command.kind != "start" or command.is_bare or not command.name:
        return None
    return prompt.text("no_scenario", name=command.name)


def _clinic(prompt: Prompt) -> str | None:
    """Return who sees to the appointment that was listed or booked last, if it is changed now."""
    changes = says(prompt.asked, "cancel", "move_or_change", "when_is_it")
    if not changes or not prompt.recent_is_appointment or names_office_thing(prompt.asked):
        return None
    return best_match(_WORDS_OF["visits"], prompt.team)


def _by_work(prompt: Prompt) -> str | None:
    """Return whose work it is, where the words say so and no record is asked."""
    work = work_in(prompt.asked)
    return None if work is None else best_match(_WORDS_OF[work], prompt.team)


def _office(prompt: Prompt) -> str | None:
    """Return who looks after the user's own calendar and mail, if that is what is asked for."""
    if not is_office_request(prompt) or says(prompt.asked, "starts_plan"):
        return None
    return best_match(_WORDS_OF["own"], prompt.team)


def _who_books(prompt: Prompt) -> str | None:
    """Return who arranges a time, whatever it is for: "book a CT" asks for no report on a CT."""
    is_booking = says(prompt.asked, "wants_booking", "next_visit")
    return best_match(_WORDS_OF["visits"], prompt.team) if is_booking else None


def _who_searches(prompt: Prompt) -> str | None:
    """Return whose notes may hold the answer to a question that fits nobody's work."""
    asks = asks_question(prompt.asked) and query_of(prompt.asked)
    words = prompt.asked.split()
    is_keyword = len(words) <= _KEYWORDS and not says(prompt.asked, "cancel")
    is_keyword = is_keyword and not any(map(known_word_like, words))
    if (
        asks
        or compares(prompt.asked)
        or (is_keyword and query_of(prompt.asked, besides=prompt.patients))
    ):
        return best_match("notes", prompt.team)
    return None


def _propose(prompt: Prompt) -> OfflineReply:
    steps = _steps(prompt)
    tool = prompt.tool("propose_plan")
    if not steps:
        return OfflineReply(text=prompt.text("no_steps"))
    size = "plan_of_one" if len(steps) == 1 else "plan_of"
    intro = prompt.text(size, count=len(steps), patient=prompt.patient_id)
    if tool is None:
        return OfflineReply(text=prompt.text("no_plan_tool"))
    return OfflineReply(text=intro, calls=(Call(tool.wire_name, {"steps": steps}),))


def _steps(prompt: Prompt) -> list[dict[str, str]]:
    """Return one step for each agent that is wanted; who writes comes last."""
    chosen = {name: prompt.team[name] for name in _wanted(prompt)}
    tasks = {name: _topic(name, description) for name, description in chosen.items()}
    ordered = sorted(chosen, key=lambda name: tasks[name] == "document")
    return [
        {"agent": name, "text": _task(prompt, tasks[name]) or chosen[name].rstrip(".")}
        for name in ordered[:_STEP_LIMIT]
    ]


def _task(prompt: Prompt, topic: str) -> str:
    return prompt.text(f"task_{topic}") if topic else ""


def _wanted(prompt: Prompt) -> list[str]:
    """Return whom the user wants: those named, all but those left out, or the open plan changed."""
    team = prompt.team
    asked = prompt.asked.casefold()
    left_out = " ".join(found_in(prompt.asked, "left_out")).casefold()
    without = {name for name in team if name.casefold() in left_out}
    named = [name for name in team if name.casefold() in asked and name not in without]
    if prompt.cue.kind == "waiting" and not says(prompt.asked, "only"):
        planned = _planned(prompt)
        named = [name for name in team if name in planned or name in named]
    clinical = [name for name in team if is_clinical(name, team[name])]
    return [name for name in named or clinical if name not in without]


def _planned(prompt: Prompt) -> set[str]:
    """Return the agents of the plan that was proposed last."""
    plans = [
        one.text
        for one in [*prompt.earlier, *prompt.said]
        if ends_with_own(one.text, PLAN_QUESTION)
    ]
    return {name for name in prompt.team if plans and f"*{name}*:" in plans[-1]}


def _topic(name: str, description: str) -> str:
    """Return the work an agent is for; one whose topics are not plain is described by its text."""
    words = {topic: talk_text("en", f"task_{topic}") for topic in _TASKS}
    fits = {topic: best_match(words[topic], {name: description}) for topic in _TASKS}
    found = topics_named_in(f"{name} {description}")
    if "document" in found:
        return "document"
    return next((topic for topic in _TASKS if topic in found and fits[topic]), "")


def _while_plan_waits(prompt: Prompt) -> OfflineReply:
    team = prompt.team
    names_agents = any(name.casefold() in prompt.asked.casefold() for name in team)
    changes = wants_plan(prompt.asked) or (names_agents and says(prompt.asked, "changes_plan"))
    if changes and prompt.patient_id is not None:
        return _propose(prompt)
    if says(prompt.asked, "roster"):
        return _roster(prompt)
    asks = asks_question(prompt.asked) or topics_of(prompt.asked) or plain_answer(prompt)
    is_reply = courtesy(prompt) or not asks
    return OfflineReply(text=prompt.text("nothing_changed")) if is_reply else _answer(prompt)


def _after_tools(prompt: Prompt) -> OfflineReply:
    roster = next((one.data for one in prompt.answers if one.name == _ROSTER_TOOL), None)
    if roster is not None:
        patients = [str(patient) for patient in roster.get("patients", ())]
        return OfflineReply(text=_patients(prompt, patients))
    report = answer_as_specialist(prompt).text
    # Two list lines that name agents, as the titles of reports do, would be read as a plan.
    lines = [
        f"{line.removeprefix('- ')}  " if line.startswith("- ") else line
        for line in report.splitlines()
    ]
    return OfflineReply(text="\n".join([*lines, "", prompt.text("full_review")]))


def _roster(prompt: Prompt) -> OfflineReply:
    """Answer from the snapshot, or from the tool where the snapshot does not list everybody."""
    tool = prompt.tool(_ROSTER_TOOL)
    if tool is not None and "patient_count" in prompt.snapshot:
        return OfflineReply(calls=(Call(tool.wire_name, {}),))
    return OfflineReply(text=_patients(prompt, prompt.patients))


def _patients(prompt: Prompt, patients: list[str]) -> str:
    active = f" {prompt.text('active')}"
    names = [f"`{one}`{active if one == prompt.patient_id else ''}" for one in patients]
    if not names:
        return prompt.text("nobody_discussed")
    said = "one_discussed" if len(names) == 1 else "many_discussed"
    return prompt.text(said, count=len(names), names=", ".join(names))


def _failed(prompt: Prompt) -> str:
    agent = prompt.said[-1].agent if prompt.said else ""
    return prompt.text("step_failed", agent=agent)


def _summary(prompt: Prompt) -> str:
    reports = _reports(prompt)
    lines = [prompt.text("summary")]
    for spoken in reports:
        rows = bullets_of(spoken)
        if rows:
            lines += ["", f"**{spoken.agent}**", *_newest(prompt, rows)]
    gaps = _gaps(reports)
    if gaps:
        lines += ["", prompt.text("missing"), *gaps]
    differing = [row for spoken in reports for row in bullets_of(spoken) if "sources differ" in row]
    if differing:
        lines += ["", prompt.text("to_settle"), *dict.fromkeys(differing)]
    return "\n".join([*lines, "", prompt.text("steps_done")])


def _reports(prompt: Prompt) -> list[Spoken]:
    """Return what the team said since the plan was proposed, its last message of each agent."""
    everything = [*prompt.earlier, *prompt.said]
    began = max(
        (
            index
            for index, spoken in enumerate(everything)
            if ends_with_own(spoken.text, PLAN_QUESTION)
        ),
        default=-1,
    )
    last = {
        spoken.agent: spoken for spoken in everything[began + 1 :] if spoken.agent in prompt.team
    }
    return list(last.values())


def _newest(prompt: Prompt, rows: list[str]) -> list[str]:
    """Return the rows of one agent that count most: the end of a timeline, else the beginning."""
    more = len(rows) - _ROWS_OF_EACH_AGENT
    if more <= 0:
        return rows
    note = prompt.text("more_above", count=more)
    first, last = (row.removeprefix("- ")[:10] for row in (rows[0], rows[-1]))
    if first[:4].isdecimal() and last[:4].isdecimal() and first < last:
        return [note, *rows[-_ROWS_OF_EACH_AGENT:]]
    return [*rows[:_ROWS_OF_EACH_AGENT], note]


def _gaps(reports: list[Spoken]) -> list[str]:
    gaps: dict[str, None] = {}
    for spoken in reports:
        for line in spoken.text.splitlines():
            if (missing := told_in("not_in_record", line)) is not None:
                gaps[f"- {missing['names']}"] = None
            elif any(told_in(name, line) is not None for name in ("unreadable", "holds_nothing")):
                gaps[f"- {spoken.agent}: {line.replace('**', '')}"] = None
    return list(gaps)
