"""One message, read once; everything else consumes this value."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

YesNo: TypeAlias = Literal["yes", "no", "yes_with_changes"]
Command: TypeAlias = Literal[
    "clear", "stop", "help", "where_are_we", "forget", "compare", "undo", "wrong_patient"
]
Task: TypeAlias = Literal["answer", "plan", "act", "talk", "scenario", "smalltalk"]
Aspect: TypeAlias = Literal[
    "all", "latest", "first", "trend", "count", "when", "whether", "minimum", "maximum", "change"
]


@dataclass(frozen=True, slots=True)
class ChartQuestion:
    """What of the chart a message asks for.

    Attributes:
        tool: Name of the chart tool whose rows answer it.
        arguments: For the tool.
        aspect: Which of its rows, or what of them.
    """

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    aspect: Aspect = "all"


@dataclass(frozen=True, slots=True)
class Reference:
    """Words that point at something shown before.

    Attributes:
        kind: `it` one thing, `ordinal` by place in the list last shown, `other` the other one,
            `several` more than one.
        places: For ordinals: places from 1; negative ones count from the end.
    """

    kind: Literal["it", "ordinal", "other", "several"]
    places: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Utterance:
    """What a message says, as rules or a model read it.

    Attributes:
        text: As typed.
        language: ISO 639-1.
        yes_no: Set where the message answers a yes-or-no question and nothing more.
        command: An exact command.
        task: What kind of turn it asks for.
        agent: The agent that it addresses, or whose work it is.
        about: What of the chart it asks for, in the order asked.
        references: Words that point at something shown before.
        standalone: The message with its pronouns resolved, where that changes it.
        crisis: Id of the safety rule that it meets.
        decided_by: Who decided each field: `rule` or `model`.
    """

    text: str
    language: str = "en"
    yes_no: YesNo | None = None
    command: Command | None = None
    task: Task = "talk"
    agent: str | None = None
    about: tuple[ChartQuestion, ...] = ()
    references: tuple[Reference, ...] = ()
    standalone: str = ""
    crisis: str | None = None
    decided_by: Mapping[str, Literal["rule", "model"]] = field(default_factory=dict)
