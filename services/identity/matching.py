"""Whom the words of a message name: mentions, each with the people who may be meant. Pure."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from data_models.identifiers import PatientId
from services.identity.index import NameHit, PersonIndex
from services.identity.name_signs import (
    fills_a_clause,
    is_changed_contact,
    is_sure_sign,
    is_unknown_full_name,
    stands_alone,
    stands_where_names_do,
)
from services.identity.person import Person
from services.language.mentions import Message, Word, neighbours
from services.language.people_words import people_words

Strength = Literal["full", "family", "given", "near", "former", "stranger"]
_SCORES = {("family", True): 5, ("given", True): 4, ("family", False): 2, ("given", False): 1}


@dataclass(frozen=True, slots=True)
class Mention:
    """Words that name somebody.

    Attributes:
        words: As typed, one blank between.
        people: Who may be meant, the open patient not among them.
        strength: `full` given and family name; `near` with a slip; `stranger` nobody known.
        names_open: Whether the open patient may be meant.
    """

    words: str
    people: tuple[Person, ...]
    strength: Strength
    names_open: bool = False
    span: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True)
class Known:
    """What a message is read against.

    Attributes:
        open: The open patient, if the directory knows them.
        roster: Ids of the conversation and the worklist: no evidence removes their exact names.
        others: Folded words of names of staff, relatives and contacts.
    """

    index: PersonIndex
    open: Person | None
    roster: Collection[PatientId]
    others: frozenset[str] = field(default=frozenset())


@dataclass(frozen=True, slots=True)
class _Cover:
    """How much of a run of words a person's name explains."""

    person: Person
    places: frozenset[int]
    score: int
    has_family: bool
    has_given: bool
    is_exact: bool
    is_former: bool
    in_order: bool


def mentions_in(message: Message, known: Known) -> Sequence[Mention]:
    """Return who is named in `message`, in its order."""
    found = [one for run in neighbours(message.words) for one in _mentions_of(run, known)]
    found += _unspaced(message, known)
    return found


def _unspaced(message: Message, known: Known) -> Iterable[Mention]:
    by_person: dict[int, list[NameHit]] = {}
    for hit in known.index.in_unspaced(message.text):
        by_person.setdefault(id(hit.person), []).append(hit)
    for hits in by_person.values():
        person = hits[0].person
        is_open = known.open is not None and person.same_as(known.open)
        is_full = {hit.part for hit in hits} == {"family", "given"} or not person.names[0].given
        if is_open or is_full or person.patient_id in known.roster:
            people = () if is_open else (person,)
            yield Mention(person.name, people, "full" if is_full else "family", is_open)


def _mentions_of(run: Sequence[Word], known: Known) -> Iterable[Mention]:
    free = set(range(len(run)))
    hits = {place: _hits(run, place, known) for place in free}
    while True:
        covers = [one for one in _covers(run, hits, free) if one.places]
        if not covers:
            break
        best = max(one.score for one in covers)
        chosen = _same_words([one for one in covers if one.score == best])
        places = chosen[0].places
        free -= places
        mention = _mention(run, chosen, covers, known)
        if mention is not None:
            yield mention
    yield from _strangers(run, free, hits, known)


def _same_words(covers: Sequence[_Cover]) -> Sequence[_Cover]:
    first = min(covers, key=lambda one: min(one.places))
    return [one for one in covers if one.places == first.places]


def _hits(run: Sequence[Word], place: int, known: Known) -> Sequence[NameHit]:
    word = run[place]
    exact = known.index.exactly(word.text)
    if exact:
        return exact
    if word.is_common and not (word.is_owner or word.title in ("man", "woman")):
        return ()
    return known.index.nearly(word.text)


