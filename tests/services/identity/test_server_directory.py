"""A directory over a server of two million patients: a few searches, nobody listed, nobody lost."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from yarl import URL

from data_models.errors import RecordsUnavailableError
from data_models.identifiers import PatientId
from services.identity.identity_factory import ServerDirectory
from services.identity.linking import Linked, Situation, SubjectLinker
from services.patient_context.reading.pattern import DEFAULT_PATTERN, PatientIdPattern
from services.records.fhir.fhir_client import FhirAnswer
from tests.fakes import FixedClock

PATTERN = PatientIdPattern.compile(DEFAULT_PATTERN)
SYSTEM = "urn:mrn"


def patient(place: int, family: str, given: str, **more: Any) -> dict[str, Any]:
    return {
        "resourceType": "Patient",
        "id": str(place),
        "identifier": [{"system": SYSTEM, "value": f"patient_{place}"}],
        "name": [{"family": family, "given": [given]}],
        **more,
    }


class Millions:
    """A server in which every word is somebody's name; it answers searches only."""

    base_url = URL("https://fhir.example/r4")

    def __init__(self, *known: dict[str, Any]) -> None:
        self.known = known
        self.asked: list[str] = []
        self.waits = asyncio.Event()
        self.waits.set()
        self.is_down = False

    async def ask(self, url: URL) -> FhirAnswer:
        await self.waits.wait()
        if self.is_down:
            raise RecordsUnavailableError("down")
        self.asked.append(url.query_string)
        rows = [{"resource": one} for one in self.known if self._fits(one, url)]
        return FhirAnswer(200, {"resourceType": "Bundle", "entry": rows})

    def _fits(self, one: dict[str, Any], url: URL) -> bool:
        query = url.query
        assert {"identifier", "family", "birthdate", "_id"} & set(query), "a list of all"
        numbers = [f"{each['system']}|{each['value']}" for each in one["identifier"]]
        names = [each for each in one["name"] if isinstance(each, dict)]
        wanted: dict[str, Callable[[str], bool]] = {
            "identifier": lambda said: said in numbers,
            "family": lambda said: any(each["family"] == said for each in names),
            "given": lambda said: any(said in each["given"] for each in names),
            "birthdate": lambda said: one.get("birthDate") == said,
            "_id": lambda said: one["id"] == said,
        }
        return all(wanted[key](said) for key, said in query.items() if key in wanted)


def linker_of(server: Millions, seconds: float = 2.0) -> SubjectLinker:
    directory = ServerDirectory(
        client=server,  # type: ignore[arg-type]  # a double of its one method
        fits=PATTERN.matches,
        clock=FixedClock(),
        systems=(SYSTEM,),
    )
    return SubjectLinker(directory=directory, fits=PATTERN.matches, seconds=seconds)


@pytest.fixture
def server() -> Millions:
    broken = patient(9, "Stage", "Any")
    broken["name"] = ["not a name", *broken["name"]]
    return Millions(
        patient(4, "Smith", "Jane", gender="female"),
        patient(7, "Dumbledore", "Albus", gender="male"),
        broken,
    )


async def said(linker: SubjectLinker, text: str, *more: str) -> Linked:
    roster = {PatientId(one): None for one in ("patient_4", *more)}
    return await linker.link(text, Situation(active=PatientId("patient_4"), roster=roster))


async def test_a_full_name_outside_the_roster_is_found_by_a_search(server: Millions) -> None:
    found = (await said(linker_of(server), "What is Albus Dumbledore's stage?")).subject

    assert (found.outcome, [one.patient_id for one in found.people]) == ("other", ["patient_7"])
    assert len(server.asked) <= 8


async def test_an_id_of_the_configured_system_opens_whatever_it_looks_like() -> None:
    number = "fd9a5c15-8c54-4dad-9b69-9e0e5e904548"
    albus = patient(7, "Dumbledore", "Albus", identifier=[{"system": SYSTEM, "value": number}])
    found = (await said(linker_of(Millions(albus)), "Albus Dumbledore's stage?")).subject

    assert (found.outcome, [one.patient_id for one in found.people]) == ("other", [number])


async def test_words_of_common_language_are_not_searched_for(server: Millions) -> None:
    found = (await said(linker_of(server), "what is her stage and what is the plan?")).subject

    assert found.outcome == "same"
    assert all("identifier" in one for one in server.asked)


async def test_a_slow_server_and_one_that_is_down_are_unsure(server: Millions) -> None:
    server.waits.clear()
    linker = linker_of(server, seconds=0.01)
    assert (await said(linker, "Albus Dumbledore's stage?")).subject.reason == "unanswered"
    server.waits.set()
    server.is_down = True
    assert (await said(linker, "Albus Dumbledore's stage?")).subject.reason == "unanswered"


async def test_what_was_searched_is_kept_for_a_while(server: Millions) -> None:
    linker = linker_of(server)
    await said(linker, "Albus Dumbledore's stage?")
    before = len(server.asked)
    await said(linker, "Albus Dumbledore's stage?")
    assert len(server.asked) == before
