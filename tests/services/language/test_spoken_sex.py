"""Pronouns give a sex only where they can mean nobody and nothing else."""

import pytest

from services.language.mentions import read_words


@pytest.mark.parametrize(
    ("text", "sex"),
    [
        ("Nimmt er Marcumar?", "male"),
        ("Nimmt sie Blutverdünner?", "female"),
        ("Sie raucht.", "female"),
        ("Sein Kalium?", "male"),
        ("Und bei ihr?", "female"),
        ("Hat er Allergien?", "male"),
        ("Welche Tabletten bekommt er?", "male"),
        ("Was sind seine Allergien?", "male"),
        ("Prend-elle des anticoagulants ?", "female"),
        ("A-t-il des allergies ?", "male"),
        ("Est-ce qu'il fume ?", "male"),
        ("¿Ella fuma?", "female"),
        ("¿Qué toma él?", "male"),
        ("Does she smoke?", "female"),
        ("who is her oncologist", "female"),
        ("when did his doctor last see him", "male"),
        ("The nurse asks about his potassium", "male"),
        ("Dr. Jane Smith wants to know his HbA1c", "male"),
        ("What did Dr. Brown say about his last potassium?", "male"),
        ("Dr. Brown asks about her allergies", "female"),
        ("his wife asks about his potassium", "male"),
    ],
)
def test_a_pronoun_that_only_a_person_can_be_gives_a_sex(text: str, sex: str) -> None:
    assert read_words(text).spoken_sex == sex


@pytest.mark.parametrize(
    "text",
    [
        "Nehmen Sie das auf.",
        "Was sind ihre Allergien?",
        "Wie groß ist er?",
        "Hat er gestreut?",
        "Der Tumor, hat er Metastasen?",
        "er positive?",
        "ER status?",
        "il y a des métastases ?",
        "le scanner a-t-il montré une lésion ?",
        "la dose est-elle correcte ?",
        "son traitement ?",
        "¿Qué toma el paciente?",
        "¿Cuáles son sus alergias?",
        "Was nimmt seine Frau, und raucht er?",
        "did her son get the vaccine?",
        "her husband's number and his address",
        "Peter called, tell him",
    ],
)
def test_what_may_be_a_tumor_a_scan_or_either_sex_gives_none(text: str) -> None:
    assert read_words(text).spoken_sex is None
