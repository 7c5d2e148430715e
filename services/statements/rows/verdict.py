"""What the comparison of a sentence with the rows found."""

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

Finding: TypeAlias = Literal["supported", "unsupported", "contradicted", "unchecked"]
_WEIGHT: dict[Finding, int] = {"unchecked": 0, "supported": 1, "unsupported": 2, "contradicted": 3}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What rows say of a sentence, or of a clause of it.

    Attributes:
        sources: Source ids of the rows that were compared.
        record_says: For people; "" where no row says anything of it.
        is_withheld_whole: It names another patient: not even its words are shown.
    """

    state: Finding = "unchecked"
    sources: tuple[str, ...] = ()
    record_says: str = ""
    is_withheld_whole: bool = False


UNCHECKED = Verdict()


def worst(verdicts: list[Verdict]) -> Verdict:
    """Return the verdict over a sentence whose clauses have these."""
    if not verdicts:
        return UNCHECKED
    chosen = max(verdicts, key=lambda one: _WEIGHT[one.state])
    sources = tuple(dict.fromkeys(ref for one in verdicts for ref in one.sources))
    return chosen if sources == chosen.sources else replace(chosen, sources=sources)
