"""Questions about figures: in a unit, per year, in percent, beyond a limit, around an event."""

from datetime import UTC, date, datetime

import pytest

from services.language.reading import read
from services.language.utterance import ChartQuestion, Situation, TimeShift
from tests.tables import with_cases


def asked(text: str, *before: str) -> tuple[ChartQuestion, ...]:
    situation = Situation(now=datetime(2026, 11, 22, 12, tzinfo=UTC), asked_before=before)
    return read(text, situation).about


@pytest.mark.slow
@with_cases("text", "names")
def test_words_for_how_values_are_shown_are_not_in_their_names(text: str, names: list[str]) -> None:
    (question,) = asked(text)
    assert question.arguments["names"] == names


def test_each_longer_name_keeps_what_may_be_told_of_it_alone() -> None:
    found = asked("hemoglobin gobbledygook and potassium")
    assert [(one.name, one.head) for one in found] == [
        ("hemoglobin gobbledygook", "hemoglobin"), ("potassium", ""),
    ]  # fmt: skip
    assert [one.head for one in asked("creatinine in stool")] == [""]


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("creatinine in umol/L", "umol/L"),
        ("glucose mmol/l latest?", "mmol/L"),
        ("temp in F", "[degF]"),
        ("potassium above 5 mmol/l?", "mmol/L"),
    ],
)
def test_a_unit_is_asked_for_and_is_no_part_of_a_name(text: str, unit: str) -> None:
    (question,) = asked(text)
    assert (question.unit, " " in question.name) == (unit, question.name == "body temperature")


@with_cases("text", "aspect", "rate")
def test_what_is_told_of_a_year_or_in_percent(text: str, aspect: str, rate: str) -> None:
    assert [(one.aspect, one.rate) for one in asked(text)] == [(aspect, rate)]


@with_cases("text", "relation", "event")
def test_values_are_asked_of_the_days_of_an_event(text: str, relation: str, event: str) -> None:
    (question,) = asked(text)
    assert (question.tool, question.when) == ("results", relation)
    assert [one.name for one in question.around] == [event]


@pytest.mark.parametrize("text", ["how long since the last visit", "Zeit seit letztem Besuch"])
def test_how_long_ago_something_was_asks_for_the_thing(text: str) -> None:
    assert [(one.tool, one.aspect, one.around) for one in asked(text)] == [
        ("encounters", "latest", ())
    ]


@pytest.mark.parametrize(
    "text", ["second to last potassium", "vorletztes Kalium", "next to last potassium"]
)
def test_the_last_but_one_is_one_value(text: str) -> None:
    assert [(one.name, one.aspect, one.back) for one in asked(text)] == [("potassium", "latest", 1)]


def test_the_last_and_the_last_but_one_are_two() -> None:
    (question,) = asked("Abstand zwischen letzter und vorletzter Kontrolle")
    assert (question.arguments["last"], question.aspect) == (2, "all")


def test_a_pressure_has_a_limit_for_either_figure() -> None:
    (question,) = asked("was his BP ever >140/90")
    assert (question.above, question.lower_limit) == (140.0, 90.0)


def test_an_age_at_the_first_of_a_kind_asks_for_no_visit() -> None:
    found = asked("how old was she at her first tetanus shot")
    assert "encounters" not in {one.tool for one in found}


def test_a_day_behind_am_is_no_age() -> None:
    (question,) = asked("Kreatinin am 4.8.2019")
    assert (question.at_age, question.arguments["since"]) == (None, "2019-08-04")


@pytest.mark.parametrize("text", ["Polyp wie groß?", "wie groß war der Polyp?"])
def test_how_large_a_thing_is_asks_for_no_height(text: str) -> None:
    assert [one.tool for one in asked(text)] == ["search_record"]


def test_it_is_asked_of_other_days_and_events() -> None:
    (then,) = asked("what was it in 2018?", "latest creatinine?")
    assert (then.name, then.arguments["since"]) == ("creatinine", "2018-01-01")
    (before,) = asked("what was it before the stroke", "latest creatinine?")
    assert (before.name, before.when, before.around[0].name) == ("creatinine", "before", "stroke")
    (after,) = asked("and after?", "latest creatinine?", "what was it before the stroke")
    assert (after.name, after.when, after.around[0].name) == ("creatinine", "after", "stroke")


