"""What is asked in German, and plainly in French or Spanish, is done as if asked in English."""

import pytest

from group_chat.offline.offline_chat import reply_to
from group_chat.offline.prompt import Prompt
from services.language.reading import read
from services.language.words.phrases import says
from tests.group_chat.offline.conftest import SITUATION
from tests.tables import with_cases

TOOLS = tuple(
    f"{verb}_{kind}"
    for kind, verbs in {
        "event": "cancel move create",
        "events": "list",
        "mail": "search read draft send",
        "contact": "add change delete",
        "contacts": "search",
        "task": "add complete move delete",
        "tasks": "list",
        "document": "delete",
        "documents": "search",
    }.items()
    for verb in verbs.split()
)


@pytest.mark.slow
@with_cases("asked", "tool", "given")
def test_a_request_for_ones_own_things_calls_its_tool(
    asked: str, tool: str, given: dict[str, object]
) -> None:
    (call,) = reply_to(Prompt(asked=asked, tools=dict.fromkeys(TOOLS, ()))).calls
    assert (call.name, dict(call.arguments)) == (tool, given)


@with_cases("asked", "agent")
def test_a_german_request_goes_to_whose_work_it_is(asked: str, agent: str) -> None:
    assert read(asked, SITUATION).agent == agent


@with_cases("name", "texts")
def test_a_kind_of_message_is_known_in_each_language(name: str, texts: tuple[str, ...]) -> None:
    assert [text for text in texts if not says(text, name)] == []
