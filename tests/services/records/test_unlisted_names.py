"""What no list of a clinic's usual names holds: devices, organs taken out, rarer illnesses."""

from collections.abc import Mapping

import pytest

from data_models.chart_view import ViewRow
from services.language.reading import read
from services.records.rows.finding import means
from tests.services.records.test_said_otherwise import SITUATION, row, said
from tests.tables import with_cases

HIP = row("device", "Hip prosthesis, device (physical object)", status="active")
MASK = row("device", "Home continuous positive airway pressure unit", status="active")
LUPUS = row("problem", "Lupus erythematosus", status="active", date="2004-02-11")
FIBROSIS = row("problem", "Cystic fibrosis (disorder)", status="active", date="2014-12-01")
SMALL_CELL = row("problem", "Small cell carcinoma of lung (disorder)", status="active")
HEART_ATTACK = row("problem", "Myocardial infarction (disorder)", status="resolved")
FAILURE = row("problem", "Chronic congestive heart failure (disorder)", status="active")
PROSTATE = row("procedure", "Prostatectomy (procedure)", "2014-05-05")
EEG = row("procedure", "Electroencephalogram", "2019-03-05")
SHOCK = row("procedure", "Electrical cardioversion", "2016-06-06")
RECEPTOR = row("biomarker", "Estrogen receptor Ag [Presence] in Breast cancer specimen")

CHART: Mapping[str, tuple[ViewRow, ...]] = {
    "care": (HIP, MASK),
    "problems": (LUPUS, FIBROSIS, SMALL_CELL, HEART_ATTACK, FAILURE),
    "procedures prostatectomy": (PROSTATE,),
    "procedures electroencephalogram": (EEG,),
    "procedures cardioversion": (SHOCK,),
    "biomarkers": (RECEPTOR,),
}


@pytest.mark.parametrize("text", ["does she have a pacemaker", "Hat sie einen Herzschrittmacher?",
                                  "hearing aids?", "does he have an ICD"])  # fmt: skip
def test_one_device_is_no_yes_to_another(text: str) -> None:
    told = said(text, CHART)
    assert "not in the record" in told or "nicht in der Akte" in told
    assert "Hip" not in told
    assert "airway" not in told


@pytest.mark.parametrize(
    ("text", "tells"),
    [
        ("does she use CPAP", MASK),
        ("hip prosthesis?", HIP),
        ("what autoimmune diseases does she have", LUPUS),
        ("Hat sie eine Autoimmunerkrankung?", LUPUS),
        ("when was he diagnosed with CF", FIBROSIS),
        ("any SCLC?", SMALL_CELL),
        ("does she have lung cancer", SMALL_CELL),
        ("when was his heart attack", HEART_ATTACK),
        ("was his prostate removed", PROSTATE),
        ("Wurde die Prostata entfernt?", PROSTATE),
        ("has he had an EEG", EEG),
        ("has he been cardioverted", SHOCK),
        ("is it ER positive?", RECEPTOR),
    ],
)
def test_what_is_asked_is_told_and_nothing_else(text: str, tells: ViewRow) -> None:
    told = said(text, CHART)
    assert f"**{tells.name}**" in told
    others = [one.name for rows in CHART.values() for one in rows if one is not tells]
    assert not [name for name in others if name in told]


@with_cases("text", "told_name", "untold")
def test_a_group_holds_what_is_of_it_and_nothing_that_only_sounds_so(
    text: str, told_name: str, untold: str
) -> None:
    rows = tuple(row("problem", name, status="active") for name in (told_name, untold))
    told = said(text, {"problems": rows})
    assert f"**{told_name}**" in told
    assert untold not in told


@pytest.mark.slow
@with_cases("text", "recorded")
def test_a_narrower_name_is_no_yes_by_a_wider_one(text: str, recorded: str) -> None:
    told = said(text, {"problems": (row("problem", recorded, status="active"),)})
    assert not told.startswith(("Yes", "Ja"))
    assert "recorded under the name" in told or "not in the record" in told or "Akte" in told


@pytest.mark.parametrize(
    "text",
    ["is his asthma controlled", "is the asthma under control?", "ist sein Asthma gut eingestellt"],
)
def test_that_somebody_has_an_illness_is_no_yes_to_how_well_it_goes(text: str) -> None:
    told = said(text, {"problems": (row("problem", "Asthma", status="active"),)})
    assert "**Asthma**" in told
    assert not told.startswith(("Yes", "Ja"))


@with_cases("text", "kind", "name")
def test_what_a_german_record_says_is_found_in_either_language(
    text: str, kind: str, name: str
) -> None:
    told = said(text, {"search_record": (row(kind, name),)})
    assert name in told
    assert "nennt die Seite nicht" not in told


@pytest.mark.parametrize("drug", ["Letrozol 2,5 mg", "Letrozole 2.5 MG Oral Tablet"])
def test_a_drug_is_of_its_class_as_either_language_spells_it(drug: str) -> None:
    assert means("drug", "aromatase inhibitor", label=drug, codes=())


@pytest.mark.parametrize("text", ["skin problems", "hip prosthesis?"])
def test_an_english_part_of_the_body_is_no_german_word(text: str) -> None:
    assert read(text, SITUATION).language == "en"


def test_another_kind_of_the_same_cancer_is_no_yes() -> None:
    assert SMALL_CELL.name not in said("does she have NSCLC?", CHART)
