"""What is right about visits, care and the person."""

import random
import re
from typing import Any

from evals.cases import Answer
from evals.chart_questions.charts import Fact
from evals.chart_questions.clinic.base import NO, NOTHING, Base, Made

_MONTHS = "January February March April May June July August September October November December"
_MARITAL = {
    "M": "married|verheiratet",
    "S": "single|never married|ledig",
    "D": "divorced|geschieden",
    "W": "widowed|verwitwet",
}


class Visits(Base):
    """What is right about visits, care and the person."""

    def _visits(self) -> list[Fact]:
        return [one for one in self.chart.of("encounter") if one.when]

    def _gold_last_visit(self, *_: Any) -> Made | None:
        days = [one.day for one in self._visits()]
        return Made(answer=Answer(
            kind="date", name="visit", dates=(days[-1],), others=tuple({*days} - {days[-1]})
        )) if days else None  # fmt: skip

    def _gold_last_visit_why(self, *_: Any) -> Made | None:
        rows = self._visits()
        if not rows:
            return None
        why = re.escape(rows[-1].why) if rows[-1].why else "no reason|not record|not say"
        return Made(has=(rows[-1].day, why))

    def _gold_last_visit_where(self, *_: Any) -> Made | None:
        rows = self._visits()
        return (
            Made(has=(rows[-1].day, re.escape(rows[-1].where) if rows[-1].where else NOTHING))
            if rows
            else None
        )

    def _gold_last_visit_who(self, *_: Any) -> Made | None:
        rows = self._visits()
        if not rows or not rows[-1].who:
            return None
        return Made(has=(rows[-1].day, re.escape(rows[-1].who.split()[-1])))

    def _gold_count_visits_in_year(self, chosen: random.Random, _: bool) -> Made | None:
        rows = self._visits()
        if not rows:
            return None
        year = chosen.choice(rows).day[:4]
        count = sum(one.day[:4] == year for one in rows)
        return Made({"y": year}, Answer(kind="count", name=year, values=(str(count),)))

    def _gold_visits_in_year(self, chosen: random.Random, _: bool) -> Made | None:
        rows = self._visits()
        if not rows:
            return None
        year = chosen.choice(rows).day[:4]
        days = sorted({one.day for one in rows if one.day[:4] == year})
        return Made({"y": year}, has=tuple(days), lacks=(NO,)) if len(days) < 8 else None

    def _gold_visits_in_month(self, chosen: random.Random, _: bool) -> Made | None:
        rows = self._visits()
        if not rows:
            return None
        month = chosen.choice(rows).day[:7]
        facts = [one for one in rows if one.day[:7] == month]
        fill = {"y": month[:4], "month": _MONTHS.split()[int(month[5:]) - 1]}
        return Made(fill, has=tuple(one.day for one in facts))

    def _gold_visits_since(self, chosen: random.Random, _: bool) -> Made | None:
        rows = self._visits()
        if not rows:
            return None
        year = rows[-1].day[:4]
        days = sorted({one.day for one in rows if one.day[:4] >= year})
        return Made({"y": year}, has=tuple(days)) if len(days) < 8 else None

    def _gold_first_visit(self, *_: Any) -> Made | None:
        rows = self._visits()
        return Made(has=(rows[0].day,)) if rows else None

    def _gold_count_visits(self, *_: Any) -> Made | None:
        rows = self._visits()
        return Made(has=(rf"\b{len(rows)}\b",)) if rows else None

    def _gold_visits(self, *_: Any) -> Made | None:
        rows = self._visits()
        return Made(has=tuple(one.day for one in rows)) if 1 <= len(rows) <= 12 else None

    def _gold_emergency(self, *_: Any) -> Made | None:
        rows = [one for one in self._visits() if one.status == "EMER"]
        return Made(has=(rows[-1].day,)) if rows else Made(has=(NOTHING,))

    def _gold_count_emergency(self, *_: Any) -> Made | None:
        rows = [one for one in self._visits() if one.status == "EMER"]
        return Made(has=(rf"\b{len(rows)}\b" if rows else NOTHING + r"|\b0\b",))

    def _gold_inpatient(self, *_: Any) -> Made | None:
        rows = [one for one in self._visits() if one.status in ("IMP", "ACUTE", "NONAC")]
        return Made(has=(rows[-1].day,)) if rows else Made(has=(NOTHING,))

    def _gold_doctors(self, *_: Any) -> Made | None:
        rows = [one for one in self._visits() if one.who]
        return Made(has=(re.escape(rows[-1].who.split()[-1]),)) if rows else None

    def _gold_no_appointment(self, *_: Any) -> Made | None:
        return None if "Appointment" in self.chart.holds else Made(has=(NOTHING,))

    def _gold_smoking(self, *_: Any) -> Made | None:
        rows = [one for one in self.chart.of("result") if one.code == "72166-2"]
        return Made(has=(re.escape(rows[-1].value), rows[-1].day)) if rows else None

    def _gold_marital(self, *_: Any) -> Made | None:
        found = self.chart.person.get("marital", "")
        return Made(has=(_MARITAL.get(found, re.escape(found)),)) if found else None

    def _gold_tongue(self, *_: Any) -> Made | None:
        found = self.chart.person.get("language", "")
        return Made(has=(re.escape(found),)) if found else None

    def _gold_careplans(self, *_: Any) -> Made | None:
        rows = [one for one in self.chart.of("careplan") if one.status == "active"]
        if not rows:
            return Made(has=(NOTHING,)) if not self.chart.of("careplan") else None
        return Made(has=tuple(re.escape(one.name) for one in rows))

    def _gold_goals(self, *_: Any) -> Made | None:
        rows = self.chart.of("goal")
        return (
            Made(has=tuple(re.escape(one.name) for one in rows) or (NOTHING,))
            if len(rows) < 12
            else None
        )

    def _gold_imaging(self, *_: Any) -> Made | None:
        rows = self.chart.of("imaging")
        return Made(has=(rows[-1].day,)) if rows else None

    def _gold_panel(self, *_: Any) -> Made | None:
        rows = [one for one in self.chart.of("report") if one.name == "Lipid Panel"]
        return Made(has=(rows[-1].day,)) if rows else None

    def _gold_age(self, *_: Any) -> Made | None:
        return Made(has=(self.chart.birth_date[:4] + r"|\d\d",)) if self.chart.birth_date else None

    def _gold_birth(self, *_: Any) -> Made | None:
        return Made(has=(self.chart.birth_date,)) if self.chart.birth_date else None

    def _gold_sex(self, *_: Any) -> Made | None:
        return Made(has=(rf"\b{self.chart.gender}\b",)) if self.chart.gender else None

    def _gold_address(self, *_: Any) -> Made | None:
        found = self.chart.person.get("city", "")
        return Made(has=(re.escape(found),)) if found else None

    def _gold_phone(self, *_: Any) -> Made | None:
        found = self.chart.person.get("phone", "")
        return Made(has=(re.escape(found),)) if found else None

    def _gold_mrn(self, *_: Any) -> Made | None:
        found = self.chart.person.get("mrn", "")
        return Made(has=(re.escape(found),)) if found else None

    def _gold_name(self, *_: Any) -> Made | None:
        return Made(has=(re.escape(self.chart.name.split()[-1]),))

    def _gold_alive(self, *_: Any) -> Made | None:
        died = self.chart.person.get("died", "")
        return Made(has=(died[:10],)) if died else Made(has=(NOTHING + "|alive|living",))

    def _gold_ethnicity(self, *_: Any) -> Made | None:
        found = self.chart.person.get("ethnicity", "")
        return Made(has=(re.escape(found),)) if found else None
