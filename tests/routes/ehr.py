"""A record system on loopback: SMART App Launch, with a FHIR server that shows one Patient."""

from typing import Any
from urllib.parse import parse_qsl, urlsplit

from aiohttp import web

from data_models.clock import Clock
from tests.routes.provider import Provider


class Ehr(Provider):
    """Starts Rounds with the patient of `context`; PKCE, codes and tokens are as `Provider`'s.

    Attributes:
        context: Goes beside the tokens: the patient who is open.
        patients: By id; read with the access token only. Likewise `encounters`.
    """

    def __init__(self, *, clock: Clock, redirect_uri: str) -> None:
        super().__init__(clock=clock, redirect_uri=redirect_uri)
        self.claims = {"fhirUser": "Practitioner/17"}
        self.context: dict[str, Any] = {"patient": "p-77", "expires_in": 1_800}
        self.patients: dict[str, dict[str, Any]] = {}
        self.encounters: dict[str, dict[str, Any]] = {}
        self.asked: dict[str, str] = {}
        router = self.server.app.router
        router.add_get("/fhir/.well-known/smart-configuration", self._configuration)
        router.add_get("/fhir/Patient/{id}", self._patient)
        router.add_get("/fhir/Encounter/{id}", self._encounter)

    @property
    def fhir(self) -> str:
        """Address of the FHIR server, `iss` of its launches."""
        return f"{self.issuer}/fhir"

    def sign_in(self, url: str) -> dict[str, str]:
        """See `Provider.sign_in`; what only SMART asks is checked too."""
        self.asked = dict(parse_qsl(urlsplit(url).query))
        assert self.asked["aud"] == self.fhir
        assert "fhirUser" in self.asked["scope"].split()
        return super().sign_in(url)

    def _tokens(self, nonce: str) -> dict[str, str]:
        return super()._tokens(nonce) | self.context

    async def _patient(self, request: web.Request) -> web.Response:
        return self._shown(request, self.patients)

    async def _encounter(self, request: web.Request) -> web.Response:
        return self._shown(request, self.encounters)

    def _shown(self, request: web.Request, rows: dict[str, dict[str, Any]]) -> web.Response:
        if request.headers.get("Authorization") != "Bearer at-secret":
            return web.Response(status=401)
        found = rows.get(request.match_info["id"])
        return web.Response(status=404) if found is None else web.json_response(found)
