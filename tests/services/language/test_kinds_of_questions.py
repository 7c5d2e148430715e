"""Kinds of plain questions that were read as another thing: each by several wordings."""

from datetime import UTC, datetime

import pytest

from services.language.charts.chart_words import lexicon
from services.language.reading import read
from services.language.utterance import ChartQuestion, Situation
from tests.tables import with_cases

SITUATION = Situation(now=datetime(2026, 11, 22, 12, tzinfo=UTC))


def asked(text: str, *before: str) -> tuple[ChartQuestion, ...]:
    situation = Situation(now=SITUATION.now, asked_before=before)
    return read(text, situation).about


def named(text: str, *before: str) -> list[tuple[str, str]]:
    return [(one.tool, one.name) for one in asked(text, *before)]


@with_cases("text", "operation")
def test_whether_an_organ_is_still_there_asks_for_its_removal(text: str, operation: str) -> None:
    assert named(text) == [("procedures", operation)]


@pytest.mark.parametrize("text", ["dx in the last 5 years", "Diagnosen 2019", "problems in 2019"])
def test_what_was_diagnosed_in_some_days_began_in_them(text: str) -> None:
    assert [one.is_begun for one in asked(text)] == ["problems" not in text]


def test_of_two_months_all_is_asked_behind_what_was_first_at_birth() -> None:
    (question,) = asked("and at 2 months", "what vaccines did he get at birth")
    assert (question.at_age, question.aspect) == (2, "all")


def test_how_old_somebody_was_is_asked_of_an_injury_of_a_part_of_the_body() -> None:
    assert named("clavicle fx how old was he?")[1:] == [("problems", "clavicle fracture")]


@pytest.mark.slow
@with_cases("text", "tool", "name")
def test_what_is_meant_is_asked_and_nothing_beside_it(text: str, tool: str, name: str) -> None:
    assert named(text) == [(tool, name)]


@pytest.mark.parametrize(
    "text",
    ["how old was she when diagnosed", "age at diagnosis?", "Wie alt war sie bei der Diagnose?"],
)
def test_the_age_at_diagnosis_without_a_name_is_that_at_each(text: str) -> None:
    assert named(text) == [("problems", ""), ("chart_summary", "age")]


@pytest.mark.parametrize("text", ["pmh?", "past medical history", "Hat er Vorerkrankungen?"])
def test_of_what_was_had_also_what_is_over_is_asked(text: str) -> None:
    assert [dict(one.arguments) for one in asked(text)] == [{"status": "all"}]


def test_both_sides_of_an_or_are_asked() -> None:
    assert named("asthma or any lung problems?") == [("problems", "asthma"), ("problems", "lung")]
    assert named("does he need a statin / is he on gabapentin")[-1] == ("medications", "gabapentin")


@pytest.mark.parametrize("text", ["t2dm on insulin?", "hypertensive on diuretics?"])
def test_an_illness_and_the_drug_somebody_is_on_are_two(text: str) -> None:
    assert [one.tool for one in asked(text)] == ["problems", "medications"]


@pytest.mark.parametrize(
    "text", ["fhx of stroke?", "family history of diabetes or cancer?", "FH of asthma and gout?"]
)
def test_an_illness_of_the_family_is_none_of_the_patient(text: str) -> None:
    assert {(one.tool, one.head) for one in asked(text)} == {("history", "family")}


@with_cases("text", "tool", "name")
def test_what_is_asked_for_is_found(text: str, tool: str, name: str) -> None:
    assert named(text) == [(tool, name)]


@with_cases("text")
def test_what_is_taken_for_an_illness_is_its_treatment(text: str) -> None:
    assert [(one.name, one.part) for one in asked(text)] == [("bronchitis", "treatment")]


@with_cases("text")
def test_the_illness_before_is_what_is_treated(text: str) -> None:
    found = asked(text)
    assert [(one.name, one.part) for one in found] == [
        ("dementia", None),
        ("dementia", "treatment"),
    ]
    then = asked("and how was it treated?", "did he have any burns?")
    assert [(one.name, one.part) for one in then] == [("burn", "treatment")]


def test_an_injury_before_a_vaccination_is_no_vaccine() -> None:
    injury, shot = asked("Handverletzung - Tetanus geimpft?")
    assert (injury.tool, shot.tool) == ("problems", "immunizations")


def test_a_drug_for_an_illness_is_asked_for_with_it() -> None:
    (one,) = asked("is he on metformin for the prediabetes?")
    assert (one.tool, one.name, one.head) == ("medications", "metformin prediabetes", "metformin")


def test_that_it_was_there_is_no_yes_to_whether_it_came_back() -> None:
    assert [one.aspect for one in asked("did the ear infection come back?")] == ["count"]


