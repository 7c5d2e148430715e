"""How much of a run of words the names of people explain. Pure."""

import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from rapidfuzz.distance import OSA

from services.identity.names.index import NEAR_LEAST_CHARS, NameHit, PersonIndex
from services.identity.names.person import Person, PersonName, distinct
from services.language.charts.chart_entries import chart_nouns, measured_nouns
from services.language.people.descriptions import first_parts, things_asked
from services.language.people.name_runs import is_behind_letter, leads_a_name
from services.language.people.named_person import is_known_name, is_short_for
from services.language.people.signed_word import Word
from services.language.people.strange_words import is_strange
from services.language.words.letters import folded, is_without_spaces, letter_runs, sounds
from services.language.words.people_words import common_words, of_people

_ALIKE_CHARS, _HEARD_LEAST = 2, 5
_SCORES = {("family", True): 5, ("given", True): 4, ("family", False): 2, ("given", False): 1}


@dataclass(frozen=True, slots=True)
class Cover:
    """How much of a run of words a person's name explains.

    Attributes:
        by_initial: Whether nothing but an initial stands for the first names.
    """

    person: Person
    places: frozenset[int]
    score: int
    has_family: bool
    has_given: bool
    by_initial: bool
    is_exact: bool
    is_former: bool


def same_words(covers: Sequence[Cover]) -> Sequence[Cover]:
    """Return those of `covers` that explain the same words as the first in the text."""
    first = min(covers, key=lambda one: min(one.places))
    return [one for one in covers if one.places == first.places]


def hits_of(run: Sequence[Word], place: int, index: PersonIndex) -> Sequence[NameHit]:
    """Return whose name the word at `place` is, or nearly is."""
    word, exact = run[place], index.exactly(run[place].text)
    beside = [*run[max(place - 1, 0) : place], *run[place + 1 : place + 2]]
    halves = [hit for one in beside for hit in index.exactly(one.text)]
    if exact:  # `an hb of 7`, no `nguyen an`
        is_word = word.raw.islower() and word.is_in("articles")
        return [it for it in exact if not is_word or any(it.person is one.person for one in halves)]
    single = word.text.removesuffix("s")
    is_owned = single != word.text and word.text not in common_words()
    if is_owned and word.after in things_asked() and (owners := index.exactly(single)):
        return owners  # `joys k`
    is_signed = word.is_owner or word.title in ("man", "woman")
    is_word = (word.is_common or word.is_derived) and not (is_signed or is_looked_up(run, word))
    is_short_form = word.raw.isupper() and len(word.raw) < 4 and not is_signed  # `BSA`
    near = () if is_short_form or word.is_in("no_names", "owners") else index.nearly(word.text)
    if near and not is_word:
        is_long = len(word.text) >= NEAR_LEAST_CHARS or is_strange(word.text)
        if is_long or is_looked_up(run, word):
            return near
    # Of a short name, or one that became a word, it counts beside the other half: `dana fest`.
    found = [hit for hit in near if any(hit.person is one.person for one in halves)]
    return found or [
        replace(one, part="given", is_exact=False)  # `jim cook`
        for one in halves
        if one.part == "family" and _may_be_called(word.text, one.person)
    ]


def _may_be_called(text: str, person: Person) -> bool:
    """Whether it is short for a first name, or the whole of one that is short itself."""
    given = given_words(person)
    is_whole = any(is_short_for(one, [text]) for one in given)
    return text not in name_words(person) and (is_whole or is_short_for(text, given))


def parted_names(
    words: Sequence[Word], index: PersonIndex, own: Person | None
) -> Iterable[tuple[tuple[Word, ...], tuple[Person, ...], bool]]:
    """Yield two words that are one name but for a blank, whose, and whether it is `own`'s, too."""
    for span in pairwise(words):
        texts = [one.text for one in span]
        is_name = span[1].gap == " " and not all(one.is_common for one in span)
        is_name = is_name and not any(map(index.exactly, texts))
        people = distinct(hit.person for hit in index.exactly("".join(texts))) if is_name else ()
        if people:  # `mosci ski`
            others = tuple(one for one in people if not one.same_as(own))
            yield span, others, len(others) < len(people)


def is_looked_up(run: Sequence[Word], word: Word) -> bool:
    """Whether a message is a word, that is no quality of a value, and a value: `fest weight`."""
    values = first_parts(measured_nouns())
    is_name = word.is_first and not word.is_in("qualities", "newest", "signs")
    is_all = len(run) in (2, 3) and run[0] is word and run[1].text in values
    return is_all and is_name and word.text not in values and word.text not in chart_nouns()


