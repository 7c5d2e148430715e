"""Where studies come from: ClinicalTrials.gov (API v2), or a folder of its JSON."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import aiohttp
import orjson

from data_models.errors import ToolInputError
from data_models.http_answers import Bounds, Refusal, fetch
from services.evidence.trials.search import TrialSearch
from services.evidence.trials.study import Study, study_of
from services.records.concepts.words import words_of

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
