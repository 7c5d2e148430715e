"""Names in an agent's sentence that are another patient's."""

from data_models.identifiers import PatientId
from services.identity.names.index import PersonIndex
from services.identity.names.person import Person, PersonName
from services.identity.others_named import OthersNamed
from tests.tables import with_cases


def person(patient_id: str, given: str, family: str) -> Person:
    return Person(PatientId(patient_id), "", (PersonName(family, (given,), ""),))


OPEN = person("p_4", "Margaret", "Whitfield")
OTHERS = [
    person("p_7", "Tunde", "Adeyemi"),
    person("p_15", "Zoë", "Çelik-Sørensen"),
    person("p_9", "Anna", "Keller"),
    person("p_8", "Frank", "Long"),
]
NAMED = OthersNamed(
    index=PersonIndex(people=[OPEN, *OTHERS]), own=OPEN, roster=[PatientId("p_4"), PatientId("p_7")]
)


@with_cases("text")
def test_a_name_with_both_parts_or_a_sign_is_somebodys(text: str) -> None:
    assert NAMED.words_in(text)


@with_cases("text")
def test_the_open_patients_staffs_and_common_words_are_nobodys(text: str) -> None:
    assert not NAMED.words_in(text)
