"""A plain look-up is answered from the rows, where the deployment asks for it."""

from collections.abc import AsyncIterator
from datetime import date

import pytest

from data_models.chart_view import ChartView, ViewRow
from data_models.conversations.turn_events import AgentMessageFinished
from data_models.identifiers import PatientId
from data_models.patient_context_models import PatientIdentity
from group_chat.direct_answers import rows_behind, told_by_rows
from group_chat.drafts.draft import Draft, OutputMeter
from group_chat.drafts.statement_checking import StatementChecking
from group_chat.turn_context import GroupChatLimits, TurnContext
from services.language.utterance import ChartQuestion, Utterance
from services.language.words.talk_texts import talk_text
from services.records.views.medications import medications
from tests.fakes_openai import Reply
from tests.group_chat.team_world import SAMPLES, TeamWorld, call, house_team, team_world, text
from tests.services.records.charts import records_in

STAGE = ChartQuestion("current_status", name="stage")
OPEN = "That depends on much else."
CREATININE = ChartQuestion("results", {"names": ["creatinine"]}, "latest", "creatinine")


def read(asked: str, *about: ChartQuestion, by: str = "rule") -> Utterance:
    decided = {"about": "model"} if by == "model" else {}
    return Utterance(
        text=asked,
        task="answer",
        agent="PatientStatus",
        about=about,
        decided_by=decided,  # type: ignore[arg-type]
    )


@pytest.fixture
async def world() -> AsyncIterator[TeamWorld]:
    async with team_world(limits=GroupChatLimits(answers_directly=True)) as made:
        yield made


async def test_a_plain_look_up_asks_no_model(world: TeamWorld) -> None:
    heard = await world.say("latest creatinine?", utterance=read("latest creatinine?", CREATININE))
    ((agent, said),) = heard.said
    assert agent == "PatientStatus"
    assert said.startswith("**Creatinine**: 0.9 mg/dL, 2025-05-19 [Observation/")
    assert world.prompts() == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "question", "by"),
    [
        ("should we worry about her creatinine?", CREATININE, "rule"),
        ("latest creatinine?", CREATININE, "model"),
        ("does she have gout?", ChartQuestion("problems", {}, "whether", "gout"), "rule"),
        ("what of dogs?", ChartQuestion("search_record", {"query": "dogs"}, name="dogs"), "rule"),
    ],
)
async def test_what_wants_more_than_rows_is_the_models(
    world: TeamWorld, asked: str, question: ChartQuestion, by: str
) -> None:
    heard = await world.say(asked, text(OPEN), utterance=read(asked, question, by=by))
    assert heard.said == [("PatientStatus", OPEN)]
    assert len(world.prompts()) == 1


async def test_by_default_the_model_is_asked() -> None:
    async with team_world() as world:
        asked = read("latest creatinine?", CREATININE)
        heard = await world.say("latest creatinine?", text("It is 0.9."), utterance=asked)
        assert heard.said == [("PatientStatus", "It is 0.9.")]


@pytest.mark.parametrize("said", ["It is low.", "It is low. I sent it."])
async def test_behind_what_no_row_supports_stand_the_rows(said: str) -> None:
    async with team_world() as world:
        asked = read("latest creatinine?", CREATININE)
        heard = await world.say("latest creatinine?", text(said), utterance=asked)
        (message,) = [one.message for one in heard.of(AgentMessageFinished)]
        assert message.text.startswith(said.partition(" I sent")[0])
        assert "own rows:\n\n**Creatinine**: 0.9 mg/dL, 2025-05-19" in message.text
        assert message.made_by == "model"


async def test_whom_a_talk_knows_is_told_whole_where_there_are_several(world: TeamWorld) -> None:
    asked, roster = "which patients have we discussed?", ("patient_4", "patient_15")
    born = {"patient_4": "1957-03-14", "patient_15": "1979-11-02"}
    identities = {one: PatientIdentity("Jane Doe", born[one], "female") for one in roster}
    heard = await world.say(asked, all_patient_ids=roster, identities=identities)
    ((_, told),) = heard.said
    assert told.endswith("`patient_4`) (active), Jane Doe, born 1979-11-02 (`patient_15`).")
    (message,) = [one.message for one in heard.of(AgentMessageFinished)]
    assert (message.made_by, message.statements) == ("rules", [])


@pytest.mark.parametrize("asked", ["did that go through?", "what did we book"])
async def test_what_was_done_is_told_by_code(world: TeamWorld, asked: str) -> None:
    heard = await world.say(asked)
    ((_, told),) = heard.said
    assert told == talk_text("en", "asks_of_deed")


async def test_nothing_found_elsewhere_is_no_answer_to_what_the_rows_tell() -> None:
    async with team_world() as world:
        asked = read("latest creatinine?", CREATININE)
        looks = call("search_record", query=["zebra"])
        found = (looks, text("Nothing was found."), text("Nothing was found."))
        heard = await world.say("latest creatinine?", *found, utterance=asked)
        ((_, told),) = heard.said
        assert "Nothing was found" not in told
        assert "**Creatinine**: 0.9 mg/dL, 2025-05-19" in told


