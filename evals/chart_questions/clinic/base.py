"""One chart as the golds see it, and what they share."""

import random
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from evals.cases import Answer
from evals.chart_questions import words
from evals.chart_questions.charts import Chart, Fact

NOTHING = r"\bnot\b|\bno\b|nothing|never|kein|nicht"
NO = r"\A\W*no\b(?! longer)"
OPEN = ("active", "recurrence", "relapse")
_GERMAN_NAME = re.compile(
    r"(?i)^(?:kalium|natrium|kreatinin|kalzium|chlorid|leukozyten|thrombozyten|cholesterin|triglyceride|blut\w+|gewicht|größe|temperatur|schmerzscore|hä\w+|anämie)$"
)
_SPELT = {
    "TSH": ("thyro",), "INR": ("prothrombin",), "CRP": ("c reactive", "c-reactive"),
    "PSA": ("prostate",), "SpO2": ("oxygen",), "CEA": ("carcinoembryonic",), "ESR": ("sediment",),
    "HIV": ("immunodef",), "heart attack": ("infarct",), "DVT": ("thrombo",), "MS": ("sclerosis",),
    "cancer": ("neoplasm", "carcinoma", "tumor", "malignan"), "COPD": ("obstructive",),
    "CABG": ("bypass",), "statin": ("vastatin",), "opioids": ("codone", "meperidine", "codeine"),
    "opioid": ("codone",), "anticoagulants": ("xaban", "warfarin", "heparin", "clopidogrel"),
    "ACE inhibitor": ("pril",), "antidepressants": ("oxetine", "sertraline", "citalopram"),
    "kidney stones": ("calcul", "lithiasis"), "penicillin": ("cillin",), "LDH": ("lactate dehyd",),
    "B12 level": ("cobalamin",), "folate": ("folic",), "depression": ("depress",),
    "sulfa": ("sulf",), "heart rate": ("pulse",), "myocardial infarction": ("stemi",),
    "stroke": ("cerebrov", "infarct"), "dialysis": ("renal repl",), "free T4": ("thyrox",),
    "CA-125": ("cancer ag",), "ferritin": (), "mammogram": ("mammo",), "RSV": ("syncytial",),
    "COVID": ("sars",), "transfusion": ("transfus",), "hip replacement": ("arthroplasty",),
    "aspirin": ("acetylsalicylic",),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Made:
    """What is right for one question.

    Attributes:
        fill: What stands for the names in the wording.
        has: Patterns that the answer must hold.
        lacks: Patterns that it must not hold.
    """

    fill: Mapping[str, str] = field(default_factory=dict)
    answer: Answer | None = None
    has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()


class Base:
    """One chart: its results by what they are called, and what it says anywhere."""

    def __init__(self, chart: Chart, told: Mapping[str, Any]) -> None:
        self.chart = chart
        self.told = told
        self.said = " ".join(
            f"{one.name} {one.value}" for one in chart.facts
        ).casefold() + " ".join(chart.refused)
        by_code = defaultdict[str, list[Fact]](list)
        for one in chart.of("result"):
            by_code[one.code].append(one)
        self.results: dict[str, tuple[list[str], list[Fact]]] = {}
        for key, row in told["results"].items():
            found = [by_code[code] for code in row["codes"] if by_code.get(code)]
            if len(found) == 1 and all(one.when for one in found[0]):
                self.results[key] = row["names"], found[0]

    def nothing(self, about: str) -> Made | None:
        """Nothing of `about` is in the record."""
        if about.casefold() in self.said or about in self.chart.holds:
            return None
        return Made(has=(NOTHING,))

    def _named(self, names: Sequence[str], chosen: random.Random, is_german: bool) -> str:
        german = [one for one in names if _GERMAN_NAME.match(one)]
        rest = [one for one in names if one not in german]
        if is_german and not german:
            return min(rest, key=len)  # abbreviations are the same in both
        return chosen.choice(german if is_german and german else rest or german)

    def _series(
        self, chosen: random.Random, is_german: bool, *, least: int = 1, single: bool = False
    ) -> tuple[str, list[Fact]] | None:
        rows = [
            (names, facts)
            for names, facts in self.results.values()
            if len(facts) >= least
            and len({one.unit for one in facts}) == 1
            and len({one.day for one in facts}) == len(facts)
            and all(is_number(one.value) for one in facts)
            and not (single and "/" in facts[0].value)
        ]
        if not rows:
            return None
        names, facts = chosen.choice(rows)
        return self._named(names, chosen, is_german), facts

    def _of(self, kind: Any, name: str, facts: Sequence[Fact], **more: Any) -> Answer:
        return Answer(
            kind=kind,
            name="|".join(dict.fromkeys((name, *words.result_names(facts[0]), facts[0].name))),
            unit="" if facts[0].unit.startswith("{") else facts[0].unit,
            **more,
        )

    def _is_said(self, name: str) -> bool:
        parts = [one for one in re.split(r"[\s-]", name.casefold()) if len(one) > 1]
        known = _SPELT.get(name, ())
        return any(one in self.said for one in (*parts, *known))


Found: TypeAlias = tuple[str, list[Fact]] | None
"""What a chart is asked about, as it is called, and its facts; None where there is none."""


def last_day(found: Found) -> Made | None:
    """Return the day of the last one; the days before are not it."""
    if found is None:
        return None
    days = [one.day for one in found[1]]
    return Made({"n": found[0]}, Answer(
        kind="date", name=found[0], dates=(days[-1],), others=tuple({*days} - {days[-1]})
    ))  # fmt: skip


def day_in_year(found: Found, chosen: random.Random) -> Made | None:
    """Return a year in which there was one, and its day."""
    if found is None:
        return None
    one = chosen.choice(found[1])
    return Made({"n": found[0], "y": one.day[:4]}, has=(one.day,), lacks=(NO,))


def number_of(found: Found) -> Made | None:
    """Return how many there were."""
    return found and Made({"n": found[0]}, has=(rf"\b{len(found[1])}\b",))


def reason(name: str, facts: Sequence[Fact]) -> Made:
    """Return why the last one was, or that nobody wrote it down."""
    why = facts[-1].why
    return Made({"n": name}, has=(re.escape(why) if why else r"no reason|not record|not say",))


def is_number(value: str) -> bool:
    """Whether a value is a number, or two as of a blood pressure."""
    return all(part.replace(".", "", 1).lstrip("-").isdigit() for part in value.split("/"))


def figure(value: str) -> str:
    """Return a pattern of a value, whole or rounded to four digits."""
    sides = []
    for side in value.split("/"):
        forms = {side} | ({f"{float(side):.4g}", f"{float(side):g}"} if is_number(side) else set())
        sides.append(
            "(?:" + "|".join(sorted(map(re.escape, forms), key=len, reverse=True)) + ")(?:\\.0+)?"
        )
    return rf"(?<![\d.]){'/'.join(sides)}(?![\d.]*\d)"


def rounded(number: float) -> str:
    """Return a pattern of a number that was worked out, with two to four digits."""
    forms = {f"{number:.{digits}g}" for digits in (2, 3, 4)} | {f"{number:.1f}"}
    plain = {f"{float(one):f}".rstrip("0").rstrip(".") for one in forms}
    return "|".join(rf"(?<![\d.]){re.escape(one)}" for one in sorted(plain, key=len, reverse=True))


def allergen(name: str) -> str:
    """Return what somebody is allergic to, without the word for it."""
    plain = name.partition("(")[0].strip()
    return " ".join(re.sub(r"(?i)\b(?:allergy|allergic|to)\b", " ", plain).split()) or plain
