# ruff: noqa: E501 - patterns
"""What is right about problems and drugs."""

import random
import re
from collections import defaultdict
from typing import Any

from evals.cases import Answer
from evals.chart_questions import words
from evals.chart_questions.charts import Fact
from evals.chart_questions.clinic.base import NO, NOTHING, OPEN, Base, Made, reason


class Problems(Base):
    """What is right about problems."""

    def _problems(self) -> dict[str, list[Fact]]:
        found = defaultdict[str, list[Fact]](list)
        for one in self.chart.of("problem"):
            found[one.name].append(one)
        return found

    def _gold_problems(self, *_: Any) -> Made | None:
        rows = self._problems()
        now = [name for name, facts in rows.items() if any(one.status in OPEN for one in facts)]
        return Made(answer=Answer(kind="list", name="problems", values=tuple(now))) if now else None

    def _gold_resolved(self, *_: Any) -> Made | None:
        rows = self._problems()
        gone = [
            name for name, facts in rows.items() if all(one.status == "resolved" for one in facts)
        ]
        now = {*rows} - {*gone}
        if not gone or len(gone) > 12:
            return None
        lacks = tuple(re.escape(one) for one in now)
        return Made(answer=Answer(kind="list", name="problems", values=tuple(gone)), lacks=lacks)

    def _problem(
        self, chosen: random.Random, is_german: bool, *, least: int = 1, most: int = 99
    ) -> tuple[str, list[Fact]] | None:
        rows = []
        for full, names in self.told["problems"].items():
            plain = full.partition(" (")[0]
            facts = [one for one in self.chart.of("problem") if one.name == plain]
            rest = {one.name for one in self.chart.of("problem")} - {plain}
            sure = [
                one for one in names
                if not any(part in each.casefold() for part in one.casefold().split() for each in rest)
            ]  # fmt: skip
            if least <= len(facts) <= most and sure:
                rows.append((sure, facts))
        if not rows:
            return None
        names, facts = chosen.choice(rows)
        return self._named(names, chosen, is_german), facts

    def _gold_has_now(self, chosen: random.Random, is_german: bool) -> Made | None:
        found = self._problem(chosen, is_german)
        if found is None:
            return None
        name, facts = found
        if any(one.status in OPEN for one in facts):
            return Made(
                {"n": name},
                has=(facts[0].day[:4] + "|" + facts[-1].day[:4],),
                lacks=(r"\A\W*no\b",),
            )
        return Made({"n": name}, has=(r"resolved|inactive|abated|abgeklungen|no longer",))

    def _gold_has_ever(self, chosen: random.Random, is_german: bool) -> Made | None:
        found = self._problem(chosen, is_german)
        if found is None:
            return None
        days = "|".join({one.day[:4] for one in found[1]})
        return Made({"n": found[0]}, has=(days,), lacks=(NO, "not in the record"))

    def _gold_never_had(self, chosen: random.Random, _: bool) -> Made | None:
        rows = [one for one in self.told["not_had"] if not self._is_said(one)]
        name = chosen.choice(rows)
        return Made({"n": name}, Answer(kind="absent", name=name))

    def _gold_onset(self, chosen: random.Random, is_german: bool) -> Made | None:
        found = self._problem(chosen, is_german, most=1)
        return found and Made(
            {"n": found[0]}, Answer(kind="date", name=found[0], dates=(found[1][0].day,))
        )

    def _gold_over(self, chosen: random.Random, is_german: bool) -> Made | None:
        found = self._problem(chosen, is_german, most=1)
        if found is None:
            return None
        is_open = found[1][0].status in OPEN
        return Made({"n": found[0]}, has=("active" if is_open else found[1][0].status,),
                    lacks=("resolved",) if is_open else ())  # fmt: skip

    def _gold_over_when(self, chosen: random.Random, is_german: bool) -> Made | None:
        found = self._problem(chosen, is_german, most=1)
        if found is None or not found[1][0].end:
            return None
        return Made({"n": found[0]}, has=(re.escape(found[1][0].end[:10]),))

    def _gold_episodes(self, chosen: random.Random, is_german: bool) -> Made | None:
        found = self._problem(chosen, is_german, least=2)
        return found and Made(
            {"n": found[0]}, Answer(kind="count", name=found[0], values=(str(len(found[1])),)),
            has=(rf"\b{len(found[1])}\b",),
        )  # fmt: skip

    def _gold_summary(self, *_: Any) -> Made | None:
        made = self._gold_problems()
        values = made.answer.values[:3] if made and made.answer else ()
        return Made(has=tuple(map(re.escape, values)) or (re.escape(self.chart.name.split()[-1]),))

    def _gold_timeline(self, *_: Any) -> Made | None:
        rows = [facts for facts in self._problems().values() if len(facts) == 1]
        days = [facts[0].day for facts in rows]
        return Made(has=(max(days),)) if days else None

    def _gold_treatments(self, *_: Any) -> Made | None:
        names = {one.name for one in self.chart.of("procedure") if one.when}
        return Made(has=tuple(map(re.escape, names))) if 0 < len(names) < 8 else None

    def _gold_timeline_in_year(self, chosen: random.Random, _: bool) -> Made | None:
        facts = [one for one in self.chart.of("problem") if one.day]
        if not facts:
            return None
        one = chosen.choice(facts)
        return Made({"y": one.day[:4]}, has=(re.escape(one.name), one.day))

    def _gold_timeline_since(self, *_: Any) -> Made | None:
        facts = [one for one in self.chart.of("problem") if one.day]
        return Made({"y": facts[-1].day[:4]}, has=(re.escape(facts[-1].name),)) if facts else None


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
