"""What was said long ago is found by its words, in this patient's turns and nowhere else."""

import pytest

from data_models.chat_context import AgentMessage, Turn
from data_models.clock import SystemClock
from data_models.identifiers import PatientId
from services.language.words.talk_texts import talk_text
from services.memory_blocks.recall import SNIPPET_CHARS, PatientArtifacts, Recalled, search
from tests.fakes_store import MemoryBlobStore
from tests.services.world import CHAT, World
from tests.tables import with_cases

NOW = SystemClock().now()


def turn(number: int, user: str, *answers: str, cut: int | None = None) -> Turn:
    return Turn(
        turn_id=number,
        run_id=f"run_{number}",
        timestamp=NOW,
        user="Ada",
        user_message=user,
        agent_responses=[
            AgentMessage(message_id=f"m{number}", agent="Radiology", text=text, timestamp=NOW)
            for text in answers
        ],
        turn_status="COMPLETED",
        shortened_from_chars=cut,
    )


TURNS = [
    turn(1, "start tumor board", "I propose a plan."),
    turn(2, "She is allergic to penicillin since 1990", "Noted."),
    turn(3, "Her daughter Résumée drives her", "Thank you."),
    turn(4, "what did the last CT show?", "The CT shows a nodule of 8 mm in the left lung."),
    turn(5, "and the plan?", "The plan is done."),
]


def found(query: str, limit: int = 3) -> list[tuple[int, str]]:
    return [(one.turn_id, one.speaker) for one in search(TURNS, query, limit=limit).remarks]


@with_cases("query", "number", "speaker")
def test_the_remark_that_holds_the_words_comes_first(query: str, number: int, speaker: str) -> None:
    assert found(query)[0] == (number, speaker)


def test_words_that_nobody_said_find_nothing() -> None:
    assert found("chemotherapy") == []


def test_without_a_telling_word_the_newest_is_meant() -> None:
    assert found("what did you say?", limit=1) == [(5, "Radiology")]


def test_what_an_agent_quotes_is_found_where_it_was_said() -> None:
    quoted = turn(6, "what did I say of penicillin?", "> Turn 2: allergic to penicillin since 1990")
    remarks = search([*TURNS, quoted], "allergic 1990", limit=5).remarks
    assert [one.turn_id for one in remarks] == [2]


@pytest.mark.parametrize("language", ["en", "de"])
def test_of_whom_else_a_talk_was_no_name_is_found(language: str) -> None:
    told = talk_text(language, "many_discussed", count=2, names="Hal Brenner, Ida Moss")
    remarks = search([turn(1, "who did we discuss?", told)], "discuss Moss", limit=5).remarks
    assert not any("Moss" in one.text for one in remarks)


def test_the_limit_holds_and_a_turn_that_comes_twice_counts_once() -> None:
    recalled = search([*TURNS, *TURNS], "plan", limit=2)
    assert len(recalled.remarks) == 2
    assert recalled.searched == len(TURNS)


def test_a_whole_turn_is_preferred_to_its_head_and_tail() -> None:
    short = turn(2, "She is […]", cut=4_000)
    assert search([short, TURNS[1]], "penicillin", limit=1).remarks[0].turn_id == 2
    assert search([TURNS[1], short], "penicillin", limit=1).remarks[0].turn_id == 2


def test_a_long_remark_is_shown_around_what_was_looked_for() -> None:
    text = "word " * 2_000 + "the lock code is heliotrope " + "word " * 2_000
    (remark,) = search([turn(1, text)], "heliotrope", limit=1).remarks
    assert "heliotrope" in remark.text
    assert len(remark.text) <= SNIPPET_CHARS + 4


@pytest.mark.slow
def test_of_five_thousand_turns_a_misspelt_topic_is_found() -> None:
    turns = [
        turn(n, f"question {n} on topic{n % 700} and more words", "an answer") for n in range(5_000)
    ]
    found = search(turns, "topic612 qestion", limit=5).remarks
    assert found
    assert all("topic612" in one.text for one in found)


async def recalled(world: World, query: str) -> Recalled:
    past = world.team.requests[-1].past
    assert past is not None
    return await past.recall(query, limit=5)


@pytest.mark.slow
async def test_a_fact_of_turn_3_is_found_after_hundreds_of_turns() -> None:
    world = World(sessions=MemoryBlobStore())
    await world.say("start a tumor board for patient_4")
    await world.say("hello")
    await world.say("Her emergency contact is Ottilie Brandauer.")
    for number in range(240):
        await world.say(f"question {number} about the imaging of last year")
    last = await recalled(world, "what did I say about the emergency contact?")
    assert last.remarks[0].turn_id == 3
    assert "Ottilie Brandauer" in last.remarks[0].text
    assert last.searched == 242  # all but the one that asks
    assert len(world.team.requests[-1].history) <= 25


@pytest.mark.slow
async def test_nothing_of_another_patient_is_found() -> None:
    world = World(sessions=MemoryBlobStore())
    await world.say("start a tumor board for patient_4")
    for number in range(40):
        await world.say(f"the secret word is heliotrope {number}")
    await world.say("switch to patient_15")
    await world.say("what is the secret word?")
    assert (await recalled(world, "heliotrope")).remarks == []
    await world.say("switch to patient_4")
    await world.say("and now?")
    assert (await recalled(world, "heliotrope")).remarks


FOUR = PatientId("patient_4")


async def test_one_key_is_one_file_as_it_was_last_given() -> None:
    store = MemoryBlobStore()
    world = World(sessions=store)
    rows = []
    for run_id, key, data in [("r1", "a", b"one"), ("r2", "a", b"two"), ("r2", "b", b"three")]:
        artifacts = PatientArtifacts(
            contexts=world.contexts,
            conversation_id=CHAT,
            patient_id=FOUR,
            run_id=run_id,
            clock=world.clock,
        )
        rows.append(await artifacts.save(file_name="r.docx", media_type="x/y", data=data, key=key))
    assert rows[0].artifact_id == rows[1].artifact_id != rows[2].artifact_id
    assert sorted(store.contents.values()) == [b"three", b"two"]
