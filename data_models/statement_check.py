"""What code found about the statements of an agent's message."""

from typing import Literal, TypeAlias

from data_models.document import Part

StatementState: TypeAlias = Literal["supported", "unsupported", "contradicted"]


class CheckedStatement(Part):
    """One sentence of a message and what the record says of it.

    Sentences without a checkable statement are not listed.

    Attributes:
        start: Offset of its first character in the stored text.
        end: Offset behind its last.
        state: A contradicted one is not shown: its offsets are equal and `text` holds it.
        sources: Source ids that were compared.
        record_says: What the record says instead, for people; "" where it says nothing.
        text: The words of a sentence that was withheld.
        is_repair: It stands for sentences that were withheld; only figures count it.
    """

    start: int
    end: int
    state: StatementState
    sources: tuple[str, ...] = ()
    record_says: str = ""
    text: str = ""
    is_repair: bool = False