@pytest.mark.parametrize(
    ("text", "above", "below"), [("any above 3?", 3.0, None), ("when was it below 1?", None, 1.0)]
)
def test_another_limit_takes_the_place_of_the_one_before(
    text: str, above: float | None, below: float | None
) -> None:
    (question,) = asked(text, "how often was creatinine above 2?")
    assert (question.name, question.above, question.below) == ("creatinine", above, below)


def test_what_came_before_is_beyond_no_limit() -> None:
    (question,) = asked("and the one before that?", "is BP above 140?")
    assert (question.above, question.back) == (None, 1)


def test_the_highest_is_of_no_year_of_life() -> None:
    assert {one.at_age for one in asked("the heaviest?", "weight at 50")} == {None}
    (ever,) = asked("highest ever?", "latest potassium?", "and in 2017?")
    assert (ever.aspect, ever.span) == ("maximum", None)


def test_when_one_value_was_asks_for_that_value() -> None:
    (question,) = asked("when was that?", "highest potassium?")
    assert question.aspect == "maximum"


def test_the_change_before_is_told_in_percent_or_per_year() -> None:
    assert [one.rate for one in asked("in percent?", "weight loss since 2020")] == ["percent"]
    assert [one.rate for one in asked("per year?", "weight loss since 2020")] == ["per year"]


def test_another_value_is_asked_of_the_same_year_of_life() -> None:
    (question,) = asked("and weight?", "height at 5")
    assert (question.name, question.at_age) == ("body weight", 5)


def test_so_long_before_is_asked_of_the_day_of_what_was_told() -> None:
    (question,) = asked("2 Jahre davor?", "Gewicht bei letzter Vorsorge")
    assert (question.name, question.when, question.unread) == ("body weight", "at", "")
    assert question.shift == TimeShift(-2, "year", text="2 jahre davor")
    (of_event,) = asked("and 2 years later?", "bp at the time of the stroke")
    assert [one.name for one in of_event.around] == ["stroke"]
    assert of_event.shift == TimeShift(2, "year", text="2 years later")


def test_what_was_then_is_asked_of_the_time_of_what_was_told() -> None:
    (weight,) = asked("and the weight then?", "bp at the time of the stroke")
    assert [one.name for one in weight.around] == ["stroke"]
    (hdl,) = asked("what was HDL at that time?", "highest LDL?")
    assert (hdl.name, hdl.around[0].aspect, hdl.when) == (
        "high density lipoprotein cholesterol", "maximum", "at",
    )  # fmt: skip
    (of_another,) = asked("and weight?", "bp at the time of the stroke")
    assert [one.name for one in of_another.around] == ["stroke"]


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("the one from 2017", "2017-01-01", "2017-12-31"),
        ("den von 2019", "2019-01-01", "2019-12-31"),
        ("march 2018?", "2018-03-01", "2018-03-31"),
    ],
)
def test_one_of_those_told_is_asked_for_by_its_day(text: str, since: str, until: str) -> None:
    (question,) = asked(text, "creatinine trend")
    assert (question.arguments["since"], question.arguments["until"]) == (since, until)


def test_a_month_of_no_year_is_meant_of_each_year() -> None:
    (question,) = asked("the one from May", "INR trend?")
    assert (question.month, question.span, question.unread) == (5, None, "")


def test_another_value_is_asked_beyond_the_same_limit() -> None:
    (question,) = asked("same for HDL", "was his LDL ever above 100?")
    assert (question.name, question.above) == ("high density lipoprotein cholesterol", 100)


def test_the_month_before_is_of_the_days_asked_about() -> None:
    (question,) = asked("and the month before?", "labs on 9/26/2018")
    assert (question.arguments["since"], question.arguments["until"]) == (
        "2018-08-01",
        "2018-08-31",
    )


def test_a_fragment_is_read_in_the_language_of_the_conversation() -> None:
    situation = Situation(now=datetime(2026, 11, 22, 12, tzinfo=UTC), language="de")
    found = read("Gewicht in Pfund", situation)
    assert [(one.name, one.unit) for one in found.about] == [("body weight", "[lb_av]")]


@pytest.mark.parametrize(
    ("text", "aspects"),
    [
        ("K: avg, min, max", ["average", "extremes"]),
        ("sodium range ever", ["extremes"]),
        ("RR Mittel", ["average"]),
        ("eGFR früher vs heute", ["change"]),
    ],
)
def test_each_figure_that_is_asked_for_is_worked_out(text: str, aspects: list[str]) -> None:
    assert [one.aspect for one in asked(text)] == aspects


