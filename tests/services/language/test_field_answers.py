"""Plain words as values of fields, findings with quotes, and commands about scenarios."""

from datetime import UTC, datetime

import pytest
from pydantic import JsonValue

from data_models.errors import ConfigurationError, ModelUnavailableError
from data_models.scenarios.scenario import FieldDefinition
from services.language.replies.field_answers import (
    answers_in,
    is_plainly,
    readings_in,
    stated_in,
)
from services.language.replies.yes_no import truth_in
from services.model_port import Answer
from services.scenarios.scenario_settings import GapFillConfig, MigrationConfig
from services.scenarios.session.commands import Command, command_in, named
from services.scenarios.session.recording import Extractor, Findings, believed
from tests.tables import with_cases

AGE = FieldDefinition(name="age", value_type="integer")
BORN = FieldDefinition(name="date_of_birth", display_name="date of birth", value_type="date")
DAY = FieldDefinition(name="day", display_name="preferred day", value_type="date")
DOSE = FieldDefinition(name="dose", value_type="number")
EMAIL = FieldDefinition(name="email", display_name="email address", value_type="text")
PHONE = FieldDefinition(name="contact_phone", display_name="phone number", value_type="text")
CONSENT = FieldDefinition(
    name="agreed", display_name="consent to share records", value_type="boolean"
)
QUESTION = FieldDefinition(
    name="question", display_name="question for the board", value_type="text"
)
REASON = FieldDefinition(name="reason", value_type="text")
SMOKES = FieldDefinition(name="smokes", value_type="boolean")


@pytest.mark.parametrize(
    ("field", "text", "value"),
    [
        (AGE, "41", 41),
        (AGE, "I am 41 years old", 41),
        (AGE, "41 or 42", None),
        (AGE, "patient_41", None),
        (AGE, "4.5", None),
        (DOSE, "about 2.5 mg", 2.5),
        (BORN, "1961-03-09", "1961-03-09"),
        (BORN, "on the 9th of March 1961", "1961-03-09"),
        (BORN, "March 9, 1961", "1961-03-09"),
        (BORN, "9.3.1961", "1961-03-09"),
        (BORN, "1961-13-09", None),
        (EMAIL, "write to jo@example.org please", "jo@example.org"),
        (EMAIL, "I have none", None),
        (PHONE, "call +49 170 555 0100 after six", "+49 170 555 0100"),
        (REASON, "a shadow on the lung", "a shadow on the lung"),
        (REASON, "why do you ask?", None),
        (REASON, "hang on, who is his urologist", None),
        (QUESTION, "does he need nailing first", "does he need nailing first"),
        (QUESTION, "watch and wait or surgery", "watch and wait or surgery"),
        (QUESTION, "no hang on change date, dec 10", None),
        (REASON, "x" * 501, None),
        (SMOKES, "yes, sometimes", True),
        (SMOKES, "No.", False),
        (SMOKES, "I don't know", None),
        (SMOKES, "not sure", None),
        (SMOKES, "no weight loss", None),
        (SMOKES, "no, he quit", False),
        (SMOKES, "no way", False),
        (SMOKES, "not accepted yet", None),
        (SMOKES, "not really", False),
        (CONSENT, "no objection", None),
        (CONSENT, "hang on is it paid by insurance", None),
        (CONSENT, "no consent", False),
        (CONSENT, "he agrees", True),
        (CONSENT, "she refuses", False),
        (SMOKES, "the CT is ready", None),
        (SMOKES, "jo@example.org", None),
        (REASON, "monday", None),
    ],
)
def test_a_value_is_read_by_type_or_not_at_all(
    field: FieldDefinition, text: str, value: JsonValue
) -> None:
    assert answers_in(text, [field]).get(field.name) == value


@pytest.mark.parametrize(
    ("fields", "text", "values"),
    [
        (
            [BORN, PHONE],
            "1961-03-09, 555 0100",
            {"date_of_birth": "1961-03-09", "contact_phone": "555 0100"},
        ),
        ([AGE, SMOKES], "41 and no", {"age": 41, "smokes": False}),
        ([REASON, SMOKES], "a cough, and yes", {"reason": "a cough", "smokes": True}),
        ([AGE, DOSE], "age is 41, dose: 2", {"age": 41, "dose": 2.0}),
        ([AGE, EMAIL], "jo@example.org", {"email": "jo@example.org"}),
        ([AGE, DOSE], "41", {}),
    ],
)
def test_several_fields_are_told_apart(
    fields: list[FieldDefinition], text: str, values: dict[str, JsonValue]
) -> None:
    assert answers_in(text, fields) == values


@pytest.mark.parametrize(
    ("field", "text", "day"),
    [
        (DAY, "next tuesday", "2026-11-24"),
        (DAY, "dec 4", "2026-12-04"),
        (DAY, "am 4.12.", "2026-12-04"),
        (DAY, "yesterday", None),
        (DAY, "next week", None),
        (DAY, "yes", None),
        (BORN, "march 9", None),
    ],
)
def test_a_day_to_come_may_be_said_as_people_say_it(
    field: FieldDefinition, text: str, day: str | None
) -> None:
    found = readings_in(text, [field], now=datetime(2026, 11, 22, 12, tzinfo=UTC))
    assert (found[field.name].value if found else None) == day


