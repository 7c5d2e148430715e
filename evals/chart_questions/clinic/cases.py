"""The questions themselves: wordings filled with what charts hold."""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from data_models.plain_yaml import read_yaml
from evals.cases import Case, Expect, Given, Person
from evals.chart_questions.charts import Chart
from evals.chart_questions.clinic.base import Made
from evals.chart_questions.clinic.events import Events
from evals.chart_questions.clinic.problems import Drugs, Problems
from evals.chart_questions.clinic.results import Results
from evals.chart_questions.clinic.visits import Visits

WORDS = Path(__file__).parent / "words.yaml"
FOR_ONE_FACT = 1_500
_IDS = r"^(patient_[0-9]+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$"
_GERMAN = re.compile(
    r"\b(?:wie|wann|welche|letzter?|verlauf|seit|niedrigster|gibt|hat|und|nimmt)\b", re.IGNORECASE
)
_SLUG = re.compile(r"[^a-z0-9]+")
Gold: TypeAlias = Callable[[random.Random, bool], Made | None]


class Asked(Results, Problems, Drugs, Events, Visits):
    """One chart, and what is right for each gold of the words."""

    def gold(self, gold: str, about: str, chosen: random.Random, wording: str) -> Made | None:
        """Return what is right; None where this chart cannot be asked so."""
        is_german = bool(_GERMAN.search(wording))
        if gold == "nothing":
            return self.nothing(about)
        method: Gold = _GOLD[gold].__get__(self)
        return method(chosen, is_german)


_GOLD: Mapping[str, Any] = {
    name.removeprefix("_gold_"): method
    for part in Asked.__mro__
    for name, method in vars(part).items()
    if name.startswith("_gold_")
}


def clinic_questions(
    charts: Sequence[Chart], *, samples: str, each: int = 1, seed: str = "clinic"
) -> list[Case]:
    """Return each wording `each` times, about charts of which it can be asked; always the same.

    Args:
        samples: The folder as `Given.samples` names it.
    """
    told = read_yaml(WORDS.read_text("utf-8"))
    asked = [Asked(chart, told) for chart in charts]
    names = {one.name for one in charts}
    made: dict[str, Case] = {}
    for group in told["say"]:
        gold, _, about = group["gold"].partition(":")
        for wording in group["words"]:
            chosen = random.Random(f"{seed}:{samples.rsplit('/', 1)[-1]}:{gold}:{wording}")
            left = each
            for one in chosen.sample(asked, len(asked)):
                found = one.gold(gold, about, chosen, wording) if left else None
                if found is not None:
                    case = _case(one.chart, group["gold"], wording, found, samples, names)
                    made.setdefault(case.id, case)
                    left -= 1
    return list(made.values())


def _case(chart: Chart, gold: str, wording: str, made: Made, samples: str, names: set[str]) -> Case:
    text = wording.format(**{"n": "", "m": "", "y": "", "x": "", "month": "", **made.fill})
    text = _of_one_sex(text, female=chart.gender == "female")
    others = tuple(sorted(one for one in names if one != chart.name))
    answer = made.answer and made.answer.model_copy(update={"persons": others})
    typed = next((one for one in chart.identifiers if one.startswith("patient_")), chart.patient_id)
    is_ours = samples in ("default", "synthetic")
    return Case(
        id=f"talk/{chart.patient_id[:36]}/" + _SLUG.sub("-", f"{gold} {text}".casefold())[:90],
        suite="chart",
        tags=("talk", gold),
        given=Given(
            samples=samples,
            settings={} if is_ours else {"PATIENT_ID_PATTERN": _IDS},
            open=typed,
            person=Person(name=chart.name, birth_date=chart.birth_date),
        ),
        say=(text,),
        expect=Expect(
            patient=(chart.patient_id, *chart.identifiers), answer=answer, has=made.has,
            lacks=made.lacks, max_chars=None if gold in _LONG else FOR_ONE_FACT,
        ),
    )  # fmt: skip


def _of_one_sex(text: str, *, female: bool) -> str:
    """Return the wording with the pronouns of the person asked about."""
    if female:
        swaps = (("he", "she"), ("his", "her"), ("him", "her"), ("er(?! visit)", "sie"))
    else:
        text = re.sub(r"\b(with|saw|see|after) her\b", r"\1 him", text)
        swaps = (("she", "he"), ("her", "his"), ("Patientin", "Patient"), ("sie", "er"))
    for one, other in swaps:
        text = re.sub(rf"\b{one}\b", other, text)
    return text.replace("die Patient ", "der Patient ")


_LONG = {
    "summary", "timeline", "visits", "procedures", "labs", "lytes", "liver", "cbc", "problems",
    "renal", "timeline_in_year", "timeline_since"
}  # fmt: skip
