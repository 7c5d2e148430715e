"""The offline rules of a question about the chart: call the tool that it names, say its rows."""

from collections.abc import Sequence
from dataclasses import replace

from data_models.chart_view import ChartView
from group_chat.offline.as_said import said_of
from group_chat.offline.chart_rows import asked_rows, has_answer
from group_chat.offline.chart_templates import answer_of
from group_chat.offline.prompt import Prompt, ToolAnswer
from group_chat.offline.reply import Call, OfflineReply
from services.language.answer_words import answer_words
from services.language.chart_questions import SEARCH, arguments_of
from services.language.utterance import Aspect, ChartQuestion, Utterance

_QUESTIONS_LIMIT = 4
# Words in which notes tell what a record has a field for.
_ALSO_SAID = {
    "marital status": "married widowed divorced husband wife spouse partner",
    "address": "address lives",
    "phone": "phone telephone",
    "language": "language interpreter speaks",
    "contact person": "contact daughter son husband wife sister brother mother father",
    "general practitioner": "general practitioner family doctor GP",
    "care team": "general practitioner family doctor GP",
    "race": "race ethnicity",
    "family": "family mother father sister brother parents",
    "social": "social lives works occupation retired",
    "coverage": "insurance insured",
    "device": "device implant implanted pacemaker stent prosthesis port",
    "directive": "directive resuscitation living will",
    "vital status": "died death",
    "stage": "stage staging TNM",
    "tnm": "TNM stage staging",
    "ECOG": "ECOG performance status",
    "inpatient admission": "admitted admission inpatient discharged",
    "emergency": "emergency",
}


def answer_about_chart(prompt: Prompt) -> OfflineReply | None:
    """Return the next call, or what the rows say; None where nothing of this is asked."""
    utterance = prompt.utterance
    if utterance is None or prompt.cue.kind in {"step", "own_step", "close", "failed"}:
        return None
    offered = [one for one in utterance.about if prompt.tool(one.tool) is not None]
    if not offered or prompt.tool(SEARCH) is None:
        return None
    shown = offered[:_QUESTIONS_LIMIT]
    return _Talk(prompt=prompt, utterance=utterance, questions=shown).reply()


class _Talk:
    """Goes through the questions of one message, one call at a time.

    Calls run one after the other, so the views of the turn come in the order of the questions.
    """

    def __init__(
        self, *, prompt: Prompt, utterance: Utterance, questions: Sequence[ChartQuestion]
    ) -> None:
        self._prompt = prompt
        self._questions = questions
        self._words = answer_words(utterance.language)
        good = sum("error" not in answer.data for answer in prompt.answers)
        self._views = list(prompt.views[-good:]) if good else []
        self._answers = list(prompt.answers)
        self._said: list[str] = []

    def reply(self) -> OfflineReply:
        """Return the call for the first question that has no rows yet, or all answers."""
        for question in self._questions:
            call = self._answer(question)
            if call is not None:
                return OfflineReply(calls=(call,))
        held = said_of(self._questions, self._prompt.held)
        as_said = [self._words.as_said.format(quotes=" ".join(held))] if held else []
        return OfflineReply(text="\n\n".join(dict.fromkeys([*self._said, *as_said])))

    def _answer(self, question: ChartQuestion) -> Call | None:
        """Say what the rows say to one question; return the call that is needed before."""
        if not self._answers:
            return self._call(question)
        taken = self._take()
        if isinstance(taken, ToolAnswer):
            problem = str(taken.data.get("error", ""))
            self._said.append(self._words.failed.format(title=question.tool, problem=problem))
            return None
        search = _search_for(question)
        if has_answer(question, taken) or search is None:
            self._said.append(answer_of(question, taken, self._words))
            return None
        if not self._answers:
            return self._call(search)
        found = self._take()
        is_found = isinstance(found, ChartView) and asked_rows(search, found).rows
        if isinstance(found, ChartView) and is_found:
            said = answer_of(search, found, self._words)
            lead = self._words.elsewhere  # it is in the record, though not in that list
            if not search.name:
                lead = f"{answer_of(question, taken, self._words)} {self._words.perhaps}"
            self._said.append(f"{lead}\n{said}")
        else:
            self._said.append(answer_of(question, taken, self._words))
        return None

    def _take(self) -> ChartView | ToolAnswer:
        answer = self._answers.pop(0)
        return answer if "error" in answer.data or not self._views else self._views.pop(0)

    def _call(self, question: ChartQuestion) -> Call:
        tool = self._prompt.tool(question.tool)
        name = tool.wire_name if tool is not None else question.tool
        return Call(name, arguments_of(question))


def _search_for(question: ChartQuestion) -> ChartQuestion | None:
    """Return the search over everything, where the tool of a question holds nothing of it.

    What is absent from one list may stand in a note; only then it is not in the record.
    """
    if question.tool == SEARCH:
        return None
    if question.tool == "encounters" and not question.name:
        # Notes tell of visits that nobody recorded as such.
        aspect: Aspect = question.aspect if question.aspect in ("latest", "first") else "all"
        return replace(question, tool="documents", arguments={}, aspect=aspect)
    if question.tool == "care" and question.name == "care team":
        return replace(question, tool="encounters", aspect="latest", name="", part="people")
    if question.tool == "care" and question.name not in _ALSO_SAID:
        return None  # "care" and "plan" stand in any note
    if not question.name or len(question.arguments.get("names", ())) > 1:
        return None
    said = _ALSO_SAID.get(question.name)
    query, name = (said, "") if said is not None else (question.name, question.name)
    return replace(question, tool=SEARCH, arguments={"query": query}, aspect="all", name=name)
