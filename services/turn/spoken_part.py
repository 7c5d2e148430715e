"""A message that is being spoken."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class SpokenPart:
    """A message that an agent has begun and not finished."""

    message_id: str
    agent: str
    pieces: list[str] = field(default_factory=list)
