"""People by number, birth date and the words of their names, exactly or nearly."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from itertools import permutations
from typing import Literal, TypeVar

from rapidfuzz import process
from rapidfuzz.distance import OSA

from data_models.identifiers import PatientId
from services.identity.names.person import Person, PersonName
from services.language.people.mentions import Message
from services.language.people.named_person import is_known_name
from services.language.people.strange_words import is_strange
from services.language.words.letters import (
    folded,
    has_apostrophe,
    is_without_spaces,
    letter_runs,
    sounds,
    spellings,
)
from services.language.words.people_words import of_people

Part = Literal["family", "given"]
NEAR_LEAST_CHARS = 5
_SHORT_LEAST_CHARS = 3
_TWO_EDITS_LEAST_CHARS = 8
_ENDING_LIMIT_CHARS = 3
_NEAR_LIMIT = 12
_DIGITS_LEAST = 4
_BLOCK_LEAST_CHARS = 6
_MERGED_LEAST_CHARS = 8
_SIGNS = re.compile(r"[^0-9a-z]+")
_UUID = re.compile(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_UUID_BEGINS = re.compile(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){0,3}(?:-[0-9a-f]{12})?")


@dataclass(frozen=True, slots=True)
class NameHit:
    """A word of a message that is, or nearly is, a word of somebody's name."""

    person: Person
    part: Part
    name: int
    is_exact: bool
    is_former: bool


@dataclass(frozen=True, slots=True)
class NumberHit:
    """A number that somebody carries, or carried; `is_part` where a part of it was said."""

    person: Person
    is_retired: bool
    is_part: bool = False


_Hit = TypeVar("_Hit", NameHit, NumberHit)


