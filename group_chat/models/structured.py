"""Asks a model for an instance of a pydantic class, on servers that differ in what they support."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from data_models.errors import ModelOutputError, ModelRequestError, ModelWindowError
from group_chat.models.completions import Completions
from group_chat.models.json_schema import short_schema
from services.language.model_output.thoughts import without_thoughts
from services.language.reader import ANSWER_TOKENS as READER_TOKENS
from services.language.reader import PURPOSE as READER

Answer = TypeVar("Answer", bound=BaseModel)

_ANSWER_TOKENS = 1_000
_FORM_WITHOUT_SCHEMA = 1


class WireStructured:
    """The `StructuredModel` of every OpenAI-compatible server.

    What a server refuses with 400 is not sent again while the process lives: first the full
    schema is tried, then a bare JSON mode, then words alone.
    """

    def __init__(self, *, completions: Completions, model: str) -> None:
        self._completions = completions
        self._model = model
        self._form = 0
        self._shapes: dict[type[BaseModel], dict[str, Any]] = {}

    async def ask(
        self, *, purpose: str, instructions: str, text: str, answer: type[Answer]
    ) -> Answer:
        messages = [_message("system", instructions), _message("user", text)]
        deadline = self._completions.deadline()
        said = await self._complete(messages, answer, deadline, purpose)
        try:
            return _parse(said, answer)
        except ValidationError as error:
            problems = places(error)
        if purpose == READER:  # rules do well enough: no turn waits for a repair
            raise ModelOutputError("the model's answer does not fit its schema")
        repair = f"It does not fit the schema ({problems}). Answer again, only with JSON that fits."
        messages += [_message("assistant", said), _message("user", repair)]
        said = await self._complete(messages, answer, deadline, purpose)
        try:
            return _parse(said, answer)
        except ValidationError:
            # The cause carries what the model said, which may name a patient.
            raise ModelOutputError("the model's answer does not fit its schema") from None

    async def _complete(
        self, messages: list[dict[str, str]], answer: type[BaseModel], deadline: float, purpose: str
    ) -> str:
        if answer not in self._shapes:
            self._shapes[answer] = short_schema(answer, is_strict=True)
        shape = self._shapes[answer]
        last = len(FORMS) - 1
        if "json_schema" in self._completions.learned.profile.lacks:
            self._form = max(self._form, _FORM_WITHOUT_SCHEMA)
        for form in range(self._form, last + 1):
            body = {"model": self._model, "messages": messages} | FORMS[form](shape)
            body["max_tokens"] = READER_TOKENS if purpose == READER else _ANSWER_TOKENS
            if form >= _FORM_WITHOUT_SCHEMA:
                body["messages"] = _with_shape(messages, shape)
            try:
                said = await self._completions.complete(body, purpose=purpose, deadline=deadline)
            except ModelRequestError as error:
                if form == last or isinstance(error, ModelWindowError):
                    raise
                continue
            self._form = max(self._form, form)
            return said.text
        raise ModelOutputError("no form of structured answer is left")


def places(error: ValidationError) -> str:
    """Say where an answer does not fit and by which rule, and nothing of what it holds."""
    rows = error.errors(include_input=False, include_url=False, include_context=False)
    found = [
        f"{'.'.join(str(part) for part in row['loc']) or 'root'}: {row['type']}" for row in rows
    ]
    return "; ".join(found[:10])


def in_strict_form(answer: type[BaseModel]) -> dict[str, Any]:
    """Return what asks for `answer` by its schema."""
    return _strict(short_schema(answer, is_strict=True))


def _strict(shape: dict[str, Any]) -> dict[str, Any]:
    schema = {"name": "answer", "strict": True, "schema": shape}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


FORMS: Sequence[Callable[[dict[str, Any]], dict[str, Any]]] = (
    _strict,
    lambda _: {"response_format": {"type": "json_object"}},
    lambda _: {},
)


def _with_shape(messages: list[dict[str, str]], shape: dict[str, Any]) -> list[dict[str, str]]:
    schema = orjson.dumps(shape).decode()
    first = (
        f"{messages[0]['content']}\n\nAnswer only with JSON that fits this JSON Schema:\n{schema}"
    )
    return [_message("system", first), *messages[1:]]


def _message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


def _parse(said: str, answer: type[Answer]) -> Answer:
    """Read the JSON object in `said`; small models like to wrap it in words or fences."""
    said = without_thoughts(said)
    start, end = said.find("{"), said.rfind("}")
    return answer.model_validate_json(said[start : end + 1] if 0 <= start < end else said)
