"""What a small model said of a sample patient that is not so: none of it is shown unmarked."""

import pytest

from data_models.turn_events import AgentMessageFinished
from tests.group_chat.team_world import Heard, TeamWorld, call, text

NOT_SO = [
    "No allergies.",
    "The current stage is stage 1.",
    "The PD-L1 level is 1.",
    "The patient is T790M.",
    "T790M positive.",
    "A brain metastasis was found on March 15, 2026.",
    "ECOG performance status: 3",
    "The notes do not mention anything about her husband.",
    "The treatment is not covered by insurance.",
    "CEA is the Center for Excellence in Cancer.",
    "She takes Metformin, Glucophage, Lisinopril, Amlodipine and Hydrochlorothiazide.",
    "- Metformin\n- Lisinopril\n- Hydrochlorothiazide",
    "Stage IIB [Observation/stage-1].",
    "The stage is IIB.",
    "The stage is IVB [DocumentReference/note-99].",
    "For patient_15 the stage is IIIA.",
    "Your appointment on Friday is booked.",
    "I have sent the report.",
    "I registered the patient.",
    "She has never smoked.",
    "Erlotinib 150 mg daily was started on 2024-04-01.",
    "She had a stroke in 2019.",
    "She is allergic to iodine.",
    "Her weight is 80 kg.",
    "She takes penicillin.",
    "She is allergic to ramipril.",
    "Sie nimmt Metformin 500 mg zweimal täglich.",
    "Keine bekannten Allergien.",
    "Brain metastases have been excluded.",
    "There is no evidence of metastatic disease.",
    "The tumour is in the left upper lobe.",
    "CEA is falling.",
    "ALK-positive disease.",
    "Stage three B disease.",
    "I've referred her to cardiology.",
    "According to the outside report, her potassium is 6.8 mmol/L.",
    "| LDH | 480 U/L |",
    "I took care of the referral.",
    "Ich habe die Überweisung veranlasst.",
    "Sie wird palliativ bestrahlt.",
    "The biopsy of 12 May 2025 was benign.",
    "Der Tumor ist vollständig zurückgegangen.",
    "She is a 45-year-old man.",
    "T790M was found in the rebiopsy.",
    "A Whipple procedure was performed.",
    "She lives alone.",
]


@pytest.mark.slow
@pytest.mark.parametrize("said", NOT_SO)
async def test_what_is_not_so_is_marked_or_not_shown(world: TeamWorld, said: str) -> None:
    # The second text is for the repair, which is asked for only where a row says otherwise.
    world.model.queue(call("current_status"), text(said), text("Nothing more to say."))
    request = world.request("@PatientStatus how is she?", mentions=("PatientStatus",))
    heard = Heard([event async for event in world.chat.run(request)])
    message = heard.of(AgentMessageFinished)[-1].message
    marked = [one for one in message.statements if one.state in ("unsupported", "contradicted")]
    assert marked
    shown = message.text
    for one in marked:
        shown = shown.replace(message.text[one.start : one.end], "")
    assert all(line.strip(" -") not in shown for line in said.splitlines())