def _covers(
    run: Sequence[Word], hits: "dict[int, Sequence[NameHit]]", free: Collection[int]
) -> Iterable[_Cover]:
    """Return, for each person and each stretch of close words, what of it is their name."""
    by_person: dict[tuple[int, int], dict[int, NameHit]] = {}
    for place in sorted(free):
        for hit in hits[place]:
            row = by_person.setdefault((id(hit.person), hit.name), {})
            if hit.part == "family" or place not in row:
                row[place] = hit
    for row in by_person.values():
        for stretch in _stretches(run, sorted(row)):
            yield _cover(run, {place: row[place] for place in stretch}, free)


def _stretches(run: Sequence[Word], places: Sequence[int]) -> Iterable[Sequence[int]]:
    """Split places where other words stand between: particles and further names may."""
    particles = people_words().particles
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


def _cover(run: Sequence[Word], row: "dict[int, NameHit]", free: Collection[int]) -> _Cover:
    person = next(iter(row.values())).person
    name = person.names[next(iter(row.values())).name]
    places = set(row)
    parts = {hit.part for hit in row.values()}
    initials = {one[0].casefold() for one in name.given if one}
    has_given = "given" in parts
    if "family" in parts and not has_given:
        for near in (min(places) - 1, max(places) + 1):
            word = run[near] if near in free and 0 <= near < len(run) else None
            if word is not None and len(word.raw) == 1 and word.text in initials:
                places.add(near)
                has_given = True
    score = sum(_SCORES[hit.part, hit.is_exact] for hit in row.values())
    score += 1 if len(places) > len(row) else 0
    both = "family" in parts and has_given
    return _Cover(
        person=person,
        places=frozenset(places),
        score=score + (3 if both else 0),
        has_family="family" in parts,
        has_given=has_given,
        is_exact=all(hit.is_exact for hit in row.values()),
        is_former=name.is_former,
        in_order=True,
    )


def _mention(
    run: Sequence[Word], chosen: Sequence[_Cover], all_of: Sequence[_Cover], known: Known
) -> Mention | None:
    span = tuple(run[place] for place in sorted(chosen[0].places))
    open_one = known.open
    fits_open = open_one is not None and any(
        one.person.same_as(open_one)
        and one.is_exact
        and one.places >= frozenset(chosen[0].places)
        and not _contradicts(span, open_one)
        for one in all_of
    )
    # A name that they share with the open patient means the open one, unless more is said.
    if fits_open and not _has_stranger_beside(run, span, known):
        namesakes = _namesakes(span, chosen, known)
        if not namesakes:
            return Mention(_typed(span), (), "full", names_open=True, span=span)
        return Mention(_typed(span), namesakes, "family", span=span)
    covers = [one for one in chosen if open_one is None or not one.person.same_as(open_one)]
    covers = [one for one in covers if not _contradicts(span, one.person)] or covers
    people = _distinct(one.person for one in covers)
    if not people:
        if open_one is not None and all(one.is_exact for one in chosen):
            return _stranger_with_open_name(span)
        near_open = [one for one in chosen if open_one is not None]
        return Mention(_typed(span), (), "near", names_open=True, span=span) if near_open else None
    strength = _strength(covers)
    accepted = [one for one in people if _counts(span, one, strength, chosen[0], known)]
    if not accepted:
        return None
    return Mention(_typed(span), tuple(accepted), strength, span=span)


def _namesakes(
    span: tuple[Word, ...], chosen: Sequence[_Cover], known: Known
) -> tuple[Person, ...]:
    """Return others of the conversation whom the same part of a name means just as well."""
    open_one = known.open
    return _distinct(
        one.person
        for one in chosen
        if one.is_exact
        and not (one.has_family and one.has_given)
        and one.person.patient_id in known.roster
        and not (open_one is not None and one.person.same_as(open_one))
        and not _contradicts(span, one.person)
    )


def _stranger_with_open_name(span: tuple[Word, ...]) -> Mention | None:
    """The open patient's family name with a title or a first name that is not theirs."""
    first = span[0]
    if first.title in ("staff", "relative"):
        return None
    return Mention(_typed(span), (), "stranger", span=span)


