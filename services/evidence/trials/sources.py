"""Studies: what is searched for from the chart, where they come from, and their criteria.

They come from ClinicalTrials.gov (API v2) or from a folder of its JSON. Of the chart only coded
displays, marker names, age, sex and country leave: no free text, no id, no date. Who is 90 or
older is 90.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import aiohttp
import orjson

from data_models.chart_view import ViewRow
from data_models.errors import ToolInputError
from data_models.http_answers import Bounds, Refusal, fetch
from data_models.plain_yaml import read_yaml
from services.evidence.trials.facts import PatientFacts, readings_of
from services.language.studies.criteria_forms import GENES
from services.records.concepts.table import concept_table
from services.records.concepts.words import words_of
from services.records.resources.entry import Raw, many, one, text

_HEADINGS = {"inclusion": False, "exclusion": True}
_BULLETS = "*-•–·"
_LINE_LIMIT_CHARS = 600
CRITERIA_LIMIT = 60


@dataclass(frozen=True, slots=True)
class StudyCriterion:
    """One criterion in its own words."""

    text: str
    is_exclusion: bool


@dataclass(frozen=True, slots=True)
class Study:
    """What is told of a study.

    Attributes:
        left_out: Criteria beyond the limit.
    """

    nct_id: str
    title: str
    status: str
    phase: str
    conditions: tuple[str, ...]
    countries: tuple[str, ...]
    criteria: tuple[StudyCriterion, ...]
    left_out: int = 0


def study_of(document: Mapping[str, Any]) -> Study | None:
    """Return a study; None where the document is no study."""
    protocol = _node(document, "protocolSection")
    known = _node(protocol, "identificationModule")
    nct_id, title = known.get("nctId"), known.get("briefTitle")
    if not isinstance(nct_id, str) or not isinstance(title, str):
        return None
    eligibility = _node(protocol, "eligibilityModule")
    criteria = [*_bounds(eligibility), *_criteria(str(eligibility.get("eligibilityCriteria", "")))]
    places = _node(protocol, "contactsLocationsModule").get("locations") or ()
    countries = (str(one.get("country", "")) for one in places if isinstance(one, dict))
    return Study(
        nct_id=nct_id,
        title=title,
        status=str(_node(protocol, "statusModule").get("overallStatus", "")),
        phase=", ".join(_texts(_node(protocol, "designModule").get("phases"))),
        conditions=tuple(_texts(_node(protocol, "conditionsModule").get("conditions"))),
        countries=tuple(dict.fromkeys(filter(None, countries))),
        criteria=tuple(criteria[:CRITERIA_LIMIT]),
        left_out=max(0, len(criteria) - CRITERIA_LIMIT),
    )


def _node(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = document.get(name)
    return found if isinstance(found, dict) else {}


def _texts(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _bounds(eligibility: Mapping[str, Any]) -> Iterator[StudyCriterion]:
    """Yield sex and ages that stand in fields of their own."""
    sex = str(eligibility.get("sex", "ALL")).casefold()
    if sex in ("male", "female"):
        yield StudyCriterion(sex.title(), is_exclusion=False)
    for name, sign in (("minimumAge", "≥"), ("maximumAge", "≤")):
        age = str(eligibility.get(name, ""))
        if age.casefold().endswith(("year", "years")):
            yield StudyCriterion(f"Age {sign} {age.casefold()}", is_exclusion=False)


def _criteria(text: str) -> Iterator[StudyCriterion]:
    """Yield the lines of the text, each under the heading that it stands below."""
    is_exclusion = False
    for line in text.splitlines():
        said = _unmarked(line)
        first = said.casefold().partition(" ")[0]
        if first in _HEADINGS and said.rstrip().endswith(":") and len(said.split()) <= 4:
            is_exclusion = _HEADINGS[first]
        elif len(said) > 2:
            yield StudyCriterion(said[:_LINE_LIMIT_CHARS], is_exclusion)


def _unmarked(line: str) -> str:
    said = line.replace("\\>", ">").replace("\\<", "<").strip().lstrip(_BULLETS).strip()
    number, _, rest = said.partition(" ")
    return rest.strip() if rest and number.rstrip(".)").isdigit() and number[-1:] in ".)" else said


OLDEST = 90
_TERMS_LIMIT = 5
_DISPLAY_LIMIT_CHARS = 120
_ICD10: Mapping[str, str] = read_yaml(Path(__file__).with_name("icd10.yaml").read_text("utf-8"))
"""Public names of the commonest cancers, by the first three signs of their codes."""
_SYSTEMS = ("http://snomed.info/sct", "http://hl7.org/fhir/sid/icd")
_CANCER = ("carcinoma", "cancer", "melanoma", "malignant", "lymphoma", "leukemia", "neoplasm")
_ACTIVE = frozenset({"active", "recurrence", "relapse"})
_UNSURE = ("suspected", "provisional", "unconfirmed", "differential")
_NOT_PRIMARY = ("metasta", "effusion", "family", "history")


@dataclass(frozen=True, slots=True)
class TrialSearch:
    """What may leave.

    Attributes:
        conditions: Displays of codes of the record.
        markers: Names of markers that are present.
        age: In years, at most 90; None where it is not known exactly.
    """

    conditions: tuple[str, ...]
    markers: tuple[str, ...]
    age: int | None
    sex: str
    country: str

    @property
    def said(self) -> str:
        """What is sent, for people."""
        age = "" if self.age is None else f"age {self.age}{'+' if self.age == OLDEST else ''}"
        parts = (*self.conditions, *self.markers, age, self.sex, self.country)
        return ", ".join(filter(None, parts))


def search_from(facts: PatientFacts, *, country: str) -> TrialSearch:
    """Return the search for a patient."""
    ages = [word for said in readings_of(facts.age) for word in said.split() if word.isdigit()]
    sex = facts.sex.value if facts.sex.value in ("male", "female") else ""
    present = [
        row.name
        for row in facts.markers
        if row.value.casefold().startswith(("present", "positive", "high", "amplified"))
    ]
    markers = filter(None, map(_marker, present))
    return TrialSearch(
        conditions=tuple(_conditions(facts))[:2],
        markers=tuple(dict.fromkeys(markers))[:_TERMS_LIMIT],
        age=min(int(ages[0]), OLDEST) if len(ages) == 1 else None,
        sex=sex or "",
        country=country,
    )


def _marker(name: str) -> str:
    """Return the public name of a marker; what else a record calls one does not leave."""
    if name.casefold().startswith("microsatellite instability"):
        return "MSI-H"
    first = name.split(maxsplit=1)[0].upper()
    return first if first in GENES else ""


def _conditions(facts: PatientFacts) -> list[str]:
    """Return the names of active coded cancers, else of the other active coded problems."""
    going_on = [row for row in facts.problems if row.status in _ACTIVE]
    found = [(name, row) for row in going_on if (name := _public_name(row, facts))]
    cancers = [name for name, row in found if _is_cancer(name) and not _is_unsure(row)]
    return list(dict.fromkeys(cancers or [name for name, row in found if not _is_unsure(row)]))


def _is_cancer(name: str) -> bool:
    folded = name.casefold()
    is_primary = not any(word in folded for word in _NOT_PRIMARY)
    return is_primary and any(word in folded for word in _CANCER)


def _is_unsure(row: ViewRow) -> bool:
    return any(word in f"{row.name} {row.detail}".casefold() for word in _UNSURE)


def _public_name(row: ViewRow, facts: PatientFacts) -> str:
    """Return what our table calls a code, else the code's own display if it may leave."""
    prefixes = {code.rpartition("|")[2][:3] for code in row.code if "icd-10" in code}
    for prefix in sorted(prefixes & set(_ICD10)):
        return _ICD10[prefix]
    if (known := concept_table().coded("problem", row.code)) is not None:
        return known.name
    for ref in row.sources:
        for coding in many(one(facts.record.entries[ref].raw, "code"), "coding"):
            shown = text(coding, "display")
            if _may_leave(shown, coding, facts):
                return shown
    return ""


