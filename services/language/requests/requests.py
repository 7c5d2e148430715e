"""What a message asks the clinic or the office for, where one sentence says it. Pure."""

import re
from collections.abc import Collection
from datetime import date
from functools import cache

from services.language.charts.chart_entries import measured_nouns
from services.language.charts.tools_named import SEARCH
from services.language.people.mentions import read_words
from services.language.people.named_person import is_known_name
from services.language.questions.chart_questions import chart_questions
from services.language.words.detection import language_of
from services.language.words.expressions import expressions
from services.language.words.folding import words_of
from services.language.words.in_english import in_english
from services.language.words.people_words import common_words, of_people
from services.language.words.phrases import parts_in, says, without
from services.language.words.statement_tables import read_names, stem
from services.language.words.statement_words import is_clinical_name
from services.language.words.vocabulary import drug_words

_READ_CHARS, _FULL_NAME = 4_000, 2
_WORDS = expressions("orders")
_CLAUSE_ENDS = re.compile(r"[,;] | - ")
_ANY_DAY = date(2000, 1, 1)  # which tool is asked does not depend on the day
_OWN_THINGS = ("own_things", "own_document", "task")
# "move the ward round to 4 pm": an hour is a goal in a calendar alone.
_MOVES_TO = _WORDS.compiled("moves_to")
# "not Dr. Smith but Dr. Jones" refuses the first only.
_REFUSED = _WORDS.compiled("refused")


def moves_to_an_hour(text: str) -> bool:
    """Whether `text` moves something to an hour of the day."""
    return _MOVES_TO.search(in_english(text[:_READ_CHARS])) is not None


def orders_care(text: str) -> bool:
    """Whether a clause of `text` orders what is to be done with a patient: "K 5.6, stop ramipril".

    It names a drug that is to be given, changed or stopped, or other care.
    """
    is_asked = text.rstrip().endswith("?") and not says(text, "asks_you")
    if is_asked or says(text, "asks_leave"):
        return False
    return any(map(_is_order, _CLAUSE_ENDS.split(text[:_READ_CHARS])))


def _is_order(clause: str) -> bool:
    known = _names_of_drugs() if says(clause, "orders_drug") else ()
    known = measured_nouns() if says(clause, "sends_test") else known
    is_named = any(one in known or f"{one}e" in known for one in words_of(clause))
    return is_named or says(clause, "orders_care")


@cache
def _names_of_drugs() -> Collection[str]:
    """Return the names of drugs, those without another name among them, and of classes."""
    return drug_words() | {*read_names()["drugs"].split()}


def asks_number_of(text: str) -> bool:
    """Whether the whole of `text` asks how to reach somebody with a name: "mail of Ada Byron"."""
    if names_alone(text, "name_to_reach"):
        return True
    named = (parts_in(text[:_READ_CHARS], "way_to_reach") or {}).get("name", "")
    words = words_of(named)
    common = [one in common_words() or is_clinical_name(stem(one)) for one in words]
    is_typed_small = not all(common) if says(text, "contact") else not any(common)
    is_typed_small = is_typed_small and len(words) == _FULL_NAME
    is_name = is_typed_small or all(word[0].isupper() for word in named.split())
    return bool(named) and is_name and of_people("staff", "relatives", "pronouns").isdisjoint(words)


def names_alone(text: str, phrase: str) -> bool:
    """Whether what stands for a name in such a sentence is one, and no word: "leila's email"."""
    said = words_of((parts_in(text[:_READ_CHARS], phrase) or {}).get("name", ""))
    named = [one if is_known_name(one) else one.removesuffix("s") for one in said]
    is_name = all(map(is_known_name, named)) and not any(is_clinical_name(stem(n)) for n in named)
    return is_name and not common_words().issuperset(named)


def asks_how_to_reach(text: str) -> bool:
    """Whether `text` asks for somebody's number or address, by a name: "Ada Byron's phone"."""
    if asks_number_of(text):
        return True
    parts = of_people("contact_parts") - {"mail"}  # somebody's mail is read
    words = read_words(in_english(text[:_READ_CHARS])).words
    return any(
        one.is_owner and one.raw[0].isupper() and (one.after in parts or one.beyond in parts)
        for one in words
    )


def is_of_own_things(text: str) -> bool:
    """Whether `text` asks for the user's own calendar, mail, contacts or tasks, and of no chart."""
    text = without(text[:_READ_CHARS], "of_patient")
    message = read_words(text)
    if message.pronoun_at is not None:
        return False
    if asks_how_to_reach(text) or names_alone(text, "name_who_wrote"):
        return True
    is_event = says(text, "calendar_event") and says(text, "orders", "add", "cancel")
    is_mail = says(text, "email") and says(text, "draft", "send", "writes_mail")
    if not (is_event or is_mail or says(text, *_OWN_THINGS)):
        return False  # most messages: the chart's grammar need not read them
    words = read_words(in_english(text)).words
    if any(is_clinical_name(stem(one.text)) for one in (*message.words, *words)):
        return False
    asked = chart_questions(text, today=_ANY_DAY, language=language_of(text))
    return all(one.tool == SEARCH for one in asked)


def refused_doctors(text: str) -> frozenset[str]:
    """Return the names of doctors whom `text` rules out, as written: "anyone but Dr. Smith"."""
    return frozenset(match[1] for match in _REFUSED.finditer(text[:_READ_CHARS]))
