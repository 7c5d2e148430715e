"""What a model of any window gets for "what is he taking": all drugs, or the user sees them."""

import json
from pathlib import Path

import pytest

from data_models.conversations.turn_events import ViewShown
from data_models.identifiers import PatientId
from group_chat.models.model_settings import LEAST_WINDOW_TOKENS
from services.language.utterance import ChartQuestion, Utterance
from services.records.resources.ports import EVERYTHING, Need
from services.records.resources.record import PatientRecord
from services.statements.shown import pipe_table
from tests.group_chat.team_world import SAMPLES, team_world, text
from tests.services.records.charts import PATIENT_ID, record, resource

ASKED = "What is he taking?"
TAKING = Utterance(
    text=ASKED, task="answer", agent="PatientHistory", about=(ChartQuestion("medications"),)
)
WINDOWS = (LEAST_WINDOW_TOKENS, 16_384, 32_768, 128_000, 1_047_576)


def active_in(file: Path) -> set[str]:
    """The source ids of the active drugs, read from the file itself."""
    rows = [entry["resource"] for entry in json.loads(file.read_text("utf-8"))["entry"]]
    return {
        f"{row['resourceType']}/{row['id']}"
        for row in rows
        if row["resourceType"] in ("MedicationRequest", "MedicationStatement")
        and row["status"] == "active"
    }


@pytest.mark.slow
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("file", sorted(SAMPLES.glob("*.json")), ids=lambda file: file.stem)
async def test_every_active_drug_of_a_sample_is_in_the_request(file: Path, window: int) -> None:
    async with team_world(window_tokens=window) as world:
        patient = PatientId(file.stem)
        changes = {"patient_id": patient, "all_patient_ids": (patient,), "utterance": TAKING}
        await world.say(ASKED, text("See the list."), **changes)
        sent = json.dumps(world.prompts()[0], ensure_ascii=False)
    assert [ref for ref in sorted(active_in(file)) if ref not in sent] == []


class OneRecord:
    """Serves one record under any id."""

    def __init__(self, *, record: PatientRecord) -> None:
        self._record = record

    async def load(self, patient_id: PatientId, need: Need = EVERYTHING) -> PatientRecord:
        return self._record


@pytest.mark.slow
async def test_what_does_not_fit_into_the_smallest_window_is_shown_whole_by_code() -> None:
    drugs = [
        resource("MedicationRequest", f"m{at}", status="active", intent="order",
                 medicationCodeableConcept={"text": f"Substance number {at:03} with a long name"})
        for at in range(120)
    ]  # fmt: skip
    async with team_world(
        window_tokens=LEAST_WINDOW_TOKENS, records=OneRecord(record=record(*drugs))
    ) as world:
        changes = {"patient_id": PATIENT_ID, "all_patient_ids": (PATIENT_ID,)}
        heard = await world.say(ASKED, text("The list is below."), utterance=TAKING, **changes)
        sent = json.dumps(world.prompts()[0])

    assert "120 medication: too many to show here; the whole list is shown to the user" in sent
    (shown,) = heard.of(ViewShown)
    assert len(shown.view.rows) == 120
    assert sum(line.startswith("| ") for line in pipe_table(shown.view).splitlines()) == 121
