"""How people call what a chart holds, and how they ask for it: `words.yaml`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from data_models.plain_yaml import read_yaml
from evals.chart_questions.charts import Fact

_WORDS: Mapping[str, Any] = read_yaml(Path(__file__).with_name("words.yaml").read_text("utf-8"))
ABSENT_RESULTS: Mapping[str, list[str]] = _WORDS["absent_results"]
ABSENT: Mapping[str, list[str]] = _WORDS["absent"]
SAY: Mapping[str, list[str]] = _WORDS["say"]


def result_names(fact: Fact) -> tuple[str, ...]:
    """Return what people call a result; nothing where only its code says what it is."""
    known = _WORDS["results"].get(fact.code)
    if known:
        return tuple(known)
    plain = fact.name.partition("[")[0].partition("(")[0].strip()
    return (plain,) if 2 < len(plain) <= 40 else ()


def vaccine_name(display: str) -> str:
    """Return the common name of a vaccine; "" where none is sure."""
    folded = display.casefold()
    return next((name for part, name in _WORDS["vaccines"].items() if part in folded), "")


def ingredient(display: str) -> str:
    """Return a drug's name without strength and form; "" for what is no single drug."""
    words = []
    for word in display.replace("/", " / ").split():
        if word[0].isdigit() or word in ("/", "Oral", "Injection", "Pack") or word.endswith("ML"):
            break
        words.append(word)
    name = " ".join(words).strip(" ,").casefold()
    return name if name and "{" not in name else ""
