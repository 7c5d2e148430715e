"""Random people with colliding names: what names another is never taken to be the open patient."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_models.identifiers import PatientId
from services.identity.names.index import PersonIndex
from services.identity.names.matching import Known, mentions_in
from services.identity.names.person import Person, PersonName
from services.identity.said import Said
from services.identity.subject import Subject, subject_of
from services.language.figures.full_dates import full_dates
from services.language.people.mentions import read_words
from tests.tables import tables_beside

GIVEN = ["Anna", "Will", "Rose", "Mark", "Hope", "Zoë", "Jürgen", "Iван", "Constance", "Li", "May"]  # noqa: RUF001
FAMILY = ["Moen", "Grant", "King", "Long", "Müller", "Hodgkin", "Young", "O'Neil", "Çelik-Sørensen"]
SHAPES: list[str] = tables_beside(Path(__file__))["shapes"]
NAMES = st.lists(
    st.tuples(st.sampled_from(GIVEN), st.sampled_from(FAMILY)), min_size=2, max_size=8, unique=True
)


def people_of(names: list[tuple[str, str]]) -> list[Person]:
    return [
        Person(PatientId(f"patient_{place}"), str(place), (PersonName(family, (given,), ""),))
        for place, (given, family) in enumerate(names)
    ]


def read(text: str, people: list[Person], roster: int) -> Subject:
    index = PersonIndex(people=people)
    ids = frozenset(filter(None, (one.patient_id for one in people[:roster])))
    known = Known(index, people[0], ids)
    message = read_words(text)
    return subject_of(Said(message, mentions_in(message, known), (), full_dates(text)), known)


@pytest.mark.slow
@given(NAMES, st.sampled_from(SHAPES), st.integers(1, 8), st.data())
def test_a_whole_name_of_another_is_never_the_open_patient(
    names: list[tuple[str, str]], shape: str, roster: int, data: st.DataObject
) -> None:
    people = people_of(names)
    meant = data.draw(st.sampled_from(people[1:]))
    name = meant.names[0]
    found = read(shape.format(given=name.given[0], family=name.family), people, roster)
    assert found.outcome != "same"
    if found.outcome == "other":
        assert found.people[0] is meant


@pytest.mark.slow
@given(NAMES, st.sampled_from(SHAPES), st.integers(1, 8))
def test_the_open_patients_own_whole_name_is_not_somebody_else(
    names: list[tuple[str, str]], shape: str, roster: int
) -> None:
    people = people_of(names)
    name = people[0].names[0]
    found = read(shape.format(given=name.given[0], family=name.family), people, roster)
    assert found.outcome in ("same", "unsure", "several")