def has_family_initial(run: Sequence[Word], span: Sequence[Word], person: Person) -> bool:
    """Whether the first letter of the family name is beside: `christian b. weight`, `b. chris`."""
    beside = [one for one in run if one.start > span[-1].start][:1]
    beside += run[:1] if run[1:2] == [span[0]] and is_behind_letter(run, 1) else []
    names = {folded(one.family)[:1] for one in person.names}
    return any(len(one.raw) == 1 and one.text in names for one in beside)


def has_particle(span: Sequence[Word], person: Person) -> bool:
    """Whether a particle of the family name stands before it: `sra de la cruz`."""
    before = span[0].before
    return before in of_people("particles") and before in name_words(person)


def has_another_initial(run: Sequence[Word], at: int, person: Person) -> bool:
    """Whether another first name, or letter, is by a family name: `A. Moen`, `Moen, Mark PSA`."""
    behind = (one for one in run[at + 1 : at + 2] if one.gap == ", " and one.raw[0].isupper())
    if any(one.is_in("given_too", "verbs_too") or is_strange(one.text) for one in behind):
        return True
    is_led = at > 0 and run[at].gap[:1] == "." and (at == 1 or len(run[at - 2].raw) > 1)
    # `seen by A. Moen`; `M. Moen` is a man where that is French.
    is_led = is_led and run[at - 1].before not in of_people("not_asked", "before_letters")
    is_led &= (run[at - 1].text, run[at - 1].title, run[at].title) != ("m", None, "man")
    is_behind = bool(run[at + 2 :]) and "," in run[at + 1].gap and run[at + 2].gap[:1] == "."
    told = [*run[at - 1 : at][:is_led], *run[at + 1 : at + 2][:is_behind]]
    given = {one[:1] for one in given_words(person)}
    return any(len(one.raw) == 1 and one.raw.isupper() and one.text not in given for one in told)


def apart(covers: Iterable[Cover]) -> Sequence[range]:
    """Return the stretches between which no cover reaches: what is named in one is of no other."""
    found: list[range] = []
    for one in sorted(covers, key=lambda one: min(one.places)):
        first, end = min(one.places), max(one.places) + 1
        if found and first < found[-1].stop:
            before = found.pop()
            first, end = before.start, max(before.stop, end)
        found.append(range(first, end))
    return found


def covers_of(
    run: Sequence[Word], hits: Mapping[int, Sequence[NameHit]], free: Set[int]
) -> Iterable[Cover]:
    """Return, for each person and each stretch of close words, what of it is their name."""
    by_person: dict[tuple[int, int], dict[int, NameHit]] = {}
    for place in sorted(hits.keys() & free):
        for hit in hits[place]:
            row = by_person.setdefault((id(hit.person), hit.name), {})
            if hit.part == "family" or place not in row:
                row[place] = hit
    for row in by_person.values():
        for stretch in _stretches(run, sorted(row)):
            yield _cover(run, {place: row[place] for place in stretch}, free)


def _stretches(run: Sequence[Word], places: Sequence[int]) -> Iterable[Sequence[int]]:
    """Split places where other words stand between: particles and further names may."""
    particles = of_people("particles")
    stretch: list[int] = []
    for place in places:
        if stretch:
            between = run[stretch[-1] + 1 : place]
            if len(between) > 2 or not all(
                one.text in particles or (one.is_capital and not one.is_common) or len(one.raw) == 1
                for one in between
            ):
                yield stretch
                stretch = []
        stretch.append(place)
    if stretch:
        yield stretch


def _cover(run: Sequence[Word], row: Mapping[int, NameHit], free: Collection[int]) -> Cover:
    person = next(iter(row.values())).person
    name = person.names[next(iter(row.values())).name]
    places = set(row)
    parts = {hit.part for hit in row.values()}
    said = {run[place].text for place in places}
    # Of `Anna M. Berg` the M is no more of Anna than of any other.
    initials = {one[0].casefold() for one in name.given if one and folded(one) not in said}
    has_given = "given" in parts
    if "family" in parts:
        for near in range(min(places) - 1, max(places) + 2):
            word = run[near] if near in free and 0 <= near < len(run) else None
            if word is None or len(word.raw) != 1 or word.text not in initials:
                continue
            # `Vogel K` asks of potassium, not so `Vogel, K`, `Vogel K.` and `Vogel H`.
            ends = run[near + 1].gap[:1] == "." if near + 1 < len(run) else False
            is_led = near < max(row) or has_given or "," in word.gap or ends
            if is_led or word.text not in chart_nouns():
                places.add(near)
                has_given = True
    score = sum(_SCORES[hit.part, hit.is_exact] for hit in row.values())
    score += 1 if len(places) > len(row) else 0
    both = "family" in parts and has_given
    return Cover(
        person=person,
        places=frozenset(places),
        score=score + (3 if both else 0),
        has_family="family" in parts,
        has_given=has_given,
        by_initial=has_given and "given" not in parts,
        is_exact=all(hit.is_exact for hit in row.values()),
        is_former=name.is_former,
    )


