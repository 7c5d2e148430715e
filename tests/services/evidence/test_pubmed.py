"""PubMed is sent words and nothing else; what it answers is quoted with PMID, type and year."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from data_models.chart_view import NOT_OF_THE_PATIENT
from data_models.errors import ToolInputError
from services.evidence.pubmed import PubMed, abstracts_view

SEARCH = {"db", "tool", "api_key", "term", "retmax", "retmode", "sort"}
FETCH = {"db", "tool", "api_key", "id", "retmode"}
_ARTICLE = Path(__file__).with_name("pubmed_article.xml").read_text("utf-8")
TRIAL = '<PublicationType UI="D016449">Randomized Controlled Trial</PublicationType>'
ARTICLES = {
    "11111111": ("<Year>2020</Year>", TRIAL),
    "22222222": ("<MedlineDate>2018 Jan-Feb</MedlineDate>", ""),
}


class Eutils:
    """A double that refuses what E-utilities do not know, and keeps all that it was sent."""

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[dict[str, str]] = []
        self.faults: list[str] = []
        self.ids = ["22222222", "11111111"]
        self.status = 200
        self.body: bytes | None = None
        self.articles: str | None = None

    async def search(self, request: web.Request) -> web.Response:
        self._keep(request, SEARCH)
        found = {"count": str(len(self.ids)), "retmax": "5", "idlist": self.ids}
        result = {"header": {"type": "esearch", "version": "0.3"}, "esearchresult": found}
        return self._answer(web.json_response(result))

    async def fetch(self, request: web.Request) -> web.Response:
        self._keep(request, FETCH)
        rows = "".join(
            _ARTICLE.format(pmid=pmid, year=year, type=kind)
            for pmid, (year, kind) in ARTICLES.items()
            if pmid in request.query["id"].split(",")
        )
        head = '<?xml version="1.0" ?><!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD" "x.dtd">'
        text = self.articles or f"{head}<PubmedArticleSet>{rows}</PubmedArticleSet>"
        return self._answer(web.Response(text=text, content_type="text/xml"))

    def _keep(self, request: web.Request, known: set[str]) -> None:
        self.asked.append(dict(request.query))
        self.faults += [f"unknown: {name}" for name in set(request.query) - known]
        self.faults += [] if request.query.get("db") == "pubmed" else ["db"]
        names = {name.casefold() for name in request.headers}
        self.faults += [f"header {one}" for one in names & {"authorization", "cookie", "referer"}]

    def _answer(self, usual: web.Response) -> web.Response:
        if self.body is None and self.status == 200:
            return usual
        return web.Response(status=self.status, body=self.body or b"")


@asynccontextmanager
async def eutils(key: str | None = None) -> AsyncIterator[tuple[Eutils, PubMed]]:
    double = Eutils()
    app = web.Application()
    app.router.add_get("/entrez/eutils/esearch.fcgi", double.search)
    app.router.add_get("/entrez/eutils/efetch.fcgi", double.fetch)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    double.url = f"http://127.0.0.1:{runner.addresses[0][1]}/entrez/eutils"
    async with aiohttp.ClientSession() as session:
        yield double, PubMed(base_url=double.url, session=session, api_key=key)
    await runner.cleanup()
    assert double.faults == []


async def test_abstracts_come_in_their_order_with_pmid_type_and_year() -> None:
    async with eutils("key-1") as (double, pubmed):
        found = await pubmed.search("osimertinib EGFR")
    assert [(one.pmid, one.year, one.kind) for one in found] == [
        ("22222222", "2018", "Journal Article"),
        ("11111111", "2020", "Randomized Controlled Trial"),
    ]
    assert double.asked == [
        {
            "db": "pubmed",
            "tool": "rounds",
            "api_key": "key-1",
            "term": "osimertinib EGFR",
            "retmax": "5",
            "retmode": "json",
            "sort": "relevance",
        },
        {
            "db": "pubmed",
            "tool": "rounds",
            "api_key": "key-1",
            "id": "22222222,11111111",
            "retmode": "xml",
        },
    ]
    view = abstracts_view(found, query="osimertinib EGFR", sent_to="x", patient_id="patient_4")
    row = view.rows[1]
    assert row.name == "Osimertinib in EGFR-mutated lung cancer. N Invented Med, PMID 11111111"
    assert row.detail == "METHODS: We assigned 279 patients.\nRESULTS: Survival was 11111111 days."
    assert row.sources == ("PubMed/11111111",)
    assert {one.kind for one in view.rows} <= NOT_OF_THE_PATIENT
    assert view.notes == ("Sent to x: “osimertinib EGFR”",)


async def test_where_nothing_is_found_nothing_is_said() -> None:
    async with eutils() as (double, pubmed):
        double.ids = []
        found = await pubmed.search("frobnicate")
    assert len(double.asked) == 1
    assert "api_key" not in double.asked[0]
    view = abstracts_view(found, query="frobnicate", sent_to="x", patient_id="")
    assert (view.rows, view.nothing) == ((), "PubMed found nothing; so nothing is said.")


BOMB = '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (429, None),
        (302, None),
        (200, b'{"esearchresult": 5}'),
        (200, b"<html>"),
        (200, b"x" * 3_000_000),
    ],
)
async def test_an_answer_that_is_none_is_an_error(status: int, body: bytes | None) -> None:
    async with eutils() as (double, pubmed):
        double.status, double.body = status, body
        with pytest.raises(ToolInputError, match="does not answer"):
            await pubmed.search("osimertinib")


async def test_a_document_that_declares_entities_is_not_read() -> None:
    async with eutils() as (double, pubmed):
        double.articles = BOMB
        with pytest.raises(ToolInputError, match="does not answer"):
            await pubmed.search("osimertinib")


async def test_a_server_that_is_not_there_is_an_error() -> None:
    async with aiohttp.ClientSession() as session:
        with pytest.raises(ToolInputError, match="does not answer"):
            await PubMed(base_url="http://127.0.0.1:9", session=session).search("osimertinib")
