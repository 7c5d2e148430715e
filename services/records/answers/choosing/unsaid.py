"""What is said where nothing holds the whole of a name, or nobody knows the name. Pure."""

from collections.abc import Iterable
from dataclasses import replace

from data_models.chart_view import ChartView
from services.language.charts.answer_words import AnswerWords
from services.language.charts.chart_words import lexicon
from services.language.charts.tools_named import SEARCH
from services.language.questions.question_figures import with_days
from services.language.sentences.statement_parts import graded
from services.language.utterance import ChartQuestion
from services.language.words.folding import fold, tokens_of
from services.language.words.people_words import of_people
from services.records.answers.choosing.allergens import of_other_kinds
from services.records.answers.choosing.asked_rows import has_answer
from services.records.answers.choosing.excluded_rows import is_left_out
from services.records.answers.choosing.said_words import says_all
from services.records.concepts.table import concept_table
from services.records.resources.record import UNNAMED, UNREAD
from services.records.views.view import CODED_ONLY, coded_only

STAGE = "stage"
_TELLING_CHARS = 4
_GAPS = (UNREAD, UNNAMED)
_LACKS = ": not in the record"
_OF_ALL = frozenset({"count", "minimum", "maximum", "extremes", "average", "change"})
_BY_NAME = frozenset({"problems", "procedures"})
_BY_STATUS = frozenset({"problems", "medications"})
"""Lists of what is there now, where no other status is asked for."""


def said_absent(question: ChartQuestion, absent: str, words: AnswerWords) -> str:
    """Return `absent`, and that nobody here knows the name: what it stands for may be recorded.

    Of words that are no name at all it was never looked for: they were not understood.
    """
    name = question.name
    if not name or concept_table().also_called(name):
        return absent
    is_bare = question.tool != "allergies" and not question.head and "\n" not in absent
    if is_bare and words.is_ordinary(name):
        return words.say("no_name", name=name)
    is_said = question.tool == SEARCH and words.is_language_of_tools  # by the tool itself
    if name.isalpha() and not words.knows(name) and not is_said:
        return "\n".join([words.say("unknown", name=name), *absent.splitlines()[1:]])
    is_by_name = question.tool in _BY_NAME
    is_by_name |= question.tool == SEARCH and not words.is_language_of_tools
    return f"{absent}\n{words.say('only_so')}" if is_by_name else absent


def said_coded(question: ChartQuestion, view: ChartView, words: AnswerWords) -> list[str]:
    """Say which of a list nobody can name: what is asked for and not found may be one of them."""
    notes = [note for note in view.notes if note.startswith(CODED_ONLY)]
    notes = notes or (coded_only(view.rows) if question.name else [])
    return [words.say("coded_only", codes=note.removeprefix(CODED_ONLY)) for note in notes]


def said_unread(question: ChartQuestion, answer: str, words: AnswerWords) -> str:
    """Return `answer` behind the words of the question that it leaves out.

    What the one row that answers says itself is not left out: a ratio, the stage.
    """
    said = [graded(one.strip(",.;()")) for one in answer.split()] if question.name == STAGE else []
    left = [
        each
        for each in question.unread.split(", ")
        if each
        and graded(each) not in filter(None, said)
        and not ("\n" not in answer and len(each) >= _TELLING_CHARS and says_all(answer, each))
    ]
    return f"{words.say('unread', words=', '.join(left))}\n{answer}" if left else answer


def said_without(question: ChartQuestion, told: str, words: AnswerWords) -> str:
    """Say which words of a longer name what is `told` of the thing itself does not have."""
    head = tokens_of(question.head)
    is_drug = question.tool == "medications"
    idle = {*head, *lexicon(words.language).connectors, *of_people("articles")}
    every = [word for word in question.name.split() if fold(word)[0] not in idle]
    rest = [
        word
        for word in every
        if not (is_drug and concept_table().named("drug", word))
        and not any(says_all(told, one) for one in (word, *concept_table().also_called(word)))
    ]
    if rest and concept_table().named("problem", " ".join(every)):
        rest = every  # of colon cancer not the colon alone
    whole = " ".join(rest)
    said = words.called(whole)  # "LDL", and each of "liver cyst"
    said = said if said != whole else " ".join(map(words.called, rest))
    return words.say("unsaid", words=said) if rest else ""


def said_incomplete(views: Iterable[ChartView], words: AnswerWords) -> list[str]:
    """Say how many entries could not be read or say not whose they are: it may stand in them."""
    told = dict.fromkeys(part for view in views for note in view.notes for part in note.split("; "))
    counts = [
        int(part.split(mark)[0].split()[-2]) for part in told for mark in _GAPS if mark in part
    ]
    return [words.say("unreadable", count=sum(counts))] if counts else []


def said_of_older(question: ChartQuestion, view: ChartView, words: AnswerWords) -> list[str]:
    """Say of what is worked out of all values how many were too many to be looked through."""
    is_of_all = question.aspect in _OF_ALL or question.above is not None
    is_of_all |= question.below is not None
    older = sum(left.count for left in view.left_out if left.argument.startswith("last="))
    if not (older and is_of_all):
        return []
    whole = [note for note in view.notes if " values, " in note and words.is_language_of_tools]
    return [words.say("older", count=older), *whole]


def said_left_out(question: ChartQuestion, view: ChartView, words: AnswerWords) -> list[str]:
    """Say what a name left out that is of the same list."""
    if question.tool == "allergies" and (others := of_other_kinds(question.name, view.rows)):
        return [words.say("also_recorded", names="; ".join(others))]
    if question.tool == "medications" and (coded := said_coded(question, view, words)):
        return coded
    if not question.name or not words.is_language_of_tools:
        return []
    return [f"- {left.count} {left.what}" for left in view.left_out if left.argument == "no name"]


def said_none_left(question: ChartQuestion, view: ChartView, words: AnswerWords) -> str:
    """Say that all rows are of what was to be left out, or none is by who is named."""
    if any(is_left_out(question, row) for row in view.rows):
        is_of_now = question.tool in _BY_STATUS and "status" not in question.arguments
        return (is_of_now and words.say("nothing_else_now")) or words.say("nothing_else")
    return words.not_there(question.by) if question.by else ""


def lacking(question: ChartQuestion, view: ChartView) -> list[tuple[str, ChartQuestion]]:
    """Return which of several values or days have no row, each behind what is said before it."""
    names = question.arguments.get("names", ())
    if question.tool != "results" or (not view.rows and question.name != ", ".join(names)):
        return []
    missed = [one.removesuffix(_LACKS) for one in view.notes if one.endswith(_LACKS)]
    named = [
        ("", replace(question, arguments={**question.arguments, "names": [one]}, name=one, said=""))
        for one in (missed if view.rows else names[len(names) < 2 :])
    ]
    ends = ((f"{one.text}: ", with_days(replace(question, ends=()), one)) for one in question.ends)
    return named + [(when, one) for when, one in ends if not has_answer(one, view)]
