"""Own contacts and the staff of the open record are no patients, and hide none."""

from collections.abc import Collection
from typing import Any

from data_models.errors import AssistantError
from data_models.identifiers import PatientId
from services.identity.linking import Situation, SubjectLinker
from services.identity.subject import Subject
from services.patient_context.beside import chart_has, names_beside, needs_names, staff_of
from services.records.resources.record import record_from_resources
from tests.fakes import GivenRecords
from tests.services.identity.test_linking import PATTERN, Scripted, person
from tests.tables import with_cases

MARGARET = person("patient_4", "Whitfield", "Margaret", sex="female")
ROSE = person("patient_5", "King", "Rose", sex="female")
NAMES = ("Anna Keller", "Rose King", "Dr. Terrance Schultz")


async def outcome(text: str, beside: Collection[str] = NAMES) -> Subject:
    linker = SubjectLinker(directory=Scripted(MARGARET, ROSE), fits=PATTERN.matches)
    roster = {PatientId("patient_4"): MARGARET}
    situation = Situation(active=PatientId("patient_4"), roster=roster, beside=beside)
    return (await linker.link(text, situation)).subject


@with_cases("text")
async def test_how_to_reach_somebody_unknown_asks_for_no_patient(text: str) -> None:
    assert (await outcome(text, ())).outcome == "same"


@with_cases("text")
async def test_a_contact_or_a_member_of_staff_is_no_patient(text: str) -> None:
    assert (await outcome(text)).outcome == "same"
    assert (await outcome(text, ())).outcome == "unsure"


@with_cases("text")
async def test_a_name_beside_hides_no_patient_and_owns_no_chart(text: str) -> None:
    assert (await outcome(text)).outcome != "same"


def test_the_staff_of_a_record_is_read_from_teams_encounters_and_practitioners() -> None:
    rows: list[dict[str, Any]] = [
        {"resourceType": "Patient", "id": "p", "name": [{"family": "Moen", "given": ["Twyla"]}]},
        {"resourceType": "Practitioner", "id": "d", "name": [{"family": "Hall", "given": ["Ada"]}]},
        {
            "resourceType": "CareTeam",
            "id": "t",
            "subject": {"reference": "Patient/p"},
            "participant": [
                {"member": {"reference": "Practitioner/x", "display": "Dr. Terrance Schultz"}},
                {"member": {"reference": "Patient/p", "display": "Twyla Moen"}},
            ],
        },
        {
            "resourceType": "Encounter",
            "id": "e",
            "status": "finished",
            "class": {"code": "AMB"},
            "subject": {"reference": "Patient/p"},
            "participant": [{"individual": {"reference": "Practitioner/d"}}],
        },
    ]
    entries = [
        {"fullUrl": f"http://x/{one['resourceType']}/{one['id']}", "resource": one} for one in rows
    ]
    record = record_from_resources(PatientId("patient_1"), entries)

    assert staff_of(record) == {"Ada Hall", "Dr. Terrance Schultz"}


@with_cases("ill", "has")
async def test_an_illness_stands_for_the_open_patient_who_has_it(ill: str, has: bool) -> None:
    own = {"subject": {"reference": "Patient/p"}}
    done = {"coding": [{"display": "Dialysis"}]}
    rows: list[dict[str, Any]] = [
        {"resourceType": "Patient", "id": "p"},
        {"resourceType": "Condition", "id": "c", "code": {"text": "Fracture of hip"}, **own},
        {"resourceType": "Procedure", "id": "d", "status": "completed", "code": done, **own},
    ]
    entries = [
        {"fullUrl": f"http://x/{one['resourceType']}/{one['id']}", "resource": one} for one in rows
    ]
    record = record_from_resources(PatientId("patient_1"), entries)

    assert await chart_has(GivenRecords(record), record.patient_id, ill) is has


class _Broken:
    async def names(self, user: str, patient_id: PatientId | None, said: str) -> Collection[str]:
        raise AssistantError("down")


class _Knows:
    async def names(self, user: str, patient_id: PatientId | None, said: str) -> Collection[str]:
        return [f"{user} {said}"]


async def test_who_does_not_answer_gives_no_evidence() -> None:
    found = await names_beside([_Broken().names, _Knows().names], "ada", None, "Anna")

    assert found == ("ada Anna",)


def test_names_are_looked_for_only_where_somebody_unsure_is_named() -> None:
    assert needs_names(Subject("unsure", "stranger"))
    assert not needs_names(Subject("same", "nobody_else"))
    assert not needs_names(Subject("other", "named"))
