"""People named after months, drugs and words of common language, and namesakes of the open one."""

from datetime import date

import pytest

from data_models.identifiers import PatientId
from services.identity.linking import Linked, Situation, SubjectLinker
from services.identity.names.person import Person, PersonName
from services.identity.subject import Subject
from tests.services.identity.test_linking import PATTERN, Scripted, person
from tests.tables import with_cases

OPEN = Person(
    PatientId("patient_1"),
    "1",
    (PersonName("Wilson", ("Dawn", "Rose"), ""),),
    birth_date="1959-02-11",
    sex="female",
)
KNOWN = (
    OPEN,
    person("patient_2", "Wilson", "Dawn", birth_date="1984-02-11", sex="female"),
    person("patient_3", "Kurz", "Ernst", birth_date="1950-03-19", sex="male"),
    person("patient_4", "Bird", "Joy", birth_date="1963-08-23", sex="female"),
)
OTHERS = (
    person("patient_5", "Costa", "Vera", birth_date="1990-06-26", sex="female"),
    person("patient_6", "Arava", "Yasmin", birth_date="1986-11-03", sex="female"),
    person("patient_7", "Grant", "Anna", birth_date="1942-03-03", sex="female"),
    person("patient_8", "Sommer", "Heike", birth_date="1969-07-01", sex="female"),
    person("patient_9", "Koch", "Otto", birth_date="1951-09-01", sex="male"),
    person("patient_10", "Klein", "Lena", birth_date="1983-12-01", sex="female"),
    person("patient_11", "Graves", "Ruth", birth_date="1950-08-21", sex="female"),
    person("patient_13", "Kurz", "Paul", birth_date="1970-01-17", sex="male"),
    person("patient_12", "Sharp", "Frank", birth_date="1954-01-05", sex="male"),
    person("patient_21", "Cook", "James", birth_date="1949-11-07", sex="male"),
    person("patient_22", "MacDonald", "Ewan", birth_date="1950-10-10", sex="male"),
    person("patient_23", "Smith-Jones", "Emily", birth_date="1969-01-31", sex="female"),
    person("patient_24", "Small", "Lydia", birth_date="1993-03-22", sex="female"),
    person("patient_25", "Ward", "Will", birth_date="1997-08-18", sex="male"),
    person("patient_27", "Nguyễn", "Văn An", birth_date="1954-06-17", sex="male"),
    person("patient_26", "de la Cruz", "María", birth_date="1984-09-12", sex="female"),
    person("patient_66", "Patient", "Test", birth_date="1951-01-01", sex="male"),
)


async def subject(text: str) -> Subject:
    linker = SubjectLinker(directory=Scripted(*KNOWN, *OTHERS), fits=PATTERN.matches)
    roster = {PatientId(f"patient_{place}"): one for place, one in enumerate(KNOWN, start=1)}
    beside = Situation(active=PatientId("patient_1"), roster=roster, today=date(2026, 11, 30))
    return (await linker.link(text, beside)).subject


@with_cases("text", "candidate")
async def test_a_word_that_stands_as_somebodys_name_is_never_answered_from_the_open_chart(
    text: str, candidate: str
) -> None:
    found = await subject(text)

    assert found.outcome in ("unsure", "several", "other")
    assert candidate in [one.patient_id for one in found.people]


@pytest.mark.parametrize("text", ["and hers?", "what about hers?", "und ihres?"])
async def test_hers_alone_is_another_womans_where_two_are_spoken_of(text: str) -> None:
    found = await subject(text)

    assert found.outcome == "unsure"
    assert {one.patient_id for one in found.people} == {"patient_2", "patient_4"}


@pytest.mark.slow
@with_cases("text")
async def test_the_same_words_without_a_sign_name_nobody(text: str) -> None:
    assert (await subject(text)).outcome == "same"


async def test_a_whole_name_of_nobody_is_asked_about_where_a_question_is_about_it() -> None:
    found = await subject("is Olga Petrenko allergic to latex?")

    assert (found.outcome, found.reason) == ("unsure", "stranger")


@pytest.mark.parametrize(
    "text", ["CEA von Frau Müller?", "öffne die Akte von Frau Müller", "potassium of Mrs Baker?"]
)
async def test_behind_a_title_a_common_word_is_somebody_elses_name(text: str) -> None:
    assert (await subject(text)).outcome != "same"


async def test_a_name_that_a_sentence_ends_with_is_what_the_patient_has() -> None:
    assert (await subject("Her emergency contact is Ottilie Brandauer.")).outcome == "same"


@with_cases("text")
async def test_an_apostrophe_ends_no_name(text: str) -> None:
    anna = person("patient_1", "O'Neil", "Anna", birth_date="1959-02-11", sex="female")
    mark = person("patient_9", "O'Neil", "Mark", birth_date="1961-05-20", sex="male")
    active = PatientId("patient_1")
    linker = SubjectLinker(directory=Scripted(anna, mark), fits=PATTERN.matches)
    found = (await linker.link(text, Situation(active=active, roster={active: anna}))).subject

    assert found.outcome in ("unsure", "several", "other")
    assert "patient_9" in [one.patient_id for one in found.people]


