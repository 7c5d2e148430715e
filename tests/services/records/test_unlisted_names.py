"""What no list of a clinic's usual names holds: devices, organs taken out, rarer illnesses."""

import pytest

from services.language.reading import read
from services.records.rows.finding import means
from tests.services.records.test_said_otherwise import SITUATION, row, said
from tests.tables import with_cases


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
