"""What is recorded of an access."""

from typing import Annotated, Literal, NamedTuple, TypeAlias

from pydantic import BaseModel, Field

Outcome: TypeAlias = Literal["begun", "done", "failed", "refused"]
Action: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_.:-]{0,79}$")]


class Visitor(NamedTuple):
    """Who comes to data of patients, and from where.

    Attributes:
        principal: Id of the verified caller.
        conversation: "" outside conversations.
        run_id: The turn; None outside turns.
    """

    principal: str
    conversation: str = ""
    run_id: str | None = None


class AuditEntry(BaseModel, frozen=True, extra="forbid", hide_input_in_errors=True):
    """One turn of one patient, with all its reads and tools, or one access outside turns.

    Attributes:
        principal: Id of the verified caller, in clear: the trail is there to name people.
        patient: None where no patient is concerned.
        run_id: The turn; None outside turns.
        actions: Names of what is done, such as `turn` or `read_history`; names only, so that no
            content can get here.
        outcome: `begun` where the record comes before the access.
        receipt: SHA-256 of the receipt of a finished turn, in hexadecimal digits.
    """

    principal: Annotated[str, Field(min_length=1, max_length=400)]
    conversation: Annotated[str, Field(max_length=4_000)]
    patient: Annotated[str, Field(max_length=64)] | None = None
    run_id: Annotated[str, Field(max_length=100)] | None = None
    actions: Annotated[tuple[Action, ...], Field(min_length=1, max_length=100)]
    outcome: Outcome = "begun"
    receipt: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None

    @property
    def may_wait(self) -> bool:
        """Whether it tells of what is over, so that nothing depends on when it is written."""
        return self.receipt is not None
