"""Published research in the whole server: nothing of a patient leaves."""

from pathlib import Path

import pytest

from tests.e2e.evidence_site import evidence_site
from tests.services.evidence.test_pubmed import eutils

pytestmark = pytest.mark.slow


async def test_the_server_runs_with_it_and_no_patient_leaves(tmp_path: Path) -> None:
    async with eutils() as (double, _), evidence_site(tmp_path, pubmed_base_url=double.url) as site:
        said = await site.talk("patient_4", "@MedicalResearch osimertinib EGFR")
        assert {one.agent for one in said.said} == {"MedicalResearch"}
        await site.talk("patient_4", "@MedicalResearch osimertinib for Margaret Whitfield")
        await site.talk("patient_4", "@MedicalResearch frobnicate of patient_4, born 1957-03-14")
        await site.talk("patient_4", "@MedicalResearch frobnicate")
        await site.talk("patient_4", "what is her stage?")
    assert double.asked == []  # rules send nothing: only a model asks, in words of its own
