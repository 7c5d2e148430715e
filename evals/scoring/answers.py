"""Whether an answer to a question on the record is right. Pure.

Strict on values: a number that is not the expected one, presented as the answer, is wrong, and so
is the name of another patient; saying that something is not in the record is missing.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from evals.cases import Answer
from evals.scoring.texts import (
    Figure,
    bare,
    dates_in,
    denies,
    figures,
    folded,
    has_unit,
    is_same_number,
    names_date,
)

Verdict: TypeAlias = Literal["right", "wrong", "missing", "other"]
_OVER = re.compile(
    r"\b(?:resolved|inactive|stopped|ended|past|former|previous(?:ly)?|completed|earlier|until"
    r"|to \d{4}(?:-\d\d)*|not active|no longer|history of|remission|not taken|discontinued"
    r"|abated|paused|on[- ]hold|suspended)\b"
)
_YES = re.compile(r"\b(?:yes|active|current(?:ly)?|ongoing|taken now|still|recurrence|relapse)\b")
_NO = re.compile(r"\bno\b|\bnot\b|\bn't\b|\bnone\b|\bnever\b|\bnothing\b")
_DID_NOT = re.compile(
    r"did not understand|could not be read|can(?:not|'t) (?:do|answer)|try one of"
)
_COUNTED = re.compile(
    r"\W*(?:\w+ )?(?:times?|measurements?|values?|results?|visits?|encounters?|entries|rows?)\b"
)
_SEARCHED = re.compile(r"\b(?:found no passage|no passage|found nothing|could not find)\b")
_EXTREME = re.compile(
    r"\b(?:highest|lowest|maximum|minimum|peak|nadir)\W+(?:(?:was|is|value|of)\W+){0,2}([-\d./]*\d)"
)
_MARKUP = re.compile(r"[*_:]")
_LABEL = re.compile(r"\bstage (?=[0iv]+[abc]?\b)")
LISTED_DATES = 3
"""More dates than these are a list and no answer to when something was last."""
PASSAGE_CHARS = 200
"""Longer lines quote a note; what they say besides the name says nothing of it."""
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Scored:
    """What became of one question."""

    verdict: Verdict
    why: str = ""


RIGHT = Scored("right")


def score(wanted: Answer, text: str, rows: str = "") -> Scored:
    """Return how `text`, with the rows that were shown beside it, answers."""
    whole = f"{text}\n{rows}".strip()
    named = [one for one in wanted.persons if _is_named(one, whole)]
    if named:
        return Scored("wrong", f"names another patient: {named[0]}")
    if not whole:
        return Scored("missing", "nothing was said")
    if wanted.kind in ("series", "list"):
        return _series(wanted, whole) if wanted.kind == "series" else _list(wanted, whole)
    return _SCORERS[wanted.kind](wanted, text, rows)


def _is_named(person: str, text: str) -> bool:
    return bool(re.search(rf"(?<!\w){re.escape(folded(person))}(?!\w)", folded(text)))


def _value(wanted: Answer, text: str, rows: str) -> Scored:
    expected = wanted.values[0]
    if not _is_number(expected):
        return _words_value(wanted, text, rows)
    found = candidates(wanted, text) or candidates(wanted, rows)
    if not found:
        return _not_there(f"{text}\n{rows}")
    if is_same_number(found[0].text, expected):
        return RIGHT
    return _first_is_not(wanted, found, f"{text}\n{rows}")


def _first_is_not(wanted: Answer, found: list[Figure], whole: str) -> Scored:
    """Judge an answer whose first value is another: a dated list of true values is no lie."""
    expected, true = wanted.values[0], (*wanted.values, *wanted.others)
    all_true = all(any(is_same_number(one.text, each) for each in true) for one in found)
    is_told = any(is_same_number(one.text, expected) for one in found)
    if all_true and is_told and any(names_date(whole, day) for day in wanted.dates):
        return Scored("other", f"a list in which {expected} {wanted.unit} is not the first")
    return Scored("wrong", f"{found[0].text} in place of {expected} {wanted.unit}")


def candidates(wanted: Answer, text: str) -> list[Figure]:
    """Return the numbers with the unit of the answer; those that are named first come first.

    Without a unit: the numbers of lines that name what was asked for.
    """
    every = list(figures(text))
    lines = text.splitlines()
    if wanted.unit:
        every = [one for one in every if has_unit(one, wanted.unit)]
    named = [one for one in every if _mentions(lines[one.line], wanted.name)]
    return named if named or not wanted.unit else every


def _mentions(line: str, name: str) -> bool:
    return bool(name) and any(one in folded(line) for one in folded(name).split("|"))


def _words_value(wanted: Answer, text: str, rows: str) -> Scored:
    whole = _plain(f"{text}\n{rows}")
    at = _first(whole, wanted.values)
    if at is None:
        others = _first(whole, wanted.others)
        if others is not None:
            return Scored("wrong", "an older value in place of the latest")
        return _not_there(whole)
    expected = _plain(wanted.values[0])
    other = _first(whole.replace(expected, "\0" * len(expected)), wanted.others)
    if other is not None and other < at:
        return Scored("wrong", "an older value stands before the latest")
    return RIGHT


def _plain(text: str) -> str:
    """Return `text` folded and without markup; "stage" before a stage is a label."""
    return _LABEL.sub("", _MARKUP.sub("", folded(text)))


def _first(text: str, values: tuple[str, ...]) -> int | None:
    """Return where the first of these values stands as whole words."""
    found = [re.search(rf"(?<!\w){re.escape(_plain(one))}(?!\w)", text) for one in values]
    return min((one.start() for one in found if one is not None), default=None)


def _extreme(wanted: Answer, text: str, rows: str) -> Scored:
    expected = wanted.values[0]
    if any(is_same_number(one, expected) for one in _EXTREME.findall(folded(bare(text)))):
        return RIGHT
    source = text if candidates(wanted, text) else rows
    found = candidates(wanted, source)
    if not found:
        return _not_there(f"{text}\n{rows}")
    if not is_same_number(found[0].text, expected):
        return _first_is_not(wanted, found, f"{text}\n{rows}")
    if not any(names_date(f"{text}\n{rows}", one) for one in wanted.dates):
        return Scored("other", "the date is not told")
    return RIGHT


def _series(wanted: Answer, whole: str) -> Scored:
    found = candidates(wanted, whole) or list(figures(whole))
    strange = [
        one.text
        for one in found
        if wanted.unit
        and has_unit(one, wanted.unit)
        and not any(is_same_number(one.text, value) for value in wanted.values)
        and not _is_difference(one.text, wanted.values)
    ]
    if strange:
        return Scored("wrong", f"{strange[0]} {wanted.unit} is not in the record")
    shown = [one for one in wanted.values if any(is_same_number(each.text, one) for each in found)]
    if not shown:
        return _not_there(whole)
    needed = min(len(set(wanted.values)), 5)
    if len(set(shown)) < needed:
        return Scored("other", f"{len(set(shown))} of {len(set(wanted.values))} values")
    return RIGHT


def _is_difference(text: str, values: tuple[str, ...]) -> bool:
    """Whether the number is what lies between two of the values: a change is told as one."""
    try:
        number, known = abs(float(text)), [float(one) for one in values if "/" not in one]
    except ValueError:
        return False
    return any(
        abs(number - abs(one - other)) <= 0.011 * max(1.0, number)
        for one in known
        for other in known
    )


def _is_of_longer(line: str, name: str, values: Sequence[str]) -> bool:
    """Whether `name` stands there as a part of a value: sinusitis in chronic sinusitis."""
    return any(_has_words(one, name) and _has_words(line, one) for one in values if one != name)


def _list(wanted: Answer, whole: str) -> Scored:
    sections = _with_heads(whole)
    shown = [one for one in wanted.values if _find(one, sections)]
    wrong = [
        one
        for one in wanted.others
        if any(
            _has_words(line.partition("; ")[0], one)  # behind it stand reasons and remarks
            and not _is_of_longer(line, one, wanted.values)
            and len(line) <= PASSAGE_CHARS
            and not _OVER.search(f"{head} {line}")
            for head, line in sections
        )
    ]
    if wrong:
        return Scored("wrong", f"{wrong[0]} is told as one of them")
    if len(shown) == len(wanted.values):
        return RIGHT
    left = [one for one in wanted.values if one not in shown]
    if not shown:
        return _not_there(whole)
    return Scored("missing", f"left out: {', '.join(left[:5])}")


def _with_heads(text: str) -> list[tuple[str, str]]:
    """Return each line, folded, with the heading that it stands under."""
    head, found = "", []
    for line in text.splitlines():
        plain = folded(line)
        if (
            plain.startswith(("**", "#")) and plain.rstrip(":").endswith(("**", "*"))
        ) or plain.endswith(":"):
            head = plain
        found.append((head, plain))
    return found


def _find(name: str, sections: list[tuple[str, str]]) -> bool:
    return any(_has_words(line, name) for _, line in sections)


def _has_words(line: str, name: str) -> bool:
    """Whether all words of a name stand in a line."""
    wanted = [one for one in _WORD.findall(folded(name)) if len(one) > 2] or [folded(name)]
    there = set(_WORD.findall(line))
    return all(one in there for one in wanted)


def _yes_no(wanted: Answer, text: str, rows: str) -> Scored:
    lines = [one for one in f"{text}\n{rows}".splitlines() if one.strip()]
    about = [one for one in map(folded, lines) if _has_words(one, wanted.name)]
    about = [one for one in about if len(one) <= PASSAGE_CHARS and not _SEARCHED.search(one)]
    first = folded(lines[0])
    said_yes, said_no = first.startswith("yes"), bool(re.match(r"\W*no\b", first))
    if not about and not (said_yes or said_no):
        return _not_there(text)
    over = bool(about) and all(_OVER.search(one) or _NO.search(one) for one in about)
    active = any(_YES.search(one) and not _OVER.search(one) for one in about)
    yes = said_yes or (not said_no and active)
    no = said_no or (not said_yes and over and not active)
    if wanted.kind == "yes":
        return _judged(right=yes, wrong=no)
    return _judged(right=no, wrong=yes)


def _judged(*, right: bool, wrong: bool) -> Scored:
    if right and not wrong:
        return RIGHT
    return (
        Scored("wrong", "the opposite is told") if wrong else Scored("other", "neither yes nor no")
    )


def _date(wanted: Answer, text: str, rows: str) -> Scored:
    source = text if dates_in(text) or any(names_date(text, one) for one in wanted.dates) else rows
    told = any(names_date(source, one) for one in wanted.dates)
    if len(set(dates_in(source))) > LISTED_DATES and dates_in(source)[0] not in wanted.dates:
        return Scored("other", "a list of dates") if told else _not_there(f"{text}\n{rows}")
    if told:
        named = dates_in(source)
        if named and named[0] in wanted.others and named[0] not in wanted.dates:
            return Scored("wrong", f"{named[0]} stands before {wanted.dates[0]}")
        return RIGHT
    named = [one for one in dates_in(source) if one in wanted.others]
    if named:
        return Scored("wrong", f"{named[0]} in place of {wanted.dates[0]}")
    return _not_there(f"{text}\n{rows}")


def _count(wanted: Answer, text: str, _: str) -> Scored:
    expected, asked = wanted.values[0], set(_WORD.findall(wanted.name))
    every = [one for one in figures(text) if one.text not in asked]
    found = [one.text for one in every if _COUNTED.match(one.behind)]
    found = found or [one.text for one in every[:1] if text.lstrip(" *").startswith(one.text)]
    if found and is_same_number(found[0], expected):
        return RIGHT
    if not found:
        return _not_there(text)
    return Scored("wrong", f"{found[0]} in place of {expected}")


def _absent(wanted: Answer, text: str, rows: str) -> Scored:
    about = [one for one in text.splitlines() if _has_words(folded(one), wanted.name)]
    shown = [one for one in about if any(figures(one)) and "[" in one and not denies(one)]
    if shown or [one for one in rows.splitlines() if _has_words(folded(one), wanted.name)
                 and not denies(one)]:  # fmt: skip
        return Scored("wrong", "the record has nothing of it")
    if _DID_NOT.search(folded(text)):
        return Scored("other", "not understood")
    if denies(text):
        return RIGHT
    return Scored("other", "it does not say that nothing is recorded")


def _not_there(text: str) -> Scored:
    if _DID_NOT.search(folded(text)):
        return Scored("missing", "not understood")
    return Scored("missing", "not found in the record" if denies(text) else "not answered")


_SCORERS: Mapping[str, Callable[[Answer, str, str], Scored]] = {
    "value": _value,
    "extreme": _extreme,
    "yes": _yes_no,
    "no": _yes_no,
    "date": _date,
    "count": _count,
    "absent": _absent,
}


def _is_number(value: str) -> bool:
    return all(part.replace(".", "", 1).lstrip("-").isdigit() for part in value.split("/"))
