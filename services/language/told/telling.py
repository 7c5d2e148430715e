"""Whether a message tells something and asks nothing: "she gets short of breath on stairs". Pure.

What is told is kept as the user's words; it is no question to the record. The kinds of its words,
in their order, say so: `telling.yaml` explains. "Her potassium" and "is she dizzy" ask.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from functools import cache, lru_cache
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator

from data_models.values import ClosedValue
from services.language.charts.chart_pieces import Piece
from services.language.charts.chart_words import lexicon
from services.language.charts.tools_named import SEARCH
from services.language.figures.quantities import quantities_in
from services.language.people.named_person import is_only_a_name
from services.language.questions.chart_questions import chart_questions
from services.language.replies.addressing import behind_introduction
from services.language.replies.commands import behind_retraction
from services.language.replies.yes_no import behind_yes_or_no, yes_no_in
from services.language.requests.appointment_slots import names_a_time
from services.language.requests.requests import orders_care
from services.language.requests.tool_requests import as_move, is_time_alone
from services.language.requests.work import own_kind_in, wants_plan, work_in
from services.language.told.held_forms import grammars
from services.language.told.held_statements import (
    asks,
    behind_corrections,
    held_statements,
    may_put_right,
)
from services.language.told.pasted_letters import is_letter
from services.language.told.sentence_ends import sentences_of
from services.language.words.detection import language_of
from services.language.words.folding import fold, words_of
from services.language.words.in_english import slips
from services.language.words.people_words import of_people
from services.language.words.phrases import says, without
from services.language.words.statement_words import statement_words
from services.language.words.text_words import asks_question
from services.language.words.vocabulary import LANGUAGES, drug_classes, read_words

_Phrases: TypeAlias = Annotated[
    frozenset[tuple[str, ...]],
    BeforeValidator(lambda phrases: {tuple(words_of(one)) for one in phrases}),
]
_Shapes: TypeAlias = Annotated[
    re.Pattern[str], BeforeValidator(lambda shapes: re.compile("|".join(shapes) or r"(?!)"))
]


class TellingWords(ClosedValue):
    """What tells in one language; the English file explains."""

    leads: _Phrases = frozenset()
    marks: _Phrases = frozenset()
    words: Mapping[str, Sequence[str]]
    cases: _Shapes = re.compile(r"(?!)")
    endings: Mapping[str, re.Pattern[str]] = {}
    shorter: Mapping[re.Pattern[str], str] = {}
    asks: _Shapes
    tells: _Shapes
    may_tell: _Shapes = re.compile(r"(?!)")
    may_ask: _Shapes = re.compile(r"(?!)")
    next_value: _Shapes = re.compile(r"(?!)")


_BEFORE_NAMES = frozenset({"verb", "verbs", "ask", "owner", "is", "has", "has no", "suppose"})
_WHOSE = ("patient", "person", "owner", "kin")
_OF_ONE_WORD = ("thing ", "kin ")
"""A label that one word fills: "occupation: roofer"."""
_LONGEST_LEAD, _LONGEST_LABEL = 6, 5
_ONE_OF = frozenset({"when", "hour", "kin", "done", "begun", "able", "drug", "thing", "prep"})
_VALUES = frozenset({"results", "current_status", "biomarkers"})
_EXAMS = frozenset({"imaging_reports", "pathology_reports", "procedures"})
_DOES = frozenset({"verb", "verbs", "is", "has", "done", "begun", "able", "suppose"})
_LISTS = frozenset(
    {"results", "medications", "allergies", "documents", "problems", "immunizations", "encounters"}
)
_BARE_LABEL = re.compile(r"(?:(?:exam|list|measured|thing|words?) )+")
_COLON = re.compile(": | [-–—] ")
_CLAUSE_END = re.compile(r"comma (?:joint )?|joint (?=ask |is |order |open )")
_OF_PATIENT = re.compile(r"^(?=(?:has|is|verbs?) (?!person|patient|owner|(?:dets? )?kin))")
_FEW_WORDS = 3
_ASKS = frozenset({"ask", "any", "suppose", "or", "open", "tag", "you", "while"})
_LEANS = frozenset({"joint", "prep", "since", "onset", "upto", "is", "has", "that", "source"})
_ANY_DAY = date(2000, 1, 1)  # whether words are read does not depend on the day
_YEARS = frozenset(map(str, range(1900, 2100)))
_ORDERS = (
    "orders", "orders_drug", "orders_test", "wants_booking", "new_task", "writes_record",
    "heads_next", "reaches_people", "same_of_day", "sums_up_talk", "what_is_held", "what_was_told",
    "drops_form", "starts_plan",
)  # fmt: skip
_AROUND = " .,;:-\u2013"
_SIGNS = {"/": "slash", ",": "comma", ";": "comma", "&": "joint"}


def is_told(text: str) -> bool:
    """Whether each line of `text` is a sentence that tells something, in any language."""
    if is_letter(text):
        return True
    lines = [line for line in text.splitlines() if line.strip()]
    lines = [without(line, "leaves_patient").strip(_AROUND) or line for line in lines]
    is_reply = yes_no_in(text) in ("yes", "no")  # `yes proceed`
    return bool(lines) and "?" not in text and not is_reply and all(map(_is_line_told, lines))


@lru_cache(maxsize=1_000)
def told_in(text: str) -> Sequence[str]:
    """Return what `text` tells: all of it, or what stands beside a wish, a question, a "no"."""
    if is_letter(text):
        return [*sentences_of(text)]
    if says(text, "leads_a_name") and any(map(is_only_a_name, words_of(text))):
        return []
    if says(text, "writes_letter"):
        return []
    behind = behind_retraction(text)
    said = text if behind is None else behind
    if any(one.kind == "note" and not one.corrects for one in held_statements(said)):
        return [one for one in sentences_of(said) if not held_statements(one) and is_told(one)]
    is_open = "?" not in said and said and own_kind_in(said) is None
    is_wish = orders_care(said) or says(said, "reaches_people")
    is_line = is_wish or is_told(said) or is_half_read(said)
    if is_line or (is_open and _is_line_told(said, is_sure=False)):
        return (said,)
    clauses = (
        [one] if is_told(one) else [each for by in grammars() for each in by["joins"].split(one)]
        for one in sentences_of(said.replace("; ", ", "))
        if "?" not in one and not asks(one)
    )
    kept = (each for some in clauses for each in some if is_told(each))
    is_plan = wants_plan(said)  # "but without the imaging" tells nothing
    return [one for one in dict.fromkeys(kept) if not (is_plan and says(one, "picks_steps"))]


def may_ask(told: str) -> bool:
    """Whether what is told may as well be asked: "nodes positive", "Aufenthalte seit 2018"."""
    each = ((_kinds(told, one), _phrases(one)) for one in likely_kinds(told))
    return any(words.may_ask.search(_shape(kinds, words)) for kinds, words in each)


@lru_cache(maxsize=1_000)
def is_half_read(text: str) -> bool:
    """Whether a line of some words asks for nothing plainly: "load keppra 1.5 g".

    What of it names something of a chart leaves words unread: it is kept, and looked up as well.
    """
    first, *kinds = _shape_in_english(text).split() or ("ask",)
    if (
        len(behind_introduction(text).split()) < _FEW_WORDS
        or first in _LEANS
        or not _ASKS.isdisjoint((first, *kinds))
    ):
        return False
    if "en" not in likely_kinds(text) or asks_question(text):
        return False
    if work_in(text) is not None or own_kind_in(text) is not None:
        return False
    if says(text, *_ORDERS) or orders_care(text) or any(behind_corrections(text)):
        return False
    asked = chart_questions(text, today=_ANY_DAY, language="en")
    return any(one.unread or one.tool == SEARCH for one in asked)


@lru_cache(maxsize=1_000)
def puts_right_what_was_told(text: str) -> bool:
    """Whether `text`, right behind what was told, puts it right; "sorry, show the CT" does not.

    Or tells the next value of it: "and 2/10 at 16:00".
    """
    phrases = {one: _phrases(one) for one in ("en", "de")} if "?" not in text else {}
    if any(by.next_value.search(_shape(_kinds(text, one), by)) for one, by in phrases.items()):
        return True
    for rest in behind_corrections(text) if phrases else ():
        # In the place of a word that was told: "no, Friday", not "no, labs".
        kinds = [{kind for _, kind in _kinds(rest, one)} for one in phrases]
        is_whole = len(words_of(rest)) > 1 or quantities_in(rest)
        if (is_whole or any(map(_ONE_OF.issuperset, kinds))) and may_put_right(rest):
            return True
    return False


@lru_cache(maxsize=4_000)
def _is_line_told(text: str, *, is_sure: bool = True) -> bool:
    told = language_of(text, default="")
    if asks(text) or says(text, "asks_of_death") or work_in(text) is not None:
        return False
    if is_time_alone(text) or as_move(text, None) != text:
        return False  # "make it 4" is no word about anybody
    is_for_a_case = any(_is_for_a_case(text, one) for one in {told or "en", "en"})
    _, *answers = _COLON.split(text)
    is_answered = any(behind_yes_or_no(one) != " ".join(words_of(one)) for one in answers)
    if is_answered and says(text, "asks_whether"):
        return True  # "did she eat - yes, a little"
    is_note = says(text, "notes_plan") and not wants_plan(text)
    if is_note or is_for_a_case or says(text, "adds_to_report", "for_report"):
        return True  # whatever is ordered then
    if says(text, *_ORDERS):
        return False
    known = likely_kinds(text)
    if names_a_time(text) and not any(map(_DOES.intersection, known.values())):
        return False  # "Dr. Lee Thursday 10:20" is a wish
    is_wish = says(text, "tells_wish")
    return is_wish or any(_is_told_in(text, language, is_sure=is_sure) for language in known)


def likely_kinds(text: str) -> Mapping[str, Sequence[str]]:
    """Return the kinds of the words of `text` in each language that knows most of them."""
    told = language_of(text, default="")
    spoken = dict.fromkeys((told, "en")) if told else LANGUAGES
    # "L" is litres in every language.
    known = {one: [kind for word, kind in _kinds(text, one) if len(word) > 1] for one in spoken}
    least = min(kinds.count("word") for kinds in known.values())  # "K 3 values" is no German
    likely = {one: kinds for one, kinds in known.items() if kinds.count("word") == least}
    return {told: likely[told]} if told in likely else likely  # "wächst er" is no English


def _is_told_in(text: str, language: str, *, is_sure: bool = True) -> bool:
    """Whether one clause tells something in a language, and none of its clauses asks."""
    phrases = _phrases(language)
    head, *behind = _COLON.split(text, maxsplit=1)
    said = _shape(_kinds(head, language), phrases)
    is_label = bool(behind) and len(head.split()) <= _LONGEST_LABEL
    is_label = is_label and not (text[len(head)] == " " and phrases.tells.search(said))
    is_label = is_label and (own_kind_in(head) is None or "kin " in said)
    is_bare = bool(phrases.asks.search(said))
    is_label = is_label and (not is_bare or _BARE_LABEL.fullmatch(said) is not None)
    is_label = is_label and (text[len(head)] == ":" or any(map(said.split().count, _WHOSE)))
    whole = behind[0] if is_label else text.replace(" - ", ", ")  # "ECG done - no ST changes"
    kinds, is_marked = _behind_leads(_kinds(whole, language), phrases)
    shape = _shape(kinds, phrases)
    if is_label and "kin " in said:
        shape = _OF_PATIENT.sub("person ", shape)  # "Tochter am Telefon: hat … abgesetzt"
    clauses = [f"{one.strip()} " for one in _CLAUSE_END.split(shape)]
    asks = [bool(phrases.asks.search(one)) for one in clauses]
    is_word = said in _OF_ONE_WORD and [kind for _, kind in kinds] in (["word"], ["able"])
    is_marked = (is_marked or (is_label and not is_bare)) and (len(kinds) > 1 or is_word)
    tells = phrases.tells if is_sure else phrases.may_tell
    return not any(asks) and (is_marked or any(map(tells.search, clauses)))


def _is_for_a_case(text: str, language: str) -> bool:
    """Whether it tells what is planned if something happens: "if he bleeds again call surgery"."""
    kinds = _kinds(text.replace(": ", ", "), language)
    return bool(_phrases(language).cases.search("".join(f"{kind} " for _, kind in kinds)))


def _shape_in_english(text: str) -> str:
    return _shape(_kinds(text, "en"), _phrases("en"))


def _shape(kinds: Sequence[tuple[str, str]], phrases: TellingWords) -> str:
    shape = "".join(f"{kind} " for _, kind in kinds)
    for longer, kind in phrases.shorter.items():
        shape = longer.sub(kind, shape)
    return shape


@lru_cache(maxsize=4_000)
def _kinds(text: str, language: str) -> list[tuple[str, str]]:
    """Return the words of `text`, or the names that several are, each with its kind."""
    found = [
        each for one in lexicon(language).pieces(fold(text)[0]) for each in _kinds_of(one, language)
    ]
    if [one for _, one in found] == ["measured", "number"] and found[1][0].count(".") > 1:
        return [found[0], (found[1][0], "when")]  # "mpv 23.4.19"
    if (
        found
        and found[0][1] not in ("again", "errand", "calls")
        and found[0][0] in statement_words().imperatives
    ):
        found[0] = (found[0][0], "order")
    return found


def _kinds_of(piece: Piece, language: str) -> list[tuple[str, str]]:
    known, word = _known(language), piece.words[0]
    kind = known.get(piece.text) or _SIGNS.get(word) or _kind_by_name(piece)
    is_split = kind is None or known.get(word) in _BEFORE_NAMES  # "quit smoking", "his wife"
    is_split |= known.get(piece.words[-1]) in ("acts", "field")  # "tumor spread"
    if is_split and len(piece.words) > 1 and piece.text not in known:  # "preferred language"
        return [each for one in piece.words for each in _kinds(one, language)]
    if kind is None and word[0].isdecimal():
        year = word.rpartition(".")[2]  # also of "03.2019"
        is_month = word[0] == "0" and word.isdigit()  # "05/25"
        kind = "when" if is_month or year in _YEARS else "number"
    endings = _phrases(language).endings.items() if kind is None else ()
    by_ending = (one for one, each in endings if each.fullmatch(word))
    return [(piece.text, kind or next(by_ending, "word"))]


def _kind_by_name(piece: Piece) -> str | None:
    """Return what a piece names of a chart."""
    names = [(one.tool, one.name) for one in (*piece.of("name"), *piece.of("topic"))]
    if not names:
        return None
    tool, name = names[0]
    if tool == "medications" and piece.of("name"):
        called = (name.capitalize(), f"{name.removesuffix('s').capitalize()}s")
        is_class = any(one in drug_classes() for one in called)
        return "list" if is_class else "drug"
    if tool in _VALUES and name:
        return "measured"
    if not piece.of("name") and len(piece.words) > 1 and tool in _LISTS:
        return None  # "diagnosed with", "reacts to"
    if tool in _EXAMS:
        return "exam" if name else "list"
    return "list" if (tool in _LISTS and not name) or name == "care plan" else "thing"


@cache
def _known(language: str) -> Mapping[str, str]:
    """Return the kind of each word that a language lists; of two kinds the first."""
    rows = [*_phrases(language).words.items(), ("kin", of_people("staff", "relatives"))]
    known = {fold(word)[0]: kind for kind, words in reversed(rows) for word in words}
    slipped = slips().items() if language == "en" else ()
    return known | {slip: known[word] for slip, word in slipped if word in known}


def _behind_leads(
    kinds: list[tuple[str, str]], phrases: TellingWords
) -> tuple[list[tuple[str, str]], bool]:
    """Return what stands behind the words that lead to it, and whether these say that it tells."""
    is_marked, known = False, phrases.leads | phrases.marks
    while True:
        said = [
            tuple(words_of(" ".join(one for one, _ in kinds[:n]))) for n in range(_LONGEST_LEAD)
        ]
        size = next((n for n in range(len(said) - 1, 0, -1) if said[n] in known), 0)
        if not size and not (kinds and kinds[0][1] == "comma"):
            return kinds, is_marked
        is_marked, kinds = is_marked or said[size] in phrases.marks, kinds[size or 1 :]


@cache
def _phrases(language: str) -> TellingWords:
    return read_words(language, "telling", TellingWords)
