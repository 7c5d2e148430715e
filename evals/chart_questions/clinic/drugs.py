"""What is right about drugs."""

import random
import re
from collections import defaultdict
from typing import Any

from evals.cases import Answer
from evals.chart_questions import words
from evals.chart_questions.charts import Fact
from evals.chart_questions.clinic.base import (
    NO,
    NOTHING,
    Base,
    Made,
    reason,
)


class Drugs(Base):
    """What is right about drugs."""

    def _drugs(self) -> dict[str, list[Fact]]:
        found = defaultdict[str, list[Fact]](list)
        for one in self.chart.of("medication"):
            if words.ingredient(one.name):
                found[words.ingredient(one.name)].append(one)
        return found

    def _gold_medications(self, *_: Any) -> Made | None:
        rows = self._drugs()
        now = [name for name, facts in rows.items() if any(one.status == "active" for one in facts)]
        if not now:
            return Made(has=(NOTHING,))
        return Made(answer=Answer(kind="list", name="medications", values=tuple(now)))

    def _gold_stopped(self, *_: Any) -> Made | None:
        rows = self._drugs()
        over = {"stopped", "completed", "cancelled"}
        gone = [name for name, facts in rows.items() if all(one.status in over for one in facts)]
        if not gone or len(gone) > 12:
            return None
        return Made(answer=Answer(kind="list", name="medications", values=tuple(gone)))

    def _drug(
        self, chosen: random.Random, is_german: bool
    ) -> tuple[str, list[Fact], list[Fact]] | None:
        rows = []
        for full, names in self.told["drugs"].items():
            facts = [one for one in self.chart.of("medication") if one.name == full]
            word = words.ingredient(full)
            alike = [
                one for one in self.chart.of("medication") if words.ingredient(one.name) == word
            ]
            if facts and len(alike) == len(facts):
                rows.append((names, facts))
        if not rows:
            return None
        names, facts = chosen.choice(rows)
        name = self._named(names, chosen, is_german)
        return name, facts, [one for one in facts if one.status == "active"]

    def _gold_takes(self, chosen: random.Random, is_german: bool) -> Made | None:
        found = self._drug(chosen, is_german)
        if found is None:
            return None
        has = (
            "yes|ja|active|taken now|aktiv|current"
            if found[2]
            else r"\bno\b|stopped|completed|nein|abgesetzt"
        )
        return Made(
            {"n": found[0]},
            has=(has,),
            lacks=(NO,) if found[2] else (r"\A\W*yes\b",),
        )

    def _gold_stopped_one(self, chosen: random.Random, is_german: bool) -> Made | None:
        found = self._drug(chosen, is_german)
        if found is None:
            return None
        return Made({"n": found[0]}, has=("active|taken now" if found[2] else "stopped|completed",))

    def _gold_took_ever(self, chosen: random.Random, is_german: bool) -> Made | None:
        found = self._drug(chosen, is_german)
        days = "|".join({one.day[:4] for one in found[1]}) if found else ""
        return found and Made({"n": found[0]}, has=(days,), lacks=(NO, "not in the record"))

    def _gold_not_taken(self, chosen: random.Random, _: bool) -> Made | None:
        rows = [one for one in self.told["not_taken"] if not self._is_said(one)]
        name = chosen.choice(rows)
        return Made({"n": name}, Answer(kind="absent", name=name))

    def _gold_dose(self, chosen: random.Random, is_german: bool) -> Made | None:
        found = self._drug(chosen, is_german)
        if found is None:
            return None
        strength = re.search(r"[\d.]+(?= ?mg)", found[1][-1].name, re.IGNORECASE)
        return strength and Made({"n": found[0]}, has=(re.escape(strength[0]),))

    def _gold_drug_since(self, chosen: random.Random, is_german: bool) -> Made | None:
        found = self._drug(chosen, is_german)
        return found and Made({"n": found[0]}, has=(found[1][0].day,))

    def _gold_drug_last(self, chosen: random.Random, is_german: bool) -> Made | None:
        found = self._drug(chosen, is_german)
        return found and Made({"n": found[0]}, has=(found[1][-1].day,))

    def _gold_drug_who(self, chosen: random.Random, is_german: bool) -> Made | None:
        found = self._drug(chosen, is_german)
        return found and (found[1][-1].who or None) and Made(
            {"n": found[0]}, has=(re.escape(found[1][-1].who.split()[-1]),)
        )  # fmt: skip

    def _gold_drug_why(self, chosen: random.Random, is_german: bool) -> Made | None:
        found = self._drug(chosen, is_german)
        return found and reason(*found[:2])

    def _gold_stopped_when(self, chosen: random.Random, is_german: bool) -> Made | None:
        found = self._drug(chosen, is_german)
        if found is None or found[2]:
            return None
        return Made({"n": found[0]}, has=(r"stopped|completed", r"\bno\b|\bnot\b"))