def _may_leave(shown: str, coding: Raw, facts: PatientFacts) -> bool:
    """Whether a display is a code's own: of a public system, short, without the patient's name."""
    names = [part for name in facts.record.patient.name
             for part in (name.family or "", *name.given)]  # fmt: skip
    is_public = str(coding.get("system", "")).startswith(_SYSTEMS) and bool(coding.get("code"))
    is_named = bool({*words_of(" ".join(names))} & {*words_of(shown)})
    has_figures = sum(char.isdigit() for char in shown) > 2
    return is_public and 0 < len(shown) <= _DISPLAY_LIMIT_CHARS and not is_named and not has_figures


STUDIES_LIMIT = 10
_BOUNDS = Bounds(20.0, 8_000_000)
_UNAVAILABLE = Refusal(ToolInputError, "the register of studies does not answer just now: it")
_FIELDS = (
    "protocolSection.identificationModule|protocolSection.statusModule|"
    "protocolSection.conditionsModule|protocolSection.designModule|"
    "protocolSection.eligibilityModule|protocolSection.contactsLocationsModule"
)
_OPEN = frozenset({"RECRUITING", "NOT_YET_RECRUITING", "ENROLLING_BY_INVITATION"})
_WIDE = frozenset(
    words_of(
        "cancer carcinoma malignant neoplasm of the tumor disease unspecified primary upper lower "
        "right left lobe part and or with invasive"
    )
)


