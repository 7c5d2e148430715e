"""Who is of an age by which a message tells somebody. Pure."""

from collections.abc import Sequence

from services.identity.names.covers import name_words
from services.identity.names.matching import Known, Mention
from services.identity.names.person import Person, distinct
from services.identity.said import Said
from services.language.figures.full_dates import FullDate
from services.language.people.ages_told import AgeTold, age_behind


def is_grown(person: Person, known: Known) -> bool:
    """Whether somebody is no child any more."""
    if person.born_about is None or known.today is None:
        return False
    return not AgeTold(0, "year").is_near(person.born_about, known.today, within=16)


def of_the_age(said: Said, known: Known) -> Sequence[Person] | None:
    """Return whom of the conversation an age stands for, `the 8-month-old`; None if none does."""
    told, today = said.age, known.today
    if told is None or today is None or known.open is None or known.open.born_about is None:
        return None
    people = [known.open, *filter(None, map(known.index.with_id, known.roster))]
    return distinct(one for one in people if _is_so_old(one, told, known))


def of_another_age(said: Said, known: Known) -> tuple[str, tuple[Person, ...]] | None:
    """Return the open patient's name with whom an age not theirs may mean: `Koepp, 49, BP?`."""
    person, today = known.open, known.today
    named = [one for one in said.mentions if one.names_open and one.span]
    if person is None or person.born_about is None or today is None or not named:
        return None
    words = (word.text for one in named for word in one.span)
    namesakes = distinct(hit.person for one in words for hit in known.index.exactly(one))
    ages = (_age_behind(one, said, namesakes, known) for one in named)
    told = next((age for age in ages if age and not age.is_near(person.born_about, today)), None)
    if told is None:
        return None
    of_age = (one for one in namesakes if one.born_on and told.fits(one.born_on, today))
    return named[0].words, tuple(of_age)


def _age_behind(at: Mention, said: Said, named: Sequence[Person], known: Known) -> AgeTold | None:
    born = (one.born_on for one in named)
    return age_behind(said.message.text, at.span[-1].end, born=born, today=known.today)


def by_age(mention: Mention, said: Said, known: Known) -> Sequence[Person]:
    """Return who may be meant, first who is of the age behind the name: `koepp, 49, bp`.

    Nobody where of all of that name only the open patient is so old.
    """
    named = [*mention.people, *filter(None, [known.open])]
    told = _age_behind(mention, said, named, known) if mention.span else None
    of_age = [one for one in named if told and _is_so_old(one, told, known)]
    words = {one.text for one in mention.span}
    if [known.open] == of_age and not words.isdisjoint(name_words(of_age[0])):
        return ()
    return sorted(mention.people, key=lambda one: one not in of_age)


def _is_so_old(one: Person, told: AgeTold, known: Known) -> bool:
    """Whether somebody is of an age; of the open patient a year more or less is right as well."""
    if one.born_about is None or known.today is None:
        return False
    if told.sex is not None and one.sex in ("male", "female") and one.sex != told.sex:
        return False
    is_open = one.same_as(known.open) and told.unit == "year"
    near = is_open and told.is_near(one.born_about, known.today)
    return near or told.fits(one.born_about, known.today)


def is_birth_of(person: Person, one: FullDate, said: Said, known: Known) -> bool:
    """Whether a date is called one of birth, is nearly theirs, or, of long ago, beside a name."""
    if one.is_birth or person.is_nearly_born_on(one.readings) or not one.is_long_ago(known.today):
        return one.is_birth or person.is_nearly_born_on(one.readings)
    text, spans = said.message.text, (each.span for each in said.mentions if each.span)
    gaps = ((text[span[-1].end : one.start], text[one.end : span[0].start]) for span in spans)
    return any(gap and not any(map(str.isalnum, gap)) for pair in gaps for gap in pair)
