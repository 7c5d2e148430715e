"""Whom a message is about, decided by code from what it names. Pure (spec page 10.2)."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from services.identity import said as things_said
from services.identity.ages import by_age, is_birth_of, is_grown, of_another_age, of_the_age
from services.identity.names.asked_about import points_at_open
from services.identity.names.covers import name_words
from services.identity.names.kin_asked import asks_of_somebody_beside
from services.identity.names.matching import Known, Mention
from services.identity.names.person import Person, distinct
from services.identity.names.strangers import nearest_to
from services.identity.said import Said
from services.language.figures.full_dates import FullDate
from services.language.people.descriptions import is_of_hers_alone, values_asked
from services.language.people.pointed_at import pointed_at
from services.language.requests.requests import names_alone
from services.language.words.folding import words_of
from services.language.words.phrases import says

Outcome = Literal["same", "other", "several", "unsure"]
Reason = Literal[
    "nobody_else", "named", "number", "retired", "merged", "nearly", "part", "former", "described",
    "birth_date", "contradiction", "pronoun", "stranger", "nobody",
    "unanswered", "several", "elsewhere", "compared",
]  # fmt: skip
OPTIONS_LIMIT = 5
_REASONS: dict[str, Reason] = {"near": "nearly", "former": "former"}


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom a message is about.

    Attributes:
        people: Who may be meant, best first, at most five; of `other` the one who is.
        said: The words or the number in question, as typed.
        is_sure: Of `several`, whether each is named by number, whole name or as the open one.
    """

    outcome: Outcome
    reason: Reason
    people: tuple[Person, ...] = ()
    said: str = ""
    is_sure: bool = True


@dataclass(slots=True)
class _Evidence:
    """The people a message points to, by how."""

    sure: list[Person] = field(default_factory=list)
    asked: list[tuple[Person, Reason, str]] = field(default_factory=list)
    names_open: bool = False


def subject_of(said: Said, known: Known) -> Subject:
    """Return the subject: `same` only where the open patient or nobody is named."""
    found, said = _Evidence(), things_said.without_set_against(said)
    problem = _read_numbers(said, known, found)
    problem = problem or _read_mentions(said, known, found) or _read_dates(said, known, found)
    problem = problem or _read_years(said, known, found)
    problem = problem or _namesake_born_then(said, known, found)
    if not problem and (another := of_another_age(said, known)) is not None:
        words, people = another
        problem = Subject("unsure", "contradiction", people[:OPTIONS_LIMIT], said=words)
    return problem or _with_pronoun(_concluded(said, known, found), said, known)


def _read_numbers(said: Said, known: Known, found: _Evidence) -> Subject | None:
    for number in said.numbers:
        alive = distinct(hit.person for hit in number.hits if not hit.is_retired)
        if not number.hits:
            return Subject("unsure", "nobody", said=number.text)
        is_part = any(hit.is_part for hit in number.hits)
        is_open = known.open is not None and all(one.same_as(known.open) for one in alive)
        if len(alive) != 1 or (is_part and not is_open):
            people = tuple(hit.person for hit in number.hits)[:OPTIONS_LIMIT]
            reason: Reason = "retired" if not alive else "part"
            return Subject("unsure", reason, people, said=number.text)
        person = alive[0]
        if person.replaced_by:
            survivor = known.index.survivor(person)
            if survivor is None:
                return Subject("unsure", "merged", (), said=number.text)
            person = survivor
        found.sure = [*distinct([*found.sure, person])]
    return None


def _read_mentions(said: Said, known: Known, found: _Evidence) -> Subject | None:
    problem: Subject | None = None
    for mention in said.mentions:
        if mention.names_open:
            found.names_open = True
        elif mention.strength == "stranger":
            is_beside = said.message.registers or names_alone(said.message.text, "name_who_wrote")
            is_beside = is_beside or things_said.is_kin_who_speaks(said.message, mention, known)
            if not is_beside:
                problem = problem or _no_patient(mention, known)
        elif mention.strength == "full" and len(mention.people) == 1:
            found.sure = [*distinct([*found.sure, mention.people[0]])]
        else:
            reason = _REASONS.get(mention.strength, "part")
            people = by_age(mention, said, known)
            found.names_open |= not people
            found.asked += [(one, reason, mention.words) for one in people]
    # Part of a name beside the number or the whole name of the same person says nothing more.
    taken = {said for one, _, said in found.asked if any(map(one.same_as, found.sure))}
    found.asked = [row for row in found.asked if row[2] not in taken]
    others = tuple(one for one in found.sure if not one.same_as(known.open))
    if problem and others and not said.numbers:
        return Subject("several", "several", distinct([*others, *filter(None, [known.open])]))
    return None if found.asked or found.sure else problem


