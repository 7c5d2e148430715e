"""A message without the name of the patient whom it is about.

Whom a message is about is settled before it is read; the name itself asks for nothing.
"""

import re
from collections.abc import Collection, Mapping, Sequence

from services.language.charts.chart_entries import chart_nouns, measured_nouns
from services.language.figures.full_dates import full_dates
from services.language.people.mentions import read_words
from services.language.people.signed_word import Word
from services.language.words.letters import folded, letter_runs, spellings
from services.language.words.people_words import of_people
from services.language.words.statement_tables import stem
from services.language.words.statement_words import is_clinical_name

_PATIENT = "patient"
_INITIALS_LIMIT = 2
_NUMBER_LEAST_CHARS = 4
_SUBJECT_WORDS = 3
_BY_DIGITS = (
    r"(?i)^N(?= (?:is|has|was|had|ist|hat|war|hatte) )|\bp(?:atient|at|t)?[. ]?N\b"
    r"|\b((?:for|on|of|in|about|für|bei|zu|von) )N(?=\W*$)"
)
_PEOPLE = ("man", "woman", "patient")


def without_names(
    text: str, names: Collection[str], *, born: str = "", numbers: Collection[str] = ()
) -> str:
    """Return `text` with the names of its subject replaced by `patient`, without the birth date.

    Args:
        names: The subject's names, as recorded; a word of common language that is one of them is
            replaced only where it stands as a name.
        born: The subject's birth date in ISO; it says who is meant, and a time that is asked for
            only where it stands as one (`height on 2019-05-27`).
        numbers: The subject's identifiers; they are replaced as the names are.
    """
    for number in numbers:
        text = _without_number(text, number)
    for one in reversed(full_dates(text)):
        *head, last = text[: one.start].rstrip(" ,(.*").rpartition(" ")
        is_time = folded(last) in of_people("before_days") or folded(last) in measured_nouns()
        is_time &= not one.is_birth
        if not is_time and born in {day.isoformat() for day in one.readings}:
            kept = [*head, last][: -1 if folded(last.strip("(.")) in of_people("born") else None]
            text = "".join(kept).rstrip(" ,(") + text[one.end :].removeprefix(")")
    parts = [part for name in names for part in name.split()]
    typed = [*parts, *("".join(letter_runs(part)) for part in parts), *letter_runs(" ".join(parts))]
    known = {spelt for part in typed for spelt in spellings(part) if len(spelt) > 1}
    words = read_words(text).words
    initials = {folded(part): folded(part)[:1] for part in parts}
    named = [_is_name(words, at, known, initials.values()) for at in range(len(words))]
    letters = [not text[one.end : one.end + 1].isdigit() for one in words]  # A1c and B12 are none
    named = [
        one or (letters[at] and _is_initial(words, at, named, initials))
        for at, one in enumerate(named)
    ]
    result, end = "", 0
    for at, word in enumerate(words):
        if not named[at]:
            continue
        is_first = at == 0 or not named[at - 1]
        if is_first:
            start = _start_of_title(words, at)
            result += f"{text[end:start]}{_PATIENT}"
        end = word.end
    return result + text[end:]


def _is_name(
    words: Sequence[Word], at: int, known: Collection[str], initials: Collection[str]
) -> bool:
    word = words[at]
    if word.text not in known and word.text.removesuffix("s") not in known:
        return False
    beside = [words[each].text for each in (at - 1, at + 1) if 0 <= each < len(words)]
    if any(one in known or one in initials for one in beside):
        return True
    is_word = word.text in known and (word.is_of_a_thing or word.is_in("qualities"))
    owns = word.is_first and word.after in chart_nouns() and not is_word
    return word.stands_as_name or not word.is_common or owns  # `grants allergies`, `koch hb`


def _is_initial(
    words: Sequence[Word], at: int, named: Sequence[bool], initials: Mapping[str, str]
) -> bool:
    """Whether a letter beside a name, over others of that kind, is short for one: `Moen E.`.

    For another one than that beside it: in `Koepp K?` the potassium is asked for.
    """
    letter = words[at].text
    beside = words[at - 1].text if at else ""
    short_for = {part for part, first in initials.items() if first == letter}
    if len(words[at].raw) != 1 or short_for <= {beside, beside.removesuffix("s")}:
        return False
    before = words[at - 1] if at else words[at]
    is_term = at > 0 and is_clinical_name(stem(before.text))  # `hepatitis C`
    is_term |= before.is_owner  # "Koepp's K"
    first, last = max(at - _INITIALS_LIMIT, 0), min(at + _INITIALS_LIMIT + 1, len(words))
    ends = range(at - 1, first - 1, -1), range(at + 1, last)
    near = (next((one for one in end if len(words[one].raw) > 1), None) for end in ends)
    return not is_term and any(named[one] for one in near if one is not None)


def _without_number(text: str, number: str) -> str:
    """Return `text` with an identifier, whole and in whatever case, replaced by `patient`.

    The digits of our own ids stand for them behind "patient", and where a message ends "for 15".
    """
    if digits := re.search(r"(?<=_)\d+$", number):
        text = re.sub(_BY_DIGITS.replace("N", digits[0]), rf"\1{_PATIENT}", text)
    if len(number) < _NUMBER_LEAST_CHARS:
        return text
    return re.sub(rf"(?<![\w-]){re.escape(number)}(?![\w-])", _PATIENT, text, flags=re.IGNORECASE)


def _start_of_title(words: Sequence[Word], at: int) -> int:
    """Return where the mention begins: at the title before the name, if it has one."""
    if words[at].title in _PEOPLE and at > 0 and words[at - 1].title is None:
        before = words[at - 1]
        is_title = len(before.raw.rstrip(".")) <= len("senyora") and before.raw[:1].isupper()
        is_title |= before.is_in("titles_of_men", "titles_of_women")
        return before.start if is_title else words[at].start
    return words[at].start


def without_caller(text: str) -> str:
    """Return `text` without a first clause that tells who asks: `Dr Lopez called, what …`."""
    words = read_words(text).words
    begins = (i for i, one in enumerate(words) if i and ("," in one.gap or not one.before))
    end = next(begins, len(words))
    told = {one.text for one in words[:end]}
    is_somebody = any(one.is_in("staff", "relatives") for one in words[:_SUBJECT_WORDS])
    is_only_told = is_somebody and not told.isdisjoint(of_people("calls")) and end < len(words)
    return text[words[end].start :] if is_only_told else text
