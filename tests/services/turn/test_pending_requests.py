"""What is said before it is clear for whom is done once that is answered, and for nobody else."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from data_models.conversations.claim_decision import ClaimTimes
from data_models.conversations.conversation import OpenQuestion
from data_models.conversations.turn_events import Notice, RunFailed
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
from tests.services.world import CHAT, FarReplica, Heard, World
from tests.tables import with_cases

WISH = "book a CT for tomorrow"


def notices(said: Heard) -> str:
    return "\n".join(one.text for one in said.events if isinstance(one, Notice))


@pytest.fixture
def world() -> World:
    return World()


async def asked_of_team(world: World, *texts: str) -> list[tuple[str | None, str]]:
    """Say `texts`; return for whom the team was asked what."""
    for text in texts:
        await world.say(text)
        await world.scheduler.idle()
    return [(one.patient_id, one.text) for one in world.team.requests]


@pytest.mark.parametrize("answer", ["patient_4", "switch to patient_4"])
async def test_a_wish_that_came_before_any_patient_is_done_for_the_one_who_is_named(
    world: World, answer: str
) -> None:
    asked = await asked_of_team(world, WISH, answer)
    assert asked == [(None, WISH), ("patient_4", WISH)]
    kept = world.team.requests[-1].history
    assert [turn.user_message for turn in kept] == []


async def test_a_wish_that_waited_is_named_where_the_model_then_fails(world: World) -> None:
    async def breaks_down(request: GroupChatRequest) -> None:
        if request.patient_id is not None:
            raise ModelUnavailableError

    world.team.first = breaks_down
    await asked_of_team(world, WISH)
    said = await world.say("patient_4")
    assert isinstance(said.end, RunFailed)
    assert f"“{WISH}” was not answered; say it again" in notices(said)


async def test_the_history_shows_the_answer_with_the_wish_that_it_completes(world: World) -> None:
    await asked_of_team(world, WISH, "patient_4", "and the stage?")
    assert world.team.requests[-1].history[0].user_message == f"patient_4: {WISH}"


async def test_a_wish_about_a_number_is_done_after_the_yes(world: World) -> None:
    await asked_of_team(world, "patient_4")
    asked = await asked_of_team(world, "show the CT of patient 15", "yes")
    assert asked == [("patient_15", "show the CT of patient 15")]


@pytest.mark.parametrize("wish", ["back to 15: any fractures", "zurück zu 15: Frakturen bekannt"])
async def test_what_heads_with_a_number_waits_for_the_yes_without_a_mark(
    world: World, wish: str
) -> None:
    await asked_of_team(world, "patient_4")
    assert await asked_of_team(world, wish, "yes") == [("patient_15", wish)]


@pytest.mark.parametrize("opens", ["back to 15", "zurück zu 15", "what about 15"])
async def test_nothing_waits_where_a_number_only_opens_a_chart(world: World, opens: str) -> None:
    await asked_of_team(world, "patient_4")
    asked = await asked_of_team(world, opens, "yes", "which stage?")
    assert asked == [("patient_15", "which stage?")]


@pytest.mark.parametrize("wish", ["and the other one's potassium?", "Kalium des anderen?"])
async def test_what_is_asked_of_the_other_one_is_answered_after_the_yes(
    world: World, wish: str
) -> None:
    await asked_of_team(world, "patient_15", "patient_4")
    asked = await asked_of_team(world, wish, "yes")
    assert asked == [("patient_15", wish)]


@with_cases("wish", "answer")
async def test_a_wish_that_names_somebody_else_too_goes_to_nobody(
    world: World, wish: str, answer: str
) -> None:
    await asked_of_team(world, "patient_4", "patient_15")
    before = len(world.team.requests)
    asked = await asked_of_team(world, wish, answer)
    assert [text for _, text in asked[before:]] == []


async def test_all_that_is_asked_before_any_patient_is_done_for_the_one_who_is_named(
    world: World,
) -> None:
    asked = await asked_of_team(world, WISH, "any allergies?", "patient_4")
    assert asked[2:] == [("patient_4", WISH), ("patient_4", "any allergies?")]


async def test_what_waited_for_a_patient_is_named_where_nothing_waits_on(world: World) -> None:
    await asked_of_team(world, WISH)
    assert f"“{WISH}” was not answered" in notices(await world.say("thanks"))


async def test_another_message_in_between_takes_the_wish_back(world: World) -> None:
    asked = await asked_of_team(world, WISH, "hello there", "patient_4")
    assert [patient for patient, _ in asked] == [None, None]


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


ELVIS, TWYLA, TONIA = (
    Person(
        PatientId(f"patient_{place}"), given, (PersonName(family, (given,), ""),), birth_date=born
    )
    for place, given, family, born in (
        (1, "Elvis", "Moen", "2009-07-02"),
        (2, "Twyla", "Moen", "1945-12-09"),
        (3, "Tonia", "Quitzon", "1942-07-02"),
    )
)


OPENED = ("open Elvis Moen", "open Twyla Moen")


def with_namesakes(*people: Person) -> World:
    directory = GivenPeople(*(people or (ELVIS, TWYLA, TONIA)))
    return World(linker=SubjectLinker(directory=directory, fits=PATTERN.matches))


@pytest.mark.slow
@pytest.mark.parametrize("answer", ["Elvis", "yes, Elvis", "ja, ich meine Elvis", "no, Elvis"])
async def test_a_yes_before_the_name_that_was_asked_for_loses_no_request(answer: str) -> None:
    world = with_namesakes()
    asked = await asked_of_team(world, *OPENED, "and Moen's creatinine?", answer)
    assert asked == [("patient_1", "and Moen's creatinine?")]


@pytest.mark.parametrize(
    "later", ["what problems does Tonia Quitzon have?", "open Tonia Quitzon and list her drugs"]
)
async def test_a_request_that_somebody_elses_chart_ends_is_said_to_be_unanswered(
    later: str,
) -> None:
    world = with_namesakes()
    await asked_of_team(world, *OPENED, "and Moen's creatinine?")

    said = await world.say(later)

    assert "“and Moen's creatinine?” was not answered" in notices(said)


async def test_what_waits_for_the_same_question_is_all_answered() -> None:
    world = with_namesakes()
    asked = await asked_of_team(
        world, "open Tonia Quitzon", "and Moen's creatinine?", "and Miss Moen's weight?", "Twyla"
    )
    waited = ["and Moen's creatinine?", "and Miss Moen's weight?"]
    assert asked == [("patient_2", one) for one in waited]


async def test_a_request_that_another_question_displaces_is_said_to_be_unanswered() -> None:
    world = with_namesakes()
    await asked_of_team(world, "open Tonia Quitzon", "and Moen's creatinine?")

    said = await world.say("and Rahman's weight?")

    assert said.texts[-1].endswith(
        "“and Moen's creatinine?” was not answered; say it again if it is still wanted."
    )


async def test_each_request_that_waited_is_said_to_be_unanswered_in_full() -> None:
    world = with_namesakes()
    more = ["the lab has called a potassium of 6.1 mmol/l", "and write that down", "sodium?"]
    await asked_of_team(world, "open Tonia Quitzon", "and Moen's creatinine?", *more)

    said = await world.say("and Rahman's weight?")

    quoted = "”, “".join(["and Moen's creatinine?", *more])
    assert f"“{quoted}” were not answered; say again" in said.texts[-1]


@pytest.mark.parametrize("said", ["Tonia Quitzon", "open Tonia Quitzon"])
async def test_what_was_said_of_one_name_is_not_done_for_who_bears_another(said: str) -> None:
    world = with_namesakes()
    asked = await asked_of_team(world, *OPENED, "Moen takes ramipril", said)
    assert ("Moen takes ramipril" in [text for _, text in asked]) is False


@pytest.mark.parametrize("whom", ["Tonia Quitzon", "patient_3", "Quitzon"])
async def test_what_stands_before_a_note_for_another_is_not_answered_of_them(whom: str) -> None:
    world = with_namesakes()
    said = ["open Tonia Quitzon", "open Twyla Moen", f"bp? and note for {whom}: npo"]
    assert await asked_of_team(world, *said) == []

    assert "“bp?” was not answered" in notices(await world.say("Tonia"))


async def test_what_stands_before_a_note_for_another_is_of_the_open_patient() -> None:
    said = ["open Tonia Quitzon", "open Twyla Moen", "bp? and note for Tonia Quitzon: npo"]
    assert await asked_of_team(with_namesakes(), *said, "Twyla") == [("patient_2", "bp?")]


@pytest.mark.parametrize("says", ["no, I meant Moen", "nein, ich meinte Moen", "und jetzt Moen"])
async def test_who_meant_a_namesake_of_the_open_one_is_asked_again(says: str) -> None:
    world = with_namesakes()
    await asked_of_team(world, *OPENED, "Moen's creatinine?", "Twyla")

    assert "Elvis Moen" in (await world.say(says)).texts[-1]


async def test_the_older_one_is_asked_about_and_may_be_the_open_one() -> None:
    said = "die ältere: Natrium"
    asked = await asked_of_team(of_both_sexes(), "patient_1", "patient_2", said, "Twyla Moen")
    assert asked == [("patient_2", said)]


async def test_of_a_message_about_two_only_the_part_of_who_is_chosen_is_done() -> None:
    world = with_namesakes()
    said = "Elvis Moen's crp, and then Tonia Quitzon's weight and her stage"
    asked = await asked_of_team(world, *OPENED, said)
    assert asked == []

    heard = await world.say("Elvis")
    await world.scheduler.idle()

    done = [(one.patient_id, one.text) for one in world.team.requests]
    assert done == [("patient_1", "Elvis Moen's crp")]
    assert "then Tonia Quitzon's weight and her stage” was not answered" in notices(heard)


@pytest.mark.parametrize("left", ["she's done. ", "Done with her, "])
async def test_who_is_left_is_no_part_of_what_is_asked_next(left: str) -> None:
    world = with_namesakes()
    asked = await asked_of_team(world, *OPENED, f"{left}what about Moen's creatinine?", "Elvis")
    assert asked == [("patient_1", "what about Moen's creatinine?")]


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


@pytest.mark.parametrize("other", ["open Twyla Moen", "patient 2", "p2"])
async def test_what_was_said_of_one_number_is_not_done_for_who_is_turned_to_next(
    other: str,
) -> None:
    world = with_namesakes()
    said = ["patient 1", "any allergies?", "her husband says she vomits", other, "yes"]
    asked = await asked_of_team(world, *said)
    assert [one for one in asked if one[0] == "patient_2" and one[1] in said[1:3]] == []


@pytest.mark.parametrize("other", ["same for patient_3", "patient_3", "open Tonia Quitzon"])
async def test_what_names_one_by_id_is_not_done_for_who_is_turned_to_next(other: str) -> None:
    world = of_both_sexes(TONIA)
    asked = await asked_of_team(world, "patient_1", "patient_2 - her sodium", other)
    assert [one for one in asked if one[0] == "patient_3"] == []


@pytest.mark.parametrize(
    ("turns_to", "answers_with"),
    [
        ("and for 2", "yes"),
        ("same for patient_2", ""),
        ("and Twyla", "1"),
        ("what about 2", "yes"),
        ("dasselbe für 2", "yes"),
    ],
)
async def test_the_question_before_is_asked_of_who_is_turned_to_by_and(
    turns_to: str, answers_with: str
) -> None:
    world = of_both_sexes()
    said = ["patient_1", "is he on steroids?", turns_to, *filter(None, [answers_with])]
    asked = await asked_of_team(world, *said)
    assert asked == [("patient_1", "is he on steroids?"), ("patient_2", "is he on steroids?")]


@pytest.mark.parametrize(
    "said",
    [
        ["is he on steroids?", "back to 2", "yes"],
        ["bp 150/90 now", "and for 2", "yes"],
        ["note: fall risk", "and Twyla?", "1"],
        ["notiz: sturzgefahr", "und Twyla?", "1"],
        ["is he on steroids?", "and Quitzon's weight?", "and Twyla?", "1"],
        ["compare Elvis Moen with Tonia Quitzon", "no", "and for 2", "yes"],
    ],
)
async def test_nothing_is_taken_over_where_nothing_was_asked_or_another_is_only_opened(
    said: list[str],
) -> None:
    asked = await asked_of_team(of_both_sexes(), "patient_1", *said)
    assert [one for one in asked if one[0] == "patient_2"] == []


async def test_the_same_question_is_that_of_the_chart_before_without_its_name() -> None:
    world = of_both_sexes()
    said = ["patient_1", "Elvis Moen's sodium?", "patient_2", "same question"]
    asked = await asked_of_team(world, *said)
    assert asked[1:] == [("patient_2", "patient's sodium?")]


PAIR = replace(ELVIS, sex="male"), replace(TWYLA, sex="female")


def of_both_sexes(*more: Person) -> World:
    directory = GivenPeople(*PAIR, *more)
    return World(linker=SubjectLinker(directory=directory, fits=PATTERN.matches))


@pytest.mark.parametrize(
    ("answer", "done"),
    [
        ("patient_1", ["what is he on?"]),
        ("Elvis Moen", ["what is he on?"]),
        ("next patient: patient_1", []),
        ("ok, done with her, open Elvis Moen", []),
        ("nächste Patientin: patient_1", []),
    ],
)
async def test_what_was_said_behind_a_doubt_is_not_done_for_somebody_who_was_not_offered(
    answer: str, done: list[str]
) -> None:
    world = of_both_sexes()
    said = ["open Twyla Moen", "what is he on?", "note: family meeting at 14:00", "which weight?"]
    await asked_of_team(world, *said)

    heard = await world.say(answer)
    await world.scheduler.idle()

    assert [(one.patient_id, one.text) for one in world.team.requests] == [
        ("patient_1", one) for one in done
    ]
    assert "which weight?" in f"{notices(heard)}{heard.texts}"


@pytest.mark.parametrize(
    "said", ["switch to patient_2, is she DNR", "open patient_2: her potassium?"]
)
async def test_who_is_opened_by_id_is_the_one_whom_a_pronoun_there_fits(said: str) -> None:
    asked = await asked_of_team(of_both_sexes(), "open Elvis Moen", said)
    assert asked == [("patient_2", said)]


@pytest.mark.parametrize("answer", ["open patient_1", "2", "patient_3"])
async def test_what_is_said_of_an_id_is_done_for_no_other_id(answer: str) -> None:
    world = of_both_sexes()
    said = ["open Elvis Moen", "patient_2, note that her son is Elvis Moen", answer]
    assert await asked_of_team(world, *said) == []


async def test_who_alone_of_those_offered_is_a_he_is_answered_beside_the_open_question() -> None:
    world = of_both_sexes()
    asked = await asked_of_team(world, *OPENED[::-1], "and Moen's creatinine?", "when was he born?")
    assert asked == [("patient_1", "when was he born?")]

    said = await world.say("Twyla")

    assert "Going on with “and Moen's creatinine?”" in notices(said)
    assert world.team.requests[-1].patient_id == "patient_2"


async def test_where_another_one_offered_alone_is_a_she_nothing_else_is_answered_for_her() -> None:
    world = of_both_sexes()
    await asked_of_team(world, *OPENED[::-1], "and Moen's creatinine?")

    said = await world.say("what is her potassium?")

    asked = [(one.patient_id, one.text) for one in world.team.requests]
    assert asked == [("patient_2", "what is her potassium?")]
    assert "“and Moen's creatinine?” was not answered" in notices(said)


async def test_what_is_asked_of_a_him_is_not_done_for_a_woman_whose_number_is_sent() -> None:
    world = of_both_sexes()
    await asked_of_team(world, "open Elvis Moen", "open Twyla Moen", "switch to 99")

    await asked_of_team(world, "what do you know about him?", "patient_2")

    assert world.team.requests == []


@pytest.mark.parametrize(
    "next_one", ["and Twyla?", "what about Twyla Moen?", "und Twyla?", "Mr Twyla?"]
)
async def test_who_is_asked_about_next_is_no_choice_among_those_offered(next_one: str) -> None:
    world = of_both_sexes()
    await asked_of_team(world, *OPENED, "elvis' creatinine?")

    await world.say(next_one)

    assert "elvis' creatinine?" not in [one.text for one in world.team.requests]


async def test_what_follows_a_name_is_not_answered_for_the_other_one_of_another_sex() -> None:
    world = with_namesakes(*PAIR, replace(TONIA, sex="male"))
    await asked_of_team(world, "open Tonia Quitzon", "Moen", "how tall is he")

    said = await world.say("Twyla")

    assert world.team.requests == []
    assert "“how tall is he” was not answered" in notices(said)
    assert "patient_2" in said.texts[-1]


async def test_what_is_of_nobody_who_is_offered_is_asked_about_by_itself() -> None:
    world = with_namesakes(PAIR[0], replace(TWYLA, sex="male"), replace(TONIA, sex="female"))
    await asked_of_team(world, "open Tonia Quitzon", "open Twyla Moen", "and elvis's CEA?")

    said = await world.say("what is her weight?")

    assert "**Tonia Quitzon**" in said.texts[-1]
    assert "“and elvis's CEA?” was not answered" in said.texts[-1]


async def test_what_was_asked_about_by_another_name_does_not_wait_for_the_answer() -> None:
    world = of_both_sexes()
    texts = ("the other Moen's sodium?", "elvis' allergies", "1")
    asked = await asked_of_team(world, "open Twyla Moen", *texts)
    assert asked == [("patient_1", "elvis' allergies")]


async def test_of_who_was_chosen_nothing_is_answered_that_is_of_the_other_sex() -> None:
    world = with_namesakes(*PAIR, replace(TONIA, sex="male"))
    await asked_of_team(world, "open Tonia Quitzon", "and Moen's creatinine?", "his weight?")

    said = await world.say("Twyla")

    assert [one.text for one in world.team.requests] == ["and Moen's creatinine?"]
    assert "“his weight?” was not answered" in notices(said)


@pytest.mark.parametrize("asked", ["the 60yo wbc", "geb 29.6.1957: weight"])
async def test_who_was_not_born_then_is_not_who_was_asked_about(asked: str) -> None:
    world = with_namesakes(ELVIS, TWYLA, replace(TONIA, birth_date="1966-05-01"))
    await asked_of_team(world, "open Elvis Moen", "open Tonia Quitzon", "open Twyla Moen", asked)

    said = await world.say("back to Elvis Moen")

    assert world.team.requests == []
    assert f"“{asked}” was not answered" in f"{notices(said)}{said.texts[-1]}"


@pytest.mark.parametrize("words", ["stop", "wrong patient", "start a ward round with Elvis Moen"])
async def test_whatever_ends_the_question_says_what_is_not_answered(words: str) -> None:
    world = with_namesakes()
    await asked_of_team(world, "open Tonia Quitzon", "and Moen's creatinine?", "and the weight?")

    said = await world.say(words)

    assert "“and Moen's creatinine?”, “and the weight?” were not answered" in notices(said)
    assert world.team.requests == []


async def test_a_ward_round_is_begun_on_the_page_and_asks_about_nobody() -> None:
    world = with_namesakes()
    await asked_of_team(world, "open Tonia Quitzon")

    said = await world.say("please start a ward round with Elvis Moen and Twyla Moen")

    assert said.texts[-1].startswith("*Ward rounds* on the web page")
    assert not any("Whom" in one for one in said.texts)


@pytest.mark.slow
@pytest.mark.parametrize("before", [[], ["open Tonia Quitzon"]])
@pytest.mark.parametrize("next_one", ["his stage?", "what about his stage?", "und sein Stadium?"])
async def test_whom_a_pronoun_and_the_name_that_was_asked_about_mean_is_answered_in_full(
    before: list[str], next_one: str
) -> None:
    world = with_namesakes(*PAIR, replace(TONIA, sex="male"))
    texts = ["what about elvis's CEA", next_one]
    asked = await asked_of_team(world, *before, "open Twyla Moen", *texts, "and the weight?")

    assert asked[:2] == [("patient_1", one) for one in texts]
    assert world.team.requests[-1].history[-1].user_message == "\n".join(texts)


async def test_who_is_no_she_is_compared_with_nobody_for_a_her() -> None:
    world = with_namesakes(*PAIR, replace(TONIA, sex="female"))
    await asked_of_team(world, "open Elvis Moen")

    asked = await world.say("compare her with Tonia Quitzon")
    assert "side by side" not in asked.texts[-1]

    await asked_of_team(world, "open Elvis Moen", "twyla's weight?")
    asked = await world.say("compare her with Tonia Quitzon")
    assert "side by side" in asked.texts[-1]
    assert "**Twyla Moen**" in asked.texts[-1]
    assert "Elvis" not in asked.texts[-1]


async def test_what_was_said_beside_a_doubt_is_of_nobody_else_than_was_offered(
    world: World,
) -> None:
    for text in ("open patient_4", "switch to 7", "hb 11", "slept badly"):
        await world.say(text)

    said = await world.say("patient_21")

    left = "“hb 11”, “slept badly” were not answered"
    assert left in said.texts[-1] + str(said.events)
    assert world.team.requests == []


async def test_what_waits_behind_a_request_that_leads_to_a_question_is_named() -> None:
    world = with_namesakes()
    world.team.also = lambda request: [
        QuestionAsked("destructive_tool", f"Really {request.text}? yes / no", {})
    ]
    await asked_of_team(world, "open Tonia Quitzon", "cancel Moen's visit", "and the weight?")

    said = await world.say("Twyla")

    assert [one.text for one in world.team.requests] == ["cancel Moen's visit"]
    assert "“and the weight?” was not answered" in notices(said)


async def test_a_wish_before_any_patient_waits_while_it_is_asked_whose_chart_to_open() -> None:
    world = with_namesakes()
    asked = await asked_of_team(world, WISH, "open Moen", "Elvis")
    assert asked[-1] == ("patient_1", WISH)


async def test_what_waits_waits_on_where_something_of_the_talk_is_asked() -> None:
    world = with_namesakes()
    await asked_of_team(world, "open Tonia Quitzon", "and Moen's creatinine?")

    asked = await asked_of_team(world, "which patients have we discussed", "Twyla")

    assert asked[-1] == ("patient_2", "and Moen's creatinine?")


@pytest.mark.parametrize("word", ["yes", "no"])
async def test_a_plain_yes_or_no_is_for_the_agent_that_asked(world: World, word: str) -> None:
    asked = await asked_of_team(world, WISH, word)
    assert asked[-1] == (None, word)


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
