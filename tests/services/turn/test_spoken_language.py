"""The user is answered in the language of the talk, also where a message is but a name."""

from data_models.conversations.turn_events import Notice
from data_models.identifiers import PatientId
from services.identity.linking import SubjectLinker
from services.identity.names.person import Person, PersonName
from tests.fakes import GivenPeople
from tests.services.patient_context.world import PATTERN
from tests.services.world import World, heard

_DOYLE = Person(
    PatientId("patient_42"), "k1", (PersonName("Doyle", ("Francis",), ""),), birth_date="1951-02-03"
)
_ADAMS = Person(
    PatientId("patient_7"), "k2", (PersonName("Adams", ("Tunde",), ""),), birth_date="1968-07-21"
)


async def test_a_chart_that_a_bare_name_opens_is_announced_in_the_language_of_the_talk() -> None:
    world = World(linker=SubjectLinker(directory=GivenPeople(_DOYLE, _ADAMS), fits=PATTERN.matches))
    await world.tell("Öffne die Akte von Francis Doyle")
    await world.tell("Wie ist der Blutdruck?")

    (told,) = (await world.say("Tunde Adams")).texts
    assert "Geöffnet ist die Akte von Tunde Adams" in told


async def test_what_is_told_beside_the_answers_is_told_in_it_too() -> None:
    world = World(linker=SubjectLinker(directory=GivenPeople(_DOYLE, _ADAMS), fits=PATTERN.matches))
    await world.say("Öffne die Akte von Francis Doyle")
    await world.say("Wie ist der Blutdruck?")
    said = await world.say("Und das Kalium von Tunde Adams?")
    notices = [one.text for one in said.events if isinstance(one, Notice)]
    assert any(one.startswith("Geöffnet ist die Akte von Tunde Adams") for one in notices)


async def test_a_first_word_of_two_languages_is_answered_in_the_one_of_the_page() -> None:
    world = World(linker=SubjectLinker(directory=GivenPeople(_DOYLE, _ADAMS), fits=PATTERN.matches))
    message = world.message("Francis Doyle").model_copy(update={"language": "de"})
    (told,) = (await heard(await world.scheduler.submit(message))).texts
    assert "Geöffnet ist die Akte von Francis Doyle" in told