def test_the_last_such_month_is_a_span() -> None:
    (question,) = asked("weight last aug")
    assert question.arguments["since"] == "2026-08-01"


def test_several_ages_are_each_asked_of() -> None:
    assert [one.at_age for one in asked("weight at 10, 12 and 14")] == [10, 12, 14]
    assert [one.at_age for one in asked("height between age 4 and age 8")] == [4, 8]


@pytest.mark.parametrize(
    ("text", "side"),
    [
        ("visits before age 12", "before"),
        ("highest potassium since he turned 12", "since"),
        ("Kalium seit ihrem 12. Geburtstag", "since"),
        ("potassium at 12", ""),
    ],
)
def test_all_before_or_since_a_birthday_is_asked_for(text: str, side: str) -> None:
    (question,) = asked(text)
    assert (question.at_age, question.age_side, question.unread) == (12, side, "")


def test_how_old_they_were_then_asks_for_the_day_of_what_was_told() -> None:
    found = asked("how old was she then?", "highest potassium?")
    assert [(one.name, one.aspect) for one in found] == [("age", "all"), ("potassium", "maximum")]


def test_a_follow_up_works_out_what_it_asks_itself() -> None:
    (tallest,) = asked("tallest measured?", "growth per year since 2012")
    assert (tallest.aspect, tallest.rate) == ("maximum", "")
    (difference,) = asked("the difference?", "last 2 LDL")
    assert difference.arguments["last"] == 2
    (gain,) = asked("average yearly weight gain")
    assert (gain.aspect, gain.rate) == ("change", "per year")


def test_how_much_per_year_asks_for_no_dose() -> None:
    (question,) = asked("how much per year?", "growth since 2016")
    assert (question.name, question.rate) == ("body height", "per year")


def test_a_follow_up_is_read_in_the_language_of_the_talk() -> None:
    situation = Situation(
        now=datetime(2026, 11, 22, 12, tzinfo=UTC), language="de", asked_before=("Kreatinin?",)
    )
    assert [one.rate for one in read("Unterschied in %", situation).about] == ["percent"]


def test_what_goes_on_from_values_keeps_their_days_and_takes_their_unit() -> None:
    (lowest,) = asked("and lowest in that time", "creatinine highest since 2015")
    assert (lowest.aspect, lowest.arguments["since"]) == ("minimum", "2015-01-01")
    (warm,) = asked("in Fahrenheit?", "temp last")
    assert (warm.name, warm.unit) == ("body temperature", "[degF]")


@pytest.mark.parametrize(
    ("text", "before", "tool"),
    [
        ("and the visit before?", "when was he last seen?", "encounters"),
        ("die Koloskopie davor?", "when was the last colonoscopy?", "procedures"),
    ],
)
def test_the_one_before_is_asked_for_by_its_kind(text: str, before: str, tool: str) -> None:
    (question,) = asked(text, before)
    assert (question.tool, question.aspect, question.back) == (tool, "latest", 1)


@pytest.mark.slow
def test_what_was_not_understood_in_between_is_passed_over() -> None:
    (question,) = asked("and before that?", "glucose?", "qwertz blah")
    assert (question.name, question.back) == ("glucose", 1)


def test_the_mean_of_the_last_three_is_a_mean() -> None:
    (question,) = asked("mean of the last 3 potassium")
    assert (question.aspect, question.arguments["last"]) == ("average", 3)


@pytest.mark.parametrize("text", ["pain on the day of the whiplash", "Schmerz am Tag der Fraktur"])
def test_on_the_day_of_an_event_is_at_its_time(text: str) -> None:
    (question,) = asked(text)
    assert (question.name, question.when, len(question.around)) == ("pain severity", "at", 1)


def test_what_a_question_says_itself_is_not_taken_from_the_one_before() -> None:
    (bmi,) = asked("wie war der BMI mit 3", "Gewicht mit 5 Jahren")
    assert (bmi.name, bmi.at_age) == ("body mass index", 3)
    (pounds,) = asked("and in lbs", "weight now vs 2020")
    assert (pounds.name, pounds.unit) == ("body weight", "[lb_av]")
    (lowest,) = asked("and plt nadir in the same period?", "Hb nadir during chemo")
    assert (lowest.aspect, lowest.when, bool(lowest.around)) == ("minimum", "during", True)
    (drugs,) = asked("and which drug was started that day", "wbc lowest ever")
    assert (drugs.tool, drugs.around[0].aspect) == ("medications", "minimum")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("how much has he grown in the last recorded year", "last year"),
        ("bmi in the year before her last one", "year before her"),
    ],
)
def test_a_time_of_which_no_days_are_made_is_said_to_be_left_out(text: str, left: str) -> None:
    assert asked(text)[0].unread == left


