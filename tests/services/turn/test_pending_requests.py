"""What is said before it is clear for whom is done once that is answered, and for nobody else."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Literal

import pytest

from data_models.conversations.claim_decision import ClaimTimes
from data_models.conversations.conversation import OpenQuestion
from data_models.conversations.turn_events import RunFailed
from data_models.errors import ModelUnavailableError
from data_models.identifiers import PatientId
from data_models.storage.blob_store import BlobStore
from services.group_chat_port import GroupChatRequest, QuestionAsked
from services.identity.linking import SubjectLinker
from services.identity.names.person import Person, PersonName
from services.language.reading import reading_of
from services.language.requests.work import asks_record
from services.language.utterance import Situation
from services.patient_context.answers import NUMBER, SAID
from services.patient_context.verdict import PatientVerdict
from services.turn.answers.pending_requests import is_whom_it_names
from tests.durability.evidence import Evidence
from tests.fakes import FixedClock, GivenPeople
from tests.fakes_store import MemoryBlobStore
from tests.faults import FaultyBlobStore
from tests.services.patient_context.world import PATTERN
from tests.services.turn.talk_lines import Talk, notices, play_talk
from tests.services.world import CHAT, FarReplica, World
from tests.tables import with_cases

WISH = "book a CT for tomorrow"


@pytest.fixture
def world() -> World:
    return World()


async def asked_of_team(world: World, *texts: str) -> list[tuple[str | None, str]]:
    """Say `texts`; return for whom the team was asked what."""
    for text in texts:
        await world.say(text)
        await world.scheduler.idle()
    return [(one.patient_id, one.text) for one in world.team.requests]


async def test_a_wish_that_waited_is_named_where_the_model_then_fails(world: World) -> None:
    async def breaks_down(request: GroupChatRequest) -> None:
        if request.patient_id is not None:
            raise ModelUnavailableError

    world.team.first = breaks_down
    await asked_of_team(world, WISH)
    said = await world.say("patient_4")
    assert isinstance(said.end, RunFailed)
    assert f"“{WISH}” was not answered; say it again" in notices(said)


@pytest.mark.parametrize(
    ("text", "goes_on"),
    [
        ("open Doyle", False),
        ("Mr Doyle?", False),
        ("wait, this is for Mr Doyle", False),
        ("Doyle's stage?", True),
    ],
)
async def test_who_only_opens_a_chart_is_told_that_it_is_open(text: str, goes_on: bool) -> None:
    name = PersonName("Doyle", ("Francis",), "")
    doyle = Person(PatientId("patient_42"), "key", (name,), birth_date="1951-02-03")
    world = World(linker=SubjectLinker(directory=GivenPeople(doyle), fits=PATTERN.matches))
    await asked_of_team(world, text)

    said = await world.say("Francis")

    assert bool(world.team.requests) == goes_on
    assert ("Opened the chart of Francis Doyle" in "".join(said.texts)) != goes_on


async def test_a_wish_that_waits_is_not_done_by_a_message_that_leads_to_another_question() -> None:
    name = PersonName("Whitfield", ("Margaret",), "")
    margaret = Person(PatientId("patient_4"), "key", (name,), birth_date="1957-03-14", sex="female")
    world = World(linker=SubjectLinker(directory=GivenPeople(margaret), fits=PATTERN.matches))
    asked = await asked_of_team(world, "open Margaret Whitfield", "show his CT", "clear everything")
    assert asked == []


BORN = {"Elvis Moen": "2009-07-02", "Twyla Moen": "1945-12-09", "Tonia Quitzon": "1942-07-02"}
SEXES: Mapping[str, Literal["male", "female", "unknown"]] = {
    "m": "male",
    "f": "female",
    "?": "unknown",
}


def with_namesakes(sexes: str = "???", **born: str) -> World:
    people = [
        Person(
            PatientId(f"patient_{place}"),
            name,
            (PersonName(name.split()[1], (name.split()[0],), ""),),
            birth_date=born.get(name.split()[0], day),
            sex=SEXES[sex],
        )
        for place, ((name, day), sex) in enumerate(zip(BORN.items(), sexes, strict=True), start=1)
        if sex != "-"
    ]
    return World(linker=SubjectLinker(directory=GivenPeople(*people), fits=PATTERN.matches))


@pytest.mark.slow
@with_cases("talk")
async def test_what_waits_is_done_for_whom_it_is_said(talk: Talk) -> None:
    await play_talk(talk, lambda: with_namesakes(talk.people) if talk.people else World())


async def test_all_that_was_said_before_it_is_clear_of_whom_is_done_then() -> None:
    world = with_namesakes()
    said = ["start with Moen", "what is he on?", "and Moen's creatinine?", "his weight?", "Elvis"]
    asked = await asked_of_team(world, *said)
    waited = ["what is he on?", "and Moen's creatinine?", "his weight?"]
    assert asked == [("patient_1", one) for one in waited]
    assert [one.text for one in world.team.requests] == waited
    row = world.team.requests[-1].history[-1]
    assert row.user_message.splitlines()[-1] == "his weight?"
    assert [one.text for one in row.agent_responses] == [f"Heard: {one}" for one in waited]


@pytest.mark.parametrize("asked", ["the 60yo wbc", "geb 29.6.1957: weight"])
async def test_who_was_not_born_then_is_not_who_was_asked_about(asked: str) -> None:
    world = with_namesakes(Tonia="1966-05-01")
    await asked_of_team(world, "open Elvis Moen", "open Tonia Quitzon", "open Twyla Moen", asked)

    said = await world.say("back to Elvis Moen")

    assert world.team.requests == []
    assert f"“{asked}” was not answered" in f"{notices(said)}{said.texts[-1]}"


async def test_what_waits_behind_a_request_that_leads_to_a_question_is_named() -> None:
    world = with_namesakes()
    world.team.also = lambda request: [
        QuestionAsked("destructive_tool", f"Really {request.text}? yes / no", {})
    ]
    await asked_of_team(world, "open Tonia Quitzon", "cancel Moen's visit", "and the weight?")

    said = await world.say("Twyla")

    assert [one.text for one in world.team.requests] == ["cancel Moen's visit"]
    assert "“and the weight?” was not answered" in notices(said)


@pytest.mark.parametrize(
    ("text", "wishes"),
    [(WISH, True), ("what is the current stage?", True), ("hello", False), ("status", False),
     ("what can you do?", False), ("stage " * 500, False)],
)  # fmt: skip
def test_only_what_a_record_holds_is_a_wish(text: str, wishes: bool) -> None:
    assert asks_record(text) is wishes


@pytest.mark.parametrize(
    ("text", "wishes"),
    [("tsh?", True), ("creat trend", True), ("ok", False), ("note: wife is very anxious", True)],
)
def test_so_is_what_is_read_as_a_look_at_the_chart(text: str, wishes: bool) -> None:
    read = reading_of(text, Situation(now=datetime(2026, 1, 5, tzinfo=UTC)))
    assert asks_record(text, read) is wishes


class Cut:
    """Two replicas on one store; the first one's way to it may be cut."""

    def __init__(self, *, resumed: bool) -> None:
        self.store, self.users, self.clock = MemoryBlobStore(), MemoryBlobStore(), FixedClock()
        self.way = FaultyBlobStore(self.store)
        self._resumed = resumed
        self.one, self.two = self._replica(self.way), self._replica(self.store)

    def _replica(self, store: BlobStore) -> World:
        return World(
            sessions=store,
            users=self.users,
            clock=self.clock,
            times=ClaimTimes(renew_every=timedelta(hours=1)),
            replica=FarReplica(),
            is_promised=self._resumed,
        )

    async def dies_over(self, text: str, *, after: int, wish: str = WISH) -> None:
        """Let the first replica die after so many operations of the answer to its question."""
        await self.one.say(wish)
        await self.one.scheduler.idle()
        self.way.cut_off(after=after)
        run = await self.one.submit(text)
        await run.wait()
        await self.one.scheduler.idle()
        self.clock.advance(36)

    def rows(self) -> list[tuple[str | None, str, str | None]]:
        """Where the wish stands in the histories, in which words, and how its turn ended."""
        found = Evidence(self.store.contents, CHAT).saying(WISH)
        return [(one.patient_id, one.turn.user_message, one.turn.turn_status) for one in found]


