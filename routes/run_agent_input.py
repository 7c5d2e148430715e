"""What an AG-UI client sends: who, which run, and the user's newest words."""

from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from data_models.errors import BadFrameError
from data_models.incoming_message import Press
from routes.json_input import parse_json

PLAN_ANSWERS = ("confirm", "change", "cancel")


class _Input(BaseModel):
    """Lenient in what it ignores: only the fields named here are read."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class InputPart(_Input):
    """A piece of a message; only text is read."""

    type: str
    text: str = ""


class InputMessage(_Input):
    """One message of the client's history; all but the last user message are the client's own."""

    id: Annotated[str, Field(max_length=200)] = ""
    role: str
    content: str | list[InputPart] | Any = None

    @property
    def text(self) -> str:
        """The message's text, without pictures and files."""
        if isinstance(self.content, str):
            return self.content
        parts = self.content if isinstance(self.content, list) else []
        return "\n".join(part.text for part in parts if isinstance(part, InputPart) and part.text)


class ResumeAnswer(_Input):
    """The answer to an interrupt of an earlier run."""

    interrupt_id: Annotated[str, Field(alias="interruptId", max_length=300)]
    status: Literal["resolved", "cancelled"]
    payload: Any = None


class RunInput(_Input):
    """A request to run."""

    thread_id: Annotated[str, Field(alias="threadId", min_length=1, max_length=4_000)]
    run_id: Annotated[str, Field(alias="runId", min_length=1, max_length=200)]
    messages: list[InputMessage]
    resume: list[ResumeAnswer] | None = None


class Asked(NamedTuple):
    """What the user said, as the pipeline takes it."""

    message_id: str
    text: str
    press: Press | None


def parse_run_input(data: bytes) -> RunInput:
    """Return the request in `data`.

    Raises:
        BadFrameError: not JSON, nested too deeply, or not a RunAgentInput.
    """
    try:
        return RunInput.model_validate(parse_json(data))
    except ValidationError:
        # Not `from error`: it quotes what the clinician wrote.
        raise BadFrameError("not a RunAgentInput") from None


def asked(run: RunInput) -> Asked:
    """Return what the user says: the answer to an interrupt, else the last user message.

    Raises:
        BadFrameError: neither is there, or the answer is of no known form.
    """
    last = next((one for one in reversed(run.messages) if one.role == "user"), None)
    answers = run.resume or []
    if answers:
        # One question is open at a time, so one answer counts.
        text, press = _answer(answers[-1], said=last.text if last else "")
        return Asked(f"{run.run_id}/resume", text, press)
    if last is None:
        raise BadFrameError("no user message")
    # A client may number its messages anew in each run, so the run is part of the name.
    return Asked(f"{run.run_id}/{last.id}", last.text, None)


def _answer(answer: ResumeAnswer, *, said: str) -> tuple[str, Press | None]:
    kind, _, target = answer.interrupt_id.partition(":")
    words, steps = _words(answer, said=said)
    if kind == "plan" and words in PLAN_ANSWERS:
        return words, Press(target_id=target, answer=words, steps=steps)
    if kind == "question":
        return words, Press(target_id=target, answer=words)
    return words, None


def _words(answer: ResumeAnswer, *, said: str) -> tuple[str, tuple[int, ...] | None]:
    if answer.status == "cancelled":
        return ("cancel" if answer.interrupt_id.startswith("plan:") else "no"), None
    match answer.payload:
        case str(words):
            return words, None
        case {"answer": str(words), "steps": [*steps]} if all(type(one) is int for one in steps):
            return words, tuple(steps)
        case {"answer": str(words)}:
            return words, None
        case {"approved": bool(yes)} | {"confirmed": bool(yes)} | bool(yes):
            return _yes_or_no(answer, yes=yes), None
        case None:
            return said, None
        case _:
            # The last message is the one before the question: it must not be asked again.
            raise BadFrameError("the payload answers nothing")


def _yes_or_no(answer: ResumeAnswer, *, yes: bool) -> str:
    if answer.interrupt_id.startswith("plan:"):
        return "confirm" if yes else "cancel"
    return "yes" if yes else "no"
