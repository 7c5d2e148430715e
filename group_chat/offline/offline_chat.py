"""The offline rules as a chat service of Semantic Kernel, and those of the agent who leads.

That agent plans, passes on, answers about the roster and closes.
"""

from collections.abc import AsyncGenerator
from typing import Any

from semantic_kernel import contents
from semantic_kernel.connectors.ai.prompt_execution_settings import PromptExecutionSettings

from data_models.scenarios.scenario import FieldDefinition
from group_chat.drafts.statement_checking import RECORD_TOOLS
from group_chat.messages import NAMES_FOLLOW
from group_chat.models.wire_chat import CallSettings, ToolCallingModel
from group_chat.offline import plain_talk, specialist
from group_chat.offline.prompt import OfflineReply, Prompt, data_behind, prompt_of
from group_chat.speakers.gate import PLAN_QUESTION
from group_chat.tools.function import calls_of
from group_chat.turn_context import current_turn
from services.language.charts.answer_words import answer_words
from services.language.charts.tools_named import SEARCH
from services.language.people.strange_words import is_strange
from services.language.replies.commands import is_retracted
from services.language.replies.corrections import correction_in
from services.language.replies.field_answers import readings_in
from services.language.replies.judging import caution_for
from services.language.replies.plan_change import agents_named, agents_wanted, begins_change
from services.language.replies.references import place_in
from services.language.requests import work
from services.language.requests.tool_requests import RECALL, as_move, is_time_alone
from services.language.utterance import TeamMember
from services.language.words.detection import is_unread
from services.language.words.folding import words_of
from services.language.words.in_english import in_english
from services.language.words.own_texts import ends_with_own
from services.language.words.phrases import found_in, says, without
from services.language.words.text_words import asks_question
from services.records.answers.as_said import letter_in, questions_in, told_as_said, told_before
from services.records.answers.choosing.row_line import summary_of
from services.scenarios.session.commands import command_in
from services.scenarios.session.step_text import GROUNDING_MARK, told_step

RECORD_TOOL, _WRITES = "record_fields", "create_report"
_TASKS = ("timeline", "current_status", "imaging_reports", "pathology_reports", "clinical_trials")
"""Tools whose questions agents answer in a plan; our texts name what each is there for."""
_OF_DEEDS = ("agrees_send", "another_hour", "orders", "withdraws_order")
_KEYWORDS, _STEP_LIMIT = 5, 20


def answer_as_facilitator(prompt: Prompt) -> OfflineReply:
    """Answer by the first rule that fits."""
    if (guided := answer_in_scenario(prompt)) is not None:
        return guided
    if prompt.answers:
        return OfflineReply(text=f"{specialist.report_of(prompt)}\n\n{prompt.text('full_review')}")
    if (told := plain_talk.noted(prompt)) is not None:
        return told
    if prompt.cue in ("close", "step"):
        said = [*prompt.earlier, *prompt.said]
        asked = [at for at, one in enumerate(said) if ends_with_own(one.text, PLAN_QUESTION)]
        since = said[asked[-1] + 1 :] if asked else said
        found = {one.agent: one.text for one in since if one.agent and one.agent != prompt.agent}
        return OfflineReply(text=summary_of(found, prompt.language))
    if prompt.cue == "failed":
        return prompt.say("step_failed", agent=prompt.said[-1].agent if prompt.said else "")
    return _while_plan_waits(prompt) if prompt.cue == "waiting" else _answer(prompt)


def _answer(prompt: Prompt) -> OfflineReply:
    asks_where = prompt.read.command == "where_are_we"
    is_first = not (asks_where or prompt.said)
    if is_first and (told := plain_talk.plain_answer(prompt) or _passed_on(prompt)):
        return told
    if asks_where or says(prompt.asked, "roster"):
        return OfflineReply(text=prompt.roster)
    if prompt.patient_id is None:
        return plain_talk.nobody_open(prompt)
    if prompt.read.task == "plan" or work.wants_plan(prompt.asked):
        return propose(prompt)
    return prompt.say("nothing_else") if prompt.said else _looked_up(prompt)


