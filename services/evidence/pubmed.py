"""Published research from PubMed, by NCBI's E-utilities: abstracts with PMID, type and year."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import Element, ParseError

import aiohttp
from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring
from pydantic import BaseModel, Field

from data_models.chart_view import PUBLICATION, ChartView, ViewRow, ViewSource
from data_models.errors import ToolInputError
from data_models.http_answers import Bounds, fetch
from data_models.values import read_value

RESEARCH = "search_pubmed"
"""The tool for what was published."""
ABSTRACTS_LIMIT = 5
_ABSTRACT_LIMIT_CHARS = 3_000
_BOUNDS = Bounds(20.0, 2_000_000)
_PLAIN_TYPES = frozenset({"Journal Article", "English Abstract"})


class _Found(BaseModel):
    idlist: list[str] = Field(default_factory=list)


class _Search(BaseModel):
    esearchresult: _Found


@dataclass(frozen=True, slots=True)
class Abstract:
    """One publication.

    Attributes:
        kind: Publication types, such as `Randomized Controlled Trial; Multicenter Study`.
        text: Its abstract as published, "" where it has none.
    """

    pmid: str
    title: str
    journal: str
    year: str
    kind: str
    text: str


class PubMed:
    """E-utilities at a base address.

    Args:
        base_url: Such as `https://eutils.ncbi.nlm.nih.gov/entrez/eutils`.
        api_key: NCBI's, for more than three requests in a second.
    """

    def __init__(
        self, *, base_url: str, session: aiohttp.ClientSession, api_key: str | None = None
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._session = session
        self._own = {"db": "pubmed", "tool": "rounds"} | ({"api_key": api_key} if api_key else {})
        self.host = base_url.partition("://")[2].partition("/")[0]

    async def search(self, query: str) -> Sequence[Abstract]:
        """Return what fits best, at most five.

        Raises:
            ToolInputError: it cannot be had just now.
        """
        asked = {"term": query, "retmax": str(ABSTRACTS_LIMIT), "retmode": "json"}
        data = await self._get("esearch.fcgi", asked | {"sort": "relevance"})
        found = read_value(data, _Search, refusal=_silent()).esearchresult.idlist
        if not (ids := [one for one in found if one.isdecimal()][:ABSTRACTS_LIMIT]):
            return ()
        fetched = await self._get("efetch.fcgi", {"id": ",".join(ids), "retmode": "xml"})
        try:
            articles = fromstring(fetched).iter("PubmedArticle")
        except (ParseError, DefusedXmlException, ValueError, LookupError) as error:
            raise _silent() from error
        by_id = {one.pmid: one for one in map(_abstract, articles)}
        return [by_id[pmid] for pmid in ids if pmid in by_id]

    async def _get(self, name: str, asked: dict[str, str]) -> bytes:
        url = f"{self._base_url}/{name}"
        asked = self._own | asked
        return await fetch(self._session, "GET", url, _BOUNDS, refusal=_silent, params=asked)


def _silent(_: str = "") -> ToolInputError:
    return ToolInputError("PubMed does not answer just now; nothing is known of published research")


def abstracts_view(
    found: Sequence[Abstract], *, query: str, sent_to: str, patient_id: str
) -> ChartView:
    """Return publications as they are quoted; what was sent is told with them."""
    return ChartView(
        tool=RESEARCH,
        patient_id=patient_id,
        kind="table",
        title="PubMed: published research, not the record",
        columns=("name", "status", "date", "detail"),
        labels=("Publication", "Study type", "Year", "Abstract"),
        rows=tuple(map(_row, found)),
        sources=tuple(
            ViewSource(ref=_ref(one), date=one.year or None, title=f"PMID {one.pmid}")
            for one in found
        ),
        nothing="" if found else "PubMed found nothing; so nothing is said.",
        notes=(f"Sent to {sent_to}: “{query}”",),
    )


def _row(one: Abstract) -> ViewRow:
    cut = one.text[:_ABSTRACT_LIMIT_CHARS]
    return ViewRow(
        kind=PUBLICATION,
        name=f"{one.title} {one.journal}, PMID {one.pmid}".strip(),
        status=one.kind or "no study type given",
        date=one.year,
        detail=cut if cut == one.text else f"{cut}… (cut)",
        sources=(_ref(one),),
    )


def _ref(one: Abstract) -> str:
    return f"PubMed/{one.pmid}"


def _abstract(article: Element) -> Abstract:
    year = _text(article, ".//JournalIssue/PubDate/Year")
    types = [_words(one) for one in article.iterfind(".//PublicationType")]
    telling = [one for one in types if one not in _PLAIN_TYPES] or types
    return Abstract(
        pmid=_text(article, "./MedlineCitation/PMID"),
        title=_text(article, ".//ArticleTitle"),
        journal=_text(article, ".//Journal/ISOAbbreviation"),
        year=year or _text(article, ".//JournalIssue/PubDate/MedlineDate")[:4],
        kind="; ".join(telling),
        text="\n".join(_parts(article)),
    )


def _parts(article: Element) -> Iterator[str]:
    for part in article.iterfind(".//Article/Abstract/AbstractText"):
        label = part.get("Label", "")
        yield f"{label}: {_words(part)}" if label else _words(part)


def _text(article: Element, path: str) -> str:
    found: Any = article.find(path)
    return "" if found is None else _words(found)


def _words(element: Element) -> str:
    return " ".join("".join(element.itertext()).split())