@pytest.mark.parametrize(
    ("field", "text", "is_so"),
    [
        (AGE, "41", True),
        (AGE, "41 mg for patient_4", False),
        (SMOKES, "yes", True),
        (SMOKES, "yes switch to patient_4", False),
        (REASON, "anything", False),
        (EMAIL, "jo@example.org", True),
        (BORN, "1961-03-09", True),
        (DAY, "wednesday", True),
        (DAY, "wednesday for patient_4", False),
    ],
)
def test_only_a_bare_value_keeps_the_patient_from_being_decided(
    field: FieldDefinition, text: str, is_so: bool
) -> None:
    assert is_plainly(field, text) is is_so


def test_unsure_is_neither_yes_nor_no() -> None:
    assert [truth_in(text) for text in ("yep", "nope", "maybe", "hello")] == [
        True,
        False,
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("turn", "field", "found"),
    [
        ("My email address is jo@example.org.", EMAIL, ("jo@example.org", 0.97)),
        ("jo@example.org", EMAIL, ("jo@example.org", 0.9)),
        ("I am 41 and tired", AGE, (41, 0.97)),
        ("She was born on 9 March 1961.", BORN, ("1961-03-09", 0.97)),
        ("The CT is from 2020-01-01.", BORN, None),
        ("We have 41 beds", AGE, None),
    ],
)
async def test_without_a_model_rules_find_what_is_said_and_quote_it(
    turn: str, field: FieldDefinition, found: tuple[object, float] | None
) -> None:
    rows = await Extractor(model=None).extract([field], [turn])
    assert [(row.value, row.confidence) for row in rows.values()] == ([found] if found else [])
    assert all(row.quote in turn for row in rows.values())


def test_the_newest_turn_corrects_an_older_one() -> None:
    stated = stated_in(AGE, ["I am 40", "sorry, I am 41"])
    assert stated is not None
    assert stated[0].value == 41


def test_a_finding_needs_a_literal_quote_of_one_turn_and_the_type() -> None:
    raw = [
        {"field": "age", "value": "41", "quote": "I am 41", "confidence": 0.99},
        {"field": "smokes", "value": "yes", "quote": "I AM 41", "confidence": 0.99},
        {"field": "nobody", "value": "1", "quote": "I am 41", "confidence": 0.99},
    ]
    findings = Findings.model_validate({"found": raw})
    kept = believed(findings, {"age": AGE, "smokes": SMOKES}, ["I am 41"])
    assert {name: one.value for name, one in kept.items()} == {"age": 41}


class Broken:
    """A model that does not answer."""

    async def ask(
        self, *, purpose: str, instructions: str, text: str, answer: type[Answer]
    ) -> Answer:
        raise ModelUnavailableError


async def test_a_model_that_fails_finds_nothing_and_stops_nothing() -> None:
    assert await Extractor(model=Broken()).extract([AGE], ["I am 41"]) == {}


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("Where are we?", Command("where")),
        ("so where are we now", Command("where")),
        ("which scenarios are there?", Command("list")),
        ("start oncology intake for patient_4", Command("start", "oncology intake")),
        ("let's begin the Oncology intake please", Command("start", "oncology intake")),
        ("leave the scenario", Command("leave")),
        ("cancel the intake", Command("leave", "intake")),
        ("pause that for now", Command("leave", "that")),
        ("Pause", Command("leave")),
        ("Brich das Intake ab", Command("leave", "intake")),
        ("continue the intake", Command("resume", "intake")),
        ("Mach weiter mit dem Intake", Command("resume", "intake")),
        ("resume", Command("resume")),
        ("resume the oncology intake", Command("resume", "oncology intake")),
        ("oncology intake please", Command("start", "oncology intake", is_bare=True)),
    ],
)
def test_whole_messages_are_commands(text: str, command: Command) -> None:
    found = command_in(text)
    assert found is not None
    assert (found.kind, found.is_bare) == (command.kind, command.is_bare)
    assert found.name == command.name or (command.name == "" and found.name in ("scenario", "the"))


@with_cases("text")
def test_longer_messages_are_none(text: str) -> None:
    assert command_in(text) is None


def test_a_name_is_a_title_or_an_id_and_nothing_near_it() -> None:
    titles = {"tumor-board-preparation": "Tumor board preparation", "visit": "Home visit"}
    assert named("tumor board preparation", titles) == "tumor-board-preparation"
    assert named("Visit", titles) == "visit"
    assert named("tumor board", titles) is None
    assert named("", titles) is None


def test_thresholds_that_contradict_each_other_are_refused() -> None:
    gaps = GapFillConfig(extraction_confidence_threshold=0.99, confirmation_threshold=0.9)
    with pytest.raises(ConfigurationError, match="must not be above"):
        MigrationConfig(gap_fill=gaps)