class PersonIndex:
    """The people whom a message may mean. Immutable once built.

    Args:
        systems: Under which identifiers are looked for; none: under all.
    """

    def __init__(self, *, people: Iterable[Person], systems: Iterable[str] = ()) -> None:
        self.people: Sequence[Person] = tuple(people)
        self._systems = frozenset(systems)
        self._by_id: dict[PatientId, Person] = {}
        self._by_key: dict[str, Person] = {}
        self._by_number: dict[str, list[NumberHit]] = {}
        self._squeezed: dict[str, list[NumberHit]] = {}
        self._by_block: dict[str, list[tuple[str, NumberHit]]] = {}
        self._forms: set[str] = set()
        self._has_uuids = False
        self._by_word: dict[str, list[NameHit]] = {}
        self._by_birth: dict[str, list[Person]] = {}
        keys = {person.key for person in self.people if person.key}
        for person in self.people:
            self._add(person)
            # Who was merged is found by the old numbers; the name means whom they became.
            if person.replaced_by not in keys:
                for place, name in enumerate(person.names):
                    for part, word in _words_of(name):
                        hit = NameHit(person, part, place, is_exact=True, is_former=name.is_former)
                        for spelled in spellings(word):
                            self._by_word.setdefault(spelled, []).append(hit)
        self._long = tuple(one for one in self._by_word if len(one) >= NEAR_LEAST_CHARS)
        self._short = tuple(one for one in self._by_word if len(one) > _SHORT_LEAST_CHARS)
        self._unspaced = tuple(one for one in self._by_word if is_without_spaces(one))
        self._by_sound: dict[str, list[str]] = {}
        for one in self._by_word:
            self._by_sound.setdefault(sounds(one), []).append(one)
        self._near = lru_cache(maxsize=4_096)(self._nearly)

    def without(self, people: Iterable[Person]) -> "PersonIndex":
        """Return an index in which `people` are not, for whom may not know of them."""
        if not (gone := {id(one) for one in people}):
            return self
        found = copy(self)
        found.people = [one for one in self.people if id(one) not in gone]
        found._by_id = {one: who for one, who in self._by_id.items() if id(who) not in gone}
        found._by_birth = {
            day: [one for one in born if id(one) not in gone]
            for day, born in self._by_birth.items()
        }
        found._by_block = {
            block: [row for row in rows if id(row[1].person) not in gone]
            for block, rows in self._by_block.items()
        }
        found._by_word = _left(self._by_word, gone)
        found._by_number = _left(self._by_number, gone)
        found._squeezed = _left(self._squeezed, gone)
        found._near = found._nearly  # type: ignore[assignment]
        return found

    def with_id(self, patient_id: PatientId | None) -> Person | None:
        """Return whose chart opens by `patient_id`."""
        return None if patient_id is None else self._by_id.get(patient_id)

    def with_number(self, number: str) -> Sequence[NumberHit]:
        """Return who carries or carried `number`; case and signs between its parts do not count."""
        found = self._by_number.get(number.casefold(), ())
        return found or self._squeezed.get(squeezed(number), ())

    def with_part(self, number: str) -> Sequence[NumberHit]:
        """Return whose longer numbers hold `number` as a part between signs: `727b224a`."""
        part = number.casefold()
        blocks = self._by_block.get(next(iter(_blocks(part)), ""), ())
        return [hit for whole, hit in blocks if whole.startswith(part) or part in _blocks(whole)]

    def with_end(self, number: str) -> Sequence[NumberHit]:
        """Return whose numbers end so, `MRN ending in 2f7`, or but for zeros: `SYN-4`."""
        end, bare = number.casefold(), _without_zeros(number)
        ends = {one for one in self._by_number if one.endswith(end)}
        ends |= {one for one in self._by_number if bare and _without_zeros(one) == bare}
        hits = (hit for one in sorted(ends) for hit in self._by_number[one])
        return [replace(hit, is_part=True) for hit in hits]

    def has_form(self, number: str) -> bool:
        """Whether `number` has the letters, and as many digits, of one that somebody carries.

        Behind several letters the digits need not be as many: one of them may be left out. So may
        all of a UUID but its beginning.
        """
        form = form_of(number)
        if self._has_uuids and _UUID_BEGINS.fullmatch(number) and not number.isdigit():
            return True
        letters = form.rstrip("#")
        is_word = len(letters) > 1 and any(one.rstrip("#") == letters for one in self._forms)
        return form in self._forms or is_word

    def survivor(self, person: Person) -> Person | None:
        """Return into whom `person` was merged; None if they were not, or nobody knows."""
        seen = {person.key}
        found = self._by_key.get(person.replaced_by)
        while found is not None and found.replaced_by and found.key not in seen:
            seen.add(found.key)
            found = self._by_key.get(found.replaced_by)
        return found

    def born_on(self, days: Iterable[date]) -> Sequence[Person]:
        """Return who was born on one of `days`."""
        return [one for each in days for one in self._by_birth.get(each.isoformat(), ())]

    def exactly(self, word: str) -> Sequence[NameHit]:
        """Return whose name holds the folded `word`, or its genitive."""
        found = self._by_word.get(word)
        if found is None and word.endswith("s") and len(word) > NEAR_LEAST_CHARS - 1:
            found = self._by_word.get(word[:-1])
        return found or ()

    def has_word_of(self, message: Message, person: Person | None) -> bool:
        """Whether a word of the message is a word of somebody's name."""
        hits = (hit for word in message.words for hit in self.exactly(word.text))
        return any(hit.person.same_as(person) for hit in hits)

    def with_initials(self, words: Iterable[str]) -> Sequence[Person]:
        """Return those whose given and family name begin as one of `words` of two capitals."""
        letters = {folded(one) for one in words if len(one) == 2 and one.isupper()}
        pairs = (
            (one, f"{name.label[:1]}{name.family[:1]}")
            for one in (self.people if letters else ())
            for name in one.names
        )
        return [one for one, pair in pairs if folded(pair) in letters]

    def nearly(self, word: str) -> Sequence[NameHit]:
        """Return whose name nearly holds the folded `word`: a slip or two, or another ending."""
        return self._near(word)

    def in_unspaced(self, text: str) -> Sequence[NameHit]:
        """Return whose name stands in a text of a script without spaces."""
        return [hit for one in self._unspaced if one in text for hit in self.exactly(one)]

    def _nearly(self, word: str) -> Sequence[NameHit]:
        if len(word) < _SHORT_LEAST_CHARS:
            return ()
        edits = 2 if len(word) >= _TWO_EDITS_LEAST_CHARS else 1
        names = self._long if len(word) >= NEAR_LEAST_CHARS else self._short
        rows = process.extract(
            word, names, scorer=OSA.distance, score_cutoff=edits, limit=_NEAR_LIMIT
        )
        close = {name for name, away, _ in rows if away and away <= edits}
        close |= {
            name
            for end in range(max(len(word) - _ENDING_LIMIT_CHARS, NEAR_LEAST_CHARS), len(word))
            if (name := word[:end]) in self._by_word
        }
        for sound in map(sounds, (word, word.removesuffix("s"))):
            is_told = len(sound.strip("e")) > (1 if len(word) < NEAR_LEAST_CHARS else 2)
            alike = () if close or not is_told else self._by_sound.get(sound, ())
            if alike and is_strange(word) and not is_known_name(word):
                close = {*alike}
        return [
            NameHit(hit.person, hit.part, hit.name, is_exact=False, is_former=hit.is_former)
            for name in sorted(close)
            for hit in self._by_word.get(name, ())
        ]

    def _add(self, person: Person) -> None:
        if person.key:
            self._by_key[person.key] = person
        if person.patient_id is not None:
            self._by_id.setdefault(person.patient_id, person)
            self._note(person.patient_id, NumberHit(person, is_retired=False))
        for number in person.numbers:
            if not self._systems or number.system in self._systems:
                self._note(number.value, NumberHit(person, number.is_retired))
        if person.born_on is not None:
            self._by_birth.setdefault(person.birth_date, []).append(person)

    def _note(self, number: str, hit: NumberHit) -> None:
        rows = self._by_number.setdefault(number.casefold(), [])
        if all(not row.person.same_as(hit.person) or row.is_retired for row in rows):
            rows[:] = [row for row in rows if not row.person.same_as(hit.person)]
            rows.append(hit)
        for block in _blocks(number.casefold()):
            self._by_block.setdefault(block, []).append(
                (number.casefold(), replace(hit, is_part=True))
            )
        self._has_uuids = self._has_uuids or _UUID.fullmatch(number) is not None
        if form := form_of(number):
            self._forms.add(form)
            self._squeezed[squeezed(number)] = rows