def _no_patient(mention: Mention, known: Known) -> Subject:
    known_people = filter(None, map(known.index.with_id, known.roster))
    others = (one for one in known_people if not one.same_as(known.open))
    people = tuple(nearest_to(mention.span, mention.words, others))[:OPTIONS_LIMIT]
    return Subject("unsure", "stranger", people, said=mention.words)


def _read_dates(said: Said, known: Known, found: _Evidence) -> Subject | None:
    own = known.open
    for one in said.dates:
        born = known.index.born_on(one.readings)
        _leave_out_namesakes(known.open, one, found)
        if found.sure or found.asked:
            # `koch *11.03.1948`, where another Koch was spoken of
            found.asked += [
                (each, "part", words)
                for words in {row[2] for row in found.asked}
                for each in born
                if name_words(each).issuperset(words_of(words))
                and not any(each.same_as(row[0]) for row in found.asked)
            ]
            if (problem := _narrow(one, found, said, known)) is not None:
                return problem
            continue
        if own is not None and own.is_born_on(one.readings):
            if others := _born_as_well(one, born, known):
                return Subject("unsure", "birth_date", others, said=_typed(said, one))
            found.names_open = True
        elif found.names_open and own is not None and is_birth_of(own, one, said, known):
            return Subject("unsure", "contradiction", tuple(born), said=_typed(said, one))
        elif not born and not said.message.registers and _may_be_birth(one, said, known):
            return Subject("unsure", "contradiction", said=_typed(said, one))
        else:
            # `Grant 1942-03-03`: a common word beside its bearer's birth date is a name.
            meant = [
                each
                for each in born
                if one.is_birth
                or things_said.heads_message(said, one)
                or each.patient_id in known.roster
                or known.index.has_word_of(said.message, each)
            ]
            found.asked += [(each, "birth_date", _typed(said, one)) for each in meant]
    return None


def _leave_out_namesakes(own: Person | None, one: FullDate, found: _Evidence) -> None:
    """Leave out who has the name of `own`, whose birth date it is: `koch *11.03.1948`."""
    if own is None or not own.is_born_on(one.readings):
        return
    left = [row for row in found.asked if not name_words(own).issuperset(words_of(row[2]))]
    found.asked = [row for row in found.asked if row in left or row[0].is_born_on(one.readings)]


def _may_be_birth(one: FullDate, said: Said, known: Known) -> bool:
    """Whether a date is called one of birth, or heads what is asked and is long ago."""
    is_old = one.is_long_ago(known.today)
    words = said.message.words
    behind = next((word.text for word in words if word.start > one.start), "")
    asks = behind in values_asked() or "?" in said.message.text
    return one.is_birth or (
        is_old and bool(behind) and asks and things_said.heads_message(said, one)
    )


def _born_as_well(one: FullDate, born: Iterable[Person], known: Known) -> tuple[Person, ...]:
    """Return whom a date of two readings means as well: namesakes, and others that are known."""
    own = known.open
    return tuple(
        each
        for each in born
        if own is not None
        and len(one.readings) > 1
        and not each.same_as(own)
        and (each.is_namesake_of(own) or each.patient_id in known.roster)
    )[:OPTIONS_LIMIT]


def _read_years(said: Said, known: Known, found: _Evidence) -> Subject | None:
    """A year of birth that is not the open patient's asks; it names nobody by itself."""
    person = known.open
    if person is None or not person.birth_date or found.sure or found.asked:
        return None
    years = (one for one in said.birth_years if not person.birth_date[:4].endswith(one))
    other = next(years, "")
    if not other or said.message.registers:
        return None
    born = (one for one in known.index.people if one.birth_date[:4].endswith(other))
    is_alone = not said.mentions  # `the 1949 one: psa`
    people = [one for one in born if is_alone or known.index.has_word_of(said.message, one)]
    return Subject("unsure", "contradiction", tuple(people[:OPTIONS_LIMIT]), said=other)


def _namesake_born_then(said: Said, known: Known, found: _Evidence) -> Subject | None:
    """The open patient's name with a year in which another of that name was born asks."""
    person = known.open
    if person is None or not said.years or not found.names_open or found.sure:
        return None
    years = [str(one) for one in said.years if not person.birth_date.startswith(str(one))]
    born_then = tuple(
        one
        for one in known.index.people
        if one.birth_date[:4] in years
        and not one.same_as(person)
        and (
            one.is_namesake_of(person)
            or (one.patient_id in known.roster and known.index.has_word_of(said.message, one))
        )
    )
    asked = Subject("unsure", "contradiction", born_then[:OPTIONS_LIMIT], said=person.name)
    return asked if born_then else None


