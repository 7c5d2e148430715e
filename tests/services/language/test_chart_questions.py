from datetime import UTC, datetime
from typing import Any

import pytest

from services.language.questions.question_figures import ALL_VALUES, arguments_of
from services.language.reading import read
from services.language.replies.judging import caution_for
from services.language.told.telling import is_told
from services.language.utterance import ChartQuestion, Situation, TeamMember
from tests.tables import with_cases

SITUATION = Situation(now=datetime(2026, 11, 22, 12, tzinfo=UTC))


def about(text: str) -> tuple[ChartQuestion, ...]:
    return read(text, SITUATION).about


def asked(text: str) -> tuple[str, dict[str, Any], str, str]:
    (question,) = about(text)
    return question.tool, dict(question.arguments), question.aspect, question.name


@with_cases("text", "tool", "arguments", "aspect", "name")
@pytest.mark.slow
def test_a_message_asks_one_thing_of_the_chart(
    text: str, tool: str, arguments: dict[str, Any], aspect: str, name: str
) -> None:
    assert asked(text) == (tool, arguments, aspect, name)


@with_cases("text", "aspect", "when", "event")
def test_a_value_is_asked_for_in_the_time_of_something_else(
    text: str, aspect: str, when: str, event: str
) -> None:
    (question,) = about(text)

    assert (question.tool, question.aspect, question.when) == ("results", aspect, when)
    assert {one.name for one in question.around} == {event}


@with_cases("text", "tool", "name")
def test_what_german_puts_into_a_word_or_spells_its_way(text: str, tool: str, name: str) -> None:
    assert [(one.tool, one.name) for one in about(text)] == [(tool, name)]


def test_a_workup_of_something_is_read_off_the_chart() -> None:
    assert [one.tool for one in about("anemia workup - iron?")] == ["problems", "results"]
    assert not about("start the workup")


@with_cases("text", "tool", "name")
def test_a_name_leads_to_its_tool(text: str, tool: str, name: str) -> None:
    (question,) = about(text)
    assert (question.tool, question.name) == (tool, name)


@with_cases("text")
def test_what_is_not_about_the_chart_asks_nothing_of_it(text: str) -> None:
    assert about(text) == ()


def team(*more: TeamMember) -> Situation:
    shipped = (
        TeamMember("Orchestrator", ("results",), is_facilitator=True),
        TeamMember("History", ("results", "timeline"), answers=("timeline",)),
        TeamMember("Status", ("results", "current_status"), answers=("results", "current_status")),
    )
    return Situation(now=SITUATION.now, team=(*more, *shipped))


@pytest.mark.parametrize("text", ["What is the current stage?", "latest potassium", "timeline"])
def test_one_more_agent_changes_no_other_questions_route(text: str) -> None:
    added = TeamMember("Medication", ("results", "current_status", "timeline"))
    assert read(text, team(added)).agent == read(text, team()).agent is not None


def test_an_agent_that_alone_has_the_tool_answers() -> None:
    added = TeamMember("Medication", ("medications",))
    assert read("which drugs?", team(added)).agent == "Medication"
    assert read("which drugs?", team()).agent is None


@pytest.mark.parametrize(
    "text", ["highest potassium?", "how often was height measured?", "was weight ever over 90?"]
)
def test_what_is_compared_or_counted_takes_all_values(text: str) -> None:
    (question,) = about(text)
    assert arguments_of(question)["last"] == ALL_VALUES


@with_cases("text", "tool", "arguments", "aspect", "name")
def test_a_clinicians_short_words_are_read(
    text: str, tool: str, arguments: dict[str, Any], aspect: str, name: str
) -> None:
    assert asked(text) == (tool, arguments, aspect, name)


@pytest.mark.parametrize("drug", ["clonidine", "clozapin", "hydroxyzine", "prednisolon"])
def test_the_name_of_a_drug_is_never_read_as_another(drug: str) -> None:
    (question,) = about(f"is she on {drug}?")
    assert question.name in (drug, f"{drug}e")


@with_cases("text", "arguments")
def test_what_is_new_asks_for_the_changes_of_a_chart(text: str, arguments: dict[str, str]) -> None:
    (question,) = about(text)
    assert (question.tool, question.arguments, question.unread) == ("changes", arguments, "")
    assert not is_told(text)


@pytest.mark.parametrize(
    "text",
    ["what changed in her potassium since May 2024?", "how has the tumour changed since 2024?"],
)
def test_what_changed_in_one_thing_asks_for_that(text: str) -> None:
    assert "changes" not in [each.tool for each in about(text)]


@with_cases("text", "tool", "name")
def test_common_words_ask_for_the_charts_other_names(text: str, tool: str, name: str) -> None:
    (question,) = about(text)
    assert (question.tool, question.name) == (tool, name)


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("emergency visits in 2019/2020", "2019-01-01", "2020-12-31"),
        ("hb 03/2019", "2019-03-01", "2019-03-31"),
        ("Hb 03.2019", "2019-03-01", "2019-03-31"),
    ],
)
def test_years_and_months_with_a_sign_are_days(text: str, since: str, until: str) -> None:
    (question,) = about(text)

    assert question.span is not None
    assert (str(question.span.since), str(question.span.until)) == (since, until)


def test_red_flags_are_a_judgement() -> None:
    assert caution_for("any red flags?")
    assert caution_for("Gibt es Warnzeichen?")