@pytest.mark.parametrize(
    ("text", "left"),
    [("LDL on May 3", "May 3"), ("kalium vom 3.4.", "3 4"), ("hb on 3rd of march", "3rd of march"),
     ("what was bp on that visit", "on that visit")],
)  # fmt: skip
def test_a_day_that_is_not_known_is_said_to_be_left_out(text: str, left: str) -> None:
    assert left.split(maxsplit=1)[0] in asked(text)[0].unread


def test_a_day_may_have_its_year_in_two_figures() -> None:
    (question,) = asked("rr am 4.12.14")
    assert (question.arguments["since"], question.arguments["until"]) == (
        "2014-12-04", "2014-12-04",
    )  # fmt: skip
    (same,) = asked("und ldl an dem Tag?", "rr am 4.12.14")
    assert same.arguments["since"] == "2014-12-04"


def test_an_event_may_stand_before_what_is_asked_of_its_time() -> None:
    (hb,) = asked("post chemo hb")
    assert (hb.name, hb.when, hb.around[0].name) == ("hemoglobin", "after", "chemotherapy")
    (question,) = asked("since the appendectomy, what was the highest bp")
    assert (question.aspect, question.when) == ("maximum", "since")
    assert [one.name for one in question.around] == ["appendectomy"]


@pytest.mark.parametrize(
    "text", ["wie lange kommt er schon", "how long has he been a patient here"]
)
def test_since_when_somebody_comes_is_since_the_first_visit(text: str) -> None:
    (question,) = asked(text)
    assert (question.tool, question.aspect, bool(question.asked_on)) == (
        "encounters", "first", True,
    )  # fmt: skip


def test_how_old_a_value_is_is_no_age_of_the_patient() -> None:
    (question,) = asked("last bp please, how old is that value")
    assert (question.name, question.aspect, bool(question.asked_on)) == (
        "blood pressure", "latest", True,
    )  # fmt: skip


def test_what_is_asked_of_the_same_may_be_of_some_days() -> None:
    (change,) = asked("um wieviel Prozent seit 2023", "Krea Verlauf")
    assert (change.aspect, change.rate, change.arguments["since"]) == (
        "change", "percent", "2023-01-01",
    )  # fmt: skip
    (highest,) = asked("highest in 2019?", "creatinine trend")
    assert (highest.aspect, highest.arguments["until"]) == ("maximum", "2019-12-31")
    (before,) = asked("and the year before?", "latest creatinine")
    assert (before.around[0].aspect, before.shift) == ("latest", TimeShift(-1, "year"))


def test_higher_than_then_is_a_change_since_then() -> None:
    (question,) = asked("is the INR higher than in May 2024")
    assert (question.aspect, question.arguments["since"]) == ("change", "2024-05-01")
    assert "until" not in question.arguments


@pytest.mark.parametrize(
    "text", ["is K higher than last time", "ist das Kalium seit dem letzten Mal gefallen"]
)
def test_since_last_time_is_between_the_last_two(text: str) -> None:
    (question,) = asked(text)
    assert (question.name, question.aspect, question.arguments["last"]) == (
        "potassium", "change", 2,
    )  # fmt: skip


def test_both_sides_of_an_event_and_of_a_peak_are_asked_for() -> None:
    before, after = asked("platelets before the anemia and after")
    assert (before.when, after.when, after.around[0].name) == ("before", "after", "anemia")
    (peak,) = asked("trigs before the peak")
    assert (peak.when, peak.around[0].aspect) == ("before", "maximum")


def test_the_age_at_the_last_value_is_no_age_of_today() -> None:
    age, weight = asked("age at last weight")
    assert (age.name, age.is_past, weight.aspect) == ("age", True, "latest")


def test_so_long_before_the_last_one_is_before_the_newest_value() -> None:
    (question,) = asked("eGFR 5 years before the last one")
    assert [(one.tool, one.aspect) for one in question.around] == [("results", "latest")]
    assert question.shift is not None
    assert (question.shift.count, question.unread) == (-5, "")


