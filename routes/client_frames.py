"""What a client may send over a socket (spec page 6.1)."""

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, TypeAdapter, ValidationError

from data_models.errors import BadFrameError
from data_models.identifiers import PATIENT_ID_LIMIT_CHARS
from data_models.incoming_message import Press
from data_models.plan import PLAN_LIMIT_STEPS, STEP_LIMIT_CHARS, StepEdit
from routes.json_input import parse_json

Id: TypeAlias = Annotated[str, Field(min_length=1, max_length=200)]
AgentName: TypeAlias = Annotated[str, Field(min_length=1, max_length=100)]


class _Frame(BaseModel):
    """Strict in the fields we know; others are ignored, as clients of later versions may send."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")


class EditFrame(_Frame):
    """A step of the plan in the user's own words."""

    number: int
    text: Annotated[str, Field(min_length=1, max_length=STEP_LIMIT_CHARS)]

    def to_edit(self) -> StepEdit | None:
        """Return it as one line, as steps are; None where nothing is left."""
        text = " ".join(self.text.split())
        return StepEdit(number=self.number, text=text) if text else None


class PressFrame(_Frame):
    """A button; see `data_models.incoming_message.Press`."""

    target_id: Id
    answer: Annotated[str, Field(max_length=500)]
    steps: Annotated[list[int], Field(max_length=100)] | None = None
    edits: Annotated[list[EditFrame], Field(max_length=PLAN_LIMIT_STEPS)] | None = None

    def to_press(self) -> Press:
        """Return it as the pipeline knows it."""
        steps = None if self.steps is None else tuple(self.steps)
        edits = tuple(edit for each in self.edits or () if (edit := each.to_edit()) is not None)
        return Press(target_id=self.target_id, answer=self.answer, steps=steps, edits=edits)


class MessageFrame(_Frame):
    """One message. `sender` is a display name; who it is was verified at the handshake."""

    type: Literal["message"] = "message"
    content: str
    sender: Annotated[str, Field(max_length=200)] | None = None
    client_message_id: Id | None = None
    mentions: Annotated[list[AgentName], Field(max_length=20)] | None = None
    time_zone: Annotated[str, Field(max_length=64)] | None = None
    press: PressFrame | None = None
    seen_patient_id: Annotated[str, Field(max_length=PATIENT_ID_LIMIT_CHARS)] | None = None


class StopFrame(_Frame):
    """Cancels the running turn, or only `run_id` if that is the one that runs."""

    type: Literal["stop"]
    run_id: Id | None = None


def _kind(value: object) -> object:
    return value.get("type", "message") if isinstance(value, dict) else None


ClientFrame: TypeAlias = MessageFrame | StopFrame
_FRAME: TypeAdapter[ClientFrame] = TypeAdapter(
    Annotated[
        Annotated[MessageFrame, Tag("message")] | Annotated[StopFrame, Tag("stop")],
        Discriminator(_kind),
    ]
)


def parse_client_frame(data: bytes | str) -> ClientFrame:
    """Return the frame in `data`.

    Raises:
        BadFrameError: not JSON, nested too deeply, or not of a known shape.
    """
    value = parse_json(data)
    if not isinstance(value, dict):
        raise BadFrameError("not an object")
    try:
        return _FRAME.validate_python(value)
    except ValidationError:
        # Not `from error`: it quotes what the clinician wrote.
        raise BadFrameError("not a frame of a known shape") from None
