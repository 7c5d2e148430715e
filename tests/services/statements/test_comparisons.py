"""Comparisons, ranges, classes of drugs, grave reactions: each beside its lie."""

import pytest

from tests.services.statements.test_check import state


@pytest.mark.parametrize(
    "text",
    [
        "Potassium was lower in March 2026 than in November 2025.",
        "Potassium 4.1 mmol/L is lower than the 4.5 mmol/L before.",
        "The range of potassium is 3.5-5.1 mmol/L.",
        "Systolic pressure was 128 mmHg.",
        "She takes a steroid.",
        "Er bekommt einen Gerinnungshemmer.",
        "Sie nimmt ein Kortikosteroid.",
        "Her anticoagulant is apixaban.",
        "Sie hat eine Penicillinallergie.",
        "Penicillin caused a rash.",
        "The highest potassium was measured in November 2025.",
        "Potassium has always been below 5 mmol/L.",
        "Her potassium has never been above 4.6 mmol/L.",
        "Potassium stayed between 4.0 and 4.6 mmol/L.",
        "Her potassium is below 4.3 mmol/L.",
        "Her potassium is not above 4.3 mmol/L.",
        "Kalium lag nie über 5 mmol/l.",
    ],
)
def test_what_the_rows_bear_out_is_supported(text: str) -> None:
    assert state(text) == "supported"


@pytest.mark.parametrize(
    "text",
    [
        "Potassium was higher in March 2026 than in November 2025.",
        "Potassium 4.1 mmol/L is higher than the 4.5 mmol/L before.",
        "Potassium was higher in March than in November.",
        "The reference range is 3.0-5.0 mmol/L for potassium.",
        "Diastolic pressure was 128 mmHg.",
        "She takes no steroids.",
        "Sie nimmt keine Steroide.",
        "Sie nimmt keinen Gerinnungshemmer.",
        "Keine Penicillinallergie.",
        "Es besteht keine Penicillin-Allergie.",
        "Penicillin caused an anaphylactic shock.",
        "Penicillin führte zu einem anaphylaktischen Schock.",
        "Her potassium is the highest ever recorded.",
        "Potassium has always been below 4.3 mmol/L.",
        "Her potassium has never been above 4.3 mmol/L.",
        "Potassium stayed between 4.0 and 4.2 mmol/L.",
        "Her potassium is above 4.3 mmol/L.",
        "Her potassium is not above 4.0 mmol/L.",
        "Kalium lag nie über 4,3 mmol/l.",
        "Potassium has risen steadily.",
        "Her potassium doubled within four months.",
        "Kalium hat sich verdoppelt.",
        "She has taken apixaban for ten years.",
        "Seit zehn Jahren nimmt sie Apixaban.",
        "Sie lebt allein.",
        "She takes a statin.",
    ],
)
def test_what_the_rows_do_not_bear_out_is_marked(text: str) -> None:
    assert state(text) in ("contradicted", "unsupported")
