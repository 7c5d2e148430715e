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
from services.scenarios.session.commands import command_in, named
from services.scenarios.session.recording import Extractor, Findings, believed
from tests.tables import with_cases

FIELDS = {
    one.name: one
    for one in (
        FieldDefinition(name="age", value_type="integer"),
        FieldDefinition(name="date_of_birth", display_name="date of birth", value_type="date"),
        FieldDefinition(name="day", display_name="preferred day", value_type="date"),
        FieldDefinition(name="dose", value_type="number"),
        FieldDefinition(name="email", display_name="email address", value_type="text"),
        FieldDefinition(name="contact_phone", display_name="phone number", value_type="text"),
        FieldDefinition(
            name="agreed", display_name="consent to share records", value_type="boolean"
        ),
        FieldDefinition(name="question", display_name="question for the board", value_type="text"),
        FieldDefinition(name="reason", value_type="text"),
        FieldDefinition(name="smokes", value_type="boolean"),
    )
}
AGE, REASON, SMOKES = FIELDS["age"], FIELDS["reason"], FIELDS["smokes"]


def test_what_is_longer_than_a_value_is_none() -> None:
    assert answers_in("x" * 501, [REASON]) == {}


@with_cases("field", "text", "value")
def test_a_value_is_read_by_type_or_not_at_all(field: str, text: str, value: JsonValue) -> None:
    assert answers_in(text, [FIELDS[field]]).get(field) == value


@with_cases("fields", "text", "values")
def test_several_fields_are_told_apart(
    fields: list[str], text: str, values: dict[str, JsonValue]
) -> None:
    assert answers_in(text, [FIELDS[one] for one in fields]) == values


@with_cases("field", "text", "day")
def test_a_day_to_come_may_be_said_as_people_say_it(field: str, text: str, day: str | None) -> None:
    found = readings_in(text, [FIELDS[field]], now=datetime(2026, 11, 22, 12, tzinfo=UTC))
    assert (found[field].value if found else None) == day


@with_cases("field", "text", "is_so")
def test_only_a_bare_value_keeps_the_patient_from_being_decided(
    field: str, text: str, is_so: bool
) -> None:
    assert is_plainly(FIELDS[field], text) is is_so


def test_unsure_is_neither_yes_nor_no() -> None:
    assert [truth_in(text) for text in ("yep", "nope", "maybe", "hello")] == [
        True,
        False,
        None,
        None,
    ]


@with_cases("turn", "field", "found")
async def test_without_a_model_rules_find_what_is_said_and_quote_it(
    turn: str, field: str, found: tuple[object, float] | None
) -> None:
    rows = await Extractor(model=None).extract([FIELDS[field]], [turn])
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


@with_cases("text", "command")
def test_whole_messages_are_commands(text: str, command: tuple[str, str, bool]) -> None:
    found = command_in(text)
    assert found is not None
    kind, name, is_bare = command
    assert (found.kind, found.is_bare) == (kind, is_bare)
    assert found.name == name or (name == "" and found.name in ("scenario", "the"))


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
