"""What users said of the patient that a question about the chart is about: shown beside the rows.

It is no part of the record and is never mixed with it (spec page 12.1).
"""

from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from data_models.chat_context import ChatContext, Turn
from services.language.charts.answer_words import AnswerWords
from services.language.charts.tools_named import SEARCH
from services.language.questions.chart_questions import chart_questions
from services.language.replies.commands import is_retracted, takes_back
from services.language.replies.corrections import correction_in
from services.language.replies.yes_no import behind_answer
from services.language.requests.clock import hours_told
from services.language.requests.tool_requests import as_move
from services.language.requests.work import own_kind_in
from services.language.several_requests import apart
from services.language.told import held_statements, telling
from services.language.told.held_forms import StatementKind
from services.language.told.other_figures import is_other_figure
from services.language.told.pasted_letters import is_letter
from services.language.told.sentence_ends import sentences_of
from services.language.utterance import ChartQuestion
from services.language.words.detection import language_of
from services.language.words.folding import words_of
from services.language.words.phrases import says, words_for
from services.language.words.text_words import beginning, says_words, telling_words
from services.language.words.vocabulary import LANGUAGES
from services.records.answers.choosing.allergens import kinds_with
from services.records.concepts.table import concept_table

_KINDS_OF: dict[str, frozenset[StatementKind]] = {
    "allergies": frozenset({"allergy"}),
    "medications": frozenset({"medication"}),
    "care": frozenset({"code status"}),
    "history": frozenset({"social"}),
    "results": frozenset({"measurement", "social"}),
    "current_status": frozenset({"measurement"}),
}
# A question about these asks for all that was said of the kind.
_WHOLE_KINDS = frozenset({"", "directive", "code status", "social"})
_TOLD_OF = frozenset({"allergies", "medications", "problems", "procedures", "immunizations"})
_TELLING_CHARS, _TOLD_CHARS, _TOLD_TURNS, _ENDING = 4, 300, 40, 3
_WHO_AND_WHEN = {"turn_id", "run_id", "timestamp", "user", "turn_status"}
_NAMES_SHOWN = (2, 4)  # parts between the stars of one name, or two
_ANY_DAY = date(2000, 1, 1)


def said_of(
    questions: Sequence[ChartQuestion], held: Iterable[str], text: str = ""
) -> tuple[str, ...]:
    """Return those of `held` that are about what `questions` ask or the words of `text` name."""
    if any(map(_asks_all, questions)):
        return tuple(dict.fromkeys(held))
    stated = [(quote, one) for quote in held for one in _stated(quote)]
    asked = _words_asked(questions, text) if stated else frozenset()
    fitting = dict.fromkeys(
        quote
        for quote, one in stated
        if any(_is_of_its_kind(one, each) for each in questions)
        or (one.kind == "note" and _fits(one.value, asked, questions, _ANY_DAY))
    )
    return tuple(one for one in fitting if not any(one != each and one in each for each in fitting))


def held_about(text: str, held: Sequence[str]) -> tuple[str, ...]:
    """Return the sentences of `held` that are about what `text` names: "his blood pressure"."""
    each = (chart_questions(text, today=_ANY_DAY, language=one) for one in LANGUAGES)
    asked = next(filter(None, each), ())
    said = set(_words(text))
    stated = ((quote, one) for quote in held for one in held_statements.stated_in(quote))
    same = dict.fromkeys(quote for quote, one in stated if said & set(_words(one.about)))
    return said_of(asked, held, text) or tuple(same)


def held_put_right(told: str, held: Sequence[str]) -> list[str]:
    """Return what of `held` has the value that the message says is wrong: "not 10 but 20"."""
    correction = correction_in(told)
    old = set() if correction is None else {*words_of(correction.old)}
    return [one for one in held if old and old <= {*words_of(one)}]


def _stated(quote: str) -> Sequence[held_statements.HeldStatement]:
    note = held_statements.HeldStatement("note", quote, "present", quote.casefold(), quote)
    stated = [one for one in held_statements.stated_in(quote) if not one.corrects]
    return stated or [note]  # what a correction made of it is no sentence