@with_cases("text", "outcome")
async def test_another_first_name_or_an_unknown_patient_is_not_the_open_one(
    text: str, outcome: str
) -> None:
    doyle = person("patient_1", "Doyle", "Francis", birth_date="1959-02-11", sex="male")
    active = PatientId("patient_1")
    linker = SubjectLinker(directory=Scripted(doyle), fits=PATTERN.matches)
    found = await linker.link(text, Situation(active=active, roster={active: doyle}))

    assert found.subject.outcome == outcome


@with_cases("text", "outcome")
async def test_a_small_d_leads_a_name_and_french_asks_nothing_by_it(
    text: str, outcome: str
) -> None:
    anna = person("patient_1", "D'Angelo", "Anna", birth_date="1959-02-11", sex="female")
    mark = person("patient_9", "D'Angelo", "Mark", birth_date="1961-05-20", sex="male")
    active = PatientId("patient_1")
    linker = SubjectLinker(directory=Scripted(anna, mark), fits=PATTERN.matches)
    found = await linker.link(text, Situation(active=active, roster={active: anna}))

    assert found.subject.outcome == outcome


@with_cases("text", "outcome")
async def test_a_first_name_that_is_a_word_begins_a_whole_name_too(text: str, outcome: str) -> None:
    anna = person("patient_1", "Keller", "Anna", birth_date="1959-02-11", sex="female")
    active = PatientId("patient_1")
    linker = SubjectLinker(directory=Scripted(anna), fits=PATTERN.matches)
    found = await linker.link(text, Situation(active=active, roster={active: anna}))

    assert found.subject.outcome == outcome


MARK = person("patient_5", "Long", "Mark", birth_date="1990-06-26", sex="male")
BROWN = person("patient_7", "Brown", "Grant", birth_date="1970-02-03", sex="male")
WEISS = person("patient_6", "Weiß", "Jürgen", birth_date="1951-02-03", sex="male")


async def linked(text: str) -> Linked:
    linker = SubjectLinker(directory=Scripted(*KNOWN, MARK, WEISS, BROWN), fits=PATTERN.matches)
    roster = {PatientId("patient_1"): OPEN, PatientId("patient_5"): MARK}
    return await linker.link(text, Situation(active=PatientId("patient_1"), roster=roster))


@with_cases("text")
async def test_a_whole_name_of_small_or_misspelt_words_is_not_answered_from_the_open_chart(
    text: str,
) -> None:
    assert (await linked(text)).subject.outcome in ("other", "unsure", "several")


@pytest.mark.parametrize(
    "text", ["Mark Long, not Dawn", "not Dawn, Mark Long", "the same for Mark Long"]
)
async def test_a_name_that_is_set_against_another_opens_the_chart_and_asks_nothing(
    text: str,
) -> None:
    found = await linked(text)
    assert (found.subject.outcome, found.is_plain) == ("other", True)


@pytest.mark.parametrize("text", ["how long has she had it, mark my words", "ich weiß nicht"])
async def test_the_same_words_apart_name_nobody(text: str) -> None:
    assert (await linked(text)).subject.outcome == "same"


@pytest.mark.parametrize(
    "text",
    ["open Siobhán O'Brien", "go to O’Brien, Siobhán", "open 王伟", "the chart of 王伟 please",
     "show me Nguyễn Văn An"],
)  # fmt: skip
async def test_all_of_a_name_belongs_to_it_where_a_chart_is_opened(text: str) -> None:
    """An O, a particle, and a name without blanks were taken for a wish beside the name."""
    people = (
        person("patient_7", "O'Brien", "Siobhán"),
        person("patient_8", "王", "伟"),
        person("patient_9", "Nguyễn", "Văn An"),
    )
    linker = SubjectLinker(directory=Scripted(OPEN, *people), fits=PATTERN.matches)
    found = await linker.link(text, Situation(active=OPEN.patient_id))
    assert (found.subject.outcome, found.is_plain) == ("other", True)


@pytest.mark.parametrize(
    ("text", "outcome"), [("results from 3 April", "same"), ("hb april", "unsure")]
)
async def test_a_day_of_a_month_is_nobody_of_that_name(text: str, outcome: str) -> None:
    april = person("patient_11", "Moen", "April", birth_date="1961-05-04", sex="female")
    linker = SubjectLinker(directory=Scripted(OPEN, april), fits=PATTERN.matches)
    roster = {PatientId("patient_1"): OPEN, PatientId("patient_11"): april}

    found = await linker.link(text, Situation(active=PatientId("patient_1"), roster=roster))

    assert found.subject.outcome == outcome