def _strength(covers: Sequence[_Cover]) -> Strength:
    one = covers[0]
    if not one.is_exact:
        return "near"
    if one.is_former and all(each.is_former for each in covers):
        return "former"
    if one.has_family and one.has_given:
        return "full"
    return "family" if one.has_family else "given"


def _counts(
    span: tuple[Word, ...], person: Person, strength: Strength, cover: _Cover, known: Known
) -> bool:
    """Whether the words name `person`, by the signs beside them."""
    in_roster = person.patient_id is not None and person.patient_id in known.roster
    title = span[0].title
    # A name in capitals or with a title; lower-case words of common language need a sign.
    signed = any(one.stands_as_name for one in span) or fills_a_clause(span)
    common = [one.is_common for one in span]
    if in_roster and cover.is_exact:
        begins = len(span) > 1 and span[0].is_first
        return signed or begins or not all(common)
    if title in ("staff", "relative") or any(one.text in known.others for one in span):
        return False
    if strength in ("full", "former") and cover.has_family and cover.has_given:
        return signed or not all(common)
    is_eponym = strength in ("near", "given") and all(one.is_eponym for one in span)
    if is_eponym or all(one.is_surely_eponym for one in span):
        return False
    if strength == "near":
        if cover.has_family and cover.has_given and len(span) > 1:
            return signed or not any(common)
        is_name = in_roster or any(one.raw[0].isupper() or one.stands_as_name for one in span)
        is_name = is_name or stands_where_names_do(span)
        return (is_name and not any(common)) or is_sure_sign(span)
    if strength in ("family", "former"):
        return signed if any(common) else True
    return is_sure_sign(span) or (in_roster and signed) or stands_alone(span)


def _contradicts(span: tuple[Word, ...], person: Person) -> bool:
    title = next((one.title for one in span if one.title is not None), None)
    if title == "man":
        return person.sex == "female"
    return title == "woman" and person.sex == "male"


def _has_stranger_beside(run: Sequence[Word], span: tuple[Word, ...], known: Known) -> bool:
    """Whether another first name stands beside a family name that the open patient has, too."""
    if len(span) > 1 or span[0].title is not None:
        return False
    hits = known.index.exactly(span[0].text)
    of_open = [hit for hit in hits if known.open is not None and hit.person.same_as(known.open)]
    if not any(hit.part == "family" for hit in of_open):
        return False
    at = run.index(span[0])
    before = run[at - 1] if at else None
    if before is None or "," in span[0].gap or len(before.raw) < 3 or before.is_common:
        return False
    is_given = any(hit.part == "given" for hit in known.index.exactly(before.text))
    return is_given or (before.raw[0].isupper() and not before.is_eponym)


def _strangers(
    run: Sequence[Word], free: Collection[int], hits: "dict[int, Sequence[NameHit]]", known: Known
) -> Iterable[Mention]:
    """Yield names that nobody of the directory has, where a title says who is meant."""
    for place in sorted(free):
        word = run[place]
        if place and is_unknown_full_name(run[place - 1], word) and not hits[place - 1]:
            if is_changed_contact(run, word):
                continue
            yield Mention(f"{run[place - 1].raw} {word.raw}", (), "stranger", span=(word,))
            continue
        if word.title not in ("man", "woman") or len(word.raw) < 2:
            continue
        if word.is_common and not word.is_owner:
            continue
        if word.text in known.others or (hits[place] and known.open is None):
            continue
        if word.raw[0].isupper() or word.is_owner:
            yield Mention(word.raw, (), "stranger", span=(word,))


def _distinct(people: Iterable[Person]) -> tuple[Person, ...]:
    found: list[Person] = []
    for one in people:
        if not any(one.same_as(each) for each in found):
            found.append(one)
    return tuple(found)


def _typed(span: Sequence[Word]) -> str:
    return " ".join(one.raw for one in span)
