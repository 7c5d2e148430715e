"""What is answered to people who greet, thank, mistype, paste, or want what nobody here can do."""

import pytest

from group_chat.offline.offline_chat import reply_to
from group_chat.offline.prompt import Prompt, ToolOffer
from services.language.detection import is_unread
from services.language.judging import asks_for_judgement
from services.language.phrases import says
from services.language.reading import read
from tests.group_chat.offline.conftest import SITUATION, conversation
from tests.tables import with_cases

RULES_LINE = "not a language model"


async def answer_to(text: str, *, patient_id: str | None = "patient_4") -> str:
    """Return all that is said to `text`, the agents' names included."""
    talk = conversation(patient_id=patient_id)
    heard = await talk.say(text)
    return "\n".join(f"[{agent}] {said}" for agent, said in heard.said)


@pytest.mark.slow
@with_cases("text", "words")
async def test_what_needs_no_record_is_answered_plainly_and_at_once(text: str, words: str) -> None:
    said = await answer_to(text)
    assert words in said
    assert said.count("[") - said.count("[Orchestrator]") == 0, "no other agent is troubled"


@pytest.mark.parametrize("text", ["what can you do", "help", "hi"])
async def test_who_has_no_patient_yet_learns_how_to_begin(text: str) -> None:
    said = await answer_to(text, patient_id=None)
    assert "Name one to begin: full name, birth date or record number" in said


async def test_a_pasted_letter_is_not_taken_for_a_wish() -> None:
    letter = "Dear colleague, thank you for your help with this. " * 40
    said = await answer_to(letter)
    assert "I cannot make sense of a long text" in said
    assert "ReportCreation" not in said


@pytest.mark.parametrize(
    "text",
    ["the word is that she feels well", "in other words, what is the stage?", "file a claim"],
)
def test_the_word_word_asks_for_no_document(text: str) -> None:
    assert read(text, SITUATION).agent != "ReportCreation"


@with_cases("text")
def test_who_wants_a_document_gets_one(text: str) -> None:
    assert says(text, "document_asked")


@pytest.mark.slow
async def test_a_question_is_answered_with_the_passages_that_name_it_and_not_with_it_all() -> None:
    said = await answer_to("what was the last hemoglobin?")
    assert "**Haemoglobin**: 11.8 g/dL" in said, "the record spells it the other way"
    assert "Course of the illness" not in said


@pytest.mark.slow
async def test_what_is_not_found_is_said_without_claiming_that_it_is_not_there() -> None:
    said = await answer_to("what was the ferritin?")
    assert "“Ferritin”: not in the record (23 results" in said
    assert "Course of the illness" not in said


@pytest.mark.slow
@with_cases("text", "caution")
async def test_who_wants_a_judgement_is_told_that_rules_give_none(text: str, caution: str) -> None:
    said = await answer_to(text)
    assert caution in said.partition("The built-in rules ")[2].partition("\n")[0]


@pytest.mark.parametrize(
    "text", ["she says she wants to die", "he is suicidal", "my patient took an overdose"]
)
async def test_where_somebody_may_be_in_danger_help_comes_first(text: str) -> None:
    heard = await conversation().say(text)
    assert heard.said[0][1].startswith("If anybody is in danger now, a person has to help now")


async def test_what_is_on_record_of_danger_is_a_question_like_any_other() -> None:
    said = await answer_to("any history of suicidal ideation?")
    assert "in danger" not in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "agent"), [("show CEA over time", "PatientStatus"), ("list all labs", "PatientStatus")]
)
async def test_labs_and_markers_find_somebody_who_answers(text: str, agent: str) -> None:
    assert f"[{agent}]" in await answer_to(text)


@pytest.mark.slow
async def test_of_two_questions_both_are_answered() -> None:
    said = await answer_to("how was the last CT, and any allergies?")
    assert "Progression of the right upper lobe" in said
    assert "Penicillin" in said


@pytest.mark.parametrize(
    "text",
    ["where is the metastasis", "what is on record about kidney function", "height and weight"],
)
async def test_a_word_in_common_with_an_agents_work_is_no_reason_to_ask_it(text: str) -> None:
    said = await answer_to(text)
    assert "[PatientStatus]" in said


@with_cases("text", "agent")
@pytest.mark.slow
async def test_a_question_about_an_appointment_holds_nobody_back(text: str, agent: str) -> None:
    talk = conversation()
    await talk.say("book an appointment")
    first = await talk.say(text)
    assert first.speakers[-1] == agent
    assert "doctor" not in first.said[-1][1].casefold().splitlines()[0]


