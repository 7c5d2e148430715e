"""The labelled messages of who is meant, read by the linker: none wrong, few asked in vain."""

from functools import cache

import pytest

from data_models.identifiers import PatientId
from evals.cases import SUITES, Case, written_cases
from services.identity.directory import FileDirectory
from services.identity.linking import Situation, SubjectLinker
from services.identity.subject import Subject
from services.patient_context.reading.pattern import DEFAULT_PATTERN, PatientIdPattern
from services.patient_context.reading.reading import read_message
from services.records.folder.records import FolderRecords
from tests.fakes import FixedClock

ROOT = SUITES.parent.parent
PATTERN = PatientIdPattern.compile(DEFAULT_PATTERN)
NEEDLESS_LIMIT = 0.03


@cache
def linker(samples: str) -> SubjectLinker:
    folder = ROOT / ("samples" if samples == "default" else samples) / "patients"
    clock = FixedClock()
    records = FolderRecords(folder=folder, clock=clock, fits=PATTERN.matches)
    directory = FileDirectory(records=records, fits=PATTERN.matches, clock=clock)
    return SubjectLinker(directory=directory, fits=PATTERN.matches, seconds=30)


async def subject_of(case: Case) -> tuple[Subject, bool]:
    """Return the subject, and whether an id is named, which other rules decide on."""
    active = PatientId(case.given.open or "")
    roster = {PatientId(one): None for one in (*case.given.known, active)}
    text = case.say[0]
    reading = read_message(text, active=active, known=list(roster), pattern=PATTERN)
    situation = Situation(active=active, roster=roster, named=reading.named)
    linked = await linker(case.given.samples).link(text, situation)
    points = reading.doubt is not None or reading.points_elsewhere
    return linked.subject, points or any(one != active for one in reading.named)


@pytest.mark.slow
async def test_no_message_about_another_is_answered_from_the_open_chart() -> None:
    wrong = []
    others = [one for one in written_cases(["who_is_meant"]) if one.expect.asks is not False]
    for case in others:
        subject, named = await subject_of(case)
        who = [one.patient_id for one in subject.people]
        may_be_open = case.expect.asks is None and case.given.open in (case.expect.patient or ())
        is_same = subject.outcome == "same" and not named and not may_be_open
        if is_same or (subject.outcome == "other" and who[0] not in (case.expect.patient or ())):
            wrong.append((case.say[0], subject.outcome, who))

    assert len(others) >= 350
    assert wrong == []


@pytest.mark.slow
async def test_few_messages_that_name_nobody_else_are_asked_about() -> None:
    cases = [one for one in written_cases(["who_is_meant"]) if one.expect.asks is False]
    asked = [one.say[0] for one in cases if (await subject_of(one))[0].outcome != "same"]

    assert len(cases) >= 290
    assert len(asked) <= NEEDLESS_LIMIT * len(cases), asked
