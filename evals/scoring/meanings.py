"""How well sentences are held and references taken: each case's part in the figures. Pure."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from evals.cases import Case
from evals.figures import wilson
from evals.scoring.checks import Row

Part: TypeAlias = Literal[
    "held", "missed", "held_wrongly", "held_nothing",
    "meant", "acted_wrongly", "asked_needlessly", "left", "asked",
]  # fmt: skip
"""Of sentences the first four, of references the others; `left` and `asked` were right."""


def held(case: Case, rows: Sequence[Row]) -> Part | None:
    """Return how a sentence was held; None for a case that asks nothing of the memory."""
    wanted = case.expect.memory
    if wanted is None:
        return None
    if any(one.row == "false_memory" for one in rows):
        return "held_wrongly"
    if not wanted.has:
        return "held_nothing"
    return "missed" if any(one.row == "memory" for one in rows) else "held"


def referred(found: Any, wanted: Any) -> Part:
    """Return how a reference was taken: `{"id": …}`, which may be null, or `{"ambiguous": […]}`."""
    meant, taken = wanted.get("id"), found.get("id")
    if taken is not None:
        return "meant" if taken == meant else "acted_wrongly"
    if "ambiguous" in wanted:
        return "asked" if found == wanted else "asked_needlessly"
    return "left" if meant is None and "ambiguous" not in found else "asked_needlessly"


def measured(parts: Sequence[Part]) -> list[str]:
    """Return a line for people on sentences, and one on references, as far as there are any."""
    count = Counter(parts)
    return [line for line in (_sentences(count), _references(count)) if line]


def _sentences(count: Counter[Part]) -> str:
    right, wrong, missed = count["held"], count["held_wrongly"], count["missed"]
    total = right + wrong + missed + count["held_nothing"]
    if not total:
        return ""
    return (
        f"{total} sentences: {_share('precision', right, right + wrong)},"
        f" {_share('recall', right, right + missed)}, held wrongly {wrong}"
    )


def _references(count: Counter[Part]) -> str:
    right, wrong, needless = count["meant"], count["acted_wrongly"], count["asked_needlessly"]
    total = right + wrong + needless + count["left"] + count["asked"]
    if not total:
        return ""
    return (
        f"{total} references: {_share('precision', right, right + wrong)},"
        f" {_share('recall', right, right + needless)}, acted on the wrong thing {wrong},"
        f" asked needlessly {needless} ({needless / total:.1%})"
    )


def _share(name: str, good: int, n: int) -> str:
    low, high = wilson(good, n)
    return f"{name} {good}/{n}" + (f" = {good / n:.1%} ({low:.1%} - {high:.1%})" if n else "")
