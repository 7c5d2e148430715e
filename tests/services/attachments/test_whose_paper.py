"""Whose a paper is: two identifiers make it the patient's, another's name refuses it."""

from pathlib import Path

import pytest

from data_models.errors import RecordsUnavailableError
from data_models.identifiers import PatientId
from services.attachments.papers import whose_paper
from services.identity.directory import FileDirectory, NoDirectory, Sought
from services.identity.linking import SubjectLinker
from services.identity.names.index import PersonIndex
from services.patient_context.reading.pattern import DEFAULT_PATTERN, PatientIdPattern
from services.records.folder.records import FolderRecords
from tests.fakes import FixedClock
from tests.tables import with_cases

PATTERN = PatientIdPattern.compile(DEFAULT_PATTERN)
SAMPLES = Path(__file__).parents[3] / "samples" / "patients"
FOUR = PatientId("patient_4")


@pytest.fixture
def linker() -> SubjectLinker:
    records = FolderRecords(folder=SAMPLES, clock=FixedClock(), fits=PATTERN.matches)
    directory = FileDirectory(records=records, fits=PATTERN.matches, clock=FixedClock())
    return SubjectLinker(directory=directory, fits=PATTERN.matches, seconds=30)


@pytest.mark.slow
@with_cases("text", "whose")
async def test_a_paper_is_whose_name_and_second_identifier_it_has(
    linker: SubjectLinker, text: str, whose: str
) -> None:
    assert await whose_paper(text, FOUR, linker=linker) == whose


async def test_what_cannot_be_looked_up_is_unchecked_and_not_theirs() -> None:
    class Down(NoDirectory):
        async def people_for(self, sought: Sought) -> PersonIndex:
            raise RecordsUnavailableError("down")

    linker = SubjectLinker(directory=Down(), fits=PATTERN.matches)
    text = "Margaret Anne Whitfield, born 14 March 1957"
    assert await whose_paper(text, FOUR, linker=linker) == "unchecked"
