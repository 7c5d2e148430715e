"""What stands in the Patient resource is never said to be missing."""

from datetime import UTC, date, datetime

from services.language.charts.answer_words import answer_words
from services.language.reading import read
from services.language.utterance import Situation
from services.records.answers.choosing.asked_rows import has_answer
from services.records.answers.sentences import answer_of
from services.records.resources.record import PatientRecord, record_from_resources
from services.records.search_index import index_of
from services.records.views.lists import care
from services.records.views.summary import chart_summary
from tests.services.records.charts import PATIENT_ID, Json, patient
from tests.tables import with_cases

SITUATION = Situation(now=datetime(2026, 11, 22, 12, tzinfo=UTC))
WHOLE: Json = patient(
    gender="female",
    birthDate="1950-02-03",
    deceasedDateTime="2024-05-06T07:00:00+02:00",
    name=[
        {"family": "Example", "given": ["Ada"]},
        {"use": "maiden", "family": "Muster", "given": ["Ada"]},
    ],
    identifier=[{"type": {"text": "Social Security Number"}, "value": "999-22-1962"}],
    address=[
        {"line": ["1 Mill RunningTurns"], "city": "Oxbow", "postalCode": "01940", "use": "home"}
    ],
    telecom=[
        {"system": "phone", "value": "555-978-4581", "use": "home"},
        {"system": "email", "value": "ada@example.org"},
    ],
    maritalStatus={"coding": [{"code": "W"}]},
    communication=[{"language": {"text": "Portuguese"}, "preferred": True}],
    contact=[
        {
            "relationship": [{"text": "daughter"}],
            "name": {"family": "Example", "given": ["Rosa"]},
            "telecom": [{"system": "phone", "value": "555-111-2222"}],
        }
    ],
    generalPractitioner=[{"display": "Dr Joan Fields"}],
    multipleBirthInteger=2,
    extension=[
        {
            "url": "http://hl7.org/fhir/us/core/StructureDefinition/us-core-race",
            "extension": [
                {"url": "ombCategory", "valueCoding": {"code": "2106-3", "display": "White"}},
                {"url": "text", "valueString": "White"},
            ],
        },
        {
            "url": "http://hl7.org/fhir/StructureDefinition/patient-birthPlace",
            "valueAddress": {"city": "Holyoke", "country": "US"},
        },
        {"url": "http://synthea/disability-adjusted-life-years", "valueDecimal": 0.3},
    ],
)


def record(resource: Json = WHOLE) -> PatientRecord:
    return record_from_resources(PATIENT_ID, [{"resource": resource}])


def said_to(text: str, resource: Json = WHOLE) -> str:
    utterance = read(text, SITUATION)
    (question,) = utterance.about
    chart = record(resource)
    if question.tool == "care":
        view = care(chart)
    else:
        view = chart_summary(chart, today=date(2026, 11, 22), now="2026-11-22")
    assert has_answer(question, view)
    return answer_of(question, view, answer_words(utterance.language))


@with_cases("text", "said")
def test_a_fact_of_the_patient_resource_is_told_with_its_source(text: str, said: str) -> None:
    told = said_to(text)
    assert said in told
    assert "[Patient/p9]" in told


def test_facts_of_the_patient_resource_are_found_by_a_search() -> None:
    (hit, *_) = index_of(record()).search("Oxbow")
    assert hit.make().name == "address"


def test_estimates_of_software_are_no_facts_of_the_person() -> None:
    view = chart_summary(record(), today=date(2026, 11, 22), now="2026-11-22")
    assert not [row for row in view.rows if "life years" in row.name]


def test_a_summary_without_such_facts_does_not_answer_so_a_search_follows() -> None:
    (question,) = read("Is she married?", SITUATION).about
    view = chart_summary(record(patient()), today=date(2026, 11, 22), now="2026-11-22")
    assert not has_answer(question, view)
