"""The ward round over HTTP: lists, cards, what people do on them, the printed ward list."""

from datetime import date, datetime
from typing import Annotated, Literal, TypeVar

from aiohttp import web
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from data_models.errors import BadFrameError
from routes.auth import principal_of
from routes.context import CONTEXT
from routes.json_input import parse_json
from routes.replies import json_reply
from routes.view_document import view_document
from routes.ward_list import PRINT_STYLE, ward_list_page
from services.access.bodies import body_of
from services.rounds.round_deeds import RoundDeeds
from services.rounds.round_list import TEXT_LIMIT_CHARS, Severity, SignOut
from services.rounds.round_service import RoundService
from services.rounds.round_view import RoundCard

_STRICT = ConfigDict(extra="forbid")
_BodyT = TypeVar("_BodyT", bound=BaseModel)
Text = Annotated[str, Field(min_length=1, max_length=TEXT_LIMIT_CHARS)]
Words = Annotated[str, Field(max_length=TEXT_LIMIT_CHARS)]


class NewRound(BaseModel):
    """Whom a round is for: patients by id, or by name and birth date; else who is seen on a day."""

    model_config = _STRICT

    patients: list[Annotated[str, Field(max_length=200)]] = Field(default=[], max_length=200)
    day: date | None = None
    language: Literal["en", "de"] = "en"


class Tick(BaseModel):
    """Whether a patient is done."""

    model_config = _STRICT

    done: bool = True


class NewNote(BaseModel):
    """A note on a patient."""

    model_config = _STRICT

    text: Text


class NewSignOut(BaseModel):
    """A hand-over after I-PASS, to a colleague's principal."""

    model_config = _STRICT

    to: Annotated[str, Field(min_length=1, max_length=400)]
    illness_severity: Severity
    patient_summary: Text
    action_list: Words = ""
    situation_awareness: Words = ""


class Acceptance(BaseModel):
    """What a colleague who takes over understood."""

    model_config = _STRICT

    synthesis: Text


async def create_round(request: web.Request) -> web.Response:
    """`POST /api/rounds`: a new list; it is prepared in the background."""
    asked = await _body(request, NewRound)
    made = await _service(request).create(
        owner=principal_of(request).id,
        entries=asked.patients,
        day=asked.day,
        language=asked.language,
    )
    return json_reply(made.model_dump(mode="json"), status=201)


async def list_rounds(request: web.Request) -> web.Response:
    """`GET /api/rounds`: the caller's lists, and those handed over to the caller."""
    found = await _service(request).of(principal_of(request).id)
    return json_reply({"rounds": [one.model_dump(mode="json") for one in found]})


async def show_round(request: web.Request) -> web.Response:
    """`GET /api/rounds/{round_id}`: who is on it and how far the preparation is."""
    found = await _service(request).show(
        request.match_info["round_id"], principal=principal_of(request).id
    )
    return json_reply(found.model_dump(mode="json"))


async def show_card(request: web.Request) -> web.Response:
    """`GET /api/rounds/{round_id}/patients/{patient_id}`: one card."""
    card = await _service(request).card(*_place(request), principal=principal_of(request).id)
    return json_reply(card_document(card))


async def print_round(request: web.Request) -> web.Response:
    """`GET /api/rounds/{round_id}/print`: the ward list as a page to print."""
    round_id = request.match_info["round_id"]
    cards = await _service(request).ward_list(round_id, principal=principal_of(request).id)
    page = ward_list_page(cards, language=request.query.get("lang", "en"), at=_now(request))
    return web.Response(text=page, content_type="text/html")


async def print_style(_: web.Request) -> web.Response:
    """`GET /print.css`: how the ward list looks on paper; nobody's words are in it."""
    return web.Response(text=PRINT_STYLE, content_type="text/css")


async def tick_patient(request: web.Request) -> web.Response:
    """`POST …/tick`: done, or not any more."""
    asked = await _body(request, Tick)
    caller = principal_of(request).id
    await _deeds(request).tick(*_place(request), principal=caller, is_done=asked.done)
    return web.Response(status=204)


async def note_patient(request: web.Request) -> web.Response:
    """`POST …/note`: a note."""
    asked = await _body(request, NewNote)
    caller = principal_of(request).id
    await _deeds(request).note(*_place(request), principal=caller, text=asked.text)
    return web.Response(status=204)


async def hand_over_patient(request: web.Request) -> web.Response:
    """`POST …/hand-over`: to a colleague, signed out with the headings of I-PASS."""
    asked = await _body(request, NewSignOut)
    by, at = principal_of(request).id, _now(request)
    sign_out = SignOut(by=by, at=at, **asked.model_dump())
    await _deeds(request).hand_over(*_place(request), sign_out=sign_out)
    return web.Response(status=204)


async def accept_patient(request: web.Request) -> web.Response:
    """`POST …/accept`: taken over, in the colleague's own words."""
    asked = await _body(request, Acceptance)
    caller = principal_of(request).id
    await _deeds(request).accept(*_place(request), principal=caller, synthesis=asked.synthesis)
    return web.Response(status=204)


async def prepare_patient(request: web.Request) -> web.Response:
    """`POST …/prepare`: once more."""
    await _deeds(request).prepare_again(*_place(request), principal=principal_of(request).id)
    return web.Response(status=204)


def round_routes() -> list[web.RouteDef]:
    """Return the routes of rounds."""
    patient = "/api/rounds/{round_id}/patients/{patient_id}"
    return [
        web.post("/api/rounds", create_round),
        web.get("/api/rounds", list_rounds),
        web.get("/api/rounds/{round_id}", show_round),
        web.get("/api/rounds/{round_id}/print", print_round),
        web.get("/print.css", print_style),
        web.get(patient, show_card),
        web.post(f"{patient}/tick", tick_patient),
        web.post(f"{patient}/note", note_patient),
        web.post(f"{patient}/hand-over", hand_over_patient),
        web.post(f"{patient}/accept", accept_patient),
        web.post(f"{patient}/prepare", prepare_patient),
    ]


def card_document(card: RoundCard) -> dict[str, object]:
    """Return a card as plain JSON values; its parts as a list, in their order."""
    found: dict[str, object] = card.model_dump(mode="json", exclude={"parts"})
    shown = () if card.parts is None else card.parts.views
    return {**found, "parts": [{"part": name, "view": view_document(one)} for name, one in shown]}


def _place(request: web.Request) -> tuple[str, str]:
    return request.match_info["round_id"], request.match_info["patient_id"]


def _now(request: web.Request) -> datetime:
    return request.app[CONTEXT].clock.now()


def _service(request: web.Request) -> RoundService:
    service = request.app[CONTEXT].rounds
    if service is None:
        raise web.HTTPNotFound
    return service


def _deeds(request: web.Request) -> RoundDeeds:
    deeds = request.app[CONTEXT].round_deeds
    if deeds is None:
        raise web.HTTPNotFound
    return deeds


async def _body(request: web.Request, model: type[_BodyT]) -> _BodyT:
    try:
        return model.model_validate(parse_json(await body_of(request)))
    except ValidationError:
        # Not `from error`: the error quotes the body.
        raise BadFrameError(f"not a {model.__name__}") from None
