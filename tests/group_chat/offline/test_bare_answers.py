"""Answers of a word or two, which the offline rules read by what was asked or listed before."""

import pytest

from group_chat.offline.offline_chat import answer_as_facilitator, answer_in_scenario
from group_chat.offline.prompt import Prompt
from group_chat.offline.specialist import is_of_recent
from services.language.model_output.hand_over import promised_agent
from services.language.reading import read
from services.language.utterance import ChartQuestion, Utterance
from tests.group_chat.offline.conftest import CARDS, SITUATION
from tests.tables import with_cases


@with_cases("listed", "said", "agent")
def test_it_is_what_was_listed_last(listed: dict[str, str], said: str, agent: str) -> None:
    prompt = Prompt(asked=said, team=CARDS, tool_memory={"recent_entities": [listed]})
    assert answer_as_facilitator(prompt).text == f"*{agent}*, please see to this."


def test_the_first_of_a_calendar_is_no_question_about_the_past() -> None:
    shown = {"recent_entities": [{"type": "calendar_event", "id": "evt_1"}]}
    assert not is_of_recent(Prompt(asked="when was the first scan", tool_memory=shown))


def test_whose_chart_is_open_is_asked_of_no_list() -> None:
    shown = {"recent_entities": [{"type": "task", "id": "task_1"}]}
    prompt = Prompt(asked="whose chart is open?", team=CARDS, tool_memory=shown, roster="Ada.")
    assert answer_as_facilitator(prompt).text == "Ada."


@pytest.mark.parametrize("said", ["open her", "show the chart", "öffne sie"])
def test_who_is_to_be_opened_is_no_scenario(said: str) -> None:
    tools = {"start_scenario": ()}
    reply = answer_as_facilitator(Prompt(asked=said, team=CARDS, tools=tools, patient_id="p1"))
    assert "is open" in reply.text


@pytest.mark.parametrize("said", ["what should i do", "was soll ich tun"])
def test_who_wants_advice_is_promised_nobodys_work(said: str) -> None:
    reply = answer_as_facilitator(Prompt(asked=said, team=CARDS, patient_id="p1"))
    names = [one.name for one in CARDS]
    assert promised_agent(reply.text, speaker="Orchestrator", names=names) is None


def test_a_step_is_told_in_the_words_in_quotes_not_in_those_to_the_agent() -> None:
    facts = {"scenario": "Intake", "step": "Welcome", "asked": False, "ask_for": []}

    def told(says: str) -> str:
        step = {**facts, "says": says}
        reply = answer_in_scenario(Prompt(scenario=step, tools={"record_fields": ()}))
        assert reply is not None
        return reply.text

    assert told('Greet: "Hello there."') == "**Intake**, Welcome: Hello there. Shall we go on?"
    assert told("Greet, and name the purpose.") == "**Intake**, Welcome. Shall we go on?"


def test_a_question_that_a_new_step_displaces_is_said_to_be_unanswered() -> None:
    step = {"scenario": "Intake", "step": "Consent", "asked": False, "asks_itself": True}
    asked = "what is her hemoglobin?"
    read = Utterance(text=asked, about=(ChartQuestion("results", {"names": ["hemoglobin"]}),))
    prompt = Prompt(scenario=step, tools={"record_fields": ()}, asked=asked, read=read)
    reply = answer_in_scenario(prompt)
    assert reply is not None
    assert f"“{asked}” was not answered" in reply.text


@pytest.mark.slow
def test_a_scenario_that_is_not_published_is_said_to_be_so_with_what_to_do() -> None:
    prompt = Prompt(asked="start oncology intake", patient_id="patient_4")
    text = answer_as_facilitator(prompt).text
    assert "oncology intake" in text
    assert "/operator" in text


def test_a_change_that_fits_no_step_is_told_by_any_name_of_a_step() -> None:
    asked = "skip history and report last"
    understood = read(asked, SITUATION)
    prompt = Prompt(asked=asked, team=CARDS, cue="waiting", patient_id="p1", read=understood)
    reply = answer_as_facilitator(prompt)
    assert f"“{asked}” fits no step" in reply.text