def _passed_on(prompt: Prompt) -> OfflineReply | None:
    """Name who does what is asked for, or works on what was listed or booked last."""
    text = as_move(prompt.asked, prompt.shown_before)
    agent = None if prompt.read.about else prompt.read.agent
    changes = says(text, "cancel", "move_or_change", "when_is_it")
    # "No, Friday" is of the record where that was read last, whatever was booked before.
    last = [one for one in prompt.team if prompt.earlier and one.name == prompt.earlier[-1].agent]
    is_late = says(prompt.asked, "another_time") and any(map(_works_on_record, last))
    # A task is moved at once.
    is_late |= prompt.recent == "task" and says(prompt.asked, "asks_for_time")
    is_of_own = not work.points_only(text) and bool(work.own_kind_in(text))
    if changes and prompt.recent == "appointment" and not is_of_own:
        agent = agent if is_late else prompt.who_has("available_slots")
    elif (
        agent is None and specialist.is_of_recent(prompt) and not (is_late or says(text, "roster"))
    ):
        agent = prompt.who_has(specialist.SECRETARY_TOOL)
    return None if agent is None else prompt.say("see_to_this", agent=agent)


def _looked_up(prompt: Prompt) -> OfflineReply:
    """Name who looks into the record, or say what the message may mean."""
    text, read = prompt.asked, prompt.read
    if is_unread(text) or len(text) > work.LONG_CHARS:
        return plain_talk.not_understood(prompt)
    if says(text, "turns_to"):
        return plain_talk.what_next(prompt)
    is_of_deed = says(text, *_OF_DEEDS) or as_move(text) != text or is_time_alone(text)
    if place_in(text) is not None or is_of_deed or is_retracted(text):
        return prompt.say("nothing_of_that")  # what names nothing here is not looked up
    if name := _starts_scenario(prompt):
        return plain_talk.nobody_called(prompt) or prompt.say("no_scenario", name=name)
    if work.asks_overview(text) and specialist.OVERVIEW_TOOL in prompt.tools and not read.about:
        return prompt.call(specialist.OVERVIEW_TOOL)
    longest = _KEYWORDS - 2 * any(map(is_strange, words_of(text)))
    is_keyword = len(text.split()) <= longest and not says(text, "cancel")
    asks, agent = asks_question(text) or is_keyword or says(text, "comparison"), read.agent
    if agent is None and prompt.query and asks:
        agent = next((one.name for one in prompt.team if SEARCH in one.answers), None)
    return _nobodys(prompt) if agent is None else prompt.say("from_the_record", agent=agent)


def _nobodys(prompt: Prompt) -> OfflineReply:
    asked = prompt.asked.casefold()
    if not prompt.query and any(one.casefold() in asked for one in prompt.patients):
        # "Start with patient_4" opens a chart and wants nothing yet.
        return plain_talk.what_next(prompt)
    if caution := caution_for(prompt.asked):
        return OfflineReply(text=f"{prompt.text(caution)}\n\n{prompt.text('ask_instead')}")
    if asks_question(prompt.asked) and (said := plain_talk.said_here(prompt)):
        return OfflineReply(text=said)
    is_pointing = says(prompt.asked, "cancel")  # "cancel it" points at nothing that is known
    return prompt.say("nothing_of_that") if is_pointing else plain_talk.not_understood(prompt)


def _while_plan_waits(prompt: Prompt) -> OfflineReply:
    if work.wants_plan(prompt.asked) and prompt.patient_id is not None:
        return propose(prompt)
    text, team = prompt.asked.casefold(), [one.name for one in prompt.team]
    is_named = says(text, "names_plan") or bool(agents_named(text, team))
    is_unfit = begins_change(prompt.asked)
    unchanged = prompt.say("no_such_step" if is_unfit else "nothing_changed", asked=prompt.asked)
    if is_named and is_unfit:
        return unchanged  # and the plan is shown behind it
    asks = asks_question(prompt.asked) or says(prompt.asked, "roster", "comparison")
    asks = asks or bool(_starts_scenario(prompt)) or prompt.read.agent is not None
    asks = plain_talk.courtesy(prompt) is None and bool(asks or plain_talk.plain_answer(prompt))
    return _answer(prompt) if asks else unchanged


