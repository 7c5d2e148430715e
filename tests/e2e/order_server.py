"""A FHIR server on loopback that takes drafts of orders, and checks each that it is sent."""

import json
import threading
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Self
from urllib.parse import urlencode

import fhirkit
from aiohttp import web
from aiohttp.test_utils import TestServer

from tests.e2e.server import ROOT
from tests.services.records.fhir_fake import FakeFhir, answer, found, outcome

CREATES = {"type": "ServiceRequest", "interaction": [{"code": "read"}, {"code": "create"}]}
PATIENTS = ("patient_4", "patient_7")


class OrderServer(FakeFhir):
    """Two sample patients and what was drafted for them.

    Attributes:
        made: The drafts by id.
        tries: How often a create was sent, repeated ones included.
        faults: What was wrong with what it was sent.
        kill: Called once, when a draft is stored and before it is answered.
        killed: Set after that.
    """

    def __init__(self) -> None:
        super().__init__()
        self._persons: list[dict[str, Any]] = []
        self.made: dict[str, dict[str, Any]] = {}
        self.tries = 0
        self.faults: list[str] = []
        self.kill: Callable[[], None] | None = None
        self.killed = threading.Event()
        app = web.Application()
        app.router.add_route("*", "/fhir/{rest:.*}", self.handle)
        self._server = TestServer(app, host="127.0.0.1")
        rows = [{**CREATES, "conditionalCreate": True}]
        rest = [{"mode": "server", "resource": [{"type": "Patient"}, *rows]}]
        self.on("metadata", {"resourceType": "CapabilityStatement", "rest": rest})
        for name in PATIENTS:
            self._hold(name)

    async def __aenter__(self) -> Self:
        await self._server.start_server()
        self.base_url = str(self._server.make_url("/fhir"))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._server.close()

    def _hold(self, name: str) -> None:
        bundle = json.loads((ROOT / "samples" / "patients" / f"{name}.json").read_text("utf-8"))
        rows = [entry["resource"] for entry in bundle["entry"]]
        person = next(row for row in rows if row["resourceType"] == "Patient")
        self._persons.append(person)
        self.on(f"Patient/{person['id']}", person)
        self.on(f"Patient/{person['id']}/$everything", found(*rows))

    def _found(self, request: web.Request) -> web.StreamResponse:
        """Answer a search for patients; of the other kinds nothing is held beside a chart."""
        is_of_persons = request.path == "/fhir/Patient"
        wanted = request.query.get("identifier", "").rpartition("|")[2]
        rows = [
            one
            for one in (self._persons if is_of_persons else [])
            if not wanted or wanted in [each["value"] for each in one["identifier"]]
        ]
        return answer(found(*rows))(request)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        rest = request.path.removeprefix("/fhir/")
        if not rest.startswith("ServiceRequest"):
            is_search = "/" not in rest and rest != "metadata"
            return self._found(request) if is_search else await super().handle(request)
        self.requests.append(request)
        match request.method, rest.partition("/")[2]:
            case "POST", "":
                return await self._create(request)
            case "GET", "":
                whose = request.query.get("patient", "")
                rows = [one for one in self.made.values() if one["subject"]["reference"] == whose]
                return answer(found(*rows))(request)
            case "PUT", key if key in self.made:
                return await self._replace(request, key)
            case "GET", key if key in self.made:
                return answer(self.made[key])(request)
            case _:
                return answer(outcome("not-found"), HTTPStatus.NOT_FOUND)(request)

    async def _create(self, request: web.Request) -> web.StreamResponse:
        self.tries += 1
        body = await request.json()
        self._check(body, status="draft")
        own = body["identifier"][0]
        condition = urlencode({"identifier": f"{own['system']}|{own['value']}"})
        if request.headers.get("If-None-Exist") != condition:
            self.faults.append("no condition that it is made once")
        before = [one for one in self.made.values() if one["identifier"] == body["identifier"]]
        kept = before[0] if before else {**body, "id": f"sr-{len(self.made) + 1}"}
        kept["meta"] = {"versionId": "1"}
        self.made[kept["id"]] = kept
        if self.kill is not None:
            kill, self.kill = self.kill, None
            kill()
            self.killed.set()
        return answer(kept, HTTPStatus.OK if before else HTTPStatus.CREATED)(request)

    async def _replace(self, request: web.Request, key: str) -> web.StreamResponse:
        body = await request.json()
        self._check(body, status="revoked")
        if request.headers.get("If-Match") != 'W/"1"':
            self.faults.append("no condition that nobody wrote since")
        self.made[key] = {**body, "meta": {"versionId": "2"}}
        return answer(self.made[key])(request)

    def _check(self, body: dict[str, Any], *, status: str) -> None:
        self.faults += [str(issue) for issue in fhirkit.parse(json.dumps(body)).issues]
        if (body.get("status"), body.get("intent")) != (status, "proposal"):
            self.faults.append(f"not a {status} of a proposal")
        if "medicationReference" in body or "medicationCodeableConcept" in body:
            self.faults.append("a drug")
