"""An address and a letter by itself tell no language; signs of one language do."""

from dataclasses import replace

import pytest

from services.language.reading import read
from services.language.words.detection import language_of
from tests.group_chat.offline.conftest import SITUATION


@pytest.mark.parametrize("text", ["jo@example.org", "jo@example.org ja.nein@example.org"])
def test_the_parts_of_an_address_tell_no_language(text: str) -> None:
    assert language_of(text, default="fr") == "fr"


@pytest.mark.parametrize(
    "text", ["visite", "visite starten", "bb anordnen", "übergabe", "kontrolltermin in 6 wochen"]
)
def test_a_word_of_the_ward_tells_german(text: str) -> None:
    assert language_of(text) == "de"


@pytest.mark.parametrize("text", ["her2 ratio", "HER2 STATUS"])
def test_a_gene_tells_no_language(text: str) -> None:
    assert language_of(text, default="de") == "de"


def test_the_words_beside_an_address_do() -> None:
    assert language_of("jo@example.org, the letter is for him") == "en"
    assert language_of("@Pathology bitte den Befund") == "de"


def test_a_letter_of_a_phrase_is_no_word_of_its_language() -> None:
    assert language_of("T 1006 potassium?") == "en"


def test_signs_that_one_language_has_tell_it() -> None:
    assert language_of("¿Y la señora Flores?") == "es"


def test_a_word_of_two_languages_tells_the_one_that_is_spoken() -> None:
    assert language_of("in 2", default="de") == "de"
    assert language_of("Termin in zwei Wochen um 15 Uhr") == "de"
    assert language_of("I'm seeing Dana Feest in ten minutes") == "en"
    assert language_of("not son, daughter") == "en"
    assert language_of("im back") == "en"
    assert language_of("im Juli") == "de"


def test_a_german_word_is_no_slip_of_an_english_one() -> None:
    talk = replace(SITUATION, language="de", asked_before=("tumorgröße",))
    assert read("dm therapie", talk).language == "de"
    found = [read(text, talk) for text in ("depression?", "fieber episoden", "got gpt")]
    assert [one.language for one in found] == ["de"] * 3
    assert [one.about[0].name for one in found[:2]] == ["depression", "body temperature"]


def test_what_one_word_alone_is_of_another_language_is_of_the_talk_so_far() -> None:
    talk = replace(SITUATION, language="en", asked_before=("any allergies?",))
    for text in ("next tues", "note flixonase 2 sprays od", "sputum pending", "recist?"):
        assert read(text, talk).language == "en"


@pytest.mark.parametrize(
    ("text", "language", "asked"),
    [("patient Kalium?", "de", "potassium"), ("patient potassium?", "en", "potassium")],
)
def test_who_is_meant_tells_no_language_where_only_a_value_is_named(
    text: str, language: str, asked: str
) -> None:
    """`Frau Moens Kalium?` is read with `patient` for the name."""
    found = read(text, SITUATION)
    assert (found.language, [one.name for one in found.about]) == (language, [asked])


def test_an_abbreviation_of_the_clinic_is_no_word_of_another_language() -> None:
    assert language_of("er/pr?") == "en"
    assert language_of("er?", default="en") == "en"
    assert language_of("er pr her2?", default="en") == "en"
    assert language_of("raucht er?", default="en") == "de"
    assert language_of("ER status") == "en"
    assert language_of("raucht er") == "de"
    assert language_of("Wird er behandelt?") == "de"


def test_a_letter_in_a_name_tells_no_language() -> None:
    assert language_of("open Katharina Groß") == "en"
    assert language_of("Weiß, Katharina: potassium", default="fr") == "fr"
    assert language_of("Muñoz potassium") == "en"
    assert language_of("Größe?") == "de"
    assert language_of("raucht er, weiß jemand", default="fr") == "de"
