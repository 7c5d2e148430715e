"""Stages, grades and TNM classes of a clause, places with their sides, and times. Pure."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from services.language.figures.quantities import TIME_UNITS, Quantity
from services.language.sentences.clauses import Stage
from services.language.sentences.statement_parts import ROMAN, graded, placed, scale
from services.language.words.letters import folded
from services.language.words.statement_phrases import FoundPhrase
from services.language.words.statement_tables import saying
from services.language.words.statement_words import statement_words

TNM = re.compile(
    r"(?P<prefix>[cpyra]{0,2})(?P<letter>[TNM])(?P<rest>(?:is|[0-4xX]{1,2})[a-d]?[1-3]?)$"
)
_BEGINNINGS = frozenset("cpyraTNMIVX")
_SITE_WORDS = 4
_TO = frozenset({"to", "auf", "zu", "→", "->"})


def stages_in(
    words: Sequence[tuple[int, str]], start: int, end: int, phrases: Sequence[FoundPhrase]
) -> tuple[list[Stage], list[tuple[int, int]]]:
    """Return stages and grades, and where their numbers stand."""
    found: list[Stage] = []
    used: list[tuple[int, int]] = []
    scales = [one for one in phrases if "stages" in one.tags]
    for phrase in scales:
        said = words[phrase.start][1].lower()
        measured_on = scale(said)
        for at in range(phrase.end, min(end, phrase.end + 7)):
            offset, word = words[at]
            value = graded(word)
            is_number = word.isdigit() and words[at - 1][1].lower() in saying("from")
            if is_number or word.startswith("(") or (at > phrase.end and said in saying("scales")):
                break
            if value:
                found.append(Stage(measured_on, value))
                used.append((offset, offset + len(word)))
                break
    for at in (place for place in range(start, end) if words[place][1][0] in _BEGINNINGS):
        offset, word = words[at]
        if tnm := TNM.match(word):
            found.append(Stage(tnm["letter"], tnm["rest"].lower(), tnm["prefix"]))
            used.append((offset, offset + len(word)))
        elif (
            len(word) > 1
            and (roman := ROMAN.match(word))
            and (not scales or (found and words[at - 1][1].lower() in _TO))
        ):
            # "IVA since February", alone perhaps a segment; "stage IIIC (2023) to IV (2024)".
            measured_on = found[-1].scale if scales else "stage" if roman["rest"] else ""
            found.append(Stage(measured_on, graded(word)))
    return found, used


def sites_in(
    lower: Sequence[str], start: int, end: int, taken: set[int]
) -> Iterator[frozenset[str]]:
    """Yield each side with up to four words beside it: `right upper lobe of the lung`."""
    vocabulary = statement_words()
    done = start
    is_told = not vocabulary.sides.keys().isdisjoint(lower[start:end])
    for at in range(start, end) if is_told else ():
        if at < done or lower[at] not in vocabulary.sides:
            continue
        found: set[str] = set()
        beside = 0
        for done in range(at, end):
            word = lower[done]
            if word in saying("of_a_part"):
                continue
            is_other = word in (vocabulary.fillers | saying("no_place")) - vocabulary.sides.keys()
            if beside == _SITE_WORDS or not word.isalpha() or done in taken or is_other:
                break
            found.update(placed(word))
            beside += 1
        if lower[max(start, at - 2) : at] == ["on", "the"]:  # "ribs 6 and 7 on the left"
            no_place = vocabulary.fillers | saying("joins_alike", "imaged_findings", "no_place")
            before = [w for w in lower[start : at - 2] if w[0].isalpha() and w not in no_place]
            found.update(*map(placed, before[-2:]))
        if len(found) > 1:
            yield frozenset(found)


TimeKind: TypeAlias = Literal["age", "ago", "time"]
_NEAR = 4


class TimeTold(NamedTuple):
    """One number of a sentence that is a time, and what it says."""

    told: Quantity
    kind: TimeKind


def times_told(
    words: Sequence[tuple[int, str]], quantities: Sequence[Quantity]
) -> Iterator[TimeTold]:
    """Yield the times among the numbers of a sentence."""
    places = {offset: at for at, (offset, _) in enumerate(words)}
    said = [folded(word) for _, word in words]
    for one in quantities:
        at = places.get(one.start)
        if at is None or one.pair or one.unit not in TIME_UNITS | {""}:
            continue
        behind = said[at + (2 if one.unit else 1) :][: _NEAR - 1]
        before = [word for word in said[:at] if word not in saying("beside_a_time")][-_NEAR:]
        if not one.decimals and _is_age(before, behind, one):
            yield TimeTold(one, "age")
        elif one.unit:
            is_ago = not saying("ago").isdisjoint(behind[:1]) or before[-1:] == ["vor"]
            yield TimeTold(one, "ago" if is_ago else "time")


def _is_age(before: Sequence[str], behind: Sequence[str], one: Quantity) -> bool:
    """Whether a number is how old somebody was: "aged 21", "mit 19 Jahren", "when she was 42"."""
    if not saying("before_an_age").isdisjoint(before[-1:]):
        return bool(one.unit) or not (one.comparator or before[-1] in saying("with_years"))
    was = before[-2:] if not behind or behind[-1] not in saying("was") else behind
    is_of_person = not saying("who").isdisjoint(before[-2:]) or (
        not saying("titles").isdisjoint(before[-len(("mr", "name", "was")) :])
    )
    is_old = not one.unit or not saying("years_old").isdisjoint(behind)
    return is_of_person and is_old and not saying("was").isdisjoint(was)