@pytest.mark.parametrize("said", ["-", "Noted.", "Yesterday."])
async def test_a_word_that_says_nothing_of_the_record_is_followed_by_its_rows(said: str) -> None:
    async with team_world() as world:
        asked = read("latest creatinine?", CREATININE)
        heard = await world.say("latest creatinine?", text(said), utterance=asked)
        ((_, told),) = heard.said
        assert "gave no answer of its own.\n\n**Creatinine**: 0.9 mg/dL, 2025-05-19" in told


ECOG = ChartQuestion("current_status", name="ecog")
DISPUTED = "**ECOG**: sources differ: 2 (2025-05-21) [DocumentReference/note-6] versus 1 (2025-05"


@pytest.mark.parametrize(
    ("said", "is_added"),
    [
        ("ECOG 2.", True),
        ("ECOG 2 (2025-05-21) [DocumentReference/note-6].", True),
        ("ECOG 2 (2025-05-21) versus 1 (2025-05-20).", False),
        ("Stage IVB.", False),
    ],
)
async def test_who_tells_one_of_two_sides_is_followed_by_both(said: str, is_added: bool) -> None:
    async with team_world() as world:
        heard = await world.say("ecog?", text(said), utterance=read("ecog?", ECOG))
        ((_, told),) = heard.said
        assert (f"\n\n{DISPUTED}" in told) is is_added


@pytest.mark.parametrize(
    "said", ["```\nCreatinine: 4.7\n```", "```text\nCreatinine 4.7\n```", "Creat\u200binine 4.7"]
)
async def test_no_signs_around_it_hide_what_the_record_contradicts(said: str) -> None:
    async with team_world() as world:
        asked = read("latest creatinine?", CREATININE)
        heard = await world.say("latest creatinine?", text(said), text("."), utterance=asked)
        ((_, told),) = heard.said
        assert "4.7" not in told
        assert "**Creatinine**: 0.9 mg/dL, 2025-05-19" in told


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("which chart is open", "One patient was discussed in this conversation: `patient_4`"),
        ("welche Akte ist offen?", "In diesem Gespräch wurde über eine Person gesprochen:"),
        ("who have we discussed so far", "One patient was discussed in this conversation:"),
    ],
)
async def test_no_model_is_asked_whose_chart_is_open(asked: str, said: str) -> None:
    async with team_world() as world:
        heard = await world.say(asked)
        ((agent, told),) = heard.said
        assert (agent, told[: len(said)]) == ("Orchestrator", said)
        assert world.prompts() == []


WRITTEN_CALL = text(
    '<tool_call>{"name": "results", "arguments": {"names": ["creatinine"]}}</tool_call>'
)


@pytest.mark.parametrize("reply", [call("results", names=["creatinine"]), WRITTEN_CALL])
async def test_a_model_that_only_calls_tools_leaves_the_word_to_the_rows(reply: Reply) -> None:
    async with team_world(limits=GroupChatLimits(tool_rounds=1)) as world:
        asked = read("latest creatinine?", CREATININE)
        heard = await world.say("latest creatinine?", *[reply] * 3, utterance=asked)
    ((agent, said),) = heard.said
    assert agent == "PatientStatus"
    assert said.startswith(
        f"{talk_text('en', 'no_words')}\n\n**Creatinine**: 0.9 mg/dL, 2025-05-19"
    )
    assert heard.reason == "limit"


@pytest.mark.slow
@pytest.mark.parametrize("reply", ["", "   ", "<think>It is 0.9.</think>"])
async def test_a_model_that_says_nothing_leaves_the_word_to_the_rows(reply: str) -> None:
    async with team_world() as world:
        asked = read("latest creatinine?", CREATININE)
        world.model.brain = lambda _: text(reply)
        heard = await world.say("latest creatinine?", utterance=asked)
    ((agent, said),) = heard.said
    assert agent == "PatientStatus"
    assert said.startswith(
        f"{talk_text('en', 'no_answer')}\n\n**Creatinine**: 0.9 mg/dL, 2025-05-19"
    )
    assert heard.reason == "answered"
    (message,) = [one.message for one in heard.of(AgentMessageFinished)]
    assert {one.state for one in message.statements} <= {"supported"}, "the server's own words"


async def test_a_model_that_breaks_off_leaves_the_rest_to_the_rows() -> None:
    said = "She has had no transfusion. Her creatinine rose to"
    async with team_world() as world:
        asked = read("latest creatinine?", CREATININE)
        broken = Reply(text=said, end_stream=False)
        heard = await world.say("latest creatinine?", broken, utterance=asked)
    ((agent, told),) = heard.said
    assert agent == "PatientStatus"
    assert "rose to" not in told, "no half of a sentence"
    assert f"{talk_text('en', 'broke_off')}\n\n**Creatinine**: 0.9 mg/dL, 2025-05-19" in told


