"""Cases from charts: questions in many wordings, answered by value, unit, date and source."""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from evals.cases import Answer, Case, Expect, Given, Person
from evals.chart_questions import words
from evals.chart_questions.charts import Chart, Fact

PER_KIND = 3
IDS = r"^(patient_[0-9]+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$"
"""Ids as chat tokens where a folder's patients have those of their resources."""
_TYPED = re.compile(r"patient_[0-9]+")
_SLUG = re.compile(r"[^a-z0-9]+")


def questions(charts: Sequence[Chart], *, samples: str, per_kind: int = PER_KIND) -> list[Case]:
    """Return the same cases for the same charts each time.

    Args:
        charts: Of one folder.
        samples: The folder as `Given.samples` names it.
        per_kind: At most so many questions of a kind about one patient.
    """
    made: list[Case] = []
    for chart in charts:
        others = tuple(one.name for one in charts if one is not chart and one.name != chart.name)
        made += Asker(chart, samples=samples, others=others, per_kind=per_kind).cases()
    return made


def sample_of(cases: Sequence[Case], count: int) -> list[Case]:
    """Return `count` cases spread over all of them, always the same ones."""
    step = max(1, len(cases) // max(1, count))
    return list(cases[::step][:count])


class Asker:
    """Asks about one chart."""

    def __init__(
        self, chart: Chart, *, samples: str, others: tuple[str, ...], per_kind: int
    ) -> None:
        self._chart = chart
        self._samples = samples
        self._others = others
        self._most = per_kind
        self._settings = {} if samples in ("default", "synthetic") else {"PATIENT_ID_PATTERN": IDS}
        self._random = random.Random(f"{samples.rsplit('/', 1)[-1]}:{chart.patient_id}")
        self._turn: Counter[str] = Counter()

    def cases(self) -> list[Case]:
        """Return the questions, each once."""
        kinds: tuple[Callable[[], Iterator[Case]], ...] = (
            self._values, self._series, self._extremes, self._counts, self._lists, self._active,
            self._takes, self._dates, self._vaccines, self._visits, self._absent,
        )  # fmt: skip
        found = {case.id: case for kind in kinds for case in kind()}
        return list(found.values())

    # Results

    def _groups(self) -> list[tuple[str, list[Fact]]]:
        """Return the results by a name that means one code in this chart, undisputed."""
        by_code: dict[str, list[Fact]] = defaultdict(list)
        for fact in self._chart.of("result"):
            if fact.when:
                by_code[fact.code or fact.name].append(fact)
        names = Counter(
            name.casefold()
            for rows in by_code.values()
            for name in {one.casefold() for one in words.result_names(rows[0])}
        )
        groups: list[tuple[str, list[Fact]]] = []
        for rows in by_code.values():
            sure = [one for one in words.result_names(rows[0]) if names[one.casefold()] == 1]
            is_sure = len({row.unit for row in rows}) == 1 and not self._is_refused(rows[0].name)
            if sure and is_sure and not self._clashes(sure[0], rows[0]):
                groups.append((self._random.choice(sure), rows))
        self._random.shuffle(groups)
        return groups

    def _clashes(self, name: str, fact: Fact) -> bool:
        """Whether another entry's name begins as this one does: nobody could tell them apart."""
        folded = name.casefold()
        others = {one.name.casefold() for one in self._chart.facts if one.code != fact.code}
        return any(one.startswith(folded) for one in others)

    def _is_refused(self, name: str) -> bool:
        return name.casefold() in self._chart.refused

    def _values(self) -> Iterator[Case]:
        for name, rows in self._groups()[: self._most + 2]:
            last = [row for row in rows if row.instant == rows[-1].instant]
            if len({row.value for row in last}) > 1:
                continue
            fact = rows[-1]
            is_number = _is_number(fact.value)
            others = {row.value for row in rows} - {fact.value}
            asked = words.SAY["value"] if is_number else words.SAY["text_value"]
            answer = Answer(
                kind="value", name=_names(name, fact), values=(fact.value,), unit=fact.unit,
                dates=(fact.day,), others=tuple(sorted(others)), persons=self._others,
                refs=(fact.ref,),
            )  # fmt: skip
            yield self._case("value", name, asked, answer)

    def _series(self) -> Iterator[Case]:
        rows = [(name, row) for name, row in self._groups() if len(row) >= 3 and _plain(row)]
        for name, facts in rows[: self._most - 1]:
            answer = Answer(
                kind="series", name=_names(name, facts[0]), unit=facts[0].unit,
                persons=self._others,
                values=tuple(one.value for one in facts), dates=tuple(one.day for one in facts),
                refs=tuple(one.ref for one in facts),
            )  # fmt: skip
            yield self._case("series", name, words.SAY["series"], answer)

    def _extremes(self) -> Iterator[Case]:
        rows = [(name, row) for name, row in self._groups() if len(row) >= 3 and _single(row)]
        for index, (name, facts) in enumerate(rows[: self._most - 1]):
            choose, kind = (max, "highest") if index % 2 == 0 else (min, "lowest")
            best = choose(facts, key=lambda one: float(one.value))
            ties = [one for one in facts if float(one.value) == float(best.value)]
            answer = Answer(
                kind="extreme", name=_names(name, best), values=(best.value,), unit=best.unit,
                dates=tuple(one.day for one in ties), refs=tuple(one.ref for one in ties),
                others=tuple({one.value for one in facts} - {best.value}), persons=self._others,
            )  # fmt: skip
            yield self._case(kind, name, words.SAY[kind], answer)

    def _counts(self) -> Iterator[Case]:
        rows = [(name, row) for name, row in self._groups() if len(row) >= 2 and _plain(row)]
        for name, facts in rows[:1]:
            answer = Answer(kind="count", name=name, values=(str(len(facts)),))
            yield self._case("count", name, words.SAY["count_values"], answer)

    # Lists

    def _lists(self) -> Iterator[Case]:
        problems = self._chart.of("problem")
        active = [one for one in problems if one.status in ("active", "recurrence", "relapse")]
        if active:
            gone = {one.name for one in problems} - {one.name for one in active}
            yield self._list("problems", words.SAY["problems"], [one.name for one in active], gone)
        drugs = self._now()
        if drugs:
            gone = set(self._drugs()) - set(drugs)
            yield self._list("medications", words.SAY["medications"], drugs, gone)
        allergies = [one for one in self._chart.of("allergy") if one.status == "active"]
        if allergies:
            named = [_allergen(one.name) for one in allergies]
            yield self._list("allergies", words.SAY["allergies"], named, set())
        else:
            answer = Answer(kind="absent", name="allergies")
            yield self._case("no-allergies", "", words.SAY["no_allergies"], answer)

    def _list(self, kind: str, asked: Sequence[str], values: list[str], others: set[str]) -> Case:
        wanted = tuple(dict.fromkeys(values))
        left = tuple(sorted(one for one in others if not any(one in each for each in wanted)))
        answer = Answer(kind="list", name=kind, values=wanted, others=left, persons=self._others)
        return self._case("list", kind, asked, answer)

    def _drugs(self) -> dict[str, list[Fact]]:
        found: dict[str, list[Fact]] = defaultdict(list)
        for one in self._chart.of("medication"):
            name = words.ingredient(one.name)
            if name:
                found[name].append(one)
        return found

    def _now(self) -> list[str]:
        """Return drugs with an active entry that is no single administration."""
        return [
            name
            for name, rows in self._drugs().items()
            if any(row.status == "active" and "Administration" not in row.ref for row in rows)
        ]

    # Yes and no

    def _active(self) -> Iterator[Case]:
        by_name: dict[str, list[Fact]] = defaultdict(list)
        for one in self._chart.of("problem"):
            by_name[one.name].append(one)
        rows = [(name, facts) for name, facts in by_name.items() if len(name) <= 50]
        rows = [row for row in rows if _is_alone(row[0], by_name)]
        self._random.shuffle(rows)
        for name, facts in rows[: self._most]:
            is_active = any(one.status in ("active", "recurrence", "relapse") for one in facts)
            answer = Answer(
                kind="yes" if is_active else "no", name=name, refs=tuple(one.ref for one in facts)
            )
            yield self._case("active", name, words.SAY["is_active"], answer, x=_lower(name))

    def _takes(self) -> Iterator[Case]:
        now = set(self._now())
        for name, rows in list(self._drugs().items())[: self._most - 1]:
            if all("Administration" in row.ref for row in rows):
                continue
            kind = "yes" if name in now else "no"
            answer = Answer(kind=kind, name=name, refs=tuple(one.ref for one in rows))  # type: ignore[arg-type]
            yield self._case("takes", name, words.SAY["takes"], answer)

    # Dates

    def _dates(self) -> Iterator[Case]:
        by_name: dict[str, list[Fact]] = defaultdict(list)
        for one in self._chart.of("procedure"):
            if one.when and one.name:
                by_name[one.name].append(one)
        rows = [(name, facts) for name, facts in by_name.items() if len(name) <= 45]
        rows = [row for row in rows if _is_alone(row[0], by_name)]
        self._random.shuffle(rows)
        for name, facts in rows[: self._most - 1]:
            yield self._dated("procedure", name, words.SAY["last_procedure"], facts, x=_lower(name))

    def _dated(
        self, kind: str, name: str, asked: Sequence[str], facts: list[Fact], x: str | None = None
    ) -> Case:
        last = facts[-1]
        others = tuple(sorted({one.day for one in facts} - {last.day}))
        refs = tuple(one.ref for one in facts if one.day == last.day)
        answer = Answer(kind="date", name=name, dates=(last.day,), others=others, refs=refs)
        return self._case(kind, name, asked, answer, x=x)

    def _vaccines(self) -> Iterator[Case]:
        by_name: dict[str, list[Fact]] = defaultdict(list)
        for one in self._chart.of("immunization"):
            name = words.vaccine_name(one.name)
            if name and one.when:
                by_name[name].append(one)
        rows = list(by_name.items())
        self._random.shuffle(rows)
        for name, facts in rows[: self._most - 1]:
            yield self._dated("vaccine", name, words.SAY["last_vaccine"], facts)
        if by_name:
            yield self._list("vaccines", words.SAY["vaccines"], sorted(by_name), set())

    def _visits(self) -> Iterator[Case]:
        visits = [one for one in self._chart.of("encounter") if one.when]
        if visits:
            yield self._dated("visit", "", words.SAY["last_visit"], visits)
            year, count = Counter(one.day[:4] for one in visits).most_common(1)[0]
            answer = Answer(kind="count", name=f"visits {year}", values=(str(count),))
            yield self._case("visits", year, words.SAY["count_visits"], answer, x=year)

    # What is not there

    def _absent(self) -> Iterator[Case]:
        everything = " ".join(one.name for one in self._chart.facts).casefold()
        missing = [
            name
            for name, parts in words.ABSENT_RESULTS.items()
            if not any(part in everything for part in parts)
        ]
        yield from self._nothing("absent", missing[: self._most - 1], words.SAY["absent_value"])
        drugs = [one for one in words.ABSENT["drugs"] if one not in everything]
        yield from self._nothing("not-taken", drugs[:1], words.SAY["takes"])
        problems = [one for one in words.ABSENT["problems"] if one not in everything]
        yield from self._nothing("never-had", self._random.sample(problems, 1), words.SAY["has"])
        allergens = [one for one in words.ABSENT["allergens"] if one[:5] not in everything]
        yield from self._nothing("not-allergic", allergens[:1], words.SAY["allergic"])

    def _nothing(self, kind: str, names: list[str], asked: Sequence[str]) -> Iterator[Case]:
        self._random.shuffle(names)
        for name in names:
            yield self._case(
                kind, name, asked, Answer(kind="absent", name=name, persons=self._others)
            )

    # Cases

    def _case(
        self, kind: str, name: str, asked: Sequence[str], answer: Answer, x: str | None = None
    ) -> Case:
        chart, female = self._chart, self._chart.gender == "female"
        start = self._random.randrange(len(asked))
        wording = asked[(start + self._turn[kind]) % len(asked)]
        self._turn[kind] += 1
        he, his = ("she", "her") if female else ("he", "his")
        text = wording.format(x=x or name, he=he, his=his)
        slug = _SLUG.sub("-", f"{kind} {name}".casefold()).strip("-")[:60]
        who = _SLUG.sub("-", chart.patient_id.casefold())[:36]
        typed = next((one for one in chart.identifiers if _TYPED.fullmatch(one)), chart.patient_id)
        return Case(
            id=f"{who}/{slug}",
            suite="chart",
            tags=(kind,),
            given=Given(
                samples=self._samples,
                settings=self._settings,
                open=typed,
                person=Person(name=chart.name, birth_date=chart.birth_date),
            ),
            say=(text[0].upper() + text[1:] if text[0].islower() and text.endswith(".") else text,),
            expect=Expect(patient=(chart.patient_id, *chart.identifiers), answer=answer),
        )


def _names(asked: str, fact: Fact) -> str:
    """Return what was asked for and other words for it, for whoever looks for its line."""
    return "|".join(dict.fromkeys((asked, *words.result_names(fact), fact.name)))


def _is_number(value: str) -> bool:
    return all(part.replace(".", "", 1).lstrip("-").isdigit() for part in value.split("/"))


def _plain(rows: list[Fact]) -> bool:
    """Whether these are numbers, one a day."""
    return all(_is_number(one.value) for one in rows) and len({one.day for one in rows}) == len(
        rows
    )


def _single(rows: list[Fact]) -> bool:
    return _plain(rows) and all("/" not in one.value for one in rows)


def _is_alone(name: str, names: Iterable[str]) -> bool:
    """Whether no other name holds this one, so that it means one thing."""
    return sum(name.casefold() in one.casefold() for one in names) == 1


def _lower(name: str) -> str:
    return name[0].lower() + name[1:] if name[1:2].islower() else name


def _allergen(name: str) -> str:
    plain = name.partition("(")[0].strip()
    found = re.sub(r"(?i)\b(?:allergy|allergic|to)\b", " ", plain)
    return " ".join(found.split()) or plain