def test_the_age_then_is_told_and_not_said_to_be_left_out() -> None:
    lowest, age = asked("which was her lowest Hb and how old was she then")
    assert (lowest.unread, age.name, age.is_past) == ("", "age", True)


@with_cases("text", "aspect", "back")
def test_a_place_from_an_end_is_counted(text: str, aspect: str, back: int) -> None:
    (question,) = asked(text)
    assert (question.aspect, question.back, question.unread) == (aspect, back, "")


def test_a_place_goes_on_from_the_question_before() -> None:
    (question,) = asked("and the third lowest?", "highest LDL")
    assert (question.name, question.aspect, question.back) == (LDL, "minimum", 2)


def test_of_an_end_the_one_before_it_is_not_the_second() -> None:
    (question,) = asked("highest LDL and the one before")
    assert (question.back, question.unread) == (0, "the one before")


@pytest.mark.parametrize("text", ["last LDL and the one before", "letztes LDL und das davor"])
@pytest.mark.parametrize("before", ["blood pressure", "any surgeries?", "when was her stroke?"])
def test_the_newest_and_the_one_before_are_two(text: str, before: str) -> None:
    (question,) = asked(text, before)
    assert (question.name, question.arguments["last"], question.aspect) == (LDL, 2, "all")


@pytest.mark.parametrize("text", ["age at dx", "age at diagnosis?", "how old at onset"])
def test_an_age_at_a_diagnosis_is_of_the_one_asked_about_or_of_each(text: str) -> None:
    age, illness = asked(text, "does she have diabetes?")
    assert (age.name, age.unread, illness.name, illness.aspect) == ("age", "", "diabetes", "when")
    each, _ = asked(text)
    assert (each.tool, each.name) == ("problems", "")


def test_what_somebody_is_on_asks_for_drugs_also_without_the_name() -> None:
    assert [one.tool for one in asked("what is on?")] == ["medications"]


def test_what_somebody_is_due_for_is_no_birth() -> None:
    (question,) = asked("when is she due for a flu shot?")
    assert (question.tool, question.name, question.part) == ("immunizations", "influenza", "due")


def test_the_first_beside_the_last_one_is_no_change_since_the_last() -> None:
    (question,) = asked("first LDL vs the last one")
    assert (question.aspect, question.arguments.get("last")) == ("change", None)


def test_a_figure_by_which_nothing_is_looked_up_is_said() -> None:
    (question,) = asked("creatinine 3.04 - when was that?")
    assert question.unread == "3.04"


@with_cases("text", "aspect", "most")
def test_as_many_from_an_end_are_asked_for(text: str, aspect: str, most: int) -> None:
    (question,) = asked(text)
    assert (question.aspect, question.most, question.unread) == (aspect, most, "")


@pytest.mark.parametrize("text", ["glucose between 100 and 115", "Glukose zwischen 100 und 115"])
def test_values_between_two_limits_are_asked_for(text: str) -> None:
    (question,) = asked(text)
    assert (question.above, question.below, question.unread) == (100, 115, "")


def test_the_other_side_of_a_limit_is_said() -> None:
    assert asked("LDL under 100, how often was she above?")[0].unread == "above"


def test_a_mean_is_of_each_of_two_times() -> None:
    found = asked("mean LDL before 2015 vs after 2015")
    assert [(one.span and one.span.since, one.aspect) for one in found] == [
        (None, "average"),
        (date(2016, 1, 1), "average"),
    ]


@pytest.mark.parametrize("text", ["LDL at the time of the highest weight", "LDL at lowest weight"])
def test_a_value_is_asked_of_the_day_of_another(text: str) -> None:
    (question,) = asked(text)
    assert (question.name, [one.name for one in question.around]) == (LDL, ["body weight"])


@with_cases("text", "before", "when")
def test_a_side_of_what_was_asked_last(text: str, before: str, when: str) -> None:
    (question,) = asked(text, before)
    assert (bool(question.around), question.when, question.unread) == (True, when, "")


@pytest.mark.parametrize(
    ("text", "before", "event"),
    [
        ("LDL then", "when was the last potassium", "potassium"),
        ("LDL same day", "potassium when", "potassium"),
        ("temperature at the first one", "temperature at the last sore throat", "pharyngitis"),
        ("LDL 2 weeks later", "potassium on 4 May 2020", "potassium"),
    ],
)
def test_a_value_is_asked_of_the_time_asked_last(text: str, before: str, event: str) -> None:
    (question,) = asked(text, before)
    assert [one.name for one in question.around] == [event]