class Told(NamedTuple):
    """What a user told in passing, and no memory holds, with what put it right; who, and when.

    Attributes:
        of: What stood just before it where it only points there: "stopped it two days ago".
    """

    sentences: tuple[str, ...]
    on: date
    by: str = ""
    of: str = ""


def told_before(turns: Sequence[Turn]) -> list[Told]:
    """Return what users told in the last of `turns`, without what they said not to be so."""
    found: list[Told] = []
    was_told = False
    for said, turn, before, shown in _lines_before(turns):
        is_short = len(said) <= _TOLD_CHARS or is_letter(said)
        told = tuple(one for each in apart(said) * is_short for one in telling.told_in(each))
        if not (found or told):
            was_told = False
            continue  # nothing was told that it may put right or take back
        is_behind = (bool(told) or was_told) and telling.puts_right_what_was_told(said)
        points = says(said, "points_back")  # behind "last Hb?", "it was 10.1" is of that
        at = _place_put_right(found, said, is_behind=is_behind) if was_told or not points else None
        is_of_deed = not (was_told or told) or bool(hours_told(shown))
        if at is not None and is_of_deed and as_move(said, shown) != said:
            at = None  # another hour of a visit
        was_told = bool(told) or at is not None
        is_value = at is not None and is_other_figure(said, " ".join(found[at].sentences))
        # "No, it was sulfa"; "that's wrong, it was 4.2".
        is_behind = at is not None and (is_value or not told) and is_retracted(said)
        left = without_what_is_forgotten(found, said)
        if takes_back(said) and not is_behind:
            found = _without_taken_back(found, turn.user, before, shown)
            told = told if is_retracted(said) else ()
        elif len(left) < len(found):
            found, told = [*left], ()
        elif at is not None:
            found[at], told = found[at]._replace(sentences=(*found[at].sentences, said)), ()
        _, *named = shown.split("**")
        of = f"{before} {named[0] if len(named) in _NAMES_SHOWN else ''}" * points
        found += [Told((one,), turn.timestamp.date(), turn.user, of) for one in told]
    return found


def letter_in(turns: Sequence[Turn]) -> str:
    """Return the last letter that a user pasted into one of `turns`, or ""."""
    texts = (each.user_message for each in reversed(turns) if not each.is_taken_back)
    return " ".join(next(filter(is_letter, texts), "").split())


def left_told(turns: Sequence[Turn], leaving: Collection[int]) -> list[Turn]:
    """Return what is still told of the turns that leave: their words alone, the newest of them."""
    told = [one for one in told_before(turns) if one.by]
    found = list[Turn]()
    for turn in (one for one in turns if one.turn_id in leaving):
        lines = {" ".join(line.split()) for line in turn.user_message.splitlines()}
        own = [each for one in told if one.by == turn.user for each in one.sentences]
        if kept := dict.fromkeys(each for each in own if any(each in line for line in lines)):
            known = turn.model_dump(include=_WHO_AND_WHEN)
            found.append(Turn(user_message="\n".join(kept), **known))
    return found[-_TOLD_TURNS:]


def told_in_passing(context: ChatContext, turns: Sequence[Turn]) -> list[str]:
    """Return what users told in the last of `turns` and no statement was made of."""
    quotes = {one.quote.strip(" .!") for one in context.memory.key_points if one.quote}
    told = (said for each in told_before(turns) for said in each.sentences)
    return [said for said in dict.fromkeys(told) if said.strip(" .!") not in quotes]


def told_no_more(context: ChatContext, run_id: str) -> list[str]:
    """Return what was told in passing, and is told no more for what the message of a run says."""
    before = [one for one in context.heard if one.run_id != run_id]
    left = told_in_passing(context, context.heard)
    return [said for said in told_in_passing(context, before) if said not in left]


def _without_taken_back(found: Sequence[Told], by: str, said: str, shown: str) -> list[Told]:
    """Return `found` without what `by` had just `said`, else the one thing that was `shown`."""
    own = [one for one in found if one.by == by]
    gone = {one.sentences for one in own if all(each in said for each in one.sentences)}
    seen = {one.sentences for one in own if all(each in shown for each in one.sentences)}
    gone = gone or (seen if len(seen) == 1 else gone)
    return [one for one in found if one.sentences not in gone]


