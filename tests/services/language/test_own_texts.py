"""What the server itself says is said in the language of the user."""

import re
from pathlib import Path

import pytest
import yaml

import data_models
from data_models.errors import user_message_of
from services.assistant.undo_log import question_of
from services.language.words.own_texts import ends_with_own, in_own_language, is_own_choice
from tests.tables import with_cases

ERRORS = yaml.safe_load(Path(data_models.__file__).with_name("errors.yaml").read_text("utf-8"))


@with_cases("text", "said")
def test_a_sentence_is_translated_and_what_is_filled_in_is_kept(text: str, said: str) -> None:
    assert in_own_language(text, "de") == said


_OF_TURNS = (
    "audit_",
    "chart_",
    "claim_",
    "conversation_",
    "corrupt_",
    "interrupted",
    "model",
    "records_",
    "record_replaced",
    "stopping",
    "store_",
)


@pytest.mark.parametrize(
    "code", [one for one in ERRORS if one.startswith(_OF_TURNS) and one != "chart_sign_in"]
)
def test_how_a_turn_fails_is_said_in_german(code: str) -> None:
    sentences = re.split(r"(?<=[.?!]) (?=[A-Z])", user_message_of(code))
    assert [one for one in sentences if one and in_own_language(one, "de") == one] == []


def test_what_a_user_wrote_is_never_translated() -> None:
    waits = (
        "“male” now waits for your answer, in place of “Eve Bo, born 1950-01-01”; “no” drops it."
    )
    assert in_own_language(waits, "de") == (
        "„male“ wartet nun auf Ihre Antwort, an Stelle von „Eve Bo, born 1950-01-01“; „nein“ "
        "verwirft es."
    )


def test_what_has_no_translation_stays_as_it_is() -> None:
    assert in_own_language("Nothing is running. Blue is blue.", "de") == (
        "Es läuft nichts. Blue is blue."
    )
    assert in_own_language("Nothing is running.", "fr") == "Nothing is running."


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("de", "Diese 2 absagen? ja / nein\n1. *Tumor board*\n2. *Clinic*"),
        ("fr", "Annuler ces 2 ? oui / non\n1. *Tumor board*\n2. *Clinic*"),
        ("es", "¿Cancelar estos 2? sí / no\n1. *Tumor board*\n2. *Clinic*"),
    ],
)
def test_one_yes_for_several_is_asked_in_each_language(language: str, said: str) -> None:
    asked = question_of("cancel_event", ["*Tumor board*", "*Clinic*"])
    assert in_own_language(asked, language) == said


@pytest.mark.parametrize("language", ["en", "de"])
def test_what_was_asked_is_known_again_in_either_language(language: str) -> None:
    asked = "Move Dr. Chen to 15:00? yes / no"
    assert is_own_choice(in_own_language(asked, language), "Move {name}?")
    assert not is_own_choice(in_own_language("Cancel it? yes / no", language), "Move {name}?")
    assert not is_own_choice("Move on?", "Move {name}?")


def test_a_sentence_at_the_end_is_known_again_in_either_language() -> None:
    asked = "Shall I go ahead with this plan?"
    assert ends_with_own("1. *A*: x\n\nSoll ich mit diesem Plan beginnen?", asked)
    assert ends_with_own(f"1. *A*: x\n\n{asked}\n", asked)
    assert not ends_with_own("Soll ich mit diesem Plan beginnen? Ja.", asked)


def test_what_changed_since_the_last_look_is_told_in_german() -> None:
    text = "Since you last looked (2026-01-01 10:00 UTC): 3 new, 1 no longer in the record."
    assert in_own_language(text, "de") == (
        "Seit Ihrem letzten Blick (2026-01-01 10:00 UTC): 3 neu, 1 nicht mehr in der Akte."
    )


def test_what_users_said_is_quoted_as_the_language_quotes() -> None:
    text = "“sodium?”, “weight?” were not answered; say again what is still wanted."
    assert in_own_language(text, "de") == (
        "„sodium?“, „weight?“ wurden nicht beantwortet; sagen Sie noch einmal, was noch gilt."
    )
