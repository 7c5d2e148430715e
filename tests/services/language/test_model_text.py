"""Nobody is shown what a model thinks aloud, or a tool call that it wrote as text."""

import json

import pytest

from services.language.model_output.model_text import ModelText
from services.language.model_output.thoughts import without_thoughts
from services.language.model_output.written_calls import TextCall
from tests.tables import with_cases

CALL = {"name": "current_status", "arguments": {"since": "2025"}}
TEXT = json.dumps(CALL)
READ = TextCall("current_status", '{"since": "2025"}')


def shown(text: str, *, step: int = 1, names: tuple[str, ...] = ()) -> tuple[str, list[TextCall]]:
    reader = ModelText(names=names, tools=("labs", "current_status"))
    parts = [reader.feed(text[at : at + step]) for at in range(0, len(text), step)]
    return "".join([*parts, reader.finish()]), reader.calls


@pytest.mark.parametrize("step", [1, 3, 7, 1000])
@with_cases("said", "seen")
def test_only_the_answer_is_shown(said: str, seen: str, step: int) -> None:
    assert shown(said, step=step, names=("Radiology",)) == (seen, [])


@pytest.mark.parametrize("step", [1, 5, 1000])
@with_cases("said")
def test_a_call_written_as_text_is_a_call_and_is_not_shown(said: str, step: int) -> None:
    text, calls = shown(said, step=step)
    assert text.strip() == ""
    assert calls == [READ]


def test_two_calls_after_some_words() -> None:
    said = f"Let me look.\n<tool_call>{TEXT}</tool_call>\n<tool_call>{TEXT}</tool_call>"
    text, calls = shown(said, step=2)
    assert text.strip() == "Let me look."
    assert calls == [READ, READ]


@pytest.mark.parametrize("step", [1, 5, 1000])
@pytest.mark.parametrize("fence", ["```json\n{}\n```", "``` {} ```", "```{}```\n"])
def test_a_call_in_a_fence_behind_words_leaves_no_fence(fence: str, step: int) -> None:
    text, calls = shown(f"Never smoker. {fence.format(TEXT)}", step=step)
    assert (text.strip(), calls) == ("Never smoker.", [READ])


@pytest.mark.parametrize("step", [1, 5, 1000])
@pytest.mark.parametrize("inside", ['{"rows": []}', "nothing", "no such tool", ""])
@pytest.mark.parametrize("tag", ["tool_response", "tool_call", "function_calls"])
def test_what_stands_for_a_call_and_is_none_is_not_shown(tag: str, inside: str, step: int) -> None:
    reader = ModelText(tools=("current_status",))
    said = f"<{tag}>{inside}</{tag}>Stage IVB."
    parts = [reader.feed(said[at : at + step]) for at in range(0, len(said), step)]
    assert ("".join([*parts, reader.finish()]), reader.calls) == ("Stage IVB.", [])


def test_a_call_that_is_cut_off_is_not_shown() -> None:
    assert shown('Hm.\n{"name": "current_status", "argum') == ("Hm.\n", [])


def test_a_thought_that_the_template_opened_ends_where_it_ends() -> None:
    reader = ModelText(begins_in_thought=True)
    assert reader.feed("He may be ill.</th") + reader.feed("ink>\nStage IVB.") == "Stage IVB."


def test_an_answer_without_a_thought_is_shown_though_the_template_opens_them() -> None:
    reader = ModelText(begins_in_thought=True)
    assert reader.feed("Stage ") + reader.feed("IVB.") + reader.finish() == "Stage IVB."


def test_a_whole_answer_loses_its_thoughts() -> None:
    assert without_thoughts('<think>{"a": 1}</think>{"b": 2}') == '{"b": 2}'
    assert without_thoughts('hm {"a": 1}</think>{"b": 2}') == '{"b": 2}'
    assert without_thoughts('<think>hm</think>{"b": 2}</think>') == '{"b": 2}'
    assert without_thoughts('hm</think>{"b": 2}</think></think>') == '{"b": 2}'


@pytest.mark.parametrize("size", [1, 7, 1000])
@with_cases("text", "shown")
def test_an_object_that_does_not_end_is_not_shown(text: str, shown: str, size: int) -> None:
    read = ModelText()
    parts = [read.feed(text[at : at + size]) for at in range(0, len(text), size)]
    assert "".join([*parts, read.finish()]) == shown


@pytest.mark.parametrize("size", [1, 3, 17, 1000])
@with_cases("text")
def test_what_is_no_mark_is_shown_as_it_is(text: str, size: int) -> None:
    assert shown(text, step=size) == (text, [])


@pytest.mark.parametrize("size", [1, 3, 17, 1000])
@with_cases("text")
def test_a_call_in_the_form_of_a_family_of_models_is_read(text: str, size: int) -> None:
    seen, calls = shown(text, step=size)
    assert seen == ""
    assert calls in (
        [TextCall("labs", '{"names": "CEA"}')],
        [TextCall("labs", '{"names": ["CEA"]}')],
    )


@pytest.mark.parametrize("size", [1, 3, 17, 1000])
@with_cases("text")
def test_only_the_answer_is_shown_of_what_a_template_holds(text: str, size: int) -> None:
    seen, calls = shown(text, step=size)
    assert (seen.rstrip(), calls) == ("Stage IVB.", [])


def test_an_answer_in_json_keeps_its_source() -> None:
    said = '{"answer": "ECOG 1.", "source": "Observation/ecog-3", "confidence": 0.9}'
    assert shown(said, step=5) == ("ECOG 1. [Observation/ecog-3]", [])