def _with_pronoun(subject: Subject, said: Said, known: Known) -> Subject:
    """Ask where nobody else is named and a pronoun fits another of the conversation only.

    The answer is not remembered: the next "she" may be somebody else.
    """
    person, sex = known.open, said.message.spoken_sex
    is_same = subject.outcome == "same" and subject.reason in ("nobody_else", "named")
    if not is_same or person is None:
        return subject
    is_of_child = says(said.message.text, "child_of_a_chart") and is_grown(person, known)
    is_of_another = len(known.roster) < 2 and says(said.message.text, "another_patient")
    if is_of_child or is_of_another or asks_of_somebody_beside(said.message):
        return Subject("unsure", "described")
    is_untold = subject.reason == "nobody_else" and said.age is None
    ill = pointed_at(said.message.words) if is_untold else None
    if ill is not None and not (ill and known.has_ill):
        return Subject("unsure", "described")
    people = [known.index.with_id(one) for one in known.roster]
    if sex == person.sex and is_of_hers_alone([one.text for one in said.message.words]):
        alike = [one for one in people if one and one.sex == sex and not one.same_as(person)]
        return Subject("unsure", "described", tuple(alike[:OPTIONS_LIMIT])) if alike else subject
    if sex is None or person.sex not in ("male", "female") or person.sex == sex:
        return subject  # of both sexes: one of them is somebody else
    fitting = [one for one in people if one is not None and one.sex not in (person.sex, "unknown")]
    if not fitting and says(said.message.text, "reaches_somebody"):
        return subject  # a relative who was told of
    return Subject("unsure", "pronoun", tuple(fitting[:OPTIONS_LIMIT]))


def _narrow(one: FullDate, found: _Evidence, said: Said, known: Known) -> Subject | None:
    """A birth date beside a name makes it sure, or contradicts it."""
    fitting = [row for row in found.asked if row[0].is_born_on(one.readings)]
    if one.is_birth and found.asked and not (fitting or found.sure):
        people = distinct(row[0] for row in found.asked)[:OPTIONS_LIMIT]
        return Subject("unsure", "contradiction", people, said=found.asked[0][2])
    for person in found.sure:
        is_birth = is_birth_of(person, one, said, known)
        if is_birth and person.is_born_on(one.readings) is False:
            return Subject("unsure", "contradiction", (person,), said=person.name)
    if fitting and not found.sure:
        exact = [row for row in fitting if row[1] == "part"]
        if len(exact) == 1 and len(fitting) == 1:
            found.sure.append(exact[0][0])
            found.asked = []
        else:
            found.asked = fitting
    return None


def _concluded(said: Said, known: Known, found: _Evidence) -> Subject:
    others = [one for one in found.sure if not one.same_as(known.open)]
    names_open = found.names_open or len(others) < len(found.sure)
    asked = [row for row in found.asked if not row[0].same_as(known.open)]
    asked_people = distinct(row[0] for row in asked)
    words = {row[2] for row in asked}
    several = (
        len(others) > 1
        or (others and (names_open or asked))
        or ((names_open or len(words) > 1) and asked)
    )
    is_wrong = any(
        one.names_open and things_said.is_called_wrong(one, said.message) for one in said.mentions
    )
    if is_wrong and not (others or asked):
        return Subject("unsure", "described")
    relates = (
        said.message.compares
        or points_at_open(said.message)
        or things_said.is_in_passing(said, others)
        or things_said.is_stated_only(said, others, known)
        or things_said.is_of_other_sex(said, others)
        or things_said.is_after_the_open_one(said.message, things_said.first_place(said, others))
    )
    if several or (others and known.open is not None and relates):
        people = distinct([*others, *asked_people, *([known.open] if known.open else [])])
        return Subject("several", "several", people[:OPTIONS_LIMIT], is_sure=not asked)
    if others:
        how: Reason = "number" if said.numbers else "named"
        names = (one.words for one in said.mentions if any(map(others[0].same_as, one.people)))
        typed = next(names, said.numbers[0].text if said.numbers else "")
        return Subject("other", how, (others[0],), said=typed)
    if asked:
        return Subject("unsure", asked[0][1], asked_people[:OPTIONS_LIMIT], said=asked[0][2])
    if not names_open and (person := things_said.gone_back_to(said, known)) is not None:
        return Subject("other", "named", (person,), said=said.message.text)
    aged = of_the_age(said, known)
    if aged is not None and not names_open and not (len(aged) == 1 and aged[0].same_as(known.open)):
        others = [one for one in aged if not one.same_as(known.open)]
        return Subject("unsure", "described", tuple(others[:OPTIONS_LIMIT]))
    describes = said.message.describes or things_said.asks_which(said, known)
    if said.message.is_placed or (describes and not names_open and aged is None):
        return Subject("unsure", "described")
    return Subject("same", "named" if names_open else "nobody_else")


def _typed(said: Said, one: FullDate) -> str:
    return said.message.text[one.start : one.end]
