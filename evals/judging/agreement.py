"""How far a judge agrees with people. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from evals.figures import wilson


@dataclass(frozen=True, slots=True)
class Agreement:
    """Verdicts beside labels.

    Attributes:
        both_good: Called good by both.
        both_bad: Called bad by both.
        judge_good: Good for the judge only.
        judge_bad: Bad for the judge only.
        unread: Answers of the judge that could not be read; they count as not agreed.
    """

    both_good: int = 0
    both_bad: int = 0
    judge_good: int = 0
    judge_bad: int = 0
    unread: int = 0

    @property
    def n(self) -> int:
        """How many answers were judged."""
        agreed = self.both_good + self.both_bad
        return agreed + self.judge_good + self.judge_bad + self.unread

    @property
    def share(self) -> float:
        """Of answers on which both agree."""
        return (self.both_good + self.both_bad) / self.n if self.n else 0.0

    @property
    def kappa(self) -> float:
        """Cohen's kappa over what could be read: 0 is chance, 1 is full agreement."""
        n = self.n - self.unread
        if not n:
            return 0.0
        found = (self.both_good + self.both_bad) / n
        judge, people = self.both_good + self.judge_good, self.both_good + self.judge_bad
        chance = (judge * people + (n - judge) * (n - people)) / (n * n)
        return 1.0 if chance == 1 else (found - chance) / (1 - chance)

    def as_text(self) -> str:
        """Return the figures in a line."""
        low, high = wilson(self.both_good + self.both_bad, self.n)
        return (
            f"agrees with people on {self.share:.1%} of {self.n} ({low:.1%} - {high:.1%}),"
            f" kappa {self.kappa:.2f}; too kind {self.judge_good}, too strict {self.judge_bad},"
            f" unread {self.unread}"
        )


def agreement(labels: Sequence[str], verdicts: Sequence[str | None]) -> Agreement:
    """Count `verdicts` beside `labels`; both are good or bad, None was not read."""
    pairs = list(zip(labels, verdicts, strict=True))
    return Agreement(
        both_good=pairs.count(("good", "good")),
        both_bad=pairs.count(("bad", "bad")),
        judge_good=pairs.count(("bad", "good")),
        judge_bad=pairs.count(("good", "bad")),
        unread=sum(verdict is None for _, verdict in pairs),
    )
