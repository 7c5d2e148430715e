"""What clinicians ask in short, sloppy or German words: which list is looked at, and for what."""

from dataclasses import replace

import pytest

from services.language.reading import read
from services.language.words.detection import language_of
from tests.group_chat.offline.conftest import SITUATION
from tests.tables import with_cases


@pytest.mark.slow
@with_cases("text", "tool", "name")
def test_which_list_is_looked_at(text: str, tool: str, name: str) -> None:
    first = read(text, SITUATION).about[0]
    assert (first.tool, first.name) == (tool, name)


def test_a_scan_that_may_be_made_asks_for_what_lies_in_the_body() -> None:
    for text in ("MRI safe?", "MRI with gadolinium ok?", "MRT möglich?"):
        asked = [(one.tool, one.name) for one in read(text, SITUATION).about]
        assert ("care", "implant") in asked, text
        assert "allergies" in dict(asked), text


@with_cases("text")
def test_before_contrast_or_an_nsaid_the_kidneys_are_looked_at(text: str) -> None:
    names = {one.name: one for one in read(text, SITUATION).about}
    assert names["kidney function"].aspect == "latest"
    assert not {"anxiety", ""} & {*names}


def test_how_a_known_drug_was_tolerated_is_asked_of_allergies_and_of_drugs() -> None:
    tools = [one.tool for one in read("ACEi tolerated?", SITUATION).about]
    assert tools == ["allergies", "medications"]


def test_what_a_known_name_is_joined_with_is_another_thing() -> None:
    for text in ("cast or reduction?", "fever and chills?"):
        assert len(read(text, SITUATION).about) == 2, text


@pytest.mark.parametrize(
    ("text", "aspect", "part"),
    [
        ("neuropathy - anything for it?", "all", "treatment"),
        ("Wie wurde die Platzwunde versorgt?", "all", "treatment"),
        ("wegen was war er in der Notaufnahme?", "all", "reason"),
        ("any care plan running?", "whether", "status"),
    ],
)
def test_what_of_a_row_is_asked(text: str, aspect: str, part: str) -> None:
    (question,) = read(text, SITUATION).about
    assert (question.aspect, question.part) == (aspect, part)


def test_an_organ_that_is_gone_is_understood() -> None:
    assert read("gallbladder still in?", SITUATION).about[0].unread == ""


@pytest.mark.parametrize("text", ["hay fever?", "asthma/eczema/hay fever?", "non smoker?"])
def test_a_word_of_two_languages_is_read_by_its_neighbour(text: str) -> None:
    assert language_of(text) == "en"


def test_an_illness_beside_a_drug_that_may_be_given_is_told_too() -> None:
    about = read("can we give her NSAIDs with her heart failure?", SITUATION).about
    assert [(one.tool, one.name) for one in about] == [
        ("allergies", "nsaid"),
        ("problems", "heart failure"),
        ("results", "kidney function"),
        ("medications", "anticoagulant"),
    ]


@with_cases("text", "asked")
def test_a_drug_is_told_from_what_it_is_dangerous_with(
    text: str, asked: list[tuple[str, str]]
) -> None:
    about = [(one.tool, one.name) for one in read(text, SITUATION).about]
    assert about[: len(asked)] == asked


@with_cases("text", "language")
def test_a_word_that_one_language_has_tells_it(text: str, language: str) -> None:
    assert read(text, SITUATION).language == language


@with_cases("text", "name")
def test_a_drug_that_was_named_is_meant_by_its_order(text: str, name: str) -> None:
    after = replace(SITUATION, asked_before=("naproxen?",))
    assert [one.name for one in read(text, after).about] == [name]


@pytest.mark.parametrize("text", ["weight '14", "Gewicht ’14"])
def test_a_year_of_two_digits_is_a_year(text: str) -> None:
    (asked,) = read(text, SITUATION).about
    assert asked.arguments["until"] == "2014-12-31"
