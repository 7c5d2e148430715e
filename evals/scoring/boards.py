"""A report scored by its facts: included, distorted, missing, and what nothing supports. Pure."""

from collections.abc import Sequence

from pydantic import BaseModel

from evals.cases import Answer
from evals.scoring.answers import score


class FactCount(BaseModel):
    """How the facts of reports fared.

    Attributes:
        unsupported: Sentences that the server showed and marked as not supported.
    """

    included: int = 0
    distorted: int = 0
    missing: int = 0
    unsupported: int = 0

    @property
    def wanted(self) -> int:
        """How many facts the gold has."""
        return self.included + self.distorted + self.missing

    def __add__(self, other: "FactCount") -> "FactCount":
        return FactCount(
            included=self.included + other.included,
            distorted=self.distorted + other.distorted,
            missing=self.missing + other.missing,
            unsupported=self.unsupported + other.unsupported,
        )


def counted(facts: Sequence[Answer], text: str, *, marked: int) -> tuple[FactCount, list[str]]:
    """Return how `facts` fared in `text`, and the names of those that are not included."""
    count, left = FactCount(unsupported=marked), list[str]()
    for fact in facts:
        verdict = score(fact, text).verdict
        if verdict == "right":
            count.included += 1
            continue
        left.append(f"{fact.name} ({'distorted' if verdict == 'wrong' else 'missing'})")
        if verdict == "wrong":
            count.distorted += 1
        else:
            count.missing += 1
    return count, left
