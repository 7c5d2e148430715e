"""Who is of an age by which a message tells somebody. Pure."""

from collections.abc import Sequence

from services.identity.names.matching import Known, Mention
from services.identity.names.person import Person, distinct
from services.identity.said import Said
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


def by_age(mention: Mention, said: Said, known: Known) -> Sequence[Person]:
    """Return who may be meant, first who is of the age behind the name: `koepp, 49, bp`."""
    told = age_behind(said.message.text, mention.span[-1].end) if mention.span else None
    people = mention.people
    return sorted(people, key=lambda one: not _is_so_old(one, told, known)) if told else people


def _is_so_old(one: Person, told: AgeTold, known: Known) -> bool:
    """Whether somebody is of an age; of the open patient a year more or less is right as well."""
    if one.born_about is None or known.today is None:
        return False
    if told.sex is not None and one.sex in ("male", "female") and one.sex != told.sex:
        return False
    is_open = one.same_as(known.open) and told.unit == "year"
    near = is_open and told.is_near(one.born_about, known.today)
    return near or told.fits(one.born_about, known.today)
