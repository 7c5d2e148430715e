"""A directory of 6,000 patients, from files and from a server: one bad one costs itself."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from yarl import URL

from data_models.errors import RecordsUnavailableError
from data_models.identifiers import PatientId
from services.identity.directory import Directory, FileDirectory
from services.identity.identity_factory import ServerDirectory
from services.identity.linking import Linked, Situation, SubjectLinker
from services.records.fhir.fhir_client import FhirAnswer
from tests.fakes import FixedClock
from tests.services.identity.test_linking import PATTERN, records

MANY = 6_000
SYSTEM = "urn:mrn"
OPEN = PatientId("patient_1")


def everybody() -> Iterator[dict[str, Any]]:
    """Yield 6,000 patients: one malformed, one merged, one with a retired number."""
    for place in range(1, MANY + 1):
        number: dict[str, Any] = {"system": SYSTEM, "value": f"patient_{place}"}
        body: dict[str, Any] = {
            "resourceType": "Patient",
            "id": f"p{place}",
            "identifier": [number],
            "name": [{"family": f"Moen{_letters(place)}", "given": [f"Ada{_letters(place % 97)}"]}],
            "birthDate": f"{1930 + place % 80}-0{place % 9 + 1}-1{place % 10}",
        }
        if place == 2:
            body |= {
                "name": "not a list",
                "birthDate": 7,
                "identifier": [number, None, {"value": 3}],
            }
        if place == 3:
            other = {"reference": "Patient/p4"}
            body |= {"active": False, "link": [{"type": "replaced-by", "other": other}]}
        if place == 5:
            retired = {"system": SYSTEM, "value": "OLD-00005", "use": "old"}
            body["identifier"] = [number, retired]
        yield body


def _letters(number: int) -> str:
    """Return a number as letters, so that a name has no digits: 0 is a."""
    return "".join(chr(ord("a") + int(one)) for one in str(number))


class Server:
    """Answers searches over everybody, never a list of all."""

    base_url = URL("https://fhir.example/r4")

    def __init__(self) -> None:
        self.people = list(everybody())
        self.is_down = False

    async def ask(self, url: URL) -> FhirAnswer:
        if self.is_down:
            raise RecordsUnavailableError("down")
        assert url.query.keys() & {"identifier", "family", "birthdate", "_id"}, "a list of all"
        rows = [{"resource": one} for one in self.people if self._fits(one, url)]
        return FhirAnswer(200, {"resourceType": "Bundle", "entry": rows[:50]})

    def _fits(self, one: dict[str, Any], url: URL) -> bool:
        names = [each for each in one["name"] if isinstance(each, dict)]
        numbers = [each["value"] for each in one["identifier"] if each]
        has: dict[str, Callable[[str], bool]] = {
            "identifier": lambda said: said.rpartition("|")[2] in numbers,
            "family": lambda said: any(each["family"].lower() == said.lower() for each in names),
            "given": lambda said: any(said in each["given"] for each in names),
            "birthdate": lambda said: one["birthDate"] == said,
            "_id": lambda said: one["id"] in said.split(","),
        }
        return all(has[name](said) for name, said in url.query.items() if name in has)


def written(folder: Path) -> Path:
    """Write everybody into bundles, and one file that is no JSON."""
    people = list(everybody())
    for start in range(0, MANY, 1_000):
        entry = [{"resource": one} for one in people[start : start + 1_000]]
        bundle = {"resourceType": "Bundle", "type": "collection", "entry": entry}
        (folder / f"part-{start}.json").write_text(json.dumps(bundle), encoding="utf-8")
    (folder / "broken.json").write_text("{ not json", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def of_files(tmp_path_factory: pytest.TempPathFactory) -> Directory:
    folder = written(tmp_path_factory.mktemp("people"))
    return FileDirectory(records=records(folder), fits=PATTERN.matches, clock=FixedClock())


@pytest.fixture(scope="module")
def of_a_server() -> Directory:
    return ServerDirectory(
        client=Server(),  # type: ignore[arg-type]  # as far as it is used
        systems=(SYSTEM,),
        fits=PATTERN.matches,
        clock=FixedClock(),
    )


@pytest.fixture(params=["of_files", "of_a_server"])
def directory(request: pytest.FixtureRequest) -> Directory:
    found: Directory = request.getfixturevalue(request.param)
    return found


async def linked(text: str, directory: Directory) -> Linked:
    linker = SubjectLinker(directory=directory, fits=PATTERN.matches, seconds=30)
    return await linker.link(text, Situation(active=OPEN, roster={OPEN: None}))


@pytest.mark.slow
async def test_one_of_six_thousand_is_found_by_whole_name(directory: Directory) -> None:
    given, family = f"Ada{_letters(4_321 % 97)}", f"Moen{_letters(4_321)}"

    found = (await linked(f"what is {given} {family}'s stage?", directory)).subject

    assert (found.outcome, [one.patient_id for one in found.people]) == ("other", ["patient_4321"])


@pytest.mark.slow
async def test_a_malformed_patient_costs_itself_and_nobody_else(directory: Directory) -> None:
    linker = SubjectLinker(directory=directory, fits=PATTERN.matches, seconds=30)

    person = await linker.person(PatientId("patient_2"))
    other = await linker.person(PatientId("patient_6000"))

    assert person is None or person.name == ""
    assert other is not None
    assert directory.state == "ok"


@pytest.mark.slow
async def test_a_retired_number_asks_and_opens_nobody(directory: Directory) -> None:
    found = (await linked("stage of OLD-00005", directory)).subject

    assert (found.outcome, found.reason) == ("unsure", "retired")


@pytest.mark.slow
async def test_who_was_merged_leads_to_the_survivor(directory: Directory) -> None:
    linker = SubjectLinker(directory=directory, fits=PATTERN.matches, seconds=30)

    linked_people = await linker.link(
        "open patient_3", Situation(active=OPEN, named=(PatientId("patient_3"),))
    )
    merged = linked_people.index.with_id(PatientId("patient_3"))

    assert merged is not None
    assert merged.replaced_by == "p4"


@pytest.mark.slow
async def test_what_names_nobody_of_six_thousand_is_the_open_patient(directory: Directory) -> None:
    for text in ("any allergies?", "is she on apixaban?", "what was found in the last CT?"):
        assert (await linked(text, directory)).subject.outcome == "same"


@pytest.mark.slow
async def test_a_server_that_is_down_is_never_answered_past() -> None:
    server = Server()
    server.is_down = True
    directory = ServerDirectory(
        client=server,  # type: ignore[arg-type]  # as far as it is used
        systems=(SYSTEM,),
        fits=PATTERN.matches,
        clock=FixedClock(),
    )

    found = await linked("what is Adabi Moenbcde's stage?", directory)

    assert (found.subject.outcome, found.subject.reason) == ("unsure", "unanswered")
    assert directory.state == "down"