def _starts_scenario(prompt: Prompt) -> str:
    """Return the name behind "start", where it is none of a part of the chart."""
    command = command_in(prompt.asked)
    is_start = command is not None and command.kind == "start" and not command.is_bare
    is_of_chart = not prompt.query or bool(prompt.read.about)
    return command.name if command is not None and is_start and not is_of_chart else ""


def propose(prompt: Prompt) -> OfflineReply:
    """Propose one step for each agent that is wanted; who writes comes last."""
    ordered = sorted(_wanted(prompt), key=lambda one: _WRITES in one.tools)[:_STEP_LIMIT]
    if not ordered:
        return prompt.say("no_steps")
    rest = [*map(str, range(1, len(ordered)))]  # what is added is written down, too
    needs = {one.name: rest for one in ordered if _WRITES in one.tools}
    steps = [
        {"agent": one.name, "text": _text_for(prompt, one), "needs": needs.get(one.name, [])}
        for one in ordered
    ]
    size = "plan_of_one" if len(steps) == 1 else "plan_of"
    proposed = prompt.call("propose_plan", steps=steps)
    intro = prompt.text(size, count=len(steps), patient=prompt.who)
    return OfflineReply(text=intro, calls=proposed.calls) if proposed.calls else proposed


def _wanted(prompt: Prompt) -> list[TeamMember]:
    """Return whom the user wants: those named, else all who read records, but those left out."""
    asked = in_english(prompt.asked).casefold()
    left_out = " ".join(one for text in (asked, prompt.asked) for one in found_in(text, "left_out"))
    without = agents_named(left_out, [one.name for one in prompt.team])
    kept = [one for one in prompt.team if one.name not in without]
    chosen = agents_wanted(prompt.asked, [one.name for one in kept])
    alone = [one for name in chosen for one in kept if one.name == name]
    named = alone or [one for one in kept if one.name.casefold() in asked]
    return named or [one for one in kept if _works_on_record(one)]


def _works_on_record(card: TeamMember) -> bool:
    """Whether an agent reports on the patient: no complaint of the user's, no guideline."""
    first = card.answers or card.tools
    is_reading = not RECORD_TOOLS.isdisjoint(first) and not says(card.description, "topic_health")
    return is_reading or _WRITES in card.tools


def _text_for(prompt: Prompt, card: TeamMember) -> str:
    """Return the work an agent is for; its description where its tools are for none."""
    own = (*card.answers, *({_WRITES} & {*card.tools}))
    task = next((tool for tool in (_WRITES, *_TASKS) if tool in own), "")
    return prompt.text(f"task_{task}") if task else card.description.rstrip(".")


def answer_in_scenario(prompt: Prompt) -> OfflineReply | None:
    """Return what the guide says or calls; None where the message is about something else."""
    if prompt.answers:
        return _after_tool(prompt)
    step, is_turn = prompt.scenario, prompt.cue == "none" and not prompt.said
    if not step or RECORD_TOOL not in prompt.tools or not is_turn:
        return None
    if not step.get("asked"):
        said, read = told_step(step, prompt.language), prompt.read
        is_left = bool(read.about or read.agent) or says(prompt.asked, "asks_bookings")
        is_left = is_left and not says(prompt.asked, "scenario_start", "scenario_resume")
        is_left &= asks_question(prompt.asked) or correction_in(prompt.asked) is None
        left = f"\n\n{prompt.text('left_unanswered', asked=prompt.asked)}" if is_left else ""
        return OfflineReply(text=f"{said}{left}")
    fields = [
        FieldDefinition(name=row["name"], display_name=row["label"], value_type=row["type"])
        for row in step["ask_for"]
    ]
    found = readings_in(prompt.asked, fields, now=prompt.now)
    is_question = prompt.asked.rstrip().endswith("?")
    is_free = all(one.value == prompt.asked.strip() for one in found.values())
    if is_free and work.orders_work(prompt.read, prompt.agent):
        return None  # where a free text is asked for, any words would be its answer
    if not found and (is_question or work.leaves_question(prompt.read, prompt.agent)):
        return None
    if not found and not step["ask_for"]:
        return OfflineReply(text=told_step(step, prompt.language))
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
        return OfflineReply(text=told_step(step, prompt.language))
    if not (reason := last.error.partition(";")[0].rstrip(".")):
        return prompt.say("noted_plainly")
    return OfflineReply(text=f"{prompt.text('unread_answer')} {reason}.")


