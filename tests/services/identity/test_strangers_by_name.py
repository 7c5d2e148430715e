"""People's names that no directory has: whoever they are, the open chart is not theirs."""

import pytest

from data_models.identifiers import PatientId
from services.identity.linking import Situation
from services.language.known_names import is_known_name, is_ordinary_name
from tests.services.identity.test_linking import linker

OPEN = PatientId("patient_7")


async def outcome_of(text: str) -> str:
    found = await linker().link(text, Situation(active=OPEN, roster={OPEN: None}))
    return f"{found.subject.outcome} {found.subject.reason}"


@pytest.mark.parametrize(
    "text",
    [
        "is nakamura on warfarin?",
        "what meds is nakamura taking?",
        "has nakamura had a ct?",
        "when was nakamura last seen",
        "nakamura any allergies",
        "is nakamura also PD-L1 positive?",
        "tell me whether nakamura is on warfarin",
        "sag mir das Kalium von Nakamura",
        "allergies: nakamura",
        "Nakamura - allergies",
        "ivan petrov sodium",
        "latest hb for john smith",
        "smith john potassium",
        "Smith, John Robert: INR",
        "patient 'Obi': sodium",
        "Hb Schmidt?",
        "Lopez?",
        "lopez?",
        "pull Lopez",
        "next patient osei",
        "switch to abdul rahman",
        "pt lopez k",
        "O'Brien's results",
        "Patientin Müller, Kalium?",
        "kalium von hans müller",
        "Müller Kalium",
        "klar, Nakamura",
        "what did I tell you about Nakamura",
        "what do you know about nakamura?",
        "was weißt du über Nakamura?",
        "und bei Lopez?",
        "bei Lopez",
    ],
)
async def test_the_open_chart_does_not_answer_for_a_name_that_nobody_has(text: str) -> None:
    assert await outcome_of(text) == "unsure stranger"


async def test_a_phrase_that_names_nobody_opens_no_chart() -> None:
    found = await linker().link("Streich das", Situation(active=OPEN, roster={OPEN: None}))
    assert not found.is_plain


@pytest.mark.parametrize(
    "text",
    [
        "seen by petrov?",
        "tell jenny the CT is back",
        "message for nurse joy: potassium repeated?",
        "Thanks, Maria. And the potassium?",
        "Hi, could you check potassium? Best, Maria",
        "Der Sohn heißt Tobias, bitte notieren: Kalium?",
        "cutting down on coffee, any effect on INR?",
        "Befunde vom Darm?",
        "Ist eine Allergie gegen Nickel bekannt?",
        "stroke symptoms: face drooping",
        "candida in urine?",
        "potassium after January 2024",
        "transfer to Mercy Hospital for CT",
        "Foley in?",
        "Crohn's disease activity?",
        "alt natrium",
        "Kopf CT",
        "any labs?",
        "Termin bei Lopez",
        "any news about Parkinson?",
        "Was ist bei Fieber?",
        "was sagt die Leitlinie bei Gicht?",
        "what is known about Rivaroxaban?",
        "Klar",
        "alles klar.",
        "Freilich!",
        "Roger",
        "Streich das",
        "führ den Plan aus",
        "Basta",
    ],
)
async def test_a_name_of_somebody_else_or_a_word_asks_nothing(text: str) -> None:
    assert await outcome_of(text) == "same nobody_else"


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("book her with Dr. Chen next week", "unsure pronoun"),
        ("book him with Dr. Chen next week", "same nobody_else"),
        ("Peter called, tell her he is late", "same nobody_else"),
        ("his wife says she is tired", "same nobody_else"),
    ],
)
async def test_a_pronoun_before_anybodys_name_is_the_patients(text: str, outcome: str) -> None:
    assert await outcome_of(text) == outcome


async def test_a_short_form_of_the_open_patients_first_name_is_theirs() -> None:
    margaret = PatientId("patient_4")
    for said in ("peggy - meds?", "is maggie on apixaban?"):
        found = await linker().link(said, Situation(active=margaret, roster={margaret: None}))
        assert found.subject.outcome == "same"
    assert await outcome_of("peggy - meds?") == "unsure stranger"


@pytest.mark.parametrize("name", ["lopez", "nakamura", "okonkwo", "petrov", "nguyen", "yilmaz"])
def test_names_of_many_countries_are_known(name: str) -> None:
    assert is_known_name(name)
    assert not is_ordinary_name(name)


def test_a_word_is_no_name_and_a_name_may_be_a_word() -> None:
    assert not is_known_name("potassium")
    assert is_known_name("bridge")
    assert is_ordinary_name("bridge")
