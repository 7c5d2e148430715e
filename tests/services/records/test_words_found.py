"""What is found though the record says it in another form, another language or another list."""

from services.records.answers.choosing.said_words import says_all
from services.records.concepts.table import concept_table, names_of_procedure
from services.records.concepts.words import words_of
from services.records.rows.finding import means
from services.records.rows.row_table import called
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


def test_a_word_for_a_deed_alone_has_its_other_forms() -> None:
    assert "replacement" in names_of_procedure("replaced")
    assert "endoprothese am kniegelenk" in names_of_procedure("knee replacement")


def test_an_illness_by_its_icd_code_alone_is_called_what_it_is_a_kind_of() -> None:
    code = {"system": "http://fhir.de/CodeSystem/bfarm/icd-10-gm", "code": "E03.9"}
    assert called("problem", {"coding": [code]}) == "Hypothyroidism (E03.9)"
    assert called("problem", {"coding": [{**code, "code": "Q99.9"}]}) == "Q99.9"


def test_a_longer_name_has_the_other_names_of_its_beginning() -> None:
    assert "radiotherapy sacrum" in names_of_procedure("radiation therapy to sacrum")
    assert names_of_procedure("knee x-ray")[:3] == ("knee x-ray", "Knieröntgen", "röntgen knie")


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


def test_a_value_that_is_called_a_level_is_the_value() -> None:
    potassium = concept_table().displayed("result", "Potassium Lvl")
    assert potassium is not None
    assert potassium.name == "Potassium"
