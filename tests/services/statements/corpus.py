"""Right and wrong sentences over FHIR bundles, made without a line of the product's reading."""

import calendar
import gzip
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from data_models.chart_view import ChartView, ViewRow, ViewSource

ROOT = Path(__file__).parents[3]
SAMPLES = ROOT / "samples" / "patients"
CHARTS = ROOT.parent / "shared" / "data" / "charts"
_MONTHS = calendar.month_name[1:]
_MONTHS_DE = ("Januar", "Februar", "März", "April", "Mai", "Juni",
              "Juli", "August", "September", "Oktober", "November", "Dezember")  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One sentence, whether it is right, and what kind of sentence it is."""

    text: str
    is_right: bool
    kind: str


@dataclass(frozen=True)
class Chart:
    name: str
    views: tuple[ChartView, ...]
    cases: tuple[Case, ...]


def charts(limit: int | None = None) -> Iterator[Chart]:
    """Yield the samples, and the public charts where they are."""
    files = [*sorted(SAMPLES.glob("*.json")), *sorted(CHARTS.glob("*.json.gz"))[:limit]]
    bundles = [(path.stem, _bundle(path)) for path in files]
    for at, (name, bundle) in enumerate(bundles):
        views = tuple(_views(bundle))
        other = tuple(_views(bundles[(at + 1) % len(bundles)][1]))
        rng = random.Random(f"sentences of {name}")
        yield Chart(name, views, tuple(_cases(views, other, rng)))


def _bundle(path: Path) -> list[dict[str, Any]]:
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [entry["resource"] for entry in json.loads(raw)["entry"]]


def _name(node: dict[str, Any] | None) -> str:
    node = node or {}
    return str(node.get("text") or next((c.get("display", "") for c in node.get("coding", ())), ""))


def _views(resources: list[dict[str, Any]]) -> Iterator[ChartView]:
    rows = {tool: list[ViewRow]() for tool in _TITLES}
    for one in resources:
        ref = f"{one['resourceType']}/{one.get('id', 'x')}"
        if one["resourceType"] == "Observation":
            rows["results"] += _observed(one, ref)
        elif one["resourceType"] in _READ and "medicationReference" not in one:
            tool, kind, element, read = _READ[one["resourceType"]]
            named = one[element] if element != "type" else (one.get("type") or [{}])[0]
            rows[tool].append(_row(kind, _name(named), ref, **read(one)))
    for tool, title in _TITLES.items():
        yield _view(tool, "series" if tool == "results" else "table", title, rows[tool])


_TITLES = {
    "results": "Results",
    "medications": "Medications",
    "problems": "Problems",
    "immunizations": "Immunizations",
    "procedures": "Procedures",
    "encounters": "Encounters",
    "allergies": "Allergies",
}
_READ: dict[str, tuple[str, str, str, Callable[[dict[str, Any]], dict[str, str]]]] = {
    "MedicationRequest": ("medications", "medication", "medicationCodeableConcept", lambda one: {
        "detail": " ".join(row.get("text", "") for row in one.get("dosageInstruction", ())),
        "status": one["status"], "date": one.get("authoredOn", ""),
    }),
    "Condition": ("problems", "problem", "code", lambda one: {
        "status": (one.get("clinicalStatus", {}).get("coding") or [{}])[0].get("code", ""),
        "date": one.get("onsetDateTime", ""), "end": one.get("abatementDateTime", ""),
    }),
    "Immunization": ("immunizations", "immunization", "vaccineCode", lambda one: {
        "date": one.get("occurrenceDateTime", ""),
    }),
    "Procedure": ("procedures", "procedure", "code", lambda one: {
        "status": one["status"],
        "date": one.get("performedDateTime") or one.get("performedPeriod", {}).get("start", ""),
    }),
    "AllergyIntolerance": ("allergies", "allergy", "code", lambda _: {"status": "active"}),
    "Encounter": ("encounters", "encounter", "type", lambda one: {
        "date": one.get("period", {}).get("start", ""),
    }),
}  # fmt: skip


def _observed(one: dict[str, Any], ref: str) -> Iterator[ViewRow]:
    date = one.get("effectiveDateTime", "")
    for part in (one, *one.get("component", ())):
        quantity = part.get("valueQuantity", {})
        if "value" in quantity:
            number = float(f"{quantity['value']:.4g}")
            yield _row("laboratory", _name(part["code"]), ref, value=f"{number:g}",
                       number=number, unit=quantity.get("unit", ""), date=date)  # fmt: skip
        elif part is one and "valueCodeableConcept" in one:
            value = _name(one["valueCodeableConcept"])
            yield _row("laboratory", _name(one["code"]), ref, value=value, date=date)


def _row(kind: str, name: str, ref: str, **fields: Any) -> ViewRow:
    return ViewRow(kind=kind, name=name, sources=(ref,), **fields)


def _view(tool: str, kind: Any, title: str, rows: list[ViewRow]) -> ChartView:
    rows = [row for row in rows if row.name]
    sources = tuple(ViewSource(ref=ref, date=row.date) for row in rows for ref in row.sources)
    nothing = "" if rows else f"No {title.lower()} in the record."
    return ChartView(
        tool=tool, kind=kind, title=title, rows=tuple(rows), sources=sources, nothing=nothing
    )


# -- sentences --------------------------------------------------------------------------------


def _cases(
    views: tuple[ChartView, ...], other: tuple[ChartView, ...], rng: random.Random
) -> Iterator[Case]:
    by_tool = {view.tool: view for view in views}
    theirs = {view.tool: view for view in other}
    yield from _results(by_tool["results"].rows, rng)
    yield from _medications(by_tool["medications"].rows, theirs["medications"].rows, rng)
    yield from _problems(by_tool["problems"].rows, theirs["problems"].rows, rng)
    yield from _dated(by_tool["immunizations"].rows, rng)
    yield from _absent(by_tool)


def _plain(name: str) -> str:
    return name.partition(" [")[0].partition("/")[0].partition(" (")[0]


def _results(rows: tuple[ViewRow, ...], rng: random.Random) -> Iterator[Case]:
    numeric = [row for row in rows if row.number is not None and row.date]
    for row in rng.sample(numeric, min(10, len(numeric))):
        name, unit = _plain(row.name), row.unit if not row.unit.startswith("{") else ""
        series = [one for one in numeric if one.name == row.name]
        day = _written(row.date, rng)
        forms = [
            "{n} was {v} {u} on {d} [{r}].",
            "{n}: {v} {u} ({d})",
            "- **{n}** {v} {u}, {d} [{r}]",
            "On {d}, the {n} was {v} {u}.",
            "| {n} | {v} | {u} | {d} |",
            "The {n} measured on {d} was {v} {u}.",
        ]
        form = rng.choice(forms)

        def said(
            value: str,
            u: str = unit,
            d: str = day,
            form: str = form,
            name: str = name,
            row: ViewRow = row,
        ) -> str:
            return form.format(n=name, v=value, u=u, d=d, r=row.sources[0])

        yield Case(said(row.value), True, "value")
        known = {one.number for one in series}
        wrong = _other_number(row.number or 0.0, known, rng)
        yield Case(said(wrong), False, "other value")
        if unit in _OTHER_UNIT:
            yield Case(said(row.value, _OTHER_UNIT[unit]), False, "other unit")
        days = {one.date[:10] for one in series}
        yield Case(said(row.value, d=_other_day(row.date, days, rng)), False, "other date")
        newest = max(series, key=lambda one: one.date)
        if len(series) > 1 and newest.date[:10] != row.date[:10] and newest.number != row.number:
            yield Case(f"The latest {name} is {row.value} {unit}.", False, "not the latest")
        same = [one for one in series if one.date[:10] == newest.date[:10]]
        if len(same) == 1:
            yield Case(f"The most recent {name} is {newest.value} {unit}.", True, "latest")
        if unit == "mg/dL":
            yield Case(f"{name} was {row.number / 100:g} g/L on {day}.", True, "converted")  # type: ignore[operator]
        if "." in row.value:
            yield Case(
                f"Am {_german(row.date)} lag {name} bei {row.value.replace('.', ',')} {unit}.",
                True,
                "German",
            )


_OTHER_UNIT = {
    "mg/dL": "mmol/L",
    "mmol/L": "mg/dL",
    "g/dL": "mg/dL",
    "%": "mg/dL",
    "kg": "g",
    "cm": "m",
    "10*3/uL": "10*6/uL",
    "fL": "pg",
    "pg": "fL",
    "mm[Hg]": "kPa",
}


def _medications(  # noqa: C901 - one case a line
    mine: tuple[ViewRow, ...], theirs: tuple[ViewRow, ...], rng: random.Random
) -> Iterator[Case]:
    named = {row.name: row for row in mine}
    rows = list(named.values())
    for row in rng.sample(rows, min(6, len(rows))):
        drug, dose = _drug(row.name), _dose(row.name)
        group = [one for one in mine if drug.lower() in one.name.lower()]
        is_active = any(one.status == "active" for one in group)
        day = _written(row.date, rng)
        if is_active and row.status == "active":
            yield Case(
                rng.choice(
                    [
                        f"She takes {drug} {dose}.",
                        f"- {drug} {dose}",
                        f"He is on {drug} {dose} since {day}.",
                    ]
                ),
                True,
                "drug",
            )
        else:
            yield Case(
                rng.choice(
                    [
                        f"{drug} {dose} was prescribed on {day}.",
                        f"- {drug} {dose} ({row.status}, {day})",
                    ]
                ),
                True,
                "drug",
            )
        if not is_active and row.status in ("stopped", "completed"):
            yield Case(f"She currently takes {drug}.", False, "stopped drug")
        if dose and not any(_dose(one.name) == _double(dose) for one in group):
            yield Case(f"- {drug} {_double(dose)}", False, "other dose")
        others = [one for one in rows if _dose(one.name) and _drug(one.name) != drug]
        others = [one for one in others if not any(_dose(one.name) in each.name for each in group)]
        if others and dose:
            yield Case(
                f"{drug} {_dose(rng.choice(others).name)} was prescribed.",
                False,
                "another drug's dose",
            )
    own = " ".join(row.name.lower() for row in mine)
    for row in theirs[:40]:
        if _drug(row.name).lower() not in own:
            yield Case(
                f"He takes {_drug(row.name)} {_dose(row.name)}.", False, "another patient's drug"
            )
            yield Case(f"- {_drug(row.name)}", False, "another patient's drug")
            break
    for drug in ("Glucophage", "lisinopril", "rivaroxaban", "imatinib"):
        if drug.lower() not in own:
            yield Case(f"Current medication includes {drug} 10 mg daily.", False, "invented drug")


def _problems(
    mine: tuple[ViewRow, ...], theirs: tuple[ViewRow, ...], rng: random.Random
) -> Iterator[Case]:
    dated = [row for row in mine if row.date]
    for row in rng.sample(dated, min(6, len(dated))):
        name = _plain(row.name)
        day = _written(row.date, rng)
        alike = {one.date[:10] for one in mine if _plain(one.name) == name}
        yield Case(
            rng.choice(
                [f"{name} was diagnosed on {day}.", f"- {name} since {day}", f"| {name} | {day} |"]
            ),
            True,
            "problem",
        )
        yield Case(
            f"{name} was diagnosed on {_other_day(row.date, alike, rng)}.",
            False,
            "other date of a problem",
        )
        if row.status == "active":
            yield Case(f"She has active {name}.", True, "active problem")
            yield Case(f"No {name}.", False, "negated problem")
        elif row.status == "resolved" and all(
            one.status == "resolved" for one in mine if _plain(one.name) == name
        ):
            yield Case(f"{name} is currently active.", False, "resolved problem")
    own = " ".join(row.name.lower() for row in mine)
    for row in theirs:
        name = _plain(row.name).lower()
        if (
            any(
                word in name
                for word in ("itis", "emia", "osis", "diabetes", "hypertension", "cancer")
            )
            and name not in own
            and name.split()[-1] not in own
        ):
            yield Case(f"She has {_plain(row.name)}.", False, "another patient's problem")
            break
    for name in ("rheumatoid arthritis", "epilepsy", "multiple myeloma"):
        if not any(word in own for word in name.split()):
            yield Case(f"The patient suffers from {name}.", False, "invented problem")


def _dated(rows: tuple[ViewRow, ...], rng: random.Random) -> Iterator[Case]:
    dated = [row for row in rows if row.date]
    for row in rng.sample(dated, min(3, len(dated))):
        alike = {one.date[:10] for one in rows if one.name == row.name}
        yield Case(f"{row.name} was given on {_written(row.date, rng)}.", True, "immunization")
        yield Case(
            f"{row.name} was given on {_other_day(row.date, alike, rng)}.",
            False,
            "other date of a vaccine",
        )


def _absent(by_tool: dict[str, ChartView]) -> Iterator[Case]:
    for tool, word in (
        ("allergies", "allergies"),
        ("medications", "medications"),
        ("immunizations", "vaccinations"),
        ("problems", "diagnoses"),
    ):
        there = bool(by_tool[tool].rows)
        yield Case(f"No {word} are recorded.", not there, "none recorded")
        yield Case(
            f"No known {word}." if word == "allergies" else f"She has no {word}.",
            False,
            "absence nobody recorded",
        )
    smoked = [row.value for row in by_tool["results"].rows if "smok" in row.name.lower()]
    if smoked and all("never" in one.lower() for one in smoked):
        yield Case("She has never smoked.", True, "smoking")
        yield Case("He is a current smoker.", False, "smoking")


def _other_number(number: float, known: set[float | None], rng: random.Random) -> str:
    for factor in rng.sample([1.1, 0.9, 1.25, 2.0, 0.5, 1.4], 6):
        value = f"{number * factor:.3g}"
        if "e" not in value and all(
            one is None or abs(float(value) - one) > 0.02 * abs(one) + 0.01 for one in known
        ):
            return value
    return f"{number * 10 + 3:g}"


def _other_day(date: str, taken: set[str], rng: random.Random) -> str:
    year, _, day = (int(part) for part in (date[:10] + "-01-01").split("-")[:3])
    while True:
        year_, month_ = year + rng.choice([-3, -1, 0, 1, 2]), rng.randint(1, 12)
        if not any(one.startswith(f"{year_}-{month_:02}") for one in taken):
            return f"{day if day < 28 else 27} {_MONTHS[month_ - 1]} {year_}"


def _written(date: str, rng: random.Random) -> str:
    if len(date) < 10:
        return date
    year, month, day = date[:4], int(date[5:7]), int(date[8:10])
    name = _MONTHS[month - 1]
    return rng.choice(
        [
            date[:10],
            f"{day} {name} {year}",
            f"{name} {day}, {year}",
            f"{day:02}.{month:02}.{year}",
            f"{name} {year}",
            f"{day} {name[:3]} {year}",
        ]
    )


def _german(date: str) -> str:
    return f"{int(date[8:10])}. {_MONTHS_DE[int(date[5:7]) - 1]} {date[:4]}"


def _drug(name: str) -> str:
    words = name.partition(" / ")[0].split()
    while len(words) > 1 and (words[0][0].isdigit() or words[0].lower() in ("hr", "ml", "mg")):
        words = words[1:]
    return words[0]


def _dose(name: str) -> str:
    words = name.partition(" / ")[0].split()
    for number, unit in pairwise(words):
        if unit.upper() == "MG" and number.replace(".", "").isdigit():
            return f"{number} mg"
    return ""


def _double(dose: str) -> str:
    return f"{float(dose.partition(' ')[0]) * 2:g} mg"