class StudyFolder:
    """Studies as files, each one study or a list of them; for networks that are closed."""

    def __init__(self, *, folder: Path | None) -> None:
        self._folder = folder
        self.leaves = ""

    async def find(self, search: TrialSearch) -> Sequence[Study]:
        """Return studies that may fit, at most ten.

        Raises:
            ToolInputError: they cannot be had just now.
        """
        if self._folder is None:
            raise ToolInputError("No study search is connected here; tell the user")
        studies = await asyncio.to_thread(_studies_in, self._folder)
        return [one for one in studies if _fits(one, search)][:STUDIES_LIMIT]


def _studies_in(folder: Path) -> list[Study]:
    found = []
    for file in sorted(folder.glob("*.json")):
        try:
            document = orjson.loads(file.read_bytes())
        except orjson.JSONDecodeError as error:
            raise ToolInputError(f"the file {file.name} of studies is no JSON") from error
        found += _studies(document)
    return found


def _studies(document: Any) -> list[Study]:
    """Return the studies of a document: one, or the list `studies` of an answer."""
    listed = document.get("studies") if isinstance(document, dict) else document
    each = listed if isinstance(listed, list) else [document]
    found = (study_of(one) for one in each if isinstance(one, dict))
    return [one for one in found if one is not None]


def _fits(study: Study, search: TrialSearch) -> bool:
    """Whether a study is open and names a telling word of any condition."""
    said = frozenset(words_of(" ".join((study.title, *study.conditions))))
    wanted = frozenset(words_of(" ".join(search.conditions))) - _WIDE
    is_there = not search.country or not study.countries or search.country in study.countries
    return study.status in _OPEN and is_there and bool(said & wanted)


class ClinicalTrialsGov:
    """The register's own API."""

    def __init__(self, *, base_url: str, session: aiohttp.ClientSession) -> None:
        self._url = f"{base_url.rstrip('/')}/api/v2/studies"
        self._session = session
        self.leaves = base_url.partition("://")[2].partition("/")[0]

    async def find(self, search: TrialSearch) -> Sequence[Study]:
        """Return studies that may fit, at most ten.

        Raises:
            ToolInputError: they cannot be had just now.
        """
        asked = asked_of_register(search)
        data = await fetch(
            self._session, "GET", self._url, _BOUNDS, refusal=_UNAVAILABLE, params=asked
        )
        try:
            return _studies(orjson.loads(data))[:STUDIES_LIMIT]
        except orjson.JSONDecodeError:
            raise _UNAVAILABLE("gave no JSON") from None


StudySource: TypeAlias = StudyFolder | ClinicalTrialsGov
"""Finds studies; `leaves` is the host that is told the search, "" where nothing leaves."""


def asked_of_register(search: TrialSearch) -> dict[str, str]:
    """Return the query that leaves."""
    parts = []
    if search.age is not None:
        parts.append(
            f"AREA[MinimumAge]RANGE[MIN, {search.age} years] AND "
            f"AREA[MaximumAge]RANGE[{search.age} years, MAX]"
        )
    if search.sex:
        parts.append(f"AREA[Sex](ALL OR {search.sex.upper()})")
    asked = {
        "query.cond": " OR ".join(search.conditions),
        "query.term": " OR ".join(search.markers),
        "query.locn": search.country,
        "filter.overallStatus": "RECRUITING",
        "filter.advanced": " AND ".join(parts),
        "pageSize": str(STUDIES_LIMIT),
        "format": "json",
        "fields": _FIELDS,
    }
    return {name: value for name, value in asked.items() if value}
