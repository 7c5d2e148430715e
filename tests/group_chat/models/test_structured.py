"""Structured answers, on servers that support less and less of it."""

from contextlib import suppress
from typing import Any, Literal

import openai
import pytest
from pydantic import BaseModel, Field

from data_models.errors import ModelOutputError, ModelRequestError
from data_models.patient_context_models import PatientContextDecision
from group_chat.models.factory import Models
from services.language.reader import AddressedReading, FollowedReading
from services.scenarios.session.recording import Findings
from tests.fakes_openai import RecordedRequest, Reply
from tests.group_chat.models.conftest import ModelSite


class Verdict(BaseModel):
    """A small answer with a bound that some servers refuse."""

    action: Literal["stay", "go"]
    reason: str = Field(max_length=40)


GOOD = '{"action": "go", "reason": "asked for"}'


async def ask(models: Models) -> Verdict:
    return await models.structured.ask(
        purpose="test", instructions="Decide.", text="Go to patient_4", answer=Verdict
    )


async def test_the_schema_is_sent_in_strict_mode(site: ModelSite) -> None:
    site.server.queue(Reply(text=GOOD))
    assert (await ask(site.models())).action == "go"
    sent = site.server.requests[0].body
    assert sent["response_format"]["type"] == "json_schema"
    shape = sent["response_format"]["json_schema"]
    assert shape["strict"] is True
    assert shape["schema"]["additionalProperties"] is False
    assert shape["schema"]["required"] == ["action", "reason"]
    assert shape["schema"]["properties"]["reason"] == {"type": "string"}
    assert [message["role"] for message in sent["messages"]] == ["system", "user"]


async def test_the_schema_is_the_strict_form_that_the_openai_client_makes(site: ModelSite) -> None:
    # The client itself takes 20 MB; what it would send is compared here instead.
    for answer in (PatientContextDecision, AddressedReading, FollowedReading, Findings):
        site.server.queue(Reply(text="{}"), Reply(text="{}"))
        with suppress(ModelOutputError):
            await site.models().structured.ask(
                purpose="test", instructions="Decide.", text="Go to patient_4", answer=answer
            )
        sent = site.server.requests[-1].body["response_format"]["json_schema"]["schema"]
        made: Any = openai.pydantic_function_tool(answer)["function"]["parameters"]
        assert sent == _in_place(made, made.get("$defs", {}))


def _in_place(node: Any, parts: dict[str, Any]) -> Any:
    """Return a schema of the client without references and what strict servers refuse."""
    refused = {"maxLength", "minLength", "maxItems", "minItems", "maximum", "minimum", "default"}
    refused |= {"pattern", "format", "title", "$defs"}
    match node:
        case {"$ref": str(reference)}:
            return _in_place(parts[reference.rpartition("/")[2]], parts)
        case dict():
            kept = {name for name, part in node.items() if name not in refused}
            kept |= {name for name, part in node.items() if isinstance(part, dict)} - {"$defs"}
            return {name: _in_place(part, parts) for name, part in node.items() if name in kept}
        case list():
            return [_in_place(part, parts) for part in node]
        case _:
            return node


@pytest.mark.parametrize(
    "wrapped",
    [GOOD, f"```json\n{GOOD}\n```", f"Sure! Here it is: {GOOD} Anything else?", f"\n\n{GOOD}\n"],
)
async def test_wrapping_around_the_json_does_no_harm(site: ModelSite, wrapped: str) -> None:
    site.server.queue(Reply(text=wrapped))
    assert (await ask(site.models())).reason == "asked for"
    assert len(site.server.requests) == 1


@pytest.mark.parametrize(
    "bad", ["I cannot say.", '{"action": "fly", "reason": "Canary"}', "{}", "[]", '{"action":']
)
async def test_an_answer_that_does_not_fit_is_asked_for_again(site: ModelSite, bad: str) -> None:
    site.server.queue(Reply(text=bad), Reply(text=GOOD))
    assert (await ask(site.models())).action == "go"
    request = site.server.requests[1].messages
    assert request[-2] == {"role": "assistant", "content": bad}
    assert "does not fit" in request[-1]["content"]
    assert "Canary" not in request[-1]["content"]


async def test_a_reading_that_does_not_fit_is_not_asked_for_again(site: ModelSite) -> None:
    site.server.queue(Reply(text="I cannot say."))
    with pytest.raises(ModelOutputError):
        await site.models().structured.ask(
            purpose="reader", instructions="Read.", text="8", answer=Verdict
        )
    assert len(site.server.requests) == 1


async def test_the_repair_names_the_place(site: ModelSite) -> None:
    site.server.queue(Reply(text='{"action": "fly", "reason": "x"}'), Reply(text=GOOD))
    await ask(site.models())
    assert "action: literal_error" in site.server.requests[1].messages[-1]["content"]


async def test_a_second_misfit_is_an_error_without_its_words(site: ModelSite) -> None:
    bad = Reply(text='{"action": "Canary"}')
    site.server.queue(bad, bad)
    with pytest.raises(ModelOutputError) as caught:
        await ask(site.models())
    assert "Canary" not in repr(caught.value)
    assert caught.value.__suppress_context__
    assert len(site.server.requests) == 2


def only_takes(*kinds: str) -> object:
    def brain(request: RecordedRequest) -> Reply:
        kind = request.body.get("response_format", {}).get("type", "none")
        return Reply(text=GOOD) if kind in kinds else Reply(status=400)

    return brain


@pytest.mark.parametrize(
    ("brain", "asked"),
    [(only_takes("json_schema"), 1), (only_takes("json_object"), 2), (only_takes("none"), 3)],
)
async def test_a_server_that_knows_less_is_asked_in_a_simpler_form_from_then_on(
    site: ModelSite, brain: object, asked: int
) -> None:
    assert callable(brain)
    site.server.brain = brain
    models = site.models()
    assert (await ask(models)).action == "go"
    assert len(site.server.requests) == asked
    assert (await ask(models)).action == "go"
    assert len(site.server.requests) == asked + 1
    if asked > 1:
        assert '"enum"' in site.server.requests[-1].messages[0]["content"]


async def test_a_server_that_takes_no_form_is_an_error(site: ModelSite) -> None:
    site.server.brain = lambda _: Reply(status=422)
    models = site.models()
    with pytest.raises(ModelRequestError):
        await ask(models)


async def test_one_refused_request_does_not_spoil_the_form_for_all(site: ModelSite) -> None:
    models = site.models()
    site.server.queue(*[Reply(status=400)] * 3)
    with pytest.raises(ModelRequestError):
        await ask(models)
    site.server.queue(Reply(text=GOOD))
    await ask(models)
    assert site.server.requests[-1].body["response_format"]["type"] == "json_schema"


async def test_a_rule_of_the_class_counts_as_well(site: ModelSite) -> None:
    broken = '{"action": "CLEAR", "patient_id": "patient_4", "reasoning": ""}'
    fixed = '{"action": "CLEAR", "patient_id": null, "reasoning": ""}'
    site.server.queue(Reply(text=broken), Reply(text=fixed))
    decision = await site.models().structured.ask(
        purpose="test", instructions="Decide.", text="forget it", answer=PatientContextDecision
    )
    assert decision.action == "CLEAR"
    assert "root: value_error" in site.server.requests[1].messages[-1]["content"]
