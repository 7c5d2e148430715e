"""What the built-in rules say, in the language of the user."""

import re
import string
from datetime import UTC, datetime

import pytest

from services.language.replies.plan_change import plan_change_in
from services.language.words.talk_texts import day_text, in_every_language, talk_text, told_in
from services.language.words.vocabulary import LANGUAGES, read_document

ENGLISH = read_document("en", "talk")


def parts_of(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_text_of_a_language_has_the_parts_of_the_english_one(language: str) -> None:
    for name, text in read_document(language, "talk").items():
        assert parts_of(text) == parts_of(ENGLISH[name]), name


def test_german_has_every_text_that_german_speakers_meet() -> None:
    assert ENGLISH.keys() - read_document("de", "talk").keys() == {"not_my_language"}


@pytest.mark.parametrize("language", ["en", "de"])
def test_what_is_told_of_changing_a_plan_is_understood(language: str) -> None:
    examples = re.findall("[“„](.+?)[”“]", talk_text(language, "nothing_changed"))
    assert len(examples) > 1
    for one in examples:
        said = one.replace("…", "look at the brain")
        tasks = {1: "imaging", 2: "status"}
        assert plan_change_in(said, names=["Radiology", "PatientStatus"], tasks=tasks), one


@pytest.mark.parametrize("language", ["fr", "es", "it"])
def test_what_a_language_lacks_is_said_in_english(language: str) -> None:
    assert talk_text(language, "please_choose") == "Please choose:"
    assert talk_text("fr", "welcome") == "Je vous en prie."


def test_a_text_is_told_again_in_any_language_with_its_parts() -> None:
    line = talk_text("de", "not_in_record", names="ECOG, Alter")
    assert told_in("not_in_record", line) == {"names": "ECOG, Alter"}
    assert told_in("not_in_record", "something else") is None
    assert "Welcher Tag passt?" in in_every_language("which_day")


def test_days_are_named_in_the_language() -> None:
    when = datetime(2026, 12, 2, 8, 0, tzinfo=UTC)
    assert day_text("en", when, has_time=True) == "Wed 2 Dec 08:00"
    assert day_text("en", when, has_year=True) == f"Wed 2 Dec {when.year}"
    assert day_text("de", when.date()) == "Mi 2 Dez"


def test_the_report_of_a_plan_has_its_german_name() -> None:
    names, tasks = ["Radiology", "ReportCreation"], {1: "Bildgebung durchsehen", 2: "schreiben"}
    for said in ("lass den bericht weg", "ohne Bericht"):
        change = plan_change_in(said, names=names, tasks=tasks)
        assert change is not None
        assert change.skipped == ("ReportCreation",)
