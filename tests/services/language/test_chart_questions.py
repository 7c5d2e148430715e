from datetime import UTC, datetime
from typing import Any

import pytest

from services.language.questions.question_figures import ALL_VALUES, arguments_of
from services.language.reading import read
from services.language.replies.judging import caution_for
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


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("does she have asthma or COPD", ["asthma", "copd"]),
        ("any allergy to latex or penicillin?", ["latex", "penicillin"]),
        ("stage and ECOG", ["stage", "ECOG"]),
    ],
)
def test_two_things_of_one_list_are_both_asked_for(text: str, names: list[str]) -> None:
    assert [question.name for question in about(text)] == names


def test_of_two_different_things_none_is_answered_with_yes() -> None:
    (asked_for,) = about("did she get a tetanus shot after the laceration?")

    assert (asked_for.name, asked_for.aspect, asked_for.when) == ("tetanus", "all", "after")
    assert [event.name for event in asked_for.around] == ["laceration"]


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


@pytest.mark.parametrize(
    ("text", "age", "aspect"),
    [
        ("birth weight", 0, "first"),
        ("Wie schwer war sie bei der Geburt?", 0, "first"),
        ("weight at 1 yr", 1, "all"),
    ],
)
def test_what_was_measured_at_birth_is_asked_of_that_year(text: str, age: int, aspect: str) -> None:
    (question,) = about(text)

    assert (question.name, question.at_age, question.aspect) == ("body weight", age, aspect)


def test_a_year_beside_birth_is_asked_too() -> None:
    first, second = about("platelets in 2019 vs at birth")

    assert (first.at_age, first.span) == (0, None)
    assert second.at_age is None
    assert second.span is not None


@pytest.mark.parametrize(
    ("text", "aspect", "is_open"),
    [
        ("creatinine 2014 then now", "change", True),
        ("Wie war der Blutzucker 2019 und wie ist er jetzt?", "change", True),
        ("last potassium in 2014", "latest", False),
    ],
)
def test_days_beside_now_reach_until_now(text: str, aspect: str, is_open: bool) -> None:
    (question,) = about(text)

    assert question.span is not None
    assert (question.aspect, question.span.until is None) == (aspect, is_open)


def test_a_workup_of_something_is_read_off_the_chart() -> None:
    assert [one.tool for one in about("anemia workup - iron?")] == ["problems", "results"]
    assert not about("start the workup")


@with_cases("text", "tool", "name")
def test_a_name_leads_to_its_tool(text: str, tool: str, name: str) -> None:
    (question,) = about(text)
    assert (question.tool, question.name) == (tool, name)


def test_a_limit_is_a_limit_and_no_count() -> None:
    (question,) = about("was the potassium ever above 5?")
    assert (question.above, question.below, question.aspect) == (5, None, "whether")
    (question,) = about("was her a1c ever below 6.5%?")
    assert (question.above, question.below) == (None, 6.5)


def test_joined_questions_are_each_asked() -> None:
    assert [one.tool for one in about("medications and allergies")] == ["medications", "allergies"]
    (values,) = about("latest sodium, potassium and chloride")
    assert values.arguments["names"] == ["sodium", "potassium", "chloride"]
    both = about("what is her potassium and is she allergic to latex?")
    assert [(one.tool, one.name) for one in both] == [
        ("results", "potassium"),
        ("allergies", "latex"),
    ]


def test_a_name_with_commas_is_one_name() -> None:
    text = "When was the last Influenza, seasonal, injectable, preservative free vaccination?"
    (question,) = about(text)
    assert question.arguments["name"] == "influenza seasonal injectable preservative free"


@pytest.mark.parametrize("part", ["reason", "dose", "people"])
def test_a_part_of_a_row_may_be_asked_for(part: str) -> None:
    texts = {
        "reason": "why was she admitted in 2014",
        "dose": "what is the dose of metformin?",
        "people": "who prescribed the metformin?",
    }
    assert about(texts[part])[0].part == part


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


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("MCH/hematocrit?", ["mch", "hematocrit"]),
        ("urine albumin/creatinine ratio", ["microalbumin creatinine ratio"]),
        ("protein/creatinine ratio?", ["protein / creatinine ratio"]),
        ("so what's TG running at?", ["triglycerides"]),
    ],
)
def test_two_names_with_a_slash_are_two_and_a_ratio_is_one(text: str, names: list[str]) -> None:
    (question,) = about(text)
    assert (question.tool, question.arguments["names"]) == ("results", names)


def test_how_low_something_got_asks_for_the_lowest() -> None:
    assert [each.aspect for each in about("how low did chloride get")] == ["minimum"]
    assert [each.aspect for each in about("lowest and highest weight")] == ["extremes"]


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Grimm called. Which drugs does she take?",
        "Dr. Keller called, what does she take?",
        "Dr. Groß hat angerufen, welche Medikamente nimmt sie?",
        "Der Sohn fragt, welche Medikamente nimmt sie?",
    ],
)
def test_who_asks_for_the_chart_is_nothing_of_it(text: str) -> None:
    assert [(one.tool, one.name) for one in about(text)] == [("medications", "")]


def test_got_is_no_liver_value_where_somebody_has_got_something() -> None:
    assert asked("has he got obesity") == ("problems", {"status": "all"}, "whether", "obesity")
    assert asked("GOT?")[3] == "aspartate aminotransferase"


@with_cases("text", "arguments")
def test_what_is_new_asks_for_the_changes_of_a_chart(text: str, arguments: dict[str, str]) -> None:
    (question,) = about(text)
    assert (question.tool, question.arguments) == ("changes", arguments)


@pytest.mark.parametrize(
    "text",
    ["what changed in her potassium since May 2024?", "how has the tumour changed since 2024?"],
)
def test_what_changed_in_one_thing_asks_for_that(text: str) -> None:
    assert "changes" not in [each.tool for each in about(text)]


def test_ok_at_the_beginning_asks_for_no_range() -> None:
    assert about("ok, and her potassium?")[0].part is None
    assert about("is her potassium ok?")[0].part == "range"


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


def test_what_is_now_is_asked_beside_what_was_at_birth() -> None:
    found = about("Geburtsgewicht und aktuelles Gewicht")

    assert [(one.at_age, one.aspect) for one in found] == [(0, "first"), (None, "latest")]


def test_what_is_taken_now_is_asked_beside_what_was_taken_then() -> None:
    (question,) = about("contraception now vs 2016")

    assert question.aspect == "all"
    assert question.span is not None
    assert question.span.until is None


def test_a_part_of_the_body_belongs_to_the_picture_of_it() -> None:
    assert [(one.tool, one.name) for one in about("Letztes MRT Leber?")] == [
        ("imaging_reports", "mri liver")
    ]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("did anyone talk about surgery?", "operation"),
        ("is loratadine safe with his drugs?", "loratadine"),
    ],
)
def test_how_a_thing_is_spoken_of_is_no_part_of_its_name(text: str, name: str) -> None:
    assert {question.name for question in about(text)} == {name}


def test_red_flags_are_a_judgement() -> None:
    assert caution_for("any red flags?")
    assert caution_for("Gibt es Warnzeichen?")
