"""Kinds of plain questions that were read as another thing: each by several wordings."""

from datetime import UTC, datetime

import pytest

from services.language.reading import read
from services.language.utterance import ChartQuestion, Situation

SITUATION = Situation(now=datetime(2026, 11, 22, 12, tzinfo=UTC))


def asked(text: str, *before: str) -> tuple[ChartQuestion, ...]:
    situation = Situation(now=SITUATION.now, asked_before=before)
    return read(text, situation).about


def named(text: str, *before: str) -> list[tuple[str, str]]:
    return [(one.tool, one.name) for one in asked(text, *before)]


@pytest.mark.parametrize(
    ("text", "operation"),
    [
        ("does he still have his appendix?", "appendectomy"),
        ("are her ovaries still there?", "oophorectomy"),
        ("hat er seinen Blinddarm noch?", "appendectomy"),
    ],
)
def test_whether_an_organ_is_still_there_asks_for_its_removal(text: str, operation: str) -> None:
    assert named(text) == [("procedures", operation)]


@pytest.mark.parametrize(
    ("text", "tool", "name"),
    [
        ("can she still get pregnant?", "procedures", "sterilization"),
        ("Kann sie noch schwanger werden?", "procedures", "sterilization"),
        ("what's his bp pill called?", "medications", "blood pressure"),
        ("drug use hx", "search_record", ""),
        ("surgical hx", "procedures", "operation"),
        ("last blood smear?", "procedures", "peripheral blood smear"),
        ("is a diabetic diet planned", "search_record", "diet"),
        ("opioid use disorder?", "problems", "substance misuse"),
        ("advance care planning done?", "care", "directive"),
        ("cholinesterase inhibitor", "medications", "Cholinesterase inhibitors"),
        ("had a TOP?", "procedures", "termination of pregnancy"),
        ("what is he not allowed to have", "allergies", ""),
        ("what happened with the galantamine", "medications", "galantamine"),
        ("Was hat sie gegen die Schmerzen bekommen?", "medications", "pain severity"),
        ("fam hx of heart disease", "history", "family"),
        ("give me her background in a nutshell", "chart_summary", ""),
        ("triptans tried?", "medications", "triptan"),
        ("hearing aid?", "care", "hearing aid"),
        ("almonds ok?", "allergies", "almond"),
        ("Blinddarm noch drin?", "procedures", "appendectomy"),
        ("lives in a nursing home?", "search_record", ""),
        ("is aspirin contraindicated?", "allergies", "aspirin"),
        ("knee replaced?", "procedures", "knee replacement"),
        ("who looks after her", "care", "care team"),
        ("still got RA?", "problems", "rheumatoid arthritis"),
        ("anything chronic?", "problems", ""),
        ("does he feel safe at home", "search_record", ""),
        ("does he take anything regularly", "medications", ""),
        ("is she on the pill?", "medications", "oral contraceptives"),
        ("who insures him", "care", "coverage"),
        ("born prem?", "problems", "premature birth"),
        ("any hx of od", "problems", "overdose"),
        ("Nimmt er Drogen?", "search_record", ""),
        ("how were her kids born", "search_record", ""),
        ("Darf er Penicillin bekommen?", "allergies", "penicillin"),
        ("Gib mir eine kurze Übergabe", "chart_summary", ""),
        ("Welche Dauerdiagnosen hat er?", "problems", ""),
    ],
)
def test_what_is_meant_is_asked_and_nothing_beside_it(text: str, tool: str, name: str) -> None:
    assert named(text) == [(tool, name)]


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
    assert named(text) == [("history", "family")]


