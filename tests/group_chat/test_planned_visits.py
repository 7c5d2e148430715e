"""The patient's appointments are told with the visits that the chart has planned, of them alone."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from data_models.errors import RecordsUnavailableError
from data_models.identifiers import PatientId
from data_models.storage.local_blob_store import LocalBlobStore
from group_chat.offline.prompt import Prompt, ToolAnswer
from group_chat.offline.specialist import answer_as_booking
from group_chat.tools.clinic.scheduling_tools import SchedulingTools
from group_chat.turn_context import TurnContext
from services.records.local_resources import LocalResources
from services.records.resources.ports import PatientRecords
from services.scheduling.clinic import Clinic
from tests.fakes import CountingIds, FixedClock, GivenRecords
from tests.services.records.charts import patient, records_in, resource
from tests.services.scheduling.clinics import SAMPLES

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
NINE = PatientId("patient_9")


def appointment(key: str, days: int, status: str, what: str) -> dict[str, Any]:
    start = (NOW + timedelta(days=days)).isoformat()
    taking_part = [{"actor": {"reference": "Patient/p9"}, "status": "accepted"}]
    return resource("Appointment", key, status=status, start=start, description=what,
                    participant=taking_part)  # fmt: skip


ROWS = (
    appointment("a1", 9, "booked", "Eye clinic"),
    appointment("a2", -9, "booked", "Over already"),
    appointment("a3", 12, "cancelled", "Cancelled"),
    resource("Encounter", "e1", status="planned", period={"start": "2027-03-04"},
             type=[{"text": "Oncology clinic"}], **{"class": {"code": "AMB"}}),
)  # fmt: skip


async def listed(
    tmp_path: Path, *rows: dict[str, Any], charts: PatientRecords | None = None
) -> dict[str, Any]:
    """What the tool gives of a patient with nothing booked in the clinic itself."""
    entries = [{"resource": one} for one in (patient(), *rows)]
    bundle = {"resourceType": "Bundle", "type": "collection", "entry": entries}
    (tmp_path / "charts").mkdir()
    (tmp_path / "charts" / "patient_9.json").write_text(json.dumps(bundle), "utf-8")
    ids, clock = CountingIds(), FixedClock(NOW)
    own = records_in(tmp_path / "charts", clock)
    store = LocalBlobStore(root=tmp_path / "clinic")
    folder = SAMPLES / "scheduling"
    local = LocalResources(patients=own, folder=folder, store=store, zone=UTC, clock=clock)
    clinic = Clinic(records=local, clock=clock, ids=ids, zone=UTC)
    tools = SchedulingTools(clinic=clinic, records=charts or own)
    turn = cast(TurnContext, SimpleNamespace(patient_id=NINE, request=SimpleNamespace(now=NOW)))
    found = await tools.list_appointments(turn)
    assert isinstance(found, dict)
    return found


async def test_what_the_chart_has_planned_is_told_beside_what_is_booked_here(
    tmp_path: Path,
) -> None:
    found = await listed(tmp_path, *ROWS)
    assert found["appointments"] == []
    told = [line.split("  ")[:2] for line in found["planned_in_chart"].splitlines()]
    assert told == [["2026-12-01", "Eye clinic"], ["2027-03-04", "Oncology clinic"]]


@pytest.mark.parametrize(
    ("language", "asked", "planned", "none"),
    [
        ("en", "when is her next appointment?", "Planned in the chart:", "no visit planned"),
        ("de", "Wann ist ihr nächster Termin?", "In der Akte geplant:", "kein Besuch geplant"),
    ],
)
async def test_the_rules_tell_it_so(
    tmp_path: Path, language: str, asked: str, planned: str, none: str
) -> None:
    found = await listed(tmp_path, ROWS[0])
    offered = {"list_appointments": ()}

    def told(data: dict[str, Any]) -> str:
        answers = [ToolAnswer("list_appointments", data)]
        prompt = Prompt(patient_id=NINE, asked=asked, language=language, tools=offered)
        prompt.answers = answers
        return str(answer_as_booking(prompt).text)

    assert [one for one in (planned, "Eye clinic") if one not in told(found)] == []
    assert none in told({"appointments": [], "planned_in_chart": ""})
    assert ": 2." in told({"appointments": [], "on_other_days": 2})
    down = told({"appointments": [], "chart_not_read": "The records do not answer."})
    assert "The records do not answer." in down
    assert none not in down


async def test_what_is_booked_here_is_told_where_the_chart_cannot_be_read(tmp_path: Path) -> None:
    found = await listed(tmp_path, ROWS[0], charts=GivenRecords(RecordsUnavailableError()))
    assert found["appointments"] == []
    assert "planned_in_chart" not in found
    assert found["chart_not_read"] == RecordsUnavailableError().user_message
