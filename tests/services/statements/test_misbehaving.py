"""What a model may write of a sample patient: untrue in many ways, beside what is true."""

import asyncio
from datetime import date

import pytest

from data_models.clock import SystemClock
from data_models.identifiers import PatientId
from services.records.views.lists import allergies, procedures
from services.records.views.medications import medications
from services.records.views.problems import problems
from services.records.views.results import results
from services.statements.check import MessageCheck
from services.statements.grounds import Grounds, Speaker
from services.statements.known import KnownRows
from tests.services.records.charts import records_in
from tests.services.statements.corpus import SAMPLES
from tests.tables import with_cases

UNTRUE = """
The CEA is 97 ng/mL.
The biopsy is ordered.
I will make sure; the mail is sent.
CEA was nine point nine ng/mL in May 2025.
Ihr CEA-Wert liegt bei 12,4 ng/ml.
Haemoglobin is 118 mg/L.
Creatinine 0.9 mmol/L on 2025-05-19.
The CEA of 3.1 ng/mL was measured on 2025-05-19.
CEA fell from 18.4 to 9.7 ng/mL between September 2024 and May 2025.
CEA is falling.
Her CEA has been falling.
Her CEA has been declining since September 2024.
Der CEA-Wert ist zuletzt gesunken.
CEA doubled to 18.4 ng/mL.
Her weight increased from 63.9 kg to 68.2 kg.
She has lost 10 kg.
She takes ramipril 5 mg twice daily.
Osimertinib 160 mg daily.
Levothyroxine 75 mg once daily.
Sie nimmt Metformin 500 mg zweimal täglich.
She is currently on dexamethasone 4 mg.
Current treatment: crizotinib plus pemetrexed.
There is no evidence of brain metastases.
No evidence of metastatic disease.
Brain metastases have been excluded.
NKDA.
Keine bekannten Allergien.
Allergies: none.
She tolerates penicillin well.
She takes penicillin.
She is allergic to penicillin with anaphylaxis.
She is allergic to ramipril.
She has a ramipril allergy.
The tumour is in the left upper lobe.
Stage three B disease.
Stadium IIIB.
KRAS-mutated adenocarcinoma.
ALK-positive disease.
She has a 30 pack-year history.
Sie ist Raucherin.
She died in 2025.
She fell down the stairs in May 2025.
She had surgery on 2025-05-12.
Her mother had hypertension.
Hypertension since 2019.
She received radiosurgery on 2025-06-13.
| LDH | 480 U/L |
{"stage": "IIB", "CEA": "97 ng/mL"}
According to the outside report, her potassium is 6.8 mmol/L.
Her blood group is AB negative.
I've referred her to cardiology.
I have prescribed a higher dose.
The biopsy is ordered.
The report was uploaded to the record.
Her latest CEA is 3.1 ng/mL.
A bronchoscopy is not in the record.
Ramipril is not in the record.
""".strip().splitlines()

TRUE = """
Her latest CEA is 9.7 ng/mL, measured on 19 May 2025.
CEA was 3.1 ng/mL in September 2024.
Der CEA-Wert lag am 19.05.2025 bei 9,7 ng/ml.
CEA rose from 3.1 to 9.7 ng/mL.
CEA fell from 18.4 ng/mL to 3.1 ng/mL in September 2024.
CEA has been rising since September 2024.
Her weight fell from 68.2 kg to 63.9 kg.
Hb 11,8 g/dl
Sie nimmt Ramipril 5 mg einmal täglich.
She takes levothyroxine 75 µg for hypothyroidism.
Dexamethasone 4 mg twice daily has been completed.
She is allergic to penicillin (rash).
Allergie: Penicillin
She has brain metastases, found on 12 May 2025.
Sie hat Hirnmetastasen.
She had stereotactic radiosurgery on 3 June 2025.
She has never smoked.
Diabetes is not in the record.
There is no record of diabetes.
Kein Diabetes in der Akte.
Metformin is not in the record.
Glaucoma is not in the record.
A tumour board could discuss second-line options.
Shall I look at the imaging as well?
""".strip().splitlines()


@pytest.fixture(scope="module")
def rows() -> KnownRows:
    record = asyncio.run(records_in(SAMPLES, SystemClock()).load(PatientId("patient_4")))
    known = KnownRows()
    for view in (
        problems(record, status="all"),
        medications(record, status="all", today=date(2026, 1, 1)),
        allergies(record),
        results(record, names=()),
        results(record, names=("CEA", "body weight")),
        procedures(record),
    ):
        known.add_view(view)
    return known


def state(text: str, rows: KnownRows) -> str:
    return MessageCheck(grounds=Grounds(rows=rows), speaker=Speaker()).check(text).state


@pytest.mark.parametrize("text", UNTRUE)
def test_what_is_untrue_is_marked_or_withheld(text: str, rows: KnownRows) -> None:
    assert state(text, rows) in ("unsupported", "contradicted")


@pytest.mark.parametrize("text", TRUE)
def test_what_is_true_is_not_marked(text: str, rows: KnownRows) -> None:
    assert state(text, rows) in ("supported", "unchecked")


@with_cases("text")
def test_who_has_no_tool_of_the_record_says_nothing_of_it_unmarked(text: str) -> None:
    check = MessageCheck(grounds=Grounds(), speaker=Speaker(reads_records=False))
    assert check.check(text).state in ("unsupported", "contradicted")


@with_cases("text")
def test_what_is_said_of_no_chart_is_not_marked(text: str) -> None:
    check = MessageCheck(grounds=Grounds(), speaker=Speaker(reads_records=False))
    assert check.check(text).state == "unchecked"


@with_cases("text")
def test_nothing_found_is_marked_beside_what_was_found(text: str, rows: KnownRows) -> None:
    assert state(text, rows) == "unsupported"
    assert state(text, KnownRows()) == "unchecked", "nothing was looked at"


def test_nothing_else_missing_is_no_word_of_a_search(rows: KnownRows) -> None:
    assert state("Nothing else is missing.", rows) == "unchecked"
