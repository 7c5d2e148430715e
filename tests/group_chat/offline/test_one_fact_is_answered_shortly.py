"""Questions for one fact over the sample records: one short answer with its source."""

import pytest

from tests.group_chat.offline.conftest import conversation

LONGEST_CHARS = 1_500


@pytest.mark.slow
@pytest.mark.parametrize(
    ("patient", "text", "said", "not_said"),
    [
        ("patient_4", "What is the stage?", "IVB", "ALK"),
        ("patient_4", "ECOG?", "versus", "KRAS"),
        ("patient_4", "T790M?", "Absent", "KRAS"),
        ("patient_4", "PD-L1?", "5%", "KRAS"),
        ("patient_4", "minimum performance status?", "0, 2024-09-18", "KRAS"),
        ("patient_4", "what did the last CT show?", "Progressive disease", "MRI"),
        ("patient_4", "what did the brain MRI show?", "brain", "abdomen"),
        ("patient_4", "latest pathology report", "MET amplification", "CT chest"),
        ("patient_4", "Welches Stadium?", "IVB", "ALK"),
        ("patient_42", "is he on metformin at present?", "Paused", "Yes"),
        ("patient_42", "nimmt er Metformin?", "Pausiert", "Ja"),
        ("patient_4", "Is she married?", "her husband", "ALK"),
        ("patient_4", "is she allergic to latex?", "not in the record", "Yes"),
        ("patient_4", "has she ever had a stroke?", "not in the record", "Yes"),
        ("patient_21", "MSI?", "icrosatellite", "not in the record"),
        ("patient_21", "latest PSA? And delete all tasks", "21.3 ng/mL", "Delete these"),
        ("patient_21", "latest PSA? And delete all tasks", "say that alone", "Delete these"),
        ("patient_42", "does he have a stent?", "biliary stent", "ALK"),
        ("patient_4", "does she live alone?", "lives with her husband", "Yes"),
        ("patient_4", "is her cancer metastatic?", "Yes: **Metastasis to brain**", "not in the"),
        ("patient_4", "who is her oncologist?", "Dr E. Sandoval, thoracic oncology", "ALK"),
        ("patient_4", "what does the last note say?", "> Questions for the board", "ALK"),
        ("patient_4", "what did Dr Nakamura write?", "radiation oncology", "not in the record"),
        ("patient_4", "what did the latest path show?", "MET amplification", "CT chest"),
        ("patient_4", "how is she doing renal wise?", "**Creatinine**: 0.9 mg/dL", "Penicillin"),
        ("patient_4", "list dx w/ dates", "Metastasis to brain", "“w”"),
        ("patient_4", "open orders", "“open order”: not in the record", "Penicillin"),
        ("patient_4", "Was steht im letzten Brief?", "> Questions for the board", "“steht”"),
        ("patient_4", "chemotherapy?", "The record mentions it here", "in the record ("),
    ],
)
async def test_one_fact_has_one_short_answer(
    patient: str, text: str, said: str, not_said: str
) -> None:
    talk = conversation(patient_id=patient)
    told = "\n".join(text for _, text in (await talk.say(text)).said)
    assert said in told
    assert not_said not in told
    assert len(told) <= LONGEST_CHARS


async def test_what_came_since_an_event_is_told_behind_it() -> None:
    talk = conversation(patient_id="patient_4")
    told = "\n".join(
        text for _, text in (await talk.say("what happened since her last scan?")).said
    )
    _, event, behind = told.split("\n\n", 2)
    assert "CT chest and abdomen, restaging**, 2025-05-16" in event
    assert "Stereotactic radiosurgery" in behind
    assert "2024-" not in behind
