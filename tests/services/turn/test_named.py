"""Who names another patient of the conversation by name gets no answer about the active one."""

import asyncio
from collections.abc import Collection, Mapping
from pathlib import Path

import pytest

from data_models.errors import RecordsUnavailableError
from data_models.identifiers import PatientId
from services.records.patient_names import RecordedNames
from services.turn.named import NamedPatients
from tests.fakes import FixedClock
from tests.services.records.charts import register_of
from tests.services.world import World

SAMPLES = Path(__file__).parents[3] / "samples" / "patients"
P4, P15, P42 = (PatientId(f"patient_{number}") for number in (4, 15, 42))


class Register:
    """Names that come late, or not at all."""

    def __init__(self, *, error: RecordsUnavailableError | None = None) -> None:
        self.gate = asyncio.Event()
        self.error = error

    async def of_others(self, _: PatientId | None, roster: Collection[str]) -> frozenset[str]:
        return frozenset()

    async def of_each(
        self, patient_ids: Collection[PatientId], *, active: PatientId
    ) -> Mapping[PatientId, frozenset[str]]:
        if self.error is not None:
            raise self.error
        await self.gate.wait()
        return {one: frozenset({"Whitfield"}) for one in patient_ids}


@pytest.fixture
def names() -> NamedPatients:
    register = RecordedNames(register=register_of(SAMPLES, FixedClock()), clock=FixedClock())
    return NamedPatients(names=register, wait_seconds=30.0)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("What did Mrs Whitfield's CT show?", [P4]),
        ("and whitfield, margaret?", [P4]),
        ("Compare with F Doyle and Margaret Whitfield", [P4, P42]),
        ("Show me the Celik-Sorensen biopsy", []),
        ("I want to see Dr. Whitfield tomorrow", []),
        ("ask Prof. Margaret Whitfield about it", []),
        ("Is Margaret Whitfield, born 14 March 1957, registered?", []),
        ("What is the stage?", []),
    ],
)
async def test_whom_a_text_names(names: NamedPatients, text: str, named: list[PatientId]) -> None:
    found = await names.named_in(text, among=[P4, P42], active=P15)
    assert list(found) == named


class Called:
    """Another patient of one name."""

    def __init__(self, *forms: str) -> None:
        self._forms = frozenset(forms)

    async def of_others(self, _: PatientId | None, roster: Collection[str]) -> frozenset[str]:
        return frozenset()

    async def of_each(
        self, patient_ids: Collection[PatientId], *, active: PatientId
    ) -> Mapping[PatientId, frozenset[str]]:
        return dict.fromkeys(patient_ids, self._forms)


@pytest.mark.parametrize(
    ("name", "text", "is_meant"),
    [
        ("Do", "What did he do? Do you see it?", False),
        ("Do", "And Mr Do?", True),
        ("Gross", "Gross total resection; gross findings?", False),
        ("Gross", "show gross's CT", True),
        ("Gross", "show Mrs. gross her CT", True),
        ("Doyle", "Doyle biopsy", True),
        ("Doyle", "the DOYLE scan", True),
        ("Müller", "the scan of Mueller", True),
        ("Ann Do", "ann do, please", True),
    ],
)
async def test_a_family_name_that_is_a_word_is_read_as_one(
    name: str, text: str, is_meant: bool
) -> None:
    names = NamedPatients(names=Called(name), wait_seconds=30.0)
    assert bool(await names.named_in(text, among=[P4], active=P15)) is is_meant


async def test_records_that_are_slow_or_down_hold_no_turn_up() -> None:
    slow = Register()
    names = NamedPatients(names=slow, wait_seconds=0.01)
    assert not await names.named_in("Mrs Whitfield?", among=[P4], active=P15)
    slow.gate.set()
    patient = NamedPatients(names=slow, wait_seconds=30.0)
    assert await patient.named_in("Mrs Whitfield?", among=[P4], active=P15) == [P4]
    down = NamedPatients(names=Register(error=RecordsUnavailableError("down")))
    assert not await down.named_in("Mrs Whitfield?", among=[P4], active=P15)


async def test_the_user_is_asked_and_the_wish_is_done_for_whom_they_say(
    names: NamedPatients,
) -> None:
    world = World(names=names)
    await world.say("patient_4 please")
    await world.say("patient_15 please")
    before = len(world.team.requests)
    asked = await world.say("What did Mrs Whitfield's CT show?")
    assert asked.texts[0].startswith("Which patient do you mean: `patient_15` or `patient_4`?")
    assert len(world.team.requests) == before
    await world.say("patient_4")
    request = world.team.requests[-1]
    assert (request.patient_id, request.text) == (P4, "What did Mrs Whitfield's CT show?")


async def test_who_answers_with_the_active_patient_is_believed(names: NamedPatients) -> None:
    world = World(names=names)
    await world.say("patient_4 please")
    await world.say("patient_15 please")
    await world.say("Does the CT look like Mrs Whitfield's?")
    await world.say("patient_15")
    assert world.team.requests[-1].patient_id == P15


async def test_a_message_from_a_screen_that_shows_another_patient_is_asked_about() -> None:
    """Two windows: one went on to another patient, the other had not seen it yet."""
    world = World()
    await world.say("patient_4 please")
    await world.say("patient_15 please")
    before = len(world.team.requests)
    asked = await world.say("What did the CT show?", seen_patient_id="patient_4")
    assert asked.texts[0].startswith("Which patient do you mean: `patient_15` or `patient_4`?")
    assert len(world.team.requests) == before
    await world.say("patient_4", seen_patient_id="patient_15")
    request = world.team.requests[-1]
    assert (request.patient_id, request.text) == (P4, "What did the CT show?")


@pytest.mark.parametrize("seen", ["patient_15", "patient_99", "../x", "", None])
async def test_a_screen_that_shows_the_active_patient_or_nobody_known_changes_nothing(
    seen: str | None,
) -> None:
    world = World()
    await world.say("patient_4 please")
    await world.say("patient_15 please")
    await world.say("What did the CT show?", seen_patient_id=seen)
    assert world.team.requests[-1].text == "What did the CT show?"
    assert world.team.requests[-1].patient_id == P15


async def test_who_names_a_patient_by_id_is_not_asked_whatever_the_screen_shows() -> None:
    world = World()
    await world.say("patient_4 please")
    await world.say("patient_15 please")
    await world.say("patient_15 pathology", seen_patient_id="patient_4")
    assert world.team.requests[-1].patient_id == P15
    await world.say("switch to patient_4", seen_patient_id="patient_4")
    await world.say("its CT", seen_patient_id="patient_4")
    assert world.team.requests[-1].patient_id == P4


@pytest.mark.parametrize(("seen", "is_cleared"), [("patient_4", False), ("patient_15", True)])
async def test_the_yes_of_a_second_window_answers_no_question_about_another_patient(
    seen: str, is_cleared: bool
) -> None:
    world = World()
    await world.say("patient_4 please")
    await world.say("patient_15 please")
    asked = await world.say("please clear all patients")
    assert "Clear this whole conversation" in asked.texts[0]
    answer = await world.say("yes", seen_patient_id=seen)
    assert answer.texts[0].startswith("Cleared." if is_cleared else "Which patient do you mean:")