async def test_a_cut_answer_that_needs_a_search_is_searched_for() -> None:
    asked = read("does she have gout?", ChartQuestion("problems", {}, "whether", "gout"))
    async with team_world() as world:
        broken = Reply(text="She has", end_stream=False)
        heard = await world.say("does she have gout?", broken, utterance=asked)
    ((_, told),) = heard.said
    assert "“gout”" in told


@pytest.mark.parametrize("about", [(), (ChartQuestion("problems", {}, "whether", "husband"),)])
async def test_what_an_agent_searched_for_is_told_where_it_says_nothing(
    about: tuple[ChartQuestion, ...],
) -> None:
    asked = read("does the husband help?", *about)
    silent = [text("")] * 2
    async with team_world() as world:
        looks = call("search_record", query="husband")
        heard = await world.say("does the husband help?", looks, *silent, utterance=asked)
    ((_, told),) = heard.said
    assert told.startswith(talk_text("en", "no_answer"))
    assert "dosette box was filled together with the husband" in told


ECOG_OF_BOTH = (
    "**ECOG**: 2, sources differ, 2025-05-21 [DocumentReference/note-6]; 2 (2025-05-21)"
    " [DocumentReference/note-6] versus 1 (2025-05-20) [Observation/ecog-3]"
)


@pytest.mark.slow
@pytest.mark.parametrize("reply", ["", f"- {ECOG_OF_BOTH}"])
async def test_a_row_that_tells_both_sides_is_not_withheld(reply: str) -> None:
    async with team_world() as world:
        world.model.brain = lambda _: text(reply)
        about = ChartQuestion("current_status")
        heard = await world.say("how is she?", utterance=read("how is she?", about))
    (message,) = [one.message for one in heard.of(AgentMessageFinished)]
    assert ECOG_OF_BOTH in message.text
    assert {one.state for one in message.statements} == {"supported"}


@pytest.mark.parametrize("by_rules", [True, False])
async def test_only_a_models_words_are_withheld_for_what_another_row_says(by_rules: bool) -> None:
    said = "Ramipril 10 mg once daily"
    async with team_world() as world:
        record = await records_in(SAMPLES, world.clock).load(PatientId("patient_4"))
        checking = StatementChecking(team=house_team(), is_language_model=True)
        turn = TurnContext(world.request("drugs?"), lambda _: None, checking=checking)
        turn.views.append(medications(record, status="all", today=date(2026, 1, 1)))
    meter = OutputMeter(limit_bytes=1_000)
    draft = Draft(turn=turn, agent="PatientStatus", message_id="m1", meter=meter)
    draft.is_by_rules = by_rules
    draft.write(said)
    draft.settle()
    assert (said in draft.text) == by_rules
    draft.write("\nThe stage of patient_15 is IIIA.")
    draft.settle()
    assert "patient_15" not in draft.text


async def test_a_model_that_says_nothing_but_what_is_wrong_leaves_the_word_to_the_rows() -> None:
    async with team_world() as world:
        asked = read("latest creatinine?", CREATININE)
        world.model.brain = lambda _: text("Creatinine is 9.9 mg/dL [Observation/crea-1].")
        heard = await world.say("latest creatinine?", utterance=asked)
    ((_, said),) = heard.said
    assert said.startswith("What I would have said does not agree with the record, so I leave")
    assert "\n\n**Creatinine**: 0.9 mg/dL, 2025-05-19" in said
    (message,) = [one.message for one in heard.of(AgentMessageFinished)]
    assert "9.9" not in message.text
    assert [one.state for one in message.statements].count("contradicted") == 1


async def test_rows_in_place_of_a_models_words_are_not_marked_as_if_it_had_said_them() -> None:
    async with team_world() as world:
        asked = read("current stage?", STAGE)
        world.model.brain = lambda _: text("I moved the tumor board.")
        heard = await world.say("current stage?", utterance=asked)
    (message,) = [one.message for one in heard.of(AgentMessageFinished)]
    assert "**stage**: IVB" in message.text
    assert "unsupported" not in [one.state for one in message.statements]


async def test_the_rules_own_words_are_said_once_however_few() -> None:
    asked = ChartQuestion("results", {"names": ["stool"]}, "latest", "stool")
    row = ViewRow(kind="laboratory", name="Stool", value="soft", sources=("Observation/s",))
    view = ChartView(tool="results", kind="table", title="", rows=(row,))
    async with team_world() as world:
        utterance = read("stool?", asked)
        turn = TurnContext(world.request("stool?", utterance=utterance), lambda _: None)
    turn.looked.append((asked, view))
    draft = Draft(turn=turn, agent="A", message_id="m1", meter=OutputMeter(limit_bytes=1_000))
    draft.is_by_rules = True
    draft.write(told_by_rows(turn) or "")
    draft.settle()
    assert "soft" in draft.text
    assert rows_behind(draft, turn, is_last=True) == ""
