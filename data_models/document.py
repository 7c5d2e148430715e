"""What every stored document carries, and the steps that bring an old one up to date."""

from typing import ClassVar

from pydantic import BaseModel, ConfigDict


class Part(BaseModel):
    """A piece of a document: mutable only as part of a turn's draft, and it keeps unknown fields.

    Fields that a newer version added survive a rewrite by this one (spec page 1.1).
    """

    # Most parts are only read within their document; a start need not build a reader of each.
    model_config = ConfigDict(extra="allow", defer_build=True)


class Document(Part):
    """A JSON document in the `chat-sessions` container.

    Attributes:
        schema_version: Version of the shape the writer used.
        min_reader: Lowest version that may read it; a reader below refuses.
        write_id: Made anew for each write, so that a lost acknowledgement can be told from a
            conflict by reading back (spec page 7, R32).
        epoch: Epoch of the conversation it was written in; older epochs are invisible.
        conversation_id: Whose it is; checked on read.
    """

    SCHEMA_VERSION: ClassVar[int] = 2
    MIN_READER: ClassVar[int] = 2

    schema_version: int = 2
    min_reader: int = 2
    write_id: str = ""
    epoch: int = 0
    conversation_id: str