@pytest.mark.parametrize(
    ("text", "tool", "name"),
    [
        ("how many allergy shots did she have?", "procedures", "subcutaneous immunotherapy"),
        ("how many B12 shots has she had?", "medications", "vitamin b 12"),
        ("how many spirometries?", "procedures", "spirometry"),
        ("New York Heart Association class?", "results", "nyha class"),
        ("has she ever had a raised ALT?", "results", "alanine aminotransferase"),
        ("fasting sugars", "results", "glucose"),
        ("is her pressure treated?", "medications", "blood pressure"),
        ("who treats her migraine?", "encounters", "migraine"),
        ("Wie groß war der Polyp?", "search_record", "polyp size"),
        ("Wie groß ist die Patientin?", "results", "body height"),
        ("how is her memory doing?", "results", "mini mental state examination"),
        ("any memory loss?", "problems", "dementia"),
        ("does she have Down syndrome?", "problems", "down syndrome"),
        ("creatinine swings - min and max", "results", "creatinine"),
        ("which inhalers?", "medications", "inhaler"),
        ("Kniearthrose?", "problems", "knee osteoarthritis"),
        ("Wann wurde zuletzt Blut abgenommen?", "results", ""),
        ("Wie heißt ihr Hausarzt?", "care", "care team"),
        ("how old was she at menarche?", "search_record", "menarche"),
    ],
)
def test_what_is_asked_for_is_found(text: str, tool: str, name: str) -> None:
    assert named(text) == [(tool, name)]


@pytest.mark.parametrize(
    "text",
    [
        "what was given for the bronchitis?",
        "is she taking anything for bronchitis?",
        "Nimmt sie etwas gegen Bronchitis?",
        "Wird er wegen Bronchitis behandelt?",
    ],
)
def test_what_is_taken_for_an_illness_is_its_treatment(text: str) -> None:
    assert [(one.name, one.part) for one in asked(text)] == [("bronchitis", "treatment")]


def test_the_illness_before_is_what_is_treated() -> None:
    found = asked("Wann wurde die Demenz diagnostiziert und welche Therapie läuft?")
    assert [(one.name, one.part) for one in found] == [
        ("dementia", None),
        ("dementia", "treatment"),
    ]
    then = asked("and how was it treated?", "did he have any burns?")
    assert [(one.name, one.part) for one in then] == [("burn", "treatment")]


def test_a_drug_for_an_illness_is_asked_about_apart() -> None:
    assert named("is he on metformin for the prediabetes?") == [
        ("medications", "metformin"),
        ("problems", "prediabetes"),
    ]


def test_that_it_was_there_is_no_yes_to_whether_it_came_back() -> None:
    assert [one.aspect for one in asked("did the ear infection come back?")] == ["count"]


@pytest.mark.parametrize(
    ("text", "ages"),
    [
        ("weight at 6 months", [(6, True, "all")]),
        ("weight at 12 years", [(12, False, "all")]),
        ("immunisations in his first year", [(0, False, "all")]),
        ("weight at birth and at 1 year", [(0, False, "first"), (1, False, "all")]),
        ("weight at age 10 and now", [(10, False, "latest"), (None, False, "latest")]),
    ],
)
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


@pytest.mark.parametrize(
    "text",
    [
        "what is the creatinine and what was it in 2023?",
        "Wie ist der Kreatininwert, und wie war er 2023?",
    ],
)
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


@pytest.mark.parametrize(
    "text",
    [
        "bp over the last 5 visits",
        "blood pressure at each visit",
        "Blutdruck bei den letzten drei Besuchen",
    ],
)
def test_values_at_visits_are_values(text: str) -> None:
    assert named(text) == [("results", "blood pressure")]


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("what happened at her last visit?", "encounters"),
        ("who do i call in an emergency for her?", "chart_summary"),
        ("any chance it is anemia?", "problems"),
        ("labs: na, k, crea", "results"),
        ("anything she must not get?", "allergies"),
        ("was darf er nicht bekommen?", "allergies"),
        ("quick handover please", "chart_summary"),
    ],
)
def test_one_tool_is_asked_and_no_word_looked_for(text: str, tool: str) -> None:
    assert [one.tool for one in asked(text)] == [tool]
