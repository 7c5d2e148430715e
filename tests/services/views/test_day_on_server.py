"""Who is seen on a day, asked of a server that may ignore, refuse or overflow a search."""

from datetime import date
from typing import Any

from yarl import URL

from services.identity.identity_factory import ServerDirectory
from services.patient_context.reading.pattern import DEFAULT_PATTERN, PatientIdPattern
from services.records.fhir.fhir_client import FhirAnswer, Pages
from services.views.visits_by_day import DayOnServer
from tests.fakes import FixedClock

DAY = date(2026, 11, 23)
SYSTEM = "urn:mrn"


def visit(key: str, whose: str, start: str, end: str = "", status: str = "finished") -> Any:
    period = {"start": start, **({"end": end} if end else {})}
    return {"resourceType": "Encounter", "id": key, "status": status,
            "subject": {"reference": whose}, "period": period}  # fmt: skip


def appointment(key: str, whose: str, start: str, status: str = "booked") -> Any:
    actors = [{"actor": {"reference": "Practitioner/9"}}, {"actor": {"reference": whose}}]
    return {"resourceType": "Appointment", "id": key, "status": status, "start": start,
            "participant": actors}  # fmt: skip


class Server:
    """Answers searches by date with whatever it has, and Patients by `_id`."""

    base_url = URL("https://fhir.example/r4")

    def __init__(self, *rows: Any) -> None:
        self.rows = rows
        self.refuses: set[str] = set()
        self.truncated = False
        self.ignores_ids = False

    async def pages(self, url: URL, *, pages: int | None = None) -> Pages | FhirAnswer:
        assert url.query.getall("date") == ["ge2026-11-22", "le2026-11-24"]
        if url.name in self.refuses:
            return FhirAnswer(400, None)
        found = [{"resource": one} for one in self.rows if one["resourceType"] == url.name]
        return Pages(found, truncated=self.truncated)

    async def ask(self, url: URL) -> FhirAnswer:
        keys = url.query["_id"].split(",")
        assert len(keys) <= 20
        known = [str(number) for number in range(1, 50)] if self.ignores_ids else keys
        rows = [
            {"resource": {"resourceType": "Patient", "id": key,
                          "identifier": [{"system": SYSTEM, "value": f"patient_{key}"}]}}
            for key in known
        ]  # fmt: skip
        return FhirAnswer(200, {"resourceType": "Bundle", "entry": rows})


async def seen(server: Server) -> list[str]:
    directory = ServerDirectory(
        client=server,  # type: ignore[arg-type]  # a double of its two methods
        fits=PatientIdPattern.compile(DEFAULT_PATTERN).matches,
        clock=FixedClock(),
        systems=(SYSTEM,),
    )
    found = DayOnServer(client=server, directory=directory)  # type: ignore[arg-type]
    on_day = await found.visits_on(DAY)
    return (
        sorted({one.patient_id for one in on_day.seen})
        if on_day.state == "listed"
        else [on_day.state]
    )


async def test_stays_visits_and_appointments_of_the_day_are_found_and_no_others() -> None:
    server = Server(
        visit("a", "Patient/1", "2026-11-20", status="in-progress"),
        visit("b", "Patient/2", "2026-11-20", "2026-11-22"),
        visit("c", "https://fhir.example/r4/Patient/3", "2026-11-23T23:30:00-08:00"),
        visit("d", "Patient/4", "2026-11-24", status="planned"),
        visit("e", "Patient/5", "2026-11-23", status="entered-in-error"),
        visit("f", "https://elsewhere.example/r4/Patient/6", "2026-11-23"),
        appointment("g", "Patient/7", "2026-11-23T08:00:00+01:00"),
        appointment("h", "Patient/8", "2026-11-23T08:00:00+01:00", status="cancelled"),
        appointment("i", "Patient/1", "2026-11-23T09:00:00+01:00"),
        {"resourceType": "Encounter", "id": "j", "status": "finished", "subject": "broken"},
    )
    assert await seen(server) == ["patient_1", "patient_3", "patient_7"]


async def test_a_server_that_ignores_the_keys_adds_nobody() -> None:
    server = Server(*(visit(str(n), f"Patient/{n}", "2026-11-23") for n in range(1, 25)))
    server.ignores_ids = True
    assert sorted(await seen(server)) == sorted(f"patient_{n}" for n in range(1, 25))


async def test_one_search_that_is_refused_costs_itself_and_both_are_said() -> None:
    server = Server(appointment("g", "Patient/7", "2026-11-23T08:00:00+01:00"))
    server.refuses = {"Encounter"}
    assert await seen(server) == ["patient_7"]
    server.refuses = {"Encounter", "Appointment"}
    assert await seen(server) == ["not_searchable"]


async def test_a_part_of_a_day_is_never_a_list() -> None:
    server = Server(visit("a", "Patient/1", "2026-11-23"))
    server.truncated = True
    assert await seen(server) == ["too_many"]


async def test_a_day_without_visits_names_nobody() -> None:
    assert await seen(Server()) == []
