"""Names in an agent's sentence that are another patient's."""

import pytest

from data_models.identifiers import PatientId
from services.identity.index import PersonIndex
from services.identity.others_named import OthersNamed
from services.identity.person import Person, PersonName


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


@pytest.mark.parametrize(
    "text",
    [
        "Tunde Adeyemi has a CEA of 4.0 ng/mL.",
        "Mr Adeyemi's CEA is 4.0.",
        "Adeyemi: stage IVA",
        "Tunde's CEA is 4.0 ng/mL.",
        "Tunde takes apixaban.",
        "ADEYEMI, Tunde: CEA 4.0",
        "**Zoe Celik** is HER2 positive.",
        "Çelik’s HER2 is positive.",
        "The patient, Frank Long, is well.",
    ],
)
def test_a_name_with_both_parts_or_a_sign_is_somebodys(text: str) -> None:
    assert NAMED.words_in(text)


@pytest.mark.parametrize(
    "text",
    [
        "Margaret Whitfield has stage IVB.",
        "Mrs Whitfield takes ramipril.",
        "Dr. Anna Keller signed the report.",
        "Her sister Anna Keller is the contact.",
        "Frank haematuria was seen, long standing.",
        "Long QT was noted.",
        "Anna's letter was read.",
        "Stage IVB, CEA 9.7 ng/mL [Observation/cea-1].",
    ],
)
def test_the_open_patients_staffs_and_common_words_are_nobodys(text: str) -> None:
    assert not NAMED.words_in(text)