def _place_put_right(found: Sequence[Told], said: str, *, is_behind: bool) -> int | None:
    """Return which of `found` is put right: what has the old value, else what stands before."""
    correction, rest = correction_in(said), next(held_statements.behind_corrections(said), "")
    is_led, has_figure = bool(rest), any(map(str.isdecimal, rest))
    named = telling_words(rest) if has_figure else []  # "correction, bm was 12.4"
    old = words_of((correction.old or correction.what * is_led) if correction is not None else "")
    for at in reversed(range(len(found)) if old or is_led else ()):
        told = " ".join(found[at].sentences)
        is_named = any(each and says_words(told, each) for each in (old, named))
        if is_named or is_other_figure(said, told):
            return at
    is_behind = is_behind and not any(word[0].isdecimal() for word in old)  # it is told no more
    last = " ".join(found[-1].sentences) if found else ""
    is_behind &= not named or any(map(str.isdecimal, last))
    return len(found) - 1 if found and is_behind else None


class _Line(NamedTuple):
    """A line of a user's, what was written just before it, and what was answered to that."""

    said: str
    turn: Turn
    before: str
    shown: str


def _lines_before(turns: Sequence[Turn]) -> Iterator[_Line]:
    """Yield what users wrote in the last turns, a line each: also what waited for an answer.

    Nothing of what was said to be about somebody else, nor of the message that said so.
    """
    before, shown = "", ""
    for each in turns:
        text = each.user_message
        lines = [text] if is_letter(text) else text.splitlines()
        for line in () if each.is_taken_back else lines:
            said = behind_answer(" ".join(line.split()))
            head, _, waited = said.partition(": ")  # behind the answer: "Ann Doe: her K was 6.1"
            # "Draft a mail to …: she is stable" tells it to somebody else.
            is_led = bool(waited) and own_kind_in(head) is None and not telling.is_told(said)
            is_led = is_led and telling.is_told(waited)
            is_led = is_led and not any(map(held_statements.asks_to_hold, sentences_of(said)))
            yield _Line(waited if is_led else said, each, before, shown)
            before, shown = said, ""
        before = " ".join(each.user_message.split())
        shown = " ".join(answer.text for answer in each.agent_responses)


def told_of(
    questions: Sequence[ChartQuestion], told: Sequence[Told], text: str = ""
) -> tuple[str, ...]:
    """Return what of `told` is asked about, and what put it right: "drain 3 l → no, 2.5"."""
    asked = _words_asked(questions, text) if told else frozenset()
    fitting = (
        " → ".join(each.sentences)
        for each in told
        if any(map(_asks_all, questions))
        or any(_fits(one, asked, questions, each.on) for one in (*each.sentences, each.of))
        or (says(text, "asks_what_then") and says(each.sentences[0], "is_for_a_case"))
        or (says(text, "asks_open") and says(each.sentences[0], "tells_open"))
    )
    return tuple(dict.fromkeys(fitting))


def told_as_said(
    questions: Sequence[ChartQuestion],
    words: AnswerWords,
    *,
    held: Sequence[str],
    told: Sequence[Told],
    text: str = "",
) -> str:
    """Return what users said of what is asked as it is told beside rows; "" for nothing."""
    said = said_of(questions, held, text)
    # "Allergies?" behind "allergic to latex" and "no, latex was her sister" tells both.
    stated = (each for one in said for each in _stated(one) if each.kind != "note")
    of = " ".join((text, *(each.about for each in stated)))
    of_it = told_of(questions, told, of)
    beside = (one for one in said if not any(one in each for each in of_it))
    quotes = dict.fromkeys((*beside, *of_it))
    return words.say("as_said", quotes="; ".join(quotes)) if quotes else ""