CLAIMED = 1
"""After so many operations the message is durable."""


@pytest.mark.parametrize("after", range(CLAIMED, 9))
@pytest.mark.slow
async def test_a_wish_whose_replica_dies_is_carried_on_once_by_the_one_that_takes_over(
    after: int,
) -> None:
    cut = Cut(resumed=True)
    await cut.dies_over("patient_4", after=after)
    await cut.two.scheduler.go_on(cut.two.message(""))
    await cut.two.scheduler.idle()
    assert (None, WISH, "COMPLETED") in cut.rows(), "where it was said first"
    assert [row for row in cut.rows() if row[0]] == [
        ("patient_4", f"patient_4: {WISH}", "COMPLETED")
    ]
    assert [one.text for one in cut.two.team.requests] in ([WISH], [])
    # And not once more when its answer is said again.
    asked = len(cut.two.team.requests)
    await cut.two.say("patient_4")
    assert len(cut.two.team.requests) == asked


@pytest.mark.parametrize("after", range(CLAIMED, 9))
@pytest.mark.slow
async def test_where_nobody_answers_for_the_dead_the_same_words_carry_it_on(after: int) -> None:
    cut = Cut(resumed=False)
    await cut.dies_over("patient_4", after=after)
    asked = await asked_of_team(cut.two, "patient_4")
    done = [row for row in cut.rows() if row[0] and row[2] == "COMPLETED"]
    assert done == [("patient_4", f"patient_4: {WISH}", "COMPLETED")]
    assert asked in ([("patient_4", WISH)], []), "or it was stored, and only never released"
    assert await asked_of_team(cut.two, "patient_4") == asked