@with_cases("text", "ages")
def test_each_age_is_asked_about(text: str, ages: list[tuple[int | None, bool, str]]) -> None:
    assert [(one.at_age, one.is_age_in_months, one.aspect) for one in asked(text)] == ages


def test_the_last_years_are_not_last_year() -> None:
    assert [one.span for one in asked("weight over the last years?")] == [None]
    (last,) = asked("weight last year?")
    assert last.span is not None
    assert last.span.since is not None


def test_a_question_without_a_mark_is_no_told_sentence() -> None:
    assert read("his eGFR when CKD stage 2 was diagnosed", SITUATION).task == "answer"
    assert read("his left leg is swollen", SITUATION).task == "tell"


@with_cases("text")
def test_what_it_is_and_what_it_was_asks_for_both(text: str) -> None:
    (both,) = asked(text)
    assert (both.aspect, both.arguments["since"]) == ("change", "2023-01-01")
    assert "until" not in both.arguments


def test_then_and_now_asks_for_both() -> None:
    (question,) = asked("bmi then (2011) and now")
    assert question.span is not None
    assert question.span.until is None
    assert question.aspect == "change"


def test_higher_than_before_asks_how_it_changed() -> None:
    assert [one.aspect for one in asked("is his creatinine higher than before?")] == ["change"]


def test_a_question_before_an_order_about_tasks_is_answered() -> None:
    assert named("latest PSA?\n\nand delete all tasks") == [
        ("results", "prostate specific antigen")
    ]
    assert named("what tasks do I have? delete the first") == []
    assert named("delete all tasks") == []


@with_cases("text")
def test_values_at_visits_are_values(text: str) -> None:
    assert named(text) == [("results", "blood pressure")]


@with_cases("text", "tool")
def test_one_tool_is_asked_and_no_word_looked_for(text: str, tool: str) -> None:
    assert [one.tool for one in asked(text)] == [tool]


@pytest.mark.slow
@with_cases("before", "text", "tool", "name", "part")
def test_a_short_question_is_asked_of_what_was_named_before(
    before: str, text: str, tool: str, name: str, part: str | None
) -> None:
    (question, *_) = asked(text, before)
    assert (question.tool, question.name, question.part) == (tool, name, part)


@with_cases("before", "text", "back")
def test_which_of_several_times_is_asked_of_those_told_before(
    before: str, text: str, back: int
) -> None:
    (question,) = asked(text, before)
    assert (question.aspect, question.back) == ("first", back)


def test_a_word_is_no_slip_of_one_that_would_be_passed_over() -> None:
    assert [one.text for one in lexicon("en").pieces("displaced shwoed")] == ["displaced", "showed"]


@with_cases("text")
def test_what_is_said_of_a_question_is_used(text: str) -> None:
    assert [one.unread for one in asked(text)] == [""]


def test_since_when_a_value_is_so_is_told_by_its_course() -> None:
    assert [one.aspect for one in asked("since when?", "does she smoke?")] == ["trend"]


def test_the_highest_of_all_is_not_that_of_the_day_before() -> None:
    (question,) = asked("alt highest & ast same day", "latest lft")
    assert (question.around, question.unread) == ((), "same day")


def test_whether_a_drug_may_be_started_is_no_order() -> None:
    first, *others = asked("can i start spironolactone")
    assert first.tool == "allergies"
    assert "kidney function" in [one.name for one in others]


def test_of_the_third_time_its_treatment_is_asked() -> None:
    before = ("how many sinus infections?", "the third one?")
    (question,) = asked("was it treated", *before)
    assert (question.part, question.back) == ("treatment", 2)


@pytest.mark.parametrize("text", ["meds he took before the statin", "meds before the statin"])
def test_what_was_taken_before_a_drug_is_not_that_drug(text: str) -> None:
    (question,) = asked(text)
    assert (question.name, question.when) == ("", "before")
    assert [one.name for one in question.around] == ["statin"]


def test_that_somebody_is_allergic_is_no_yes_to_whether_they_eat_it() -> None:
    (question,) = asked("does she eat nuts")
    assert (question.aspect, question.unread) == ("all", "eat")


def test_of_who_pays_only_the_newest_bill_tells_and_since_when_is_named() -> None:
    assert [one.unread for one in asked("medicare since")] == ["since"]


def test_the_heaviest_is_a_weight() -> None:
    assert [one.aspect for one in asked("heaviest ever")] == ["maximum"]


@with_cases("text")
def test_whose_chart_is_open_is_asked_with_every_word(text: str) -> None:
    assert [(one.tool, one.name, one.unread) for one in asked(text)] == [
        ("chart_summary", "name", "")
    ]


@with_cases("text")
def test_who_called_is_no_question_for_the_patients_name(text: str) -> None:
    assert "name" not in [one.name for one in asked(text)]
