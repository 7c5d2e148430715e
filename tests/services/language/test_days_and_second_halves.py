"""Nothing of a question is dropped unsaid: its second half, and the time it names."""

from datetime import UTC, datetime

import pytest

from services.language.charts.answer_words import answer_words
from services.language.people.descriptions import spoken_sex
from services.language.reading import read
from services.language.utterance import ChartQuestion, Situation, TimeShift
from services.records.answers.choosing.unsaid import said_unread
from tests.tables import with_cases


def asked(text: str, *before: str, language: str = "en") -> tuple[ChartQuestion, ...]:
    now = datetime(2026, 11, 22, 12, tzinfo=UTC)
    return read(text, Situation(now=now, language=language, asked_before=before)).about


def named(text: str, *before: str) -> list[tuple[str, str, str | None]]:
    return [(one.tool, one.name, one.part) for one in asked(text, *before)]


@with_cases("text", "found")
def test_both_sides_are_asked_about(text: str, found: list[tuple[str, str]]) -> None:
    assert [one[:2] for one in named(text)] == found


def test_when_begins_a_question_of_its_own() -> None:
    said = asked("What's her SGPT? And when was the A1c last done?")
    assert [(one.name, one.around) for one in said] == [
        ("alanine aminotransferase, hemoglobin a1c", ())
    ]


def test_a_count_behind_another_question_counts_its_own_thing() -> None:
    first, second = asked("does he smoke and how many packs")
    assert (first.aspect, second.aspect) == ("whether", "count")


@pytest.mark.parametrize("text", ["bp control ok? on what", "BP ok and on which meds?"])
def test_a_value_and_what_is_taken_for_it_are_two_questions(text: str) -> None:
    assert named(text) == [
        ("results", "blood pressure", "range"),
        ("medications", "blood pressure", "treatment"),
    ]


@with_cases("text", "names")
def test_whether_it_is_normal_is_asked(text: str, names: str) -> None:
    assert named(text) == [("results", names, "range")]


@pytest.mark.parametrize("text", ["which results are out of range?", "welche Werte sind auffällig"])
def test_all_results_are_none_of_the_question_before(text: str) -> None:
    assert named(text, "pain score trend", "weight?") == [("results", "", "range")]


def test_german_words_behind_a_patient_are_german() -> None:
    (question,) = asked("patient hba1c letzte drei werte")
    assert (question.name, question.arguments["last"]) == ("hemoglobin a1c", 3)


def test_a_time_that_is_ago_in_german_is_no_woman() -> None:
    words = ["wie", "lange", "ist", "der", "letzte", "hba1c", "her"]
    assert spoken_sex(words, words) is None
    english = ["was", "her", "sodium", "low"]
    assert spoken_sex(english, english) == "female"
    (question,) = asked(" ".join(words))
    assert (question.name, question.aspect) == ("hemoglobin a1c", "latest")


@with_cases("text", "day")
def test_an_appointment_of_days_that_are_over_is_a_visit(text: str, day: str) -> None:
    (question,) = asked(text)
    assert (question.tool, question.arguments["since"]) == ("encounters", day)


@pytest.mark.parametrize("text", ["any appointments next week", "when is her next appointment"])
def test_an_appointment_to_come_is_none(text: str) -> None:
    assert asked(text) == ()


@pytest.mark.parametrize(
    ("text", "before"),
    [("and in April?", "sodium in March 2019?"), ("und im April?", "Natrium im März 2019?")],
)
def test_a_month_is_of_the_year_that_was_asked_about(text: str, before: str) -> None:
    (question,) = asked(text, before)
    assert (question.name, question.arguments["since"]) == ("sodium", "2019-04-01")
    assert question.arguments["until"] == "2019-04-30"


@pytest.mark.parametrize(("text", "before"), [("and now?", "sodium in March 2019?")])
def test_now_is_not_the_days_before(text: str, before: str) -> None:
    (question,) = asked(text, before)
    assert (question.aspect, question.span, question.arguments) == (
        "latest",
        None,
        {"names": ["sodium"]},
    )


