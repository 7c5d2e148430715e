"""Messages against people: nobody is answered from another's chart, and few are asked in vain."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from data_models.errors import RecordsUnavailableError
from data_models.identifiers import PatientId
from services.identity.directory import DirectoryState, FileDirectory, Sought
from services.identity.linking import Linked, Situation, SubjectLinker
from services.identity.names.index import PersonIndex
from services.identity.names.person import Person, PersonName, PersonNumber, person_from
from services.patient_context.reading.pattern import DEFAULT_PATTERN, PatientIdPattern
from services.records.folder.records import FolderRecords
from tests.fakes import FixedClock
from tests.tables import with_cases

PATTERN = PatientIdPattern.compile(DEFAULT_PATTERN)
SAMPLES = Path(__file__).parents[3] / "samples" / "patients"
TODAY = date(2026, 1, 1)
ROSTER = ("patient_4", "patient_15", "patient_42")


def records(folder: Path) -> FolderRecords:
    return FolderRecords(folder=folder, clock=FixedClock(), fits=PATTERN.matches)


def linker() -> SubjectLinker:
    directory = FileDirectory(records=records(SAMPLES), fits=PATTERN.matches, clock=FixedClock())
    return SubjectLinker(directory=directory, fits=PATTERN.matches, seconds=30)


async def linked(text: str, active: str = "patient_4", roster: Collection[str] = ROSTER) -> Linked:
    people = {PatientId(one): None for one in roster}
    return await linker().link(text, Situation(active=PatientId(active), roster=people))


@pytest.mark.slow
@with_cases("text", "who")
async def test_a_whole_name_or_number_is_that_patient_and_no_other(text: str, who: str) -> None:
    found = (await linked(text)).subject

    assert found.outcome == "other"
    assert [one.patient_id for one in found.people] == [who]


@pytest.mark.slow
@with_cases("text", "candidate")
async def test_part_of_a_name_a_slip_or_a_birth_date_is_asked(text: str, candidate: str) -> None:
    found = (await linked(text)).subject

    assert found.outcome == "unsure"
    assert candidate in [one.patient_id for one in found.people]


@pytest.mark.slow
@with_cases("text")
async def test_who_cannot_be_told_is_never_the_open_patient(text: str) -> None:
    assert (await linked(text)).subject.outcome in ("unsure", "several")


@pytest.mark.slow
@with_cases("text")
async def test_what_names_nobody_else_is_not_asked_about(text: str) -> None:
    assert (await linked(text)).subject.outcome == "same"


async def test_a_stranger_with_the_open_patients_family_name_is_told_with_the_first_name() -> None:
    found = (await linked("add contact Ruth Whitfield, +49 30 1234")).subject
    assert (found.reason, found.said) == ("stranger", "Ruth Whitfield")


async def test_two_of_one_family_name_are_both_offered() -> None:
    found = await of_two("what about moen?")

    assert found.subject.outcome == "unsure"
    assert [one.name for one in found.subject.people] == ["Elvis Moen", "Twyla Moen"]


@with_cases("text")
@pytest.mark.slow
async def test_what_a_relative_takes_is_not_told_of_the_open_patient(
    text: str,
) -> None:
    assert (await linked(text)).subject.outcome == "unsure"


@with_cases("text")
@pytest.mark.slow
async def test_what_relatives_say_or_had_is_asked_of_the_open_chart(text: str) -> None:
    assert (await linked(text)).subject.outcome == "same"


DANA, BEATRIS = (
    Person(
        PatientId(number),
        number,
        (PersonName(family, (given,), ""),),
        numbers=(PersonNumber("", mrn),),
    )
    for number, given, family, mrn in (
        (
            "727b224a-7b1d-4097-a8d1-23f1df4f8763",
            "Dana",
            "Feest",
            "fc11f507-fd6d-4512-a77b-c997a24c5c10",
        ),
        ("fd7ef6da-ddd3-4992-8c24-964f0ebe1aa0", "Beatris", "Towne", "KH-008437"),
    )
)


@pytest.mark.parametrize(
    ("text", "outcome", "people"),
    [
        ("now to 727b224a", "same", []),
        ("fc11f507-fd6d: labs?", "same", []),
        ("switch to fd7ef6da", "unsure", [BEATRIS]),
        ("fd7ef6da-ddd3's potassium", "unsure", [BEATRIS]),
        ("MRN ending in 437: labs?", "unsure", [BEATRIS]),
        ("008437: potassium?", "unsure", [BEATRIS]),
        ("case no 008437 potassium", "unsure", [BEATRIS]),
        ("switch to 9e9e9e9e", "unsure", []),
        ("call me on 07115550134", "same", []),
    ],
)
async def test_part_of_a_long_number_opens_nobody_and_is_never_the_open_patient(
    text: str, outcome: str, people: list[Person]
) -> None:
    linker = SubjectLinker(directory=Scripted(DANA, BEATRIS), fits=PATTERN.matches)
    found = (await linker.link(text, Situation(active=DANA.patient_id))).subject
    assert (found.outcome, list(found.people)) == (outcome, people)


async def test_a_word_of_common_language_is_a_name_where_it_stands_as_one() -> None:
    assert (await of_two("she will need another scan in may")).subject.outcome == "same"
    assert (await of_two("does may have allergies?")).subject.outcome == "unsure"
    assert (await of_two("what about Mrs May?")).subject.outcome == "unsure"


class Scripted:
    """A directory of given people, or one that fails."""

    state: DirectoryState = "ok"

    def __init__(self, *people: Person, error: RecordsUnavailableError | None = None) -> None:
        self._people = people
        self._error = error

    async def check(self) -> None:
        await self.people_for(Sought())

    async def people_for(self, sought: Sought) -> PersonIndex:
        if self._error is not None:
            raise self._error
        return PersonIndex(people=self._people)


def person(number: str, family: str, given: str, **more: str) -> Person:
    name = PersonName(family, (given,), "")
    return Person(PatientId(number), number, (name,), **more)  # type: ignore[arg-type]


async def of_two(text: str) -> Linked:
    people = Scripted(
        person("patient_1", "Moen", "Elvis"),
        person("patient_2", "Moen", "Twyla"),
        person("patient_3", "May", "Theresa"),
        person("patient_4", "Whitfield", "Margaret"),
    )
    situation = Situation(
        active=PatientId("patient_4"),
        roster={PatientId("patient_4"): None, PatientId("patient_3"): None},
    )
    return await SubjectLinker(directory=people, fits=PATTERN.matches).link(text, situation)


async def test_a_directory_that_does_not_answer_makes_names_unsure_and_nothing_else() -> None:
    down = SubjectLinker(
        directory=Scripted(error=RecordsUnavailableError("down")), fits=PATTERN.matches
    )
    open_one = person("patient_4", "Whitfield", "Margaret", birth_date="1957-03-14")
    situation = Situation(active=PatientId("patient_4"), roster={PatientId("patient_4"): open_one})

    for text in ("Albus Dumbledore's stage?", "what is Doyle's stage?", "DOB 1979-11-02: stage?"):
        found = await down.link(text, situation)
        assert found.subject.outcome == "unsure", text
    for text in ("what is her stage?", "Whitfield's stage?"):
        assert (await down.link(text, situation)).subject.outcome == "same", text


async def test_one_bad_patient_costs_itself(tmp_path: Path) -> None:
    good = (SAMPLES / "patient_7.json").read_bytes()
    (tmp_path / "patient_7.json").write_bytes(good)
    (tmp_path / "patient_8.json").write_text("not json")
    (tmp_path / "patient_9.json").write_text(
        '{"resourceType": "Bundle", "entry": [{"resource": {"resourceType": "Patient", "id": "9",'
        ' "name": "not a list", "identifier": [{"value": "patient_9"}]}}]}'
    )
    directory = FileDirectory(records=records(tmp_path), fits=PATTERN.matches, clock=FixedClock())

    index = await directory.people_for(Sought())

    assert {one.patient_id for one in index.people} == {"patient_7", "patient_9"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "HARTMANN PSA PLEASE",
        "Hartmanns letzter PSA-Wert?",
        "PSA von Hartmann",
        "psa for hartmann",
    ],
)
async def test_a_name_that_is_also_an_eponym_is_asked_about_where_nothing_says_eponym(
    text: str,
) -> None:
    found = (await linked(text)).subject

    assert found.outcome == "unsure"
    assert "patient_21" in [one.patient_id for one in found.people]


@pytest.mark.parametrize(
    "text",
    ["was a Hartmann considered?", "opération de Hartmann prévue ?", "Hartmann procedure?"],
)
async def test_an_eponym_with_its_operation_is_nobody(text: str) -> None:
    assert (await linked(text)).subject.outcome == "same"


@with_cases("text")
async def test_who_is_named_beside_the_open_patient_is_never_opened(text: str) -> None:
    assert (await linked(text)).subject.outcome in ("several", "same")


@pytest.mark.slow
@with_cases("text")
async def test_a_patient_who_is_described_is_asked_for(text: str) -> None:
    assert (await linked(text)).subject.outcome == "unsure"


@pytest.mark.slow
@with_cases("text")
async def test_the_patient_without_more_is_the_open_one(text: str) -> None:
    assert (await linked(text)).subject.outcome == "same"


@pytest.mark.slow
@with_cases("text")
async def test_slips_divided_words_and_loose_birth_dates_ask(text: str) -> None:
    assert (await linked(text)).subject.outcome == "unsure"


@pytest.mark.slow
@with_cases("text")
async def test_drugs_years_and_firms_are_nobody(text: str) -> None:
    assert (await linked(text)).subject.outcome == "same"


PETER = {"name": {"family": "Moen", "given": ["Peter"]}}
CROWD: dict[str, dict[str, Any]] = {
    "patient_1": {
        "name": [{"family": "Moen", "given": ["Anna"]}],
        "contact": [PETER],
        "generalPractitioner": [{"display": "Dr. Ida Berg"}],
    },
    "patient_2": {"name": [{"family": "Moen", "given": ["Otto"]}]},
    "patient_3": {"name": [{"family": "Stark", "given": ["Peter"]}]},
    "patient_4": {"name": [{"family": "Berg", "given": ["Lukas"]}]},
}


async def beside(text: str, *roster: str) -> Linked:
    """Read `text` while the chart of Anna Moen is open, among people with colliding names."""
    people = [
        person_from({"resourceType": "Patient", **body}, patient_id=PatientId(one), today=TODAY)
        for one, body in CROWD.items()
    ]
    reader = SubjectLinker(
        directory=Crowd(index=PersonIndex(people=filter(None, people))), fits=PATTERN.matches
    )
    known = {PatientId(one): None for one in ("patient_1", *roster)}
    return await reader.link(text, Situation(active=PatientId("patient_1"), roster=known))


@dataclass
class Crowd:
    """A directory of given people."""

    index: PersonIndex
    state: DirectoryState = "ok"

    async def people_for(self, sought: Sought) -> PersonIndex:
        return self.index

    async def check(self) -> None:
        """It always answers."""


@pytest.mark.parametrize(
    "text",
    [
        "Peter called again, when is the next visit?",
        "Peter Moen (husband) asks about the dose",
        "tell Ida Berg about the CT",
        "is Ida Berg informed?",
    ],
)
async def test_a_relative_or_doctor_of_the_open_patient_is_nobody_else(text: str) -> None:
    found = await beside(text, "patient_2")

    assert found.subject.outcome == "same"


@pytest.mark.parametrize(
    ("text", "roster"),
    [
        ("Peter's creatinine?", ()),  # a part of a chart is no relative's
        ("has Peter had a CT?", ("patient_3",)),  # nothing removes a name of the conversation
        ("Berg's creatinine?", ()),  # a family name alone may be anybody's
        ("what does Mr Moen take?", ("patient_2",)),
        ("Peter Stark's creatinine?", ()),
        ("Lukas Berg: ferritin", ()),
    ],
)
async def test_a_relative_never_hides_a_patient(text: str, roster: tuple[str, ...]) -> None:
    found = await beside(text, *roster)

    assert found.subject.outcome != "same"


@pytest.mark.parametrize(
    "text",
    [
        *("what is his stage?", "is his stage worse than hers?", "open him"),
        *("what about him so far?", "et lui, sa tension ?", "créatinine chez lui ?", "e lui?"),
        *("pas lui, elle : poids ?", "nein, nicht er, sie! Gewicht?", "il a de la fièvre"),
    ],
)
async def test_a_pronoun_that_contradicts_the_open_patients_sex_is_asked_about(text: str) -> None:
    found = await linked(text, roster=("patient_4",))

    assert (found.subject.outcome, found.subject.reason) == ("unsure", "pronoun")


def test_the_name_of_merged_charts_means_whom_they_became() -> None:
    bodies: tuple[dict[str, Any], ...] = (
        {"id": "old", "active": False, "birthDate": "1950-05-05",
         "link": [{"type": "replaced-by", "other": {"reference": "Patient/new"}}]},
        {"id": "new", "birthDate": "1950-05-05"},
    )  # fmt: skip
    told = {"resourceType": "Patient", "name": [{"family": "Bauer", "given": ["Hans"]}]}
    people = [
        person_from({**told, **body}, patient_id=PatientId(f"p_{body['id']}"), today=TODAY)
        for body in bodies
    ]
    found = PersonIndex(people=filter(None, people)).exactly("bauer")
    assert [hit.person.key for hit in found] == ["new"]
