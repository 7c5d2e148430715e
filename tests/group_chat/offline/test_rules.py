"""The offline rules as functions of a prompt."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_models.patient_identity import PatientIdentity
from group_chat.judge import Judge
from group_chat.models.factory import build_models
from group_chat.models.model_settings import ModelSettings
from group_chat.offline.offline_chat import reply_to
from group_chat.offline.prompt import Prompt, ToolAnswer, ToolOffer
from group_chat.window import Line
from services.language.reading import read
from tests.group_chat.offline.conftest import SITUATION
from tests.tables import with_cases


async def test_the_first_of_several_addressed_is_picked() -> None:
    judge = Judge(chat_model=build_models(settings=ModelSettings()).chat)
    assert await judge.pick(["Pathology", "Radiology"], "*Radiology*, *Pathology*, please") == (
        "Pathology"
    )


def test_the_result_of_a_tool_without_rows_is_written_a_field_each() -> None:
    data = {"eligible": True, "covered_by": ["Aster", "Birch"], "patient_id": "p1"}
    tools = [ToolOffer("x-coverage")]
    prompt = Prompt(patient_id="p1", tools=tools, answers=[ToolAnswer("coverage", data)])
    text = reply_to(prompt).text
    assert "**Coverage**\n- Eligible: True\n- Covered by: Aster, Birch" in text
    assert "p1" not in text


def test_a_failed_tool_is_reported_as_failed() -> None:
    prompt = Prompt(
        patient_id="p1",
        tools=[ToolOffer("x-scan")],
        answers=[ToolAnswer("scan", {"error": "no answer"})],
    )
    assert "could not be read. no answer" in reply_to(prompt).text


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["items", "source", "sources", "ref", "name", "state", "value", "title", "date",
                 "text", "events", "modalities", "disagreement", "earlier", "patient", "x"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=15,
)  # fmt: skip


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from(["items", "reports", "fact", "events"]), JSON, max_size=3))
def test_any_result_gives_an_answer(data: dict[str, Any]) -> None:
    prompt = Prompt(
        patient_id="p1", tools=[ToolOffer("x-scan")], answers=[ToolAnswer("scan", data)]
    )
    assert reply_to(prompt).text


def test_the_name_of_whose_chart_it_is_is_not_searched_for() -> None:
    grant = PatientIdentity("Pierre Bosco", "1968-02-23", "male")
    assert Prompt(asked="what fever did Bosco have?", identity=grant).query == "fever"


@with_cases("asked", "query")
def test_only_telling_words_are_searched_for(asked: str, query: str) -> None:
    assert Prompt(asked=asked).query == query


@pytest.mark.parametrize(
    ("asked", "agent"),
    [("hello", None), ("how big is the tumor", "PatientHistory"),
     ("write the document", "ReportCreation")],
)  # fmt: skip
@pytest.mark.slow
def test_only_who_asks_for_a_document_gets_one_written(asked: str, agent: str | None) -> None:
    assert read(asked, SITUATION).agent == agent


def registering(asked: str) -> Prompt:
    return Prompt(
        asked=asked,
        patient_id="patient_4",
        tools=[
            ToolOffer("rounds-insurance_eligibility"),
            ToolOffer("rounds-register_person", ("name", "birth_date")),
        ],
    )


@with_cases("asked")
def test_a_person_is_proposed_by_full_name_and_date_of_birth(asked: str) -> None:
    (call,) = reply_to(registering(asked)).calls
    assert call.wire_name == "rounds-register_person"
    assert call.arguments == {"name": "Ada Leeward", "birth_date": "1980-02-29"}


@pytest.mark.parametrize(
    "asked", ["register Ada", "register Ada Leeward", "register somebody born 1980-02-29"]
)
def test_who_is_registered_must_be_named_in_full(asked: str) -> None:
    reply = reply_to(registering(asked))
    assert reply.calls == ()
    assert "full name and the date of birth" in reply.text


def looking_up(asked: str) -> Prompt:
    prompt = registering(asked)
    prompt.tools = [*prompt.tools, ToolOffer("rounds-find_person", ("name", "birth_date"))]
    return prompt


@with_cases("asked")
def test_whether_somebody_is_registered_is_looked_up_and_said_of_nobody_else(asked: str) -> None:
    prompt = looking_up(asked)
    (call,) = reply_to(prompt).calls
    assert call.wire_name == "rounds-find_person"
    assert call.arguments == {"name": "Ada Leeward", "birth_date": "1980-02-29"}
    prompt.answers = [
        ToolAnswer("find_person", {"registered": "nobody", "told": "Nobody is registered here."})
    ]
    reply = reply_to(prompt)
    assert reply.calls == ()
    assert reply.text.endswith("Nobody is registered here.")


@pytest.mark.parametrize("asked", ["is Ada registered?", "is somebody born 1980-02-29 registered?"])
def test_who_is_looked_up_must_be_named_in_full(asked: str) -> None:
    reply = reply_to(looking_up(asked))
    assert reply.calls == ()
    assert "full name and the date of birth" in reply.text


@with_cases("asked", "words")
def test_a_contact_is_searched_by_its_name_alone(asked: str, words: str) -> None:
    prompt = Prompt(asked=asked, tools=[ToolOffer("o-list_events"), ToolOffer("o-search_contacts")])
    (call,) = reply_to(prompt).calls
    assert (call.wire_name, call.arguments) == ("o-search_contacts", {"words": words})


@with_cases("asked", "words")
def test_a_document_is_searched_by_its_whole_name(asked: str, words: str) -> None:
    tools = [
        ToolOffer(f"o-{one}") for one in ("list_events", "read_own_document", "search_documents")
    ]
    unknown = ToolAnswer("read_own_document", {"error": "unclear; list or search them first"})
    (call,) = reply_to(Prompt(asked=asked, tools=tools, answers=[unknown])).calls
    assert (call.wire_name, call.arguments) == ("o-search_documents", {"words": words})


@with_cases("asked", "is_office")
def test_who_stands_by_a_patient_is_nobody_in_the_address_book(asked: str, is_office: bool) -> None:
    assert (read(asked, SITUATION).agent == "Secretary") is is_office


def health(asked: str, *, last: str = "", agent: str = "GeneralHealth") -> Prompt:
    return Prompt(
        closing="This is no diagnosis." if agent == "GeneralHealth" else "",
        patient_id="patient_4",
        asked=asked,
        earlier=[Line(agent, last)] if last else [],
    )


def test_the_agent_that_asked_takes_the_bare_answer_and_asks_on() -> None:
    first = reply_to(health("I have a headache")).text
    assert first.endswith("How strong is it now, from 1 to 10?")
    second = reply_to(health("8", last=first)).text
    assert second == "Noted: 8 of 10.\n\nSince when have you had it?"
    third = reply_to(health("since yesterday evening", last=second)).text
    assert third.startswith("Noted: since yesterday evening.")
    assert not third.endswith("?"), "nobody waits any more"


@pytest.mark.parametrize("asked", ["11", "8 patients are waiting", "what is 8?"])
def test_what_is_no_rating_is_not_noted_as_one(asked: str) -> None:
    last = "How strong is it now, from 1 to 10?"
    assert "Noted" not in reply_to(health(asked, last=last)).text


def test_only_a_step_goes_back_to_who_called_it() -> None:
    assert "Back to you" not in reply_to(health("x", agent="Radiology")).text
    step = health("x", agent="Radiology")
    step.cue, step.hand_back = "step", "Orchestrator"
    assert reply_to(step).text.endswith("Back to you *Orchestrator*.")


def test_agents_of_other_work_ask_nothing_about_complaints() -> None:
    assert "How strong" not in reply_to(health("show my scan", agent="Radiology")).text
