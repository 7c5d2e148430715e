"""What is found though the record says it in another form, another language or another list."""

from services.records.answers.choosing.said_words import says_all
from services.records.concepts.table import names_of_procedure
from services.records.concepts.words import words_of
from services.records.rows.finding import means
from tests.services.records.test_said_otherwise import row, said
from tests.tables import with_cases


@with_cases("text", "name")
def test_a_word_is_found_in_other_forms(text: str, name: str) -> None:
    assert says_all(text, name)


def test_the_opposite_of_a_word_is_no_form_of_it() -> None:
    assert not says_all("lisinopril intolerance", "exercise tolerance")
    assert not says_all("food intolerance", "tolerance")
    assert not says_all("MRI of the liver", "lives")


def test_what_another_language_calls_it_is_a_name_of_it() -> None:
    assert "koloskopie" in {one.casefold() for one in names_of_procedure("colonoscopy")}
    assert words_of("Urologie") == words_of("urology")


def test_a_longer_name_has_the_other_names_of_its_beginning() -> None:
    assert "radiotherapy sacrum" in names_of_procedure("radiation therapy to sacrum")
    assert names_of_procedure("knee x-ray") == ("knee x-ray", "Knieröntgen")


def test_a_vaccine_against_tetanus_alone_is_none_against_whooping_cough() -> None:
    assert means("vaccine", "pertussis", label="Tdap", codes=())
    assert not means("vaccine", "pertussis", label="Td (adult) preservative free", codes=())


def test_a_brand_is_the_vaccine_of_its_kind() -> None:
    conjugate, other = "Pneumococcal conjugate PCV 13", "pneumococcal polysaccharide vaccine"
    assert means("vaccine", "prevnar", label=conjugate, codes=())
    assert not means("vaccine", "prevnar", label=other, codes=())
    assert not means("vaccine", "pneumovax", label=conjugate, codes=())
    assert means("vaccine", "pneumococcal", label=conjugate, codes=())
    assert means("vaccine", "pneumococcal", label=other, codes=())


def test_a_class_of_drugs_holds_those_that_records_spell_otherwise() -> None:
    assert means("drug", "antiplatelet", label="Acetylsalicylsäure 100 mg Tablette", codes=())
    assert means("drug", "valproate", label="Valproic acid 200 MG Oral Tablet", codes=())
    assert means("drug", "anthracycline", label="Epirubicin 2 MG/ML Injection", codes=())


def test_an_allergy_in_another_language_is_the_one_that_is_asked_about() -> None:
    allergy = row("allergy", "Pflaster", "2015-01-01", status="active")
    assert said("Pflasterallergie?", {"allergies": (allergy,)}).startswith("- **Pflaster**")


def test_a_plan_that_is_over_does_not_run() -> None:
    plan = row("care plan", "Wound care", "2018-06-23", status="completed", end="2018-07-07")
    assert said("any care plan?", {"care": (plan,)}).startswith("No longer")
    assert said("care plans finished?", {"care": (plan,)}).startswith("**Wound care**")


def test_what_was_done_many_times_is_told_with_its_first_day() -> None:
    shots = tuple(
        row("procedure", "Subcutaneous immunotherapy", f"2019-{month:02}-01")
        for month in range(12, 0, -1)
    )
    shots = (*shots, row("procedure", "Subcutaneous immunotherapy", "2018-04-20"))
    told = said("desensitization - when?", {"procedures": shots})
    assert told.endswith("… 2018-04-20 (13)")


def test_why_a_vaccination_was_not_done_is_a_reason() -> None:
    flu = row("immunization", "Influenza, live", "2024-10-10", status="not done",
              detail="because of Egg allergy")  # fmt: skip
    told = said("why no flu vaccine?", {"immunizations": (flu,)})
    assert "because of Egg allergy" in told
    assert "does not say" not in told