@pytest.mark.parametrize(("died_over", "next_words"), [("hello there", "yes"), ("yes", "go on")])
async def test_other_words_than_those_somebody_died_over_answer_nothing(
    died_over: str, next_words: str
) -> None:
    cut = Cut(resumed=False)
    await asked_of_team(cut.one, "patient_4")
    await cut.dies_over(died_over, after=CLAIMED, wish="show the CT of patient 15")
    assert await asked_of_team(cut.two, next_words) == [("patient_4", next_words)]
    conversation = Evidence(cut.store.contents, CHAT).conversation
    assert conversation.open_question is None, "only the next message answers a question"


@pytest.mark.parametrize(
    ("asked_about", "opened", "is_theirs"),
    [
        ({SAID: "Tim"}, "Kim Smith", False),
        ({SAID: "Tim"}, "Tim Smith", True),
        ({SAID: "Whitfeld"}, "Ada Whitfield", True),
        ({SAID: "", NUMBER: "patient_4444"}, "Ada Whitfield", False),
        ({SAID: "", NUMBER: "patient_90"}, "Ada Whitfield", True),
    ],
)
def test_a_request_is_of_nobody_whose_name_or_number_is_another(
    asked_about: Mapping[str, str], opened: str, is_theirs: bool
) -> None:
    given, family = opened.split()
    nine = PatientId("patient_9")
    person = Person(nine, "key", (PersonName(family, (given,), ""),))
    question = OpenQuestion(
        question_id="q", kind="subject", run_id="r", user="alice", epoch=0, text="Whom?",
        payload=dict(asked_about), expires_at=datetime.now(UTC),
    )  # fmt: skip
    verdict = PatientVerdict(decision="NEW_BLANK", patient_id=nine, person=person)
    assert is_whom_it_names(question, verdict) is is_theirs
