# ruff: noqa: E501 - patterns
"""What is right about values."""

import random
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from evals.cases import Answer
from evals.chart_questions.charts import Fact
from evals.chart_questions.clinic.base import Base, Made, figure, last_day, rounded

_LABS = frozenset({"potassium", "creatinine", "hb", "plt", "chol", "a1c", "alt", "glucose", "wbc"})


class Results(Base):
    """What is right about values."""

    def _gold_latest(self, chosen: random.Random, is_german: bool) -> Made | None:
        found = self._series(chosen, is_german)
        if found is None:
            return None
        name, facts = found
        return Made({"n": name}, self._is(name, facts, -1))

    def _is(self, name: str, facts: list[Fact], at: int) -> Answer:
        one = facts[at]
        others = tuple(sorted({each.value for each in facts} - {one.value}))
        return self._of("value", name, facts, values=(one.value,), dates=(one.day,), others=others)

    def _gold_before_last(self, chosen: random.Random, is_german: bool) -> Made | None:
        found = self._series(chosen, is_german, least=2)
        return found and Made({"n": found[0]}, has=(figure(found[1][-2].value), found[1][-2].day))

    def _gold_last_three(self, chosen: random.Random, is_german: bool) -> Made | None:
        found = self._series(chosen, is_german, least=4)
        if found is None:
            return None
        name, facts = found
        return Made({"n": name}, has=tuple(figure(one.value) for one in facts[-3:]),
                    lacks=(facts[-4].day,))  # fmt: skip

    def _gold_first(self, chosen: random.Random, is_german: bool) -> Made | None:
        found = self._series(chosen, is_german, least=2)
        return found and Made({"n": found[0]}, self._is(*found, 0))

    def _gold_last_when(self, chosen: random.Random, is_german: bool) -> Made | None:
        return last_day(self._series(chosen, is_german))

    def _gold_series(self, chosen: random.Random, is_german: bool) -> Made | None:
        found = self._series(chosen, is_german, least=2)
        return found and Made({"n": found[0]}, self._course(*found))

    def _course(self, name: str, facts: Sequence[Fact]) -> Answer:
        return self._of("series", name, facts, values=tuple(one.value for one in facts),
                        dates=tuple(one.day for one in facts))  # fmt: skip

    def _gold_in_year(self, chosen: random.Random, is_german: bool) -> Made | None:
        found = self._series(chosen, is_german, least=2)
        if found is None:
            return None
        year = chosen.choice(found[1]).day[:4]
        facts = [one for one in found[1] if one.day[:4] == year]
        return Made({"n": found[0], "y": year}, self._course(found[0], facts))

    def _gold_since(self, chosen: random.Random, is_german: bool) -> Made | None:
        found = self._series(chosen, is_german, least=3)
        if found is None:
            return None
        year = found[1][len(found[1]) // 2].day[:4]
        facts = [one for one in found[1] if one.day[:4] >= year]
        return Made({"n": found[0], "y": year}, self._course(found[0], facts))

    def _extreme(
        self, found: tuple[str, list[Fact]] | None, choose: Any, years: str = "", last: str = ""
    ) -> Made | None:
        if found is None:
            return None
        name, every = found
        facts = [one for one in every if (years or "0") <= one.day[:4] <= (last or "9999")]
        best = choose(facts, key=lambda one: float(one.value))
        days = [one.day for one in facts if float(one.value) == float(best.value)]
        others = tuple({one.value for one in every} - {best.value})
        answer = self._of("extreme", name, facts, values=(best.value,), dates=tuple(days),
                          others=others)  # fmt: skip
        return Made({"n": name, "y": years}, answer)

    def _gold_highest(self, chosen: random.Random, is_german: bool) -> Made | None:
        return self._extreme(self._series(chosen, is_german, least=3, single=True), max)

    def _gold_lowest(self, chosen: random.Random, is_german: bool) -> Made | None:
        return self._extreme(self._series(chosen, is_german, least=3, single=True), min)

    def _gold_highest_in_year(self, chosen: random.Random, is_german: bool) -> Made | None:
        found = self._series(chosen, is_german, least=3, single=True)
        year = chosen.choice(found[1]).day[:4] if found else ""
        return self._extreme(found, max, year, year)

    def _gold_highest_since(self, chosen: random.Random, is_german: bool) -> Made | None:
        found = self._series(chosen, is_german, least=3, single=True)
        return self._extreme(found, max, found[1][len(found[1]) // 2].day[:4] if found else "")

    def _gold_count(self, chosen: random.Random, is_german: bool) -> Made | None:
        found = self._series(chosen, is_german, least=2)
        return found and Made(
            {"n": found[0]}, Answer(kind="count", name=found[0], values=(str(len(found[1])),))
        )

    def _gold_count_since(self, chosen: random.Random, is_german: bool) -> Made | None:
        found = self._series(chosen, is_german, least=3)
        if found is None:
            return None
        year = found[1][len(found[1]) // 2].day[:4]
        count = sum(one.day[:4] >= year for one in found[1])
        return Made({"n": found[0], "y": year},
                    Answer(kind="count", name=f"{found[0]} {year}", values=(str(count),)))  # fmt: skip

    def _gold_average(self, chosen: random.Random, is_german: bool) -> Made | None:
        found = self._series(chosen, is_german, least=3, single=True)
        mean = fmean(float(one.value) for one in found[1]) if found else 0
        return found and Made({"n": found[0]}, has=(rounded(mean),))

    def _gold_average_in_year(self, chosen: random.Random, is_german: bool) -> Made | None:
        found = self._series(chosen, is_german, least=3, single=True)
        if found is None:
            return None
        year = chosen.choice(found[1]).day[:4]
        mean = fmean(float(one.value) for one in found[1] if one.day[:4] == year)
        return Made({"n": found[0], "y": year}, has=(rounded(mean),))

    def _gold_above(self, chosen: random.Random, is_german: bool) -> Made | None:
        return self._limit(chosen, is_german, above=True)

    def _gold_below(self, chosen: random.Random, is_german: bool) -> Made | None:
        return self._limit(chosen, is_german, above=False)

    def _limit(self, chosen: random.Random, is_german: bool, *, above: bool) -> Made | None:
        found = self._series(chosen, is_german, least=3, single=True)
        if found is None:
            return None
        numbers = [float(one.value) for one in found[1]]
        limit = round(chosen.uniform(0.9 * min(numbers), 1.1 * max(numbers)), 1)
        met = any(one > limit if above else one < limit for one in numbers)
        fill = {"n": found[0], "x": f"{limit:g}"}
        return Made(fill, has=(r"^\W*yes\b",) if met else (r"^\W*no\b",))

    def _gold_two(self, chosen: random.Random, is_german: bool) -> Made | None:
        one = self._series(chosen, is_german)
        other = self._series(chosen, is_german)
        if one is None or other is None or one[1][0].code == other[1][0].code:
            return None
        last = one[1][-1], other[1][-1]
        return Made({"n": one[0], "m": other[0]}, has=tuple(figure(each.value) for each in last))

    def _gold_absent(self, chosen: random.Random, _: bool) -> Made | None:
        rows = [one for one in self.told["not_measured"] if not self._is_said(one)]
        name = chosen.choice(rows) if rows else ""
        return Made({"n": name}, Answer(kind="absent", name=name)) if name else None

    def _group(self, *keys: str) -> Made | None:
        rows = [self.results[key][1][-1] for key in keys if key in self.results]
        return Made(has=tuple(figure(one.value) for one in rows)) if len(rows) >= 2 else None

    def _gold_vitals(self, *_: Any) -> Made | None:
        return self._group("bp", "weight")

    def _gold_labs(self, *_: Any) -> Made | None:
        rows = [one for key, (_, facts) in self.results.items() if key in _LABS for one in facts]
        return Made(has=(max(one.day for one in rows),)) if rows else None

    def _gold_labs_in_year(self, chosen: random.Random, _: bool) -> Made | None:
        rows = [facts for _, facts in self.results.values() if facts[0].code in ("718-7", "2093-3")]
        if not rows:
            return None
        one = chosen.choice(chosen.choice(rows))
        return Made({"y": one.day[:4]}, has=(one.day, figure(one.value)))

    def _gold_renal(self, *_: Any) -> Made | None:
        return self._group("creatinine", "egfr")

    def _gold_lipids(self, *_: Any) -> Made | None:
        return self._group("chol", "ldl", "hdl", "tg")

    def _gold_cbc(self, *_: Any) -> Made | None:
        return self._group("hb", "wbc", "plt")

    def _gold_lytes(self, *_: Any) -> Made | None:
        return self._group("sodium", "potassium", "chloride")

    def _gold_liver(self, *_: Any) -> Made | None:
        return self._group("alt", "ast", "alp", "bili")
