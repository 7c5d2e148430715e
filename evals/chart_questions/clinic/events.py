"""What is right about allergies, vaccines and procedures."""

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
    allergen,
    day_in_year,
    last_day,
    number_of,
    reason,
)


class Events(Base):
    """What is right about allergies, vaccines and procedures."""

    def _gold_allergies(self, *_: Any) -> Made | None:
        rows = [one for one in self.chart.of("allergy") if one.status == "active"]
        if not rows:
            return Made(has=(NOTHING,))
        names = [allergen(one.name) for one in rows]
        return Made(answer=Answer(kind="list", name="allergies", values=tuple(names)))

    def _gold_allergic(self, chosen: random.Random, _: bool) -> Made | None:
        rows = [one for one in self.chart.of("allergy") if one.status == "active"]
        if not rows:
            return None
        one = chosen.choice(rows)
        name = allergen(one.name).lower()
        return Made(
            {"n": name},
            has=(re.escape(name),),
            lacks=(NO, rf"{re.escape(name)}[^\n]*not in the record"),
        )

    def _gold_not_allergic(self, chosen: random.Random, _: bool) -> Made | None:
        rows = [one for one in self.told["not_allergic"] if not self._is_said(one)]
        name = chosen.choice(rows) if rows else ""
        return Made({"n": name}, Answer(kind="absent", name=name)) if name else None

    def _shots(self) -> dict[str, list[Fact]]:
        found = defaultdict[str, list[Fact]](list)
        for one in self.chart.of("immunization"):
            found[one.code].append(one)
        return found

    def _gold_vaccines(self, *_: Any) -> Made | None:
        rows = {words.vaccine_name(one.name) for one in self.chart.of("immunization")} - {""}
        return (
            Made(answer=Answer(kind="list", name="vaccines", values=tuple(sorted(rows))))
            if rows
            else None
        )

    def _gold_vaccines_in_year(self, chosen: random.Random, _: bool) -> Made | None:
        rows = self.chart.of("immunization")
        if not rows:
            return None
        year = chosen.choice(rows).day[:4]
        names = {re.escape(one.name.split()[0].rstrip(",")) for one in rows if one.day[:4] == year}
        return Made({"y": year}, has=tuple(sorted(names)))

    def _gold_last_vaccine_any(self, *_: Any) -> Made | None:
        rows = self.chart.of("immunization")
        return Made(has=(rows[-1].day,)) if rows else None

    def _gold_count_vaccines(self, *_: Any) -> Made | None:
        rows = self.chart.of("immunization")
        return Made(has=(rf"\b{len(rows)}\b",)) if rows else None

    def _shot(self, chosen: random.Random, *, most: int = 99) -> tuple[str, list[Fact]] | None:
        shots = self._shots()
        if "113" in shots and "115" in shots:
            del shots["113"]  # both are shots against tetanus
        rows = [(self.told["vaccines"][code], facts) for code, facts in shots.items()
                if code in self.told["vaccines"]]  # fmt: skip
        if not rows:
            return None
        names, facts = chosen.choice(rows)
        return chosen.choice(names), facts

    def _gold_vaccine_last(self, chosen: random.Random, _: bool) -> Made | None:
        return last_day(self._shot(chosen))

    def _gold_vaccine_had(self, chosen: random.Random, _: bool) -> Made | None:
        found = self._shot(chosen)
        return found and Made({"n": found[0]}, has=(found[1][-1].day,), lacks=(NO,))

    def _gold_vaccine_count(self, chosen: random.Random, _: bool) -> Made | None:
        return number_of(self._shot(chosen))

    def _gold_vaccine_in_year(self, chosen: random.Random, _: bool) -> Made | None:
        return day_in_year(self._shot(chosen), chosen)

    def _gold_vaccine_never(self, chosen: random.Random, _: bool) -> Made | None:
        rows = [one for one in self.told["not_given"] if not self._is_said(one)]
        name = chosen.choice(rows) if rows else ""
        return Made({"n": name}, has=(NOTHING,)) if name else None

    def _gold_procedures(self, *_: Any) -> Made | None:
        names = {one.name for one in self.chart.of("procedure")}
        if not 1 <= len(names) <= 12:
            return None
        return Made(answer=Answer(kind="list", name="procedures", values=tuple(sorted(names))))

    def _gold_surgeries(self, *_: Any) -> Made | None:
        """What is no operation is not among the operations."""
        names = {one.name for one in self.chart.of("procedure")}
        cuts = [
            one for one in names if re.search(r"(?i)ectomy|section|resection|ligation|suture", one)
        ]
        lacks = tuple(one for one in ("Documentation of", "Medication Reconc", "Review of systems",
                                      "Depression screening", "Throat culture") )  # fmt: skip
        return Made(has=tuple(map(re.escape, cuts)), lacks=lacks) if names else None

    def _gold_procedures_in_year(self, chosen: random.Random, _: bool) -> Made | None:
        rows = self.chart.of("procedure")
        if not rows:
            return None
        year = chosen.choice(rows).day[:4]
        names = {one.name for one in rows if one.day[:4] == year}
        return (
            Made({"y": year}, has=tuple(map(re.escape, sorted(names)))) if len(names) < 8 else None
        )

    def _procedure(self, chosen: random.Random) -> tuple[str, list[Fact]] | None:
        rows = []
        every = {one.name for one in self.chart.of("procedure")}
        for full, names in self.told["procedures"].items():
            plain = full.partition(" (")[0]
            facts = [one for one in self.chart.of("procedure") if one.name == plain]
            word = names[0].split()[-1].casefold()
            if facts and not any(word in one.casefold() for one in every - {plain}):
                rows.append((names, facts))
        if not rows:
            return None
        names, facts = chosen.choice(rows)
        return chosen.choice(names), facts

    def _gold_procedure_last(self, chosen: random.Random, _: bool) -> Made | None:
        return last_day(self._procedure(chosen))

    def _gold_procedure_had(self, chosen: random.Random, _: bool) -> Made | None:
        found = self._procedure(chosen)
        return found and Made(
            {"n": found[0]},
            has=(found[1][-1].day,),
            lacks=(NO, "not in the record"),
        )

    def _gold_procedure_count(self, chosen: random.Random, _: bool) -> Made | None:
        return number_of(self._procedure(chosen))

    def _gold_procedure_in_year(self, chosen: random.Random, _: bool) -> Made | None:
        return day_in_year(self._procedure(chosen), chosen)

    def _gold_procedure_why(self, chosen: random.Random, _: bool) -> Made | None:
        found = self._procedure(chosen)
        return found and reason(*found)

    def _gold_procedure_who(self, chosen: random.Random, _: bool) -> Made | None:
        found = self._procedure(chosen)
        if found is None:
            return None
        who = found[1][-1].who
        return Made({"n": found[0]}, has=(re.escape(who) if who else NOTHING,))

    def _gold_procedure_never(self, chosen: random.Random, _: bool) -> Made | None:
        rows = [one for one in self.told["not_done"] if not self._is_said(one)]
        name = chosen.choice(rows) if rows else ""
        return Made({"n": name}, Answer(kind="absent", name=name)) if name else None
