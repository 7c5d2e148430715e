"""A study in the JSON of ClinicalTrials.gov v2, and its criteria one by one. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

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
