"""Pronouns give a sex only where they can mean nobody and nothing else."""

from services.language.people.mentions import read_words
from tests.tables import with_cases


@with_cases("text", "sex")
def test_a_pronoun_that_only_a_person_can_be_gives_a_sex(text: str, sex: str) -> None:
    assert read_words(text).spoken_sex == sex


@with_cases("text")
def test_what_may_be_a_tumor_a_scan_or_either_sex_gives_none(text: str) -> None:
    assert read_words(text).spoken_sex is None
