"""Reads the parts of one sentence of an agent as clauses."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from copy import copy
from itertools import pairwise

from services.language.figures.quantities import Quantity
from services.language.figures.written_dates import FoundDate
from services.language.sentences import statement_numbers, statement_parts
from services.language.sentences.clause_joining import put_together
from services.language.sentences.clauses import SETTINGS, Clause
from services.language.sentences.links import (
    LINKS,
    Link,
    LinkKind,
    distance_before,
    links_in,
    second_of,
)
from services.language.sentences.name_kinds import kind_of_name, which_of_kind
from services.language.sentences.own_deeds import is_done, own_deeds_in
from services.language.sentences.stages_told import TNM, TimeTold, sites_in, stages_in, times_told
from services.language.words.statement_phrases import FoundPhrase
from services.language.words.statement_tables import saying, stem
from services.language.words.statement_words import group_of, statement_words

_DIGIT = re.compile(r"\d")
_SIGNS = frozenset(",;()–—")
_PREPOSITION_CHARS = 6
_OWN_DEED = frozenset({"deed:own", "first_person", "doers"})
_NAME_CHARS = 6
_DOSES = ("mg", "ug", "g")
_NEAR_CHARS = 5


class ClauseReader:
    """Reads the words of one sentence."""

    def __init__(
        self,
        *,
        words: list[tuple[int, str]],
        dates: list[FoundDate],
        quantities: list[Quantity],
        is_name: Callable[[str], bool],
    ) -> None:
        self._words = words
        self._lower = [statement_parts.base_form(word) for _, word in words]
        statement_parts.keep_comparisons(self._lower, words)
        self._spoken = [(at, one) for (at, _), one in zip(words, self._lower, strict=True)]
        self._dates = dates
        self._quantities = (
            statement_numbers.bounded(words, self._lower, quantities) if quantities else []
        )
        self._is_of_window = len(self._quantities) < len(quantities)
        self._is_name = is_name
        stems = map(statement_parts.english_stem, self._lower)
        self._stems = [self._in_english(s) if len(s) > _NAME_CHARS else s for s in stems]
        self._found = statement_parts.phrases_in(words, self._lower)
        self._deeds = own_deeds_in([word for _, word in words], self._lower)
        self._whole: list[Clause] = []  # its segments, once they are read

    def clauses(self, cuts: Collection[int] = (), *, are_apart: bool = False) -> list[Clause]:
        """Return the clauses, each for itself or joined; they end at `cuts` besides."""
        return put_together(self.segments(cuts), are_apart=are_apart)

    def segments(
        self, cuts: Collection[int] = (), start: int = 0, end: int | None = None
    ) -> list[Clause]:
        """Return the parts between commas and joining words, each for itself."""
        is_whole = not (cuts or start) and end is None
        if is_whole and self._whole:
            return self._whole
        breaks = {
            *statement_parts.breaks_in(self._words, self._lower, self._found, self._quantities),
            *cuts,
        }
        last = len(self._words) if end is None else end
        if (start, last) != (0, len(self._words)):
            breaks = {at for at in breaks if start < at < last}
        found = []
        for low, high in pairwise([start, *sorted(breaks), last]):
            if high > low:
                found.append(self._clause(low, high))
        found = [one for one in found if one.words or one.has_values]
        self._whole = found if is_whole else self._whole
        return found

    def times(self) -> Iterator[TimeTold]:
        """Yield the ages and times that the sentence tells."""
        return times_told(self._spoken, self._quantities)

    def links(self, *kinds: LinkKind) -> Iterator[Link]:
        """Yield what the sentence says, by links of `kinds`, that two facts have to do."""
        for kind, word in links_in(self._found):
            if kind in kinds and (link := self._link(kind, word)) is not None:
                yield link

    def _link(self, kind: LinkKind, word: FoundPhrase) -> Link | None:
        """Return two facts, each read as a sentence of its own."""
        end = word.end
        if word.start and self._lower[word.start - 1] in saying("joins_alike"):
            return None  # "and, after surgery, …"
        if kind == "after" and not saying("doses").isdisjoint(self._lower[end + 1 : end + 2]):
            return None  # "after five doses" is not after a thing
        distance = distance_before(self._words[word.start][0], self._quantities)
        rest = copy(self)  # how far they are apart is of neither half
        rest._whole, rest._quantities = [], [one for one in self._quantities if one is not distance]
        is_behind = bool(word.start) and not self._is_lead(word.start, distance)
        if is_behind:
            halves = rest.segments(end=word.start), rest.segments(start=end)
        else:
            turn = second_of(self._lower, end, self._found, kind)
            halves = rest.segments(start=turn), rest.segments((), end, turn)
        first, second = map(put_together, halves)
        if not first or not second:
            return None
        nearest, other = first[-1 if is_behind else 0], second[0]
        if self._lower[end : end + 1] and self._lower[end] in saying("said_before"):
            nearest, other = other, nearest  # "on April 9; before that he had a review"
        return Link(kind, nearest, other, (*first, *second), distance, len(first))

    def _is_lead(self, end: int, distance: Quantity | None) -> bool:
        """Whether a sentence begins with how far apart two things are: "Two weeks after …"."""
        before = [one for one in self._lower[:end] if one not in saying("beside_a_time")]
        return distance is not None and len(before) <= len(("2", "weeks"))

    def cuts(self) -> list[int]:
        """Return where a clause of several names may be cut; a day stays where it stands."""
        named = {one.start for one in self._found if one.said.same or one.said.means}
        named |= {at for at, one in enumerate(self._lower) if self._is_name(self._stems[at])}
        breaks = statement_parts.breaks_in(self._words, self._lower, self._found, self._quantities)
        joints = statement_parts.joints_in(self._lower, sorted(named))
        return [at for at in joints if at not in breaks and self._is_between(at)]

    def _is_between(self, at: int) -> bool:
        """Whether a place is neither within a number, `14,8`, nor between a value and its day."""
        offset, word = self._words[at]
        end = offset + len(word)
        if any(one.start < offset < one.end for one in self._quantities):
            return False
        return not any(end <= day.start <= end + _NEAR_CHARS for day in self._dates)

    def _clause(self, start: int, end: int) -> Clause:
        low = self._words[start][0] if start else 0
        high = self._words[end][0] if end < len(self._words) else 1 << 30
        quantities = [one for one in self._quantities if low <= one.start < high]
        phrases = [one for one in self._found if start <= one.start < end]
        dates = [one for one in self._dates if low <= one.start < high]
        cues = self._cues(start, end, phrases, dates)
        taken = {at for one in phrases if one.said.is_cue_only for at in range(one.start, one.end)}
        stages, used = stages_in(self._words, start, end, phrases)
        used += [self._span(one) for one in phrases if one.said.same]
        quantities = [one for one in quantities if not any(a <= one.start < b for a, b in used)]
        places = [at for at in range(start, end) if self._lower[at] not in _SIGNS]
        stems = {at: self._stems[at] for at in places if not self._lower[at].isdigit()}
        named = {at: one for at, one in stems.items() if at not in taken and self._is_name(one)}
        named |= {one.start: _which(one.said.same, quantities) for one in phrases if one.said.same}
        meant = {at: one for phrase in phrases for at, one in self._meant(phrase)}
        names = [one for at in sorted({*named, *meant}) for one in meant.get(at) or (named[at],)]
        often = {at for one in phrases if one.said.often for at in range(one.start, one.end)}
        told = [at for at in places if at not in often]
        spoken = [self._spoken[at] for at in told]
        is_named = {place for place, at in enumerate(told) if at in named or at in meant}
        counts = list(statement_numbers.counted(spoken, quantities, is_named))
        quantities = [one for one in quantities if one.start not in {at for _, _, at in counts}]
        quantities, limits = statement_numbers.without_limits(spoken, quantities)
        cues |= statement_numbers.of_name(spoken, quantities, is_named)
        changes = statement_numbers.differences(spoken, quantities, cues)
        if quantities and not {*names} - SETTINGS:
            body = statement_numbers.measured_of_body(stems.values(), quantities, cues, changes)
            names += [body] if body else []
        wider = [kind for one in phrases for kind in (*one.said.wider, *_parts_of_meaning(one))]
        return Clause(
            words=frozenset((*stems.values(), *names, *wider)),
            topics=tuple(group for one in phrases for group in one.said.topics),
            names=tuple(dict.fromkeys(names)),
            objects=self._objects(start, end, phrases),
            quantities=tuple(one for one in quantities if one not in changes),
            dates=tuple(dates),
            codes=tuple(self._codes(places, taken, stems)),
            stages=tuple(stages),
            often=frozenset(tag[6:] for tag in cues if tag[:6] == "often:"),
            smoking=next((tag[8:] for tag in cues if tag[:8] == "smoking:"), ""),
            cues=cues | statement_parts.over_behind(min((*named, *meant, end)), phrases),
            exclusive=statement_parts.exclusive_in(stems, phrases),
            sites=tuple(sites_in(self._lower, start, end, taken)),
            counted=tuple((number, kind) for number, kind, _ in counts),
            differences=tuple(changes),
            limits=tuple(limits),
            runs=tuple(statement_parts.runs_of(named, meant)),
            called=statement_parts.called_in(stems, phrases),
        )

    def _span(self, phrase: FoundPhrase) -> tuple[int, int]:
        """Return where a phrase stands: the figures of `CA 19-9` are no values."""
        last, word = self._words[phrase.end - 1]
        return self._words[phrase.start][0], last + len(word)

    def _cues(
        self, start: int, end: int, phrases: list[FoundPhrase], dates: list[FoundDate]
    ) -> frozenset[str]:
        """Return what the words of a clause say besides its names."""
        cues = {tag for one in phrases for tag in one.tags} - LINKS
        cues.update(which_of_kind(self._lower, phrases) if "asserts" in cues else ())
        if dates and any(map(self._is_of_day, dates)):
            cues.add("begun")
        if self._is_of_window or statement_numbers.is_of_several(self._lower[start:end]):
            cues.discard("newest")
        is_falling = "falling" in cues and not self._quantities
        if is_falling and _is_refusal(cues, self._lower[start:end]):
            cues.remove("falling")
        if dates and self._is_over_since_then(start, phrases, dates):
            cues.add("day_before_end")
        sign = "behind_bracket" if start and self._is_behind(start, phrases) else ""
        cues |= {"apart" if self._lower[start] == ";" else sign} - {""}
        if self._deeds and any(start <= at < end for at in self._deeds):
            cues |= _OWN_DEED
        if "errands" in cues and is_done(self._lower[start:end]):
            cues |= {"deed:carried out", "things_done"}
        if [word for word in self._lower[start:end] if word[-3:] == "n't"]:
            cues.add("no")
        return frozenset(cues)

    def _is_behind(self, start: int, phrases: list[FoundPhrase]) -> bool:
        """Whether a clause goes on behind what a bracket, or a part between commas, said beside."""
        if self._lower[start] == ",":
            behind = self._lower[start + 1 : start + 2]
            return not saying("is", "was", "has", "have").isdisjoint(behind)
        is_bracket = start > 0 and self._lower[start - 1] == ")"
        is_over = any("ended" in one.tags for one in phrases)  # "anemia (Hb 11.6) and resolved"
        splits = [one for one in phrases if one.start == start and "splits" in one.tags]
        return is_bracket and (is_over or (self._lower[start].isalpha() and not splits))

    def _is_over_since_then(
        self, start: int, phrases: list[FoundPhrase], dates: list[FoundDate]
    ) -> bool:
        """Whether a day is of what has ended, not of its end: "sinusitis of 2018 has resolved"."""
        ends = [self._words[one.start][0] for one in phrases if "ended" in one.tags]
        if not ends or not saying("verbs_at_the_end").isdisjoint(self._lower[start:]):
            return False
        is_behind = self._words[start][0] + _PREPOSITION_CHARS < dates[0].start
        return is_behind and all(one.start < ends[-1] for one in dates)

    def _is_of_day(self, day: FoundDate) -> bool:
        """Whether a thing is of a day, "the anaemia of 2014", and is no picture that shows one."""
        before = [
            word
            for (place, _), word in zip(self._words, self._lower, strict=True)
            if place < day.start
        ]
        if before[-2:] == ["as", "of"]:
            return False
        what = stem(before[-2]) if len(before) > 1 else ""
        is_report = group_of(what) == "modality" or what in saying("reports", "pictures")
        return bool(before) and before[-1] in saying("of_a_day") and not is_report

    def _meant(self, phrase: FoundPhrase) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Yield where a name of another language stands, and the names that it is in English."""
        for english in phrase.said.means:
            stems = tuple(stem(word) for word in english.split())
            yield phrase.start, tuple(filter(self._is_name, stems)) or stems

    def _in_english(self, found: str) -> str:
        """Return a stem, in English where a name ends otherwise: `warfarine`."""
        if self._is_name(found):
            return found
        other = found[:-1] if found[-1] in "eao" else f"{found}e"  # `Methotrexat`
        return other if self._is_name(other) else found

    def _codes(self, places: list[int], taken: set[int], stems: dict[int, str]) -> list[str]:
        measured = [(one.start, one.end) for one in self._quantities]
        found = []
        for at in places:
            offset, word = self._words[at]
            if word.isalpha() or at in taken or at not in stems or not _DIGIT.search(word):
                continue
            if word.count("-") > 1 and stems[at].isdigit():  # of a telephone
                found.append(stems[at])
            if not any(map(str.isalpha, word)) or TNM.match(word) or statement_parts.graded(word):
                continue
            if any(
                low <= offset < high or offset <= low < offset + len(word) for low, high in measured
            ):
                continue
            if not self._is_name(stems[at]) and stems[at] not in statement_words().exclusive:
                found.append(stems[at])
        return found

    def _objects(self, start: int, end: int, phrases: list[FoundPhrase]) -> tuple[str, ...]:
        """Return up to three words behind `takes`, `allergic to` …, whatever they are."""
        after = next((one.end for one in phrases if "objects_follow" in one.tags), None)
        if after is None:
            return statement_parts.allergen_in(self._lower[start:end])
        cue_words = {at for one in self._found for at in range(one.start, one.end)}
        found: list[str] = []
        for at in range(after, end):
            word = self._lower[at]
            if at in cue_words or not word[0].isalpha() or word in statement_words().fillers:
                if found or not word[0].isalpha():
                    break
                continue
            found.append(stem(word))
        return tuple(found[:3])


def _parts_of_meaning(phrase: FoundPhrase) -> Iterator[str]:
    """Yield the stems of an illness and its place, or what was done there: `Magenkarzinom`."""
    for name in phrase.said.means:
        if kind_of_name(name) in ("problem", "procedure"):
            yield from map(stem, name.split())


def _which(groups: Sequence[str], quantities: Sequence[Quantity]) -> str:
    """Return what a name of two things names: the drug where a dose is told, `HCT 25 mg`."""
    is_dose = any(one.unit in _DOSES for one in quantities)
    alike = [one for one in groups if (kind_of_name(one) == "medication") == is_dose]
    return (alike or groups)[-1]


def _is_refusal(cues: Collection[str], words: Sequence[str]) -> bool:
    """Whether somebody did not want a thing: "he has declined the booster", not "her eGFR"."""
    if "about_patient" not in cues:
        return False
    refusing = statement_words().refusing
    at = next((at for at, word in enumerate(words) if stem(word) in refusing), 0)
    return not saying("who").isdisjoint(words[max(0, at - 3) : at])