@pytest.mark.parametrize(
    ("text", "agent"), [("help", "Orchestrator"), ("what is the stage?", "PatientStatus")]
)
async def test_a_question_about_a_person_holds_nobody_back(text: str, agent: str) -> None:
    talk = conversation()
    await talk.say("is Ada Leeward registered?")
    assert (await talk.say(text)).speakers[-1] == agent


@pytest.mark.slow
async def test_who_only_names_a_patient_searches_for_nothing() -> None:
    assert "`patient_4` is open. What would" in await answer_to("start with patient_4")
    assert "“Ferritin”" in await answer_to("any ferritin in patient_4?")


def test_a_note_of_the_record_makes_no_request_one_for_the_users_own_documents() -> None:
    noted = {"recent_entities": [{"type": "document", "id": "DocumentReference/note-1"}]}
    prompt = Prompt(
        asked="move the clinic to Wednesday at 14:00",
        tool_memory=noted,
        tools=[ToolOffer(one) for one in ("list_events", "move_event", "search_documents")],
    )
    assert reply_to(prompt).calls[0].wire_name == "move_event"


@pytest.mark.parametrize(
    ("asked", "start"),
    [
        ("make it 12", "12:00"),
        ("no, make it thursday", "thursday"),
        ("mach 14 Uhr daraus", "14:00"),
    ],
)
def test_an_event_that_is_made_another_time_is_moved(asked: str, start: str) -> None:
    prompt = Prompt(
        asked=asked,
        tool_memory={"recent_entities": [{"type": "calendar_event", "id": "event-1"}]},
        tools=[ToolOffer(one) for one in ("list_events", "move_event")],
    )
    (call,) = reply_to(prompt).calls
    assert (call.wire_name, call.arguments) == ("move_event", {"start": start})


def test_an_id_with_a_slash_is_no_part_of_the_record_for_that() -> None:
    drafted = {"recent_entities": [{"type": "email", "id": "AAMkAD/Y2zZ=" + "x9/" * 40}]}
    prompt = Prompt(
        asked="send it",
        tool_memory=drafted,
        tools=[ToolOffer("list_events"), ToolOffer("send_mail")],
    )
    assert reply_to(prompt).calls[0].wire_name == "send_mail"


async def test_an_agent_calls_no_tool_that_only_notes() -> None:
    said = await answer_to("is the insurance eligible?")
    assert "Insurance eligibility" in said
    assert "Update entities" not in said


async def test_a_mail_that_is_not_understood_shows_how_to_say_it() -> None:
    assert "draft a mail to anna@example.org" in await answer_to("email the summary to dr jones")


@pytest.mark.slow
async def test_the_sources_of_the_last_answer_are_named() -> None:
    talk = conversation()
    await talk.say("what is the stage?")
    heard = await talk.say("show me the source")
    assert heard.speakers == ["Orchestrator"], "a name in a short answer would hand over to it"
    assert "- DocumentReference/note-7" in heard.said[0][1]


async def test_while_a_plan_waits_help_is_given_and_the_plan_is_named_open() -> None:
    talk = conversation()
    await talk.say("start tumor board")
    heard = await talk.say("what can you do?")
    assert "Try one of these" in heard.said[0][1]
    assert heard.said[-1][1].startswith("The plan is still open")


async def test_an_agent_that_is_greeted_greets_back() -> None:
    heard = await conversation().say("@Radiology hi")
    assert heard.said[0][1].endswith("What would you like to review?")


@pytest.mark.parametrize(
    "text",
    ["is it operable?", "What would you do?", "can she take ibuprofen", "did it get bigger? why"],
)
def test_a_judgement_is_told_from_a_fact(text: str) -> None:
    assert asks_for_judgement(text)


@pytest.mark.parametrize(
    "text",
    ["what is the stage?", "the last scan", "is she EGFR positive?", "since when does she smoke"],
)
def test_a_fact_is_no_judgement(text: str) -> None:
    assert not asks_for_judgement(text)


@with_cases("text")
def test_english_with_foreign_names_is_english(text: str) -> None:
    assert not is_unread(text)


@pytest.mark.parametrize(
    ("asked", "speaker"),
    [
        ("book an appointment with Dr. Jones", "AppointmentManager"),
        ("remind me to call the lab tomorrow", "Secretary"),
    ],
)
async def test_what_is_wanted_beside_a_waiting_plan_is_done(asked: str, speaker: str) -> None:
    talk = conversation()
    await talk.say("start tumor board")
    assert speaker in (await talk.say(asked)).speakers
