"""What the server itself says is said in the language of the user."""

import pytest

from services.assistant.confirmed_actions import question_of
from services.language.words.own_texts import ends_with_own, in_own_language, is_own_choice


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "Nobody has the number `p-9`. Nothing was opened; check the number, or give the "
            "patient's full name and birth date.",
            "Niemand hat die Nummer `p-9`. Nichts wurde geöffnet; prüfen Sie die Nummer, oder "
            "nennen Sie vollen Namen und Geburtsdatum.",
        ),
        (
            "Cleared. 10 documents are archived; we start afresh.",
            "Geleert. 10 Dokumente sind archiviert; wir beginnen neu.",
        ),
        (
            "Book *Dr. Ngozi Okafor*, Mon 30 Nov 2026 14:00? yes / no",
            "*Dr. Ngozi Okafor*, Mo 30 Nov 2026 14:00 buchen? ja / nein",
        ),
        (
            "Booked: *Dr. Anna Smith*, Tue 1 Dec 2026 11:00.",
            "Gebucht: *Dr. Anna Smith*, Di 1 Dez 2026 11:00.",
        ),
        (
            "Deleted: *due Sat*, due Sat 28 Nov 2026; *B*, due Tue 1 Dec 2026.",
            "Gelöscht: *due Sat*, fällig Sa 28 Nov 2026; *B*, fällig Di 1 Dez 2026.",
        ),
        (
            "That would take back an earlier change of yours. Delete *A*? yes / no",
            "Das würde eine frühere Änderung von Ihnen zurücknehmen. *A* löschen? ja / nein",
        ),
        (
            "What a tool did is not taken back by me. Shall I undo what was last written to "
            "memory? Then no longer held: “A”. yes / no",
            "Was ein Werkzeug getan hat, nehme ich nicht zurück. Soll ich zurücknehmen, was "
            "zuletzt gemerkt wurde? Dann nicht mehr behalten: “A”. ja / nein",
        ),
        (
            "Held as your words, not as the record’s: “Noted: sie lebt allein”; “Allergy: latex”. "
            "“undo” takes it back.",
            "Als Ihre Worte behalten, nicht als die der Akte: “Notiert: sie lebt allein”; "
            "“Allergie: latex”. „rückgängig“ nimmt es zurück.",
        ),
        (
            "- Noted: er hört gut (dev, 2026-11-27, turn 10: “nein, er hört gut. Er sieht gut”)",
            "- Notiert: er hört gut (dev, 2026-11-27, Nachricht 10: “nein, er hört gut. Er sieht "
            "gut”)",
        ),
        ("Send *Visit*, to a@x.example? yes / no", "*Visit*, an a@x.example senden? ja / nein"),
        (
            "Lay these two charts side by side?\n- **Dana Feest**, born 2019-05-27, 7 years, male "
            "(p-1)\nyes / no",
            "Diese beiden Akten nebeneinander legen?\n- **Dana Feest**, geboren 2019-05-27, 7 "
            "Jahre, männlich (p-1)\nja / nein",
        ),
        (
            "Bert opened another chart for this group: Willy Koepp, born 1977-04-11, p-1 (before: "
            "p-2).",
            "Bert hat für diese Gruppe eine andere Akte geöffnet: Willy Koepp, geboren 1977-04-11, "
            "p-1 (vorher: p-2).",
        ),
        (
            "Side by side: A, born 2019-05-27 (p-1); B, born 1964-05-24 (p-2). Each chart was read "
            "by itself.",
            "Nebeneinander: A, geboren 2019-05-27 (p-1); B, geboren 1964-05-24 (p-2). Jede Akte "
            "wurde für sich gelesen.",
        ),
        (
            "Is this about Tunde Adeyemi, born 1968-07-21 (patient_7)?\n1. **Tunde Adeyemi**, born "
            "1968-07-21, 58 years, male (patient_7), whose chart is open",
            "Geht es um Tunde Adeyemi, geboren 1968-07-21 (patient_7)?\n1. **Tunde Adeyemi**, "
            "geboren 1968-07-21, 58 Jahre, männlich (patient_7), Akte ist geöffnet",
        ),
        (
            "Opened the chart of Hal J. Brenner, born 1951-08-30 (p-1).",
            "Geöffnet ist die Akte von Hal J. Brenner, geboren 1951-08-30 (p-1).",
        ),
        (
            "Which event do you mean?\n1. *Ward round*",
            "Welches ist gemeint (Kalendereintrag)?\n1. *Ward round*",
        ),
    ],
)
def test_a_sentence_is_translated_and_what_is_filled_in_is_kept(text: str, said: str) -> None:
    assert in_own_language(text, "de") == said


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