def test_a_part_of_the_body_is_told_of_what_was_shown() -> None:
    assert named("what body part", "any x-ray?") == [("imaging_reports", "x ray", "site")]


@pytest.mark.parametrize(
    "text", ["weight at a year", "Gewicht mit einem Jahr", "weight at age one"]
)
def test_one_year_of_age_has_words_of_its_own(text: str) -> None:
    (question,) = asked(text)
    assert (question.name, question.at_age) == ("body weight", 1)


def test_a_length_of_time_that_nobody_understands_is_said() -> None:
    (question,) = asked("egfr in 3 months")
    told = said_unread(question, "**eGFR**: 60", answer_words("en"))
    assert "“in 3 months”" in told.splitlines()[0]
    assert told.endswith("**eGFR**: 60")
    assert [one.unread for one in asked("how many visits per month")] == ["per month"]
    assert [one.unread for one in asked("wie viele Besuche pro Monat?")] == ["pro Monat"]
    (whole,) = asked("egfr in the last 3 months")
    assert said_unread(whole, "**eGFR**: 60", answer_words("en")) == "**eGFR**: 60"


@with_cases("text", "since", "until")
def test_parts_of_years_are_days(text: str, since: str, until: str) -> None:
    (question,) = asked(text)
    assert (question.arguments["since"], question.arguments["until"]) == (since, until)
    assert len(question.arguments["names"]) == 1


def test_a_season_is_no_fall() -> None:
    assert named("did she fall in 2018") == [("problems", "fall", None)]


def test_what_a_topic_leaves_out_is_said() -> None:
    (question,) = asked("insurance type and expiry date")
    assert (question.name, question.part, question.unread) == ("coverage", "end", "")
    assert [one.unread for one in asked("give me a nice quick overview")] == [""]


def test_of_those_is_asked_of_the_same_days() -> None:
    (question,) = asked("how many of those were emergencies", "how many visits in 2016?")
    assert (question.name, question.arguments["since"]) == ("emergency", "2016-01-01")
    (german,) = asked("welche davon waren Notfälle", "wie viele Arztbesuche 2016?")
    assert (german.name, german.arguments) == (question.name, question.arguments)


@with_cases("text", "aspects")
def test_whom_they_saw_is_told_beside_how_often(text: str, aspects: list[str]) -> None:
    found = asked(text)
    assert {one.tool for one in found} == {"encounters"}
    assert [one.aspect for one in found] == aspects


@with_cases("text")
def test_an_age_at_a_visit_is_of_then(text: str) -> None:
    assert [one.tool for one in asked(text)] == ["encounters", "chart_summary"]
    assert [one.tool for one in asked("what is her age right now")] == ["chart_summary"]


@with_cases("text", "tool", "arguments", "is_begun")
def test_what_is_asked_of_a_visit_is_of_that_visit(
    text: str, tool: str, arguments: dict[str, object], is_begun: bool
) -> None:
    (question,) = asked(text)
    (visit,) = question.around
    assert (question.tool, question.when, question.is_begun) == (tool, "within", is_begun)
    assert arguments.items() <= question.arguments.items()
    assert (visit.tool, visit.aspect in ("latest", "first")) == ("encounters", True)


def test_a_limit_stands_beside_a_number_of_values() -> None:
    (question,) = asked("bp last 3, any over 140?")
    assert (question.arguments["last"], question.above) == (3, 140)


def test_what_a_value_was_is_no_course_of_all() -> None:
    assert [one[0] for one in named("und was war der Hb da")] == ["results"]


def test_a_check_up_has_other_names() -> None:
    (question,) = asked("wann war der letzte Kontrolltermin und bei wem")
    assert (question.tool, question.name, question.part) == ("encounters", "check up", "people")