def without_what_is_forgotten(found: Sequence[Told], said: str) -> Sequence[Told]:
    """Return what of `found` is not of what `said` wants forgotten, or says to be wrong."""
    if held_statements.withdraws_all(said):
        return ()
    if (value := held_statements.withdrawn_value(said, is_sure=False)) is None:
        return found
    questions = _asked_in(value, _ANY_DAY)
    names = " ".join(each for one in questions for each in _names_of(one))
    named = frozenset(_words(names)) or _words_asked(questions, value)
    wanted = [one.casefold() for one in telling_words(value)]
    ends = tuple(one for one in wanted if len(one) >= _TELLING_CHARS)

    def is_named(one: str, on: date) -> bool:  # "Schrittmacher", too, ends with a named word
        alike = [(word, each) for word in words_of(one) for each in wanted]
        said = any(word == each or word.endswith(ends) for word, each in alike)
        other = {w for w, each in alike if w[:4] == each[:4] and abs(len(w) - len(each)) > _ENDING}
        rest = " ".join(word for word in words_of(one) if word not in other)
        return said or _fits(rest, named, questions, on)  # no wound is a "Wundvisite"

    return [
        one for one in found if not any(is_named(each, one.on) for each in (*one.sentences, one.of))
    ]


def _asks_all(question: ChartQuestion) -> bool:
    """Whether it asks for the whole patient: who takes over must know what was told, too."""
    return question.tool == "chart_summary" and not question.name


def _words_asked(questions: Sequence[ChartQuestion], text: str) -> Set[str]:
    """Return how the words begin that are asked about: typed, or of what is looked for."""
    names = [f"{one.said} {one.arguments.get('query', '')}" for one in questions]
    names += [each for one in questions for each in _names_of(one)]
    names += [each for one in questions if one.tool == "allergies" for each in kinds_with(one.name)]
    typed = {beginning(word) for each in telling_words(text) for word in words_of(each)}
    named = typed.union(_words(" ".join(names)))
    return named - set(map(beginning, words_for("weekday"))) or named  # "K today?" is of K


def _names_of(question: ChartQuestion) -> Iterator[str]:
    yield question.name
    yield from concept_table().also_called(question.name)


def _fits(sentence: str, asked: Set[str], questions: Sequence[ChartQuestion], on: date) -> bool:
    """Whether it has words that are asked about, or would ask for the same: "K was 6" for "K?"."""
    if not asked.isdisjoint(map(beginning, words_of(sentence))):
        return True
    same = {each for one in questions for each in _things(one)}
    told = _asked_in(sentence, on) if same else ()
    heads = [{*_things(one), *_heads(one)} for one in told]
    return not all(map(same.isdisjoint, heads))  # "he fell out of bed" is a fall


def _things(question: ChartQuestion) -> Iterator[tuple[str, str]]:
    whole = question.name or question.arguments.get("category", "")
    for name in (whole, *question.arguments.get("names", ())):
        if name or question.tool in _TOLD_OF:  # "any allergies?"
            yield question.tool, name.casefold()


def _heads(question: ChartQuestion) -> Iterator[tuple[str, str]]:
    """Yield what `question` is a part of: a pulse is one of the vital signs."""
    yield from ((question.tool, ""), (question.tool, question.head.casefold()))
    for name in question.arguments.get("names", ()):
        if (concept := concept_table().named("result", name)) is not None:
            yield question.tool, concept.kind_of_row or "laboratory"


def questions_in(words: str) -> Sequence[ChartQuestion]:
    """Return what `words` name of a chart, else the words themselves to be looked for."""
    return _asked_in(words, _ANY_DAY) or [ChartQuestion(SEARCH, name=words)] * bool(words)


@lru_cache(maxsize=1_000)
def _asked_in(words: str, on: date) -> Sequence[ChartQuestion]:
    language = language_of(words, default=LANGUAGES[0])
    clauses = dict.fromkeys((words, *words.split(", ")))  # "DNR as of today, family meeting done"
    return [one for each in clauses for one in chart_questions(each, today=on, language=language)]


def _is_of_its_kind(statement: held_statements.HeldStatement, question: ChartQuestion) -> bool:
    if statement.kind not in _KINDS_OF.get(question.tool, frozenset()):
        return False
    name = question.name.casefold()
    about, called = statement.about, concept_table().also_called(name)
    kinds = {name, *(kinds_with(name) if question.tool == "allergies" else ())}
    is_of_kind = not kinds_with(about).isdisjoint(kinds)  # aspirin is said of ibuprofen
    return name in _WHOLE_KINDS or about in name or name in about or about in called or is_of_kind


def _words(text: str) -> Iterator[str]:
    return (beginning(word) for word in words_of(text) if len(word) >= _TELLING_CHARS)