def test_the_first_of_several_times_is_the_event() -> None:
    (question,) = asked("temperature at the first one", "temperature at the last sore throat")
    assert [one.aspect for one in question.around] == ["first"]


def test_of_those_that_were_told_the_change_is_asked() -> None:
    (question,) = asked("how much did she grow between those", "last 2 heights")
    assert (question.aspect, question.arguments["last"]) == ("change", 2)


@pytest.mark.parametrize(
    ("text", "aspect"),
    [
        ("pain during chemotherapy avg", "average"),
        ("potassium since the stroke, lowest", "minimum"),
    ],
)
def test_what_is_worked_out_may_stand_behind_an_event(text: str, aspect: str) -> None:
    (question,) = asked(text)
    assert (question.aspect, bool(question.around)) == (aspect, True)


def test_a_value_is_asked_of_the_time_of_an_illness_in_the_same_message() -> None:
    *_, weight = asked("ear infection - how long, and weight after it")
    assert (weight.name, weight.when, weight.unread) == ("body weight", "after", "")
    assert [one.name for one in weight.around] == ["otitis media"]


def test_values_between_two_times_of_an_illness_are_not_worked_out() -> None:
    assert asked("weight between the two fractures")[0].unread == "between, two"


def test_a_decimal_comma_is_one_figure() -> None:
    (question,) = asked("Temperatur unter 37,5?")
    assert (question.below, question.unread) == (37.5, "")


def test_a_rate_goes_on_with_its_unit() -> None:
    (question,) = asked("wie viel kg pro Jahr", "Gewichtsverlust von 2014 bis 2019")
    assert question.rate == "per year"


def test_two_years_go_on_from_the_question_before() -> None:
    (question,) = asked("and 2020 vs 2019", "weight gain in 2018")
    assert question.span is not None
    assert (question.span.since, question.span.until) == (date(2019, 1, 1), date(2020, 12, 31))


def test_all_values_of_other_days_are_beyond_no_limit() -> None:
    (question,) = asked("all values before 2015", "was LDL ever above 150")
    assert (question.above, question.aspect) == (None, "trend")


def test_both_sides_of_what_was_asked_last_are_told() -> None:
    before, after = asked("und davor und danach?", "Blutdruck am 3.12.18")
    assert (before.aspect, before.span and before.span.until) == ("latest", date(2018, 12, 2))
    assert after.span is not None
    assert after.span.since == date(2018, 12, 4)


def test_before_a_year_is_not_before_the_value_told_last() -> None:
    (question,) = asked("avg LDL before 2016 and since", "what was the LDL in 2018")
    assert question.span is not None
    assert (question.span.until, question.unread) == (date(2015, 12, 31), "since")


def test_the_newest_and_what_was_before_lean_on_no_other_days() -> None:
    (question,) = asked("LDL last value, and what was it before", "potassium in 2015")
    assert (question.name, question.span, question.around) == (LDL, None, ())


def test_what_follows_is_no_course_of_all_times() -> None:
    assert not any(one.aspect == "trend" for one in asked("danach gesunken?", "höchstes LDL"))


def test_what_came_after_some_days_begins_behind_them() -> None:
    (question,) = asked("and after that?", "LDL between 2014 and 2018")
    assert question.span is not None
    assert question.span.since == date(2019, 1, 1)


def test_a_side_of_nothing_is_said() -> None:
    assert asked("weight since")[0].unread == "since"


def test_how_old_at_the_first_one_asks_for_the_value() -> None:
    age, value = asked("how old was she at the first one", "LDL trend")
    assert (age.name, value.name, value.aspect) == ("age", LDL, "first")


def test_by_how_much_is_asked_of_the_same_days() -> None:
    (question,) = asked("by how much?", "did LDL change since 2016")
    assert question.span is not None
    assert question.aspect == "change"


LDL = "low density lipoprotein cholesterol"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            "what is her SGPT? And when was the A1c last done?",
            ["alanine aminotransferase", "hemoglobin a1c"],
        ),
        ("whats the K and when was the sodium last taken", ["potassium", "sodium"]),
    ],
)
def test_when_behind_and_opens_a_question_of_its_own(text: str, names: list[str]) -> None:
    (found,) = asked(text)
    assert (found.arguments["names"], found.around) == (names, ())


def test_what_grew_in_a_culture_is_no_body_height() -> None:
    assert [one.name for one in asked("What grew in the blood culture?")] == ["blood culture"]