def test_results_older_than_a_year_are_of_before() -> None:
    (question,) = asked("any results older than 2012")
    assert (question.tool, question.arguments) == ("results", {"until": "2011-12-31"})
    (german,) = asked("gibt es Werte nach dem 1.1.2020")
    assert (german.tool, german.arguments) == ("results", {"since": "2020-01-02"})


@pytest.mark.parametrize("text", ["hb before and after 2016", "Hb vor und nach 2016"])
def test_before_and_after_a_year_is_of_both(text: str) -> None:
    (question,) = asked(text)
    assert (question.name, question.arguments) == ("hemoglobin", {"names": ["hemoglobin"]})


def test_so_long_before_an_event_is_of_its_days_and_before_a_date_is_not_understood() -> None:
    (question,) = asked("weight 5 yrs before she was last seen")
    assert (question.name, question.around[0].tool) == ("body weight", "encounters")
    assert question.shift == TimeShift(-5, "year", text="5 yrs before she")
    (dated,) = asked("weight 2 years before 2015")
    assert (dated.name, dated.unread) == ("body weight", "2 years before")


def test_days_beside_an_event_are_of_what_stands_next_to_them() -> None:
    (of_event,) = asked("Gewicht vor der Schwangerschaft 2014")
    (event,) = of_event.around
    assert (of_event.span, event.span and event.span.text) == (None, "2014")
    (of_value,) = asked("weight in 2015 before the stroke")
    assert (of_value.span and of_value.span.text, of_value.around[0].span) == ("in 2015", None)


def test_a_value_is_asked_of_the_time_of_what_only_a_search_finds() -> None:
    (question,) = asked("what was the weight when he tore his knee ligament?")
    assert (question.name, question.around[0].tool) == ("body weight", "search_record")
    (sprain,) = asked("bp when the ankle was sprained")
    assert [one.name for one in sprain.around] == ["ankle sprain"]


@pytest.mark.parametrize(
    "text", ["how tall was he on his 9th birthday", "Größe an seinem 9. Geburtstag"]
)
def test_a_birthday_is_an_age(text: str) -> None:
    (question,) = asked(text)
    assert (question.name, question.at_age) == ("body height", 9)
    (other,) = asked("and at 10?", text)
    assert (other.name, other.at_age) == ("body height", 10)


@with_cases("text", "before")
def test_the_year_before_is_of_those_that_were_asked_about(text: str, before: str) -> None:
    (question,) = asked(text, before)
    assert (question.tool, question.arguments) == ("encounters", {"since": "2015-01-01"})


def test_how_often_and_the_last_are_two() -> None:
    found = asked("wie viele Termine hatte er seit 2018 und der letzte?")
    assert [(one.tool, one.aspect) for one in found] == [
        ("encounters", "count"),
        ("encounters", "latest"),
    ]
    assert {one.arguments["since"] for one in found} == {"2018-01-01"}


def test_how_many_days_ago_is_no_number_of_visits() -> None:
    (question,) = asked("letzter Besuch vor wie vielen Tagen")
    assert (question.tool, question.aspect) == ("encounters", "latest")


@pytest.mark.parametrize("text", ["weight compared to 2015", "Gewicht im Vergleich zu 2015"])
def test_one_time_is_compared_with_now(text: str) -> None:
    (question,) = asked(text)
    assert (question.aspect, question.arguments["since"]) == ("change", "2015-01-01")
    assert "until" not in question.arguments
    both = asked("hemoglobin vs hematocrit in 2015")
    assert {one.arguments["until"] for one in both} == {"2015-12-31"}


@with_cases("text", "before")
def test_then_is_the_days_before(text: str, before: str) -> None:
    (question,) = asked(text, before)
    assert (question.tool, question.arguments) == ("encounters", {"since": "2018-01-01"})


@pytest.mark.parametrize(
    "text", ["patient is her hemoglobin low", "patient was there any lab after her last er visit"]
)
def test_a_question_behind_a_name_is_not_told(text: str) -> None:
    assert asked(text) != ()
    assert asked("patient is diabetic since 2019") == ()
