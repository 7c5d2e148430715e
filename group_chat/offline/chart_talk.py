"""The offline rules of a question about the chart: call the tool that it names, say its rows."""

from collections.abc import Sequence
from dataclasses import replace

from data_models.chart_view import ChartView, ViewRow
from group_chat.offline.as_said import said_of
from group_chat.offline.prompt import Prompt, ToolAnswer
from group_chat.offline.reply import Call, OfflineReply
from services.language.answer_words import AnswerWords, answer_words
from services.language.chart_questions import SEARCH, arguments_of
from services.language.utterance import Aspect, ChartQuestion, Utterance
from services.records.answers.asked_rows import asked_rows, has_answer
from services.records.answers.quoted import quoted_passages
from services.records.answers.sentences import answer_of

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
        as_said = [self._words.as_said.format(quotes="; ".join(held))] if held else []
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
        searches = [] if has_answer(question, taken) else _searches_for(question)
        for search in searches:
            if not self._answers:
                return self._call(search)
            if (told := self._told_elsewhere(question, taken, search)) is not None:
                self._said.append(told)
                return None
        quotes = quoted_passages(taken.rows)
        self._said.append(quotes or answer_of(question, taken, self._words))
        return None

    def _told_elsewhere(
        self, question: ChartQuestion, taken: ChartView, search: ChartQuestion
    ) -> str | None:
        """Say what a search over everything found; None where it found nothing."""
        absent = answer_of(question, taken, self._words)
        found = self._take()
        if not isinstance(found, ChartView):
            return None
        is_allergy = question.tool == "allergies"
        if is_allergy:  # a scan with contrast tells of no allergy to it
            found = found.model_copy(update={"rows": _of_allergies(found, self._words)})
        if not asked_rows(search, found).rows:
            return None
        said = answer_of(search, found, self._words)
        is_guess = is_allergy or not search.name
        # Else it is in the record, though not in that list.
        lead = f"{absent} {self._words.perhaps}" if is_guess else self._words.elsewhere
        return f"{lead}\n{said}"

    def _take(self) -> ChartView | ToolAnswer:
        answer = self._answers.pop(0)
        return answer if "error" in answer.data or not self._views else self._views.pop(0)

    def _call(self, question: ChartQuestion) -> Call:
        tool = self._prompt.tool(question.tool)
        name = tool.wire_name if tool is not None else question.tool
        return Call(name, arguments_of(question))


def _of_allergies(view: ChartView, words: AnswerWords) -> tuple[ViewRow, ...]:
    """Return the rows whose words tell of an allergy."""
    return tuple(
        row
        for row in view.rows
        if any(mark in f"{row.name} {row.value} {row.detail}".casefold() for mark in words.allergic)
    )


def _searches_for(question: ChartQuestion) -> list[ChartQuestion]:
    """Return where to look next, in this order, where the tool of a question holds nothing of it.

    What is absent from one list may stand in a note; only then it is not in the record.
    """
    if question.tool == SEARCH:
        return []
    if question.tool == "encounters" and not question.name:
        # Notes tell of visits that nobody recorded as such.
        aspect: Aspect = question.aspect if question.aspect in ("latest", "first") else "all"
        return [replace(question, tool="documents", arguments={}, aspect=aspect)]
    if question.tool == "care" and question.name == "care team":
        seen = replace(question, tool="encounters", aspect="all", name="", part="people")
        return [seen, replace(seen, tool="documents")]
    if question.tool == "care" and question.name not in _ALSO_SAID:
        return []  # "care" and "plan" stand in any note
    if not question.name or len(question.arguments.get("names", ())) > 1:
        return []
    said = _ALSO_SAID.get(question.name)
    query, name = (said, "") if said is not None else (question.name, question.name)
    return [replace(question, tool=SEARCH, arguments={"query": query}, aspect="all", name=name)]
