"""Whose a paper is: two identifiers make it the patient's, another's name refuses it."""

from pathlib import Path

import pytest

from data_models.errors import RecordsUnavailableError
from data_models.identifiers import PatientId
from services.attachments.papers import whose_paper
from services.identity.directory import FileDirectory, NoDirectory, Sought
from services.identity.index import PersonIndex
from services.identity.linking import SubjectLinker
from services.patient_context.pattern import DEFAULT_PATTERN, PatientIdPattern
from services.records.folder.records import FolderRecords
from tests.fakes import FixedClock

PATTERN = PatientIdPattern.compile(DEFAULT_PATTERN)
SAMPLES = Path(__file__).parents[3] / "samples" / "patients"
FOUR = PatientId("patient_4")


@pytest.fixture
def linker() -> SubjectLinker:
    records = FolderRecords(folder=SAMPLES, clock=FixedClock(), fits=PATTERN.matches)
    directory = FileDirectory(records=records, fits=PATTERN.matches, clock=FixedClock())
    return SubjectLinker(directory=directory, fits=PATTERN.matches, seconds=30)


@pytest.mark.parametrize(
    ("text", "whose"),
    [
        ("Patient: Margaret Anne Whitfield, born 14 March 1957. Atrial fibrillation.", "theirs"),
        ("WHITFIELD, Margaret\n*14.03.1957\nEntlassbrief", "theirs"),
        ("Re: Mrs Margaret Whitfield (DOB 1957-03-14)\nDear Dr Keller, CT of 3 May.", "theirs"),
        ("Margaret Whitfield, patient_4: discharge letter", "theirs"),
        ("Mrs Margaret Whitfield was seen today.", "partly"),
        ("Patient born 14 March 1957. Potassium 5.6.", "partly"),
        ("Blood pressure at home 150/92.", "unnamed"),
        ("Fax 0221 4788-12, case 20240311. Seen by Dr Ines Marrow.", "unnamed"),
        ("Patient: Tunde Adeyemi, born 1968-07-21. He has gout.", "other"),
        ("Tunde Adeyemi (patient_7), in bed beside one born 14 March 1957", "other"),
        ("Margaret Whitfield, born 1957-03-14, and Tunde Adeyemi share a room.", "several"),
        ("patient_7: potassium 5.6", "other"),
    ],
)
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
