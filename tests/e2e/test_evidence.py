"""What stands beside the chart, asked of a whole server in plain words, offline."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.e2e.evidence_site import EvidenceSite, evidence_site
from tests.tables import with_cases

pytestmark = pytest.mark.slow
_NEW = {
    "resourceType": "Observation",
    "id": "k-new",
    "status": "final",
    "subject": {"reference": "Patient/patient-4"},
    "code": {"coding": [{"system": "http://loinc.org", "code": "2823-3"}], "text": "Potassium"},
    "effectiveDateTime": "2026-11-22",
    "valueQuantity": {"value": 6.1, "unit": "mmol/L"},
}


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[EvidenceSite]:
    async with evidence_site(tmp_path) as found:
        yield found


async def test_on_opening_a_chart_again_one_line_says_what_changed(site: EvidenceSite) -> None:
    await site.talk("patient_4")
    assert not any("last looked" in one for one in site.told)
    site.clock.ahead = timedelta(hours=2)
    site.change("patient_4", _NEW)
    await site.talk("patient_7")
    await site.talk("patient_4")
    (line,) = [one for one in site.told if "last looked" in one]
    assert "1 new" in line
    assert "changed" not in line.partition("1 new")[2]


@pytest.mark.parametrize(
    "asked",
    ["what changed since I last looked?", "Was hat sich seit meinem letzten Blick geändert?",
     "anything new?"],
)  # fmt: skip
async def test_the_changes_are_told_with_value_and_source(site: EvidenceSite, asked: str) -> None:
    await site.talk("patient_4")
    site.clock.ahead = timedelta(hours=2)
    site.change("patient_4", _NEW)
    told = (await site.talk("patient_4", asked)).text
    assert "Potassium" in told
    assert "6.1" in told
    assert "Observation/k-new" in told
    assert len([line for line in told.splitlines() if "Observation/" in line]) == 1


async def test_days_are_asked_for_without_a_look(site: EvidenceSite) -> None:
    site.change("patient_4", _NEW)
    told = (await site.talk("patient_4", "what is new since 15 November 2026?")).text
    assert "Potassium" in told
    assert "compare nothing" not in told
    assert "2024" not in told  # the course before those days
    assert "6.1" in told


@with_cases("asked", "wanted")
async def test_guidelines_are_quoted_by_their_agent(
    site: EvidenceSite, asked: str, wanted: str
) -> None:
    answer = await site.talk("patient_4", asked)
    assert answer.agents == ["ClinicalGuidelines"]
    assert wanted in answer.text
    assert "Not supported by the record" not in answer.text


_ENGLISH = ("*met* (inclusion)", "*unknown* (exclusion)", "nothing was sent")
_GERMAN = ("*erfüllt* (Einschluss)", "*unbekannt* (Ausschluss)", "nichts wurde gesendet")


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("which clinical trials fit her?", _ENGLISH),
        ("Welche klinischen Studien gibt es für sie?", _GERMAN),
        ("Kommt sie für eine Studie in Frage?", _GERMAN),
    ],
)
async def test_trials_are_judged_criterion_by_criterion(
    site: EvidenceSite, asked: str, told: tuple[str, str, str]
) -> None:
    met, unknown, sent = told
    answer = await site.talk("patient_4", asked)
    assert answer.agents == ["ClinicalTrials"]
    assert "NCT99000001" in answer.text
    assert f"{met} “EGFR mutation and MET amplification”" in answer.text
    assert f"{unknown} “Interstitial lung disease”" in answer.text
    assert sent in answer.text
    assert "Not supported by the record" not in answer.text


async def test_what_no_guideline_answers_is_not_missing_in_the_record(site: EvidenceSite) -> None:
    told = (await site.talk("patient_4", "Was sagt unsere Leitlinie zu Masern?")).text
    assert "Akte" not in told
    assert "Leitlinien" in told


async def test_the_charts_rows_stand_beside_what_a_guideline_says(site: EvidenceSite) -> None:
    told = (await site.talk("patient_4", "What does our guideline say for this patient?")).text
    assert "> Taper dexamethasone" in told
    assert "[MedicationRequest/dexamethasone]" in told
    assert "no advice" not in told
