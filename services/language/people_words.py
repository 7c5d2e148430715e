"""The words beside names, and the words of common language that are names too: lists as data."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from services.language.letters import folded
from services.language.statement_tables import read_table

_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class PeopleWords:
    """What stands beside names; every word is folded. Each list is named in the YAML beside."""

    titles_of_men: frozenset[str]
    titles_of_women: frozenset[str]
    titles_of_patients: frozenset[str]
    staff: frozenset[str]
    relatives: frozenset[str]
    unrelated: frozenset[str]
    contacts: frozenset[str]
    owners: frozenset[str]
    eponyms: frozenset[str]
    eponym_heads: frozenset[str]
    eponym_leads: frozenset[str]
    people: frozenset[str]
    definite: frozenset[str]
    described_by: frozenset[str]
    moves_on: frozenset[str]
    opening: frozenset[str]
    opening_verbs: frozenset[str]
    contact_parts: frozenset[str]
    before_names: frozenset[str]
    auxiliaries: frozenset[str]
    qualities: frozenset[str]
    born: frozenset[str]
    numbers: frozenset[str]
    registers: frozenset[str]
    compares: frozenset[str]
    set_aside: frozenset[str]
    set_against: frozenset[str]
    was_shown: frozenset[str]
    parting: frozenset[str]
    verbs_of_plans: frozenset[str]
    shown: frozenset[str]
    whose: frozenset[str]
    opened: frozenset[str]
    not_asked: frozenset[str]
    moving: frozenset[str]
    to: frozenset[str]
    here: frozenset[str]
    men: frozenset[str]
    women: frozenset[str]
    particles: frozenset[str]
    german: frozenset[str]
    french: frozenset[str]
    before_months: frozenset[str]
    seasons: frozenset[str]
    others: frozenset[str]
    before_drugs: frozenset[str]
    joins: frozenset[str]
    endings: frozenset[str]
    lingers: frozenset[str]
    pronouns: frozenset[str]
    lower_pronouns: frozenset[str]
    person_verbs: frozenset[str]
    next_one: frozenset[str]
    open_verbs: frozenset[str]
    does_or_is: frozenset[str]
    found_of_signs: frozenset[str]
    patients_own: frozenset[str]
    values_of_one: frozenset[str]
    masculine_things: frozenset[str]
    copulas: frozenset[str]
    articles: frozenset[str]
    plain_patients: frozenset[str]
    told_apart_by: frozenset[str]
    given_too: frozenset[str]
    verbs_too: frozenset[str]
    family_too: frozenset[str]
    calls: frozenset[str]
    asking_verbs: frozenset[str]
    vague_places: frozenset[str]
    manners: frozenset[str]
    newest: frozenset[str]
    within: frozenset[str]
    places: frozenset[str]
    about: frozenset[str]
    topics: frozenset[str]
    staff_things: frozenset[str]
    before_staff: frozenset[str]
    meetings: frozenset[str]
    met_at: frozenset[str]
    addressing: frozenset[str]
    behind_places: frozenset[str]
    chart_things: frozenset[str]
    no_names: frozenset[str]
    letter_pairs: frozenset[str]
    asking: frozenset[str]
    says: frozenset[str]
    subjects: frozenset[str]
    both: frozenset[str]
    them: frozenset[str]
    words_of_a_calendar: frozenset[str]
    reasons_to_open: frozenset[str]

    @property
    def leads(self) -> frozenset[str]:
        """What only leads to a name: `and now back to`."""
        return self.opening | self.moves_on


@lru_cache(maxsize=1)
def people_words() -> PeopleWords:
    """Return the lists, read once."""
    lists = read_table(_HERE / "people_words.yaml")
    return PeopleWords(**{name: frozenset(map(folded, words)) for name, words in lists.items()})


@lru_cache(maxsize=1)
def names_that_are_words() -> frozenset[str]:
    """Return words of common language that are family names as well, folded."""
    return people_words().family_too | frozenset(_words_of("names"))


@lru_cache(maxsize=1)
def common_words() -> frozenset[str]:
    """Return words of the common language of five languages, folded."""
    words = {word for one in (_HERE / "common_words").glob("*.txt") for word in _words_of(one.stem)}
    return frozenset(words) | _beside()


@lru_cache(maxsize=1)
def names_in_english() -> frozenset[str]:
    """Return names that are words of other languages, and none of English: `estrella`."""
    return frozenset(_words_of("names")).difference(_words_of("en"), _beside())


def _words_of(name: str) -> list[str]:
    return (_HERE / "common_words" / f"{name}.txt").read_text(encoding="utf-8").split()


def _beside() -> frozenset[str]:
    known = people_words()
    return (
        known.told_apart_by
        | known.seasons
        | known.opening
        | known.people
        | known.staff
        | known.relatives
        | known.described_by
        | known.before_names
        | known.qualities
        | known.eponym_heads
    )
