# ruff: noqa: E501 - patterns
"""What is right about problems."""

import random
import re
from collections import defaultdict
from typing import Any

from evals.cases import Answer
from evals.chart_questions.charts import Fact
from evals.chart_questions.clinic.base import (
    NO,
    OPEN,
    Base,
    Made,
)


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
