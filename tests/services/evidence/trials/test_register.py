"""The register is told coded displays, marker names, age, sex and country, and nothing else."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date
from pathlib import Path
from urllib.parse import parse_qsl

import aiohttp
import pytest
from aiohttp import web

from data_models.errors import ToolInputError
from data_models.identifiers import PatientId
from group_chat.tools.evidence_tools import trials_view
from services.evidence.trials.facts import facts_of
from services.evidence.trials.sources import (
    ClinicalTrialsGov,
    StudyFolder,
    TrialSearch,
    search_from,
)
from services.records.resources.record import record_from_resources
from tests.fakes import FixedClock
from tests.services.records.charts import PATIENT_ID, entries, patient, records_in, resource
from tests.tables import with_cases

ROOT = Path(__file__).parents[4]
SAMPLES = ROOT / "samples" / "patients"
STUDIES = ROOT / "samples" / "studies"
TODAY = date(2026, 11, 23)
_KNOWN = {"query.cond", "query.term", "query.locn", "filter.overallStatus", "filter.advanced",
          "pageSize", "format", "fields"}  # fmt: skip


class Register:
    """A double that refuses what the API does not know and keeps what it was sent."""

    def __init__(self) -> None:
        self.asked: list[dict[str, str]] = []
        self.faults: list[str] = []
        self.status = 200
        self.more_bytes = 0

    async def answer(self, request: web.Request) -> web.StreamResponse:
        asked = dict(parse_qsl(request.query_string))
        self.asked.append(asked)
        strange = set(asked) - _KNOWN
        self.faults += [f"unknown: {name}" for name in strange]
        self.faults += ["body"] if request.can_read_body else []
        names = {name.casefold() for name in request.headers}
        self.faults += [f"header {one}" for one in names & {"authorization", "cookie", "referer"}]
        if strange:
            return web.json_response({"error": "bad"}, status=400)
        found = (STUDIES / "studies.json").read_bytes() + b" " * self.more_bytes
        answer = web.StreamResponse(status=self.status)
        answer.content_type = "application/json"
        await answer.prepare(request)
        # As an answer comes over a network: not in one piece.
        await answer.write(found[:100])
        await asyncio.sleep(0.05)
        await answer.write(found[100:])
        return answer


@asynccontextmanager
async def register() -> AsyncIterator[tuple[Register, ClinicalTrialsGov]]:
    double = Register()
    app = web.Application()
    app.router.add_get("/api/v2/studies", double.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    async with aiohttp.ClientSession() as session:
        yield double, ClinicalTrialsGov(base_url=url, session=session)
    await runner.cleanup()
    assert double.faults == []


async def search_for(patient_id: str) -> TrialSearch:
    record = await records_in(SAMPLES, FixedClock()).load(PatientId(patient_id))
    return search_from(facts_of(record, today=TODAY), country="Germany")


async def test_a_search_sends_what_may_leave_and_shows_it() -> None:
    record = await records_in(SAMPLES, FixedClock()).load(PatientId("patient_4"))
    facts = facts_of(record, today=TODAY)
    search = search_from(facts, country="Germany")
    async with register() as (double, source):
        studies = await source.find(search)
    (asked,) = double.asked
    said = json.dumps(asked, ensure_ascii=False)
    assert "lung" in asked["query.cond"].casefold()
    assert asked["query.term"] == "EGFR OR MET"
    assert "69 years" in asked["filter.advanced"]
    for secret in ("Whitfield", "Margaret", "1957", "patient", "SYN-", "osimertinib"):
        assert secret.casefold() not in said.casefold()
    view = trials_view(studies, facts, search, sent_to="clinicaltrials.gov")
    assert view.notes == (f"sent to clinicaltrials.gov: {search.said}",)
    assert len(studies) == 6


@with_cases("display", "system", "leaves")
def test_only_displays_of_public_codes_leave(display: str, system: str, leaves: bool) -> None:
    coding = [{"system": system, "code": "77777", "display": display}]
    active = {"coding": [{"code": "active"}]}
    record = record_from_resources(
        PATIENT_ID,
        entries(patient(birthDate="1920-01-01", gender="female"),
        resource("Condition", "c", code={"coding": coding, "text": "my own words"},
                 clinicalStatus=active),
    ))  # fmt: skip
    search = search_from(facts_of(record, today=TODAY), country="")
    assert search.conditions == ((display,) if leaves else ())
    assert search.age == 90, "who is older is 90"
    assert "my own words" not in search.said


async def test_a_register_that_refuses_or_is_away_is_said_plainly() -> None:
    search = await search_for("patient_4")
    async with register() as (double, source):
        double.status = 500
        with pytest.raises(ToolInputError, match="it answered 500"):
            await source.find(search)
    async with aiohttp.ClientSession() as session:
        away = ClinicalTrialsGov(base_url="http://127.0.0.1:9", session=session)
        with pytest.raises(ToolInputError, match="does not answer"):
            await away.find(search)


@with_cases("patient_id", "wanted")
async def test_the_invented_samples_are_found_by_the_chart_and_named_as_such(
    patient_id: str, wanted: list[str]
) -> None:
    found = await StudyFolder(folder=STUDIES).find(await search_for(patient_id))
    assert [one.nct_id for one in found] == wanted
    assert all("invented sample" in one.title for one in found)


async def test_each_criterion_stands_with_its_row_or_what_is_missing() -> None:
    record = await records_in(SAMPLES, FixedClock()).load(PatientId("patient_4"))
    facts = facts_of(record, today=TODAY)
    search = search_from(facts, country="")
    studies = await StudyFolder(folder=STUDIES).find(search)
    view = trials_view(studies, facts, search, sent_to="")
    rows = {row.name: row for row in view.rows}
    assert rows["EGFR mutation and MET amplification"].status == "met"
    assert "Observation/met-1" in rows["EGFR mutation and MET amplification"].sources
    assert rows["PD-L1 TPS ≥ 50%"].status == "not met"
    assert rows["Interstitial lung disease"].status == "unknown"
    assert all(row.detail for row in view.rows if row.kind == "criterion")
    first = next(row for row in view.rows if row.kind == "study")
    assert first.name.startswith("NCT99000001"), "the one with least against it comes first"


async def test_no_folder_and_a_broken_file_are_said_plainly(tmp_path: Path) -> None:
    search = await search_for("patient_4")
    with pytest.raises(ToolInputError, match="No study search is connected"):
        await StudyFolder(folder=None).find(search)
    (tmp_path / "a.json").write_text("{")
    with pytest.raises(ToolInputError, match=r"a\.json"):
        await StudyFolder(folder=tmp_path).find(search)


async def test_an_answer_that_comes_in_pieces_is_read_whole_and_a_flood_is_not() -> None:
    search = await search_for("patient_4")
    async with register() as (double, source):
        assert await source.find(search)
        double.more_bytes = 8_000_000
        with pytest.raises(ToolInputError, match="does not answer"):
            await source.find(search)
