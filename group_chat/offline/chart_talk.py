"""The offline rules of a question about the chart: call the tool that it names, say its rows."""

from collections.abc import Sequence
from dataclasses import replace

from data_models.chart_view import ChartView
from group_chat.offline.chart_rows import asked_rows
from group_chat.offline.chart_templates import answer_of
from group_chat.offline.prompt import Prompt, ToolAnswer
from group_chat.offline.reply import Call, OfflineReply
from services.language.answer_words import answer_words
from services.language.chart_questions import SEARCH
from services.language.utterance import ChartQuestion, Utterance

ALL_VALUES = 1_000
"""As many values as the tool gives, for what is counted or compared over all of them."""
_QUESTIONS_LIMIT = 4
_OVER_ALL = frozenset({"minimum", "maximum", "average", "count", "first", "change", "trend"})
# Where a name may be another kind of thing than its words suggest.
_SEARCHED_TOO = frozenset(
    {"results", "procedures", "immunizations", "problems", "medications", "encounters"}
)


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
        return OfflineReply(text="\n\n".join(dict.fromkeys(self._said)))

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
        if asked_rows(question, taken).rows or search is None:
            self._said.append(answer_of(question, taken, self._words))
            return None
        if not self._answers:
            return self._call(search)
        found = self._take()
        is_found = isinstance(found, ChartView) and asked_rows(search, found).rows
        if isinstance(found, ChartView) and is_found:
            missing = answer_of(question, taken, self._words)
            said = answer_of(search, found, self._words)
            self._said.append(f"{missing} {self._words.elsewhere}\n{said}")
        else:
            self._said.append(answer_of(question, taken, self._words))
        return None

    def _take(self) -> ChartView | ToolAnswer:
        answer = self._answers.pop(0)
        return answer if "error" in answer.data or not self._views else self._views.pop(0)

    def _call(self, question: ChartQuestion) -> Call:
        tool = self._prompt.tool(question.tool)
        arguments = dict(question.arguments)
        is_over_all = question.aspect in _OVER_ALL or _has_limit(question)
        if question.tool == "results" and is_over_all and "last" not in arguments:
            arguments["last"] = ALL_VALUES
        return Call(tool.wire_name if tool is not None else question.tool, arguments)


def _has_limit(question: ChartQuestion) -> bool:
    return question.above is not None or question.below is not None


def _search_for(question: ChartQuestion) -> ChartQuestion | None:
    """Return the search for one name that is none of those its tool knows."""
    is_one = question.name and len(question.arguments.get("names", ())) <= 1
    if question.tool not in _SEARCHED_TOO or not is_one or question.span is not None:
        return None
    return replace(question, tool=SEARCH, arguments={"query": question.name}, aspect="all")
