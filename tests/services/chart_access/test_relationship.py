"""A chart opens to who cares for the patient now, as FHIR has it; all else stays closed."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from yarl import URL

from data_models.errors import RecordsUnavailableError
from data_models.identifiers import PatientId
from services.audit.trail import NoAudit
from services.chart_access.chart_guard import ChartGuard
from services.chart_access.relationship import (
    ByRelationship,
    FileRelations,
    PractitionerBook,
    ServerRelations,
)
from services.records.fhir.fhir_client import FhirAnswer
from services.records.folder.records import FolderRecords
from tests.fakes import FixedClock
from tests.fakes_store import MemoryBlobStore

P4 = PatientId("patient_4")
TODAY = "2030-01-02"
Resource = dict[str, Any]
PERSON = {"reference": "Practitioner/17"}
OTHER = {"reference": "Practitioner/18"}
PATIENT = {"reference": "Patient/p4"}


def team(**more: Any) -> Resource:
    return {
        "resourceType": "CareTeam",
        "id": "t",
        "status": "active",
        "subject": PATIENT,
        "participant": [{"member": PERSON}],
        **more,
    }


def encounter(**more: Any) -> Resource:
    return {
        "resourceType": "Encounter",
        "id": "e",
        "status": "in-progress",
        "class": {"code": "IMP"},
        "subject": PATIENT,
        "participant": [{"individual": PERSON}],
        **more,
    }


def appointment(**more: Any) -> Resource:
    return {
        "resourceType": "Appointment",
        "id": "a",
        "status": "booked",
        "start": "2030-01-05T10:00:00Z",
        "participant": [
            {"actor": PATIENT, "status": "accepted"},
            {"actor": PERSON, "status": "accepted"},
        ],
        **more,
    }


def group(**more: Any) -> Resource:
    return {
        "resourceType": "Group",
        "id": "g",
        "type": "person",
        "actual": True,
        "managingEntity": PERSON,
        "member": [{"entity": PATIENT}],
        **more,
    }


OPENS = {
    "care team": team(),
    "team until today": team(period={"end": TODAY}),
    "encounter goes on": encounter(),
    "encounter ended lately": encounter(status="finished", period={"end": "2029-12-01"}),
    "encounter since long": encounter(period={"start": "2012-01-01"}),
    "appointment": appointment(),
    "group": group(),
}
CLOSED = {
    "nobody": {"resourceType": "Basic", "id": "b"},
    "another's team": team(participant=[{"member": OTHER}]),
    "team ended": team(period={"end": "2030-01-01"}),
    "team begins": team(period={"start": "2030-01-03"}),
    "team inactive": team(status="inactive"),
    "left the team": team(participant=[{"member": PERSON, "period": {"end": "2029-05-01"}}]),
    "encounter long ago": encounter(status="finished", period={"end": "2019-12-01"}),
    "encounter without end, long ago": encounter(status="finished", period={"start": "2019"}),
    "encounter by mistake": encounter(status="entered-in-error"),
    "unreadable date": encounter(status="finished", period={"end": "soon"}),
    "appointment cancelled": appointment(status="cancelled"),
    "appointment far off": appointment(start="2031-01-05T10:00:00Z"),
    "appointment without a day": appointment(start=""),
    "declined": appointment(
        participant=[{"actor": PATIENT}, {"actor": PERSON, "status": "declined"}]
    ),
    "group inactive": group(active=False),
    "left the group": group(member=[{"entity": PATIENT, "inactive": True}]),
    "another in the group": group(member=[{"entity": {"reference": "Patient/p5"}}]),
    "team of another": team(subject={"reference": "Patient/p5"}),
}
CASES = [
    *((name, resource, True) for name, resource in OPENS.items()),
    *((name, resource, False) for name, resource in CLOSED.items()),
]


def person(place: int) -> Resource:
    number = {"system": "urn:mrn", "value": f"patient_{place}"}
    return {"resourceType": "Patient", "id": f"p{place}", "identifier": [number]}


def policy_over_files(
    folder: Path, *resources: Resource, who: str = "Practitioner/17"
) -> ByRelationship:
    known = [person(4), person(5), *resources]
    bundle = {
        "resourceType": "Bundle",
        "type": "collection",
        "entry": [{"resource": one} for one in known],
    }
    (folder / "all.json").write_bytes(orjson.dumps(bundle))
    clock = FixedClock()
    records = FolderRecords(folder=folder, clock=clock, systems=("urn:mrn",))
    book = PractitionerBook(store=MemoryBlobStore(), named=[("ada", who)])
    relations = FileRelations(records=records, clock=clock, days=90)
    return ByRelationship(relations=relations, book=book, clock=clock)


class Server:
    """A FHIR server that ignores what it does not know of a search, as some do."""

    base_url = URL("https://fhir.example/r4")

    def __init__(self, *known: Resource, lacks: tuple[str, ...] = ()) -> None:
        self.known = [person(4), person(5), *known]
        self.lacks = lacks
        self.is_down = False
        self.asked: list[str] = []

    async def ask(self, url: URL) -> FhirAnswer:
        if self.is_down:
            raise RecordsUnavailableError("down")
        self.asked.append(url.path_qs)
        if url.name in self.lacks:
            return FhirAnswer(404, None)
        rows = [one for one in self.known if one["resourceType"] == url.name]
        return FhirAnswer(
            200, {"resourceType": "Bundle", "entry": [{"resource": one} for one in rows]}
        )


def policy_over(server: Server, who: str | None = "Practitioner/17") -> ByRelationship:
    clock = FixedClock()
    relations = ServerRelations(
        client=server,  # type: ignore[arg-type]  # a double of its one method
        clock=clock,
        system="urn:mrn",
        days=90,
    )
    book = PractitionerBook(store=MemoryBlobStore(), named=[] if who is None else [("ada", who)])
    return ByRelationship(relations=relations, book=book, clock=clock)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "resource", "opens"), CASES)
async def test_files_say_who_cares_for_a_patient(
    tmp_path: Path, name: str, resource: Resource, opens: bool
) -> None:
    policy = policy_over_files(tmp_path, resource)
    assert await policy.may_open("ada", P4) is opens, name
    assert not await policy.may_open("ben", P4), "who is no Practitioner opens nothing"


@pytest.mark.parametrize(("name", "resource", "opens"), CASES)
async def test_a_server_says_who_cares_for_a_patient(
    name: str, resource: Resource, opens: bool
) -> None:
    policy = policy_over(Server(resource))
    assert await policy.may_open("ada", P4) is opens, name
    assert not await policy.may_open("ben", P4)


async def test_a_practitioner_is_known_by_an_identifier_and_by_a_role(tmp_path: Path) -> None:
    by_role: list[Resource] = [
        {
            "resourceType": "Practitioner",
            "id": "17",
            "identifier": [{"system": "urn:npi", "value": "999"}],
        },
        {"resourceType": "PractitionerRole", "id": "r", "practitioner": PERSON},
        team(participant=[{"member": {"reference": "PractitionerRole/r"}}]),
    ]
    assert await policy_over(Server(*by_role), "urn:npi|999").may_open("ada", P4)
    assert not await policy_over(Server(*by_role), "urn:npi|998").may_open("ada", P4)
    assert await policy_over_files(tmp_path, team(), by_role[0], who="urn:npi|999").may_open(
        "ada", P4
    )


async def test_a_server_without_a_type_decides_by_the_others() -> None:
    server = Server(team(), lacks=("Appointment", "Group", "PractitionerRole"))
    assert await policy_over(server).may_open("ada", P4)


async def test_a_server_that_is_down_leaves_the_chart_closed() -> None:
    server = Server(team())
    server.is_down = True
    guard = ChartGuard(policy=policy_over(server), audit=NoAudit(), clock=FixedClock())
    assert (await guard.access("ada", P4)).state == "unknown"
    assert not await guard.may_open("ada", P4)


async def test_an_answer_stands_for_a_minute() -> None:
    server, policy = Server(team()), None
    policy = policy_over(server)
    assert await policy.may_open("ada", P4)
    count = len(server.asked)
    assert await policy.may_open("ada", P4)
    assert len(server.asked) == count


async def test_a_sign_in_that_names_a_practitioner_is_kept_for_other_replicas() -> None:
    store = MemoryBlobStore()
    await PractitionerBook(store=store).note("entra:t:o", "Practitioner/17")
    elsewhere = PractitionerBook(store=store)
    assert await elsewhere.practitioner_of("entra:t:o") == "Practitioner/17"
    assert await elsewhere.practitioner_of("entra:t:p") is None
    await elsewhere.note("entra:t:o", "Practitioner/18")
    assert await PractitionerBook(store=store).practitioner_of("entra:t:o") == "Practitioner/18"