def name_words(person: Person) -> frozenset[str]:
    """Return all folded words of the names, particles and the O of O'Brien, too.

    Of a script without blanks these are the whole names as well.
    """
    found: set[str] = set()
    for name in person.names:
        words = [
            folded(one) for one in letter_runs(" ".join((*name.given, name.family, name.text)))
        ]
        found.update(words)
        if is_without_spaces("".join(words)):
            found |= {name.family + "".join(name.given), "".join(name.given) + name.family}
    return frozenset(found)


def has_another_name(span: Sequence[Word], open_one: Person) -> bool:
    """Whether a word is no slip in the open patient's name but a name itself: `Abdullah Koepp`."""
    own = name_words(open_one)
    away = {one.text: min(OSA.distance(one.text, each) for each in own) for one in span}
    names = (one for one, edits in away.items() if edits > 1 or (edits and is_known_name(one)))
    given = given_words(open_one)
    longest = max(map(len, given), default=0)  # who is Bill need not be that William
    return not all(
        (len(one) <= longest and is_short_for(one, given))
        or (away[one] < 2 and _is_spelling_of(one, open_one))
        for one in names
    )


def given_words(person: Person) -> frozenset[str]:
    """Return the folded words of all first names."""
    return frozenset(folded(one) for name in person.names for one in " ".join(name.given).split())


def _is_spelling_of(text: str, person: Person) -> bool:
    """Whether it sounds, begins and ends as a first name, `Brian` of Bryan, or doubles letters."""

    def heard(word: str) -> tuple[str, str, str]:
        return word.replace("y", "i").replace("h", "")[:_ALIKE_CHARS], sounds(word), word[-1]

    def once(word: str) -> list[str]:
        return [one for one, _ in groupby(word)]

    is_heard = len(text) >= _HEARD_LEAST and heard(text) in map(heard, given_words(person))
    return is_heard or once(text) in map(once, name_words(person))


def fits_better(person: Person, other: Person, run: Sequence[Word], span: Sequence[Word]) -> bool:
    """Whether the words are nearer to the whole name of `person` than to that of `other`.

    `Maria Silva` is nearer to her than to Maria da Silva, `Hans Krämer` than to Hans Kramer.
    """
    first, end = span[0].at - run[0].at, span[-1].at - run[0].at + 1
    typed = [run[first:end]]
    while first and (run[first - 1].is_in("particles") or leads_a_name(run[first - 1], run[first])):
        first -= 1
        typed.append(run[first:end])
    return _fit(person, typed) > _fit(other, typed)


def _fit(person: Person, typed: Sequence[Sequence[Word]]) -> tuple[int, bool, bool]:
    """Return of how many words all of a name is, whether in its order, and spelled as it is."""
    names = [one for one in person.names if not one.is_former]
    return max(
        (_fit_of(name, words) for name in names for words in typed), default=(0, False, False)
    )


def _fit_of(name: PersonName, words: Sequence[Word]) -> tuple[int, bool, bool]:
    given, family = letter_runs(" ".join(name.given)), letter_runs(name.family)
    # `Grant, Mark` and `Mark Grant` are one.
    has_comma = any("," in one.gap for one in words[1:])
    parts = [*family, *given] if has_comma else [*given, *family]
    folds, plain = [folded(one) for one in parts], sorted(map(_plain, parts))
    said = [_in_nominative(one.text, folds) for one in words]
    if sorted(said) != sorted(folds):
        return 0, False, False
    is_spelled = sorted(_in_nominative(_plain(one.raw), plain) for one in words) == plain
    return len(said), said == folds, is_spelled


def _in_nominative(word: str, names: Collection[str]) -> str:
    """Return a name without the s of a German genitive: `Anna Vogts`."""
    return word[:-1] if word not in names and word.endswith("s") and word[:-1] in names else word


def _plain(word: str) -> str:
    return unicodedata.normalize("NFC", word).casefold()