class OfflineChatCompletion(ToolCallingModel):
    """Answers from tool results and from what was said, by rules; the same prompt, the same words.

    It goes through the same kernel, tools and streams as a language model, so that everything
    works without one.
    """

    async def _inner_get_streaming_chat_message_contents(
        self,
        chat_history: contents.ChatHistory,
        settings: PromptExecutionSettings,
        function_invoke_attempt: int = 0,
    ) -> AsyncGenerator[list[contents.StreamingChatMessageContent], Any]:
        offers = isinstance(settings, CallSettings) and settings.tools
        # Asked who of several speaks, it names the first.
        _, among, names = chat_history.messages[0].content.partition(NAMES_FOLLOW)
        reply = (
            OfflineReply(text=names.partition(",")[0])
            if among
            else reply_to(prompt_of(current_turn(), chat_history, offers or ()))
        )
        text = contents.StreamingTextContent(choice_index=0, text=reply.text)
        # Two pieces: what stands beside calls in one piece is not shown.
        for items in ([text], calls_of(reply.calls, "call")):
            yield [
                contents.StreamingChatMessageContent(
                    role=contents.AuthorRole.ASSISTANT,
                    choice_index=0,
                    items=[*items],
                    ai_model_id=self.ai_model_id,
                    function_invoke_attempt=function_invoke_attempt,
                )
            ]


def _from_the_talk(prompt: Prompt) -> OfflineReply | None:
    """Return a pasted letter, or what was told, where that is asked for and nothing of the chart.

    What is held of what the user asks to be reminded of comes before what was said of it.
    """
    if prompt.read.about:
        return None
    asks_letter = not prompt.said and says(prompt.asked, "asks_of_letter")
    quotes = letter_in(prompt.heard) if asks_letter else ""
    recall = None if quotes or prompt.scenario else specialist.request_in(prompt, (RECALL,))
    if recall is not None:
        query = (recall.given(prompt.asked) or {}).get("query", "").split()
        own = () if prompt.identity is None else words_of(prompt.identity.name)
        named = " ".join(one for one in query if not {*words_of(one)} <= {*own})
        asked = questions_in(named)
        words, told = answer_words(prompt.language), told_before(prompt.heard)
        if said := told_as_said(asked, words, held=prompt.held, told=told, text=named):
            return OfflineReply(text=said)
    if quotes:
        return OfflineReply(text=answer_words(prompt.language).say("as_said", quotes=quotes))
    return None if recall is None else specialist.run(prompt, recall)


def reply_to(prompt: Prompt) -> OfflineReply:
    """Return the answer to one prompt; the first of a conversation says who speaks."""
    answer = answer_as_facilitator if prompt.is_facilitator else specialist.answer_as_specialist
    reply = _from_the_talk(prompt) or answer(prompt)
    is_of_danger = not prompt.said and says(without(prompt.asked, "place_of_death"), "danger")
    before = [prompt.text("danger_first")] if is_of_danger else []
    before += [] if prompt.said or prompt.earlier else [prompt.text("not_a_model")]
    text = "\n\n".join([*before, reply.text]) if reply.text else ""
    return OfflineReply(text=text, calls=reply.calls)