def _left(rows: Mapping[str, list[_Hit]], gone: Collection[int]) -> dict[str, list[_Hit]]:
    """Return `rows` without the hits of whoever is gone."""
    left = (
        (key, [one for one in hits if id(one.person) not in gone]) for key, hits in rows.items()
    )
    return {key: hits for key, hits in left if hits}


def _blocks(number: str) -> Sequence[str]:
    """Return the longer parts between the signs of a number that has several."""
    found = _SIGNS.split(number)
    return [one for one in found if len(one) >= _BLOCK_LEAST_CHARS and any(map(str.isdigit, one))]


def squeezed(number: str) -> str:
    """Return the letters and digits of a number."""
    return "".join(each for each in number.casefold() if each.isalnum())


def _without_zeros(number: str) -> str:
    """Return letters and digits without the zeros between; empty for digits alone."""
    plain = squeezed(number)
    letters = plain.rstrip("0123456789")
    return letters and letters + plain[len(letters) :].lstrip("0")


def form_of(number: str) -> str:
    """Return the letters of a number and how many digits follow: `t####`; empty without both.

    Numbers of digits alone have no form: dates, telephones and orders look the same.
    """
    text = squeezed(number)
    letters = text.rstrip("0123456789")
    digits = len(text) - len(letters)
    is_one = letters.isalpha() and digits >= _DIGITS_LEAST
    return letters + "#" * digits if is_one else ""


def _words_of(name: PersonName) -> Iterable[tuple[Part, str]]:
    parts: Mapping[Part, Sequence[str]] = {"family": [name.family], "given": name.given}
    if not name.family:  # one name only, or one text: its last word stands for the family
        *first, last = name.given or name.text.split() or [""]
        parts = {"family": [last], "given": first}
    for part, texts in parts.items():
        for text in texts:
            for word in (*_split(text), *_joined(text)):
                if len(folded(word)) > 1 or is_without_spaces(word):
                    yield part, word
    halves = ["".join(_split(text)) for text in (name.family, *name.given[:1])]
    for one in permutations(halves, 2):
        if all(one) and len("".join(one)) >= _MERGED_LEAST_CHARS:
            yield "family", "".join(one)  # `hauckbethany`


def _joined(text: str) -> Iterable[str]:
    """Yield a name with a particle as one word, as it is typed in haste: `deluca`, `oneil`."""
    words, whole = letter_runs(text), "".join(letter_runs(text))
    is_led = folded(words[0]) in of_people("between_names") if words else False
    if words[1:] and (is_led or has_apostrophe(text) or len(whole) >= _MERGED_LEAST_CHARS):
        yield whole


def _split(text: str) -> Sequence[str]:
    words = letter_runs(text)
    between = of_people("between_names") if len(words) > 1 else ()
    return [one for one in words if folded(one) not in between]
