"""The offline rules as functions of a prompt."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_models.patient_context_models import PatientIdentity
from group_chat.messages import pick
from group_chat.models.factory import build_models
from group_chat.models.model_settings import ModelSettings
from group_chat.offline.offline_chat import reply_to
from group_chat.offline.prompt import Prompt, ToolAnswer
from services.language.reading import read
from tests.group_chat.offline.conftest import SITUATION
from tests.tables import with_cases


async def test_the_first_of_several_addressed_is_picked() -> None:
    model = build_models(settings=ModelSettings()).chat
    assert await pick(model, ["Pathology", "Radiology"], "*Radiology*, *Pathology*, please") == (
        "Pathology"
    )


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
    prompt = Prompt(patient_id="p1", tools={"scan": ()}, answers=[ToolAnswer("scan", data)])
    assert reply_to(prompt).text


def test_the_name_of_whose_chart_it_is_is_not_searched_for() -> None:
    grant = PatientIdentity("Pierre Bosco", "1968-02-23", "male")
    assert Prompt(asked="what fever did Bosco have?", identity=grant).query == "fever"


@with_cases("asked", "query")
def test_only_telling_words_are_searched_for(asked: str, query: str) -> None:
    assert Prompt(asked=asked).query == query


@pytest.mark.parametrize(
    ("asked", "agent"),
    [("hello", None), ("how big is the tumor", "Radiology"),
     ("write the document", "ReportCreation")],
)  # fmt: skip
@pytest.mark.slow
def test_only_who_asks_for_a_document_gets_one_written(asked: str, agent: str | None) -> None:
    assert read(asked, SITUATION).agent == agent


@with_cases("asked", "is_office")
def test_who_stands_by_a_patient_is_nobody_in_the_address_book(asked: str, is_office: bool) -> None:
    assert (read(asked, SITUATION).agent == "Secretary") is is_office
