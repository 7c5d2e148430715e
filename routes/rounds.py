"""The ward round over HTTP: lists, cards, what people do on them, the printed ward list."""

from datetime import date, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

from aiohttp import web
from pydantic import BaseModel, Field

from data_models.errors import BadFrameError
from data_models.values import ClosedValue
from routes.requests.context import CONTEXT, principal_of
from routes.requests.endpoint import HTML, OBJECT, Endpoint, Json, in_query, of, rows
from routes.requests.json_input import read_body, view_document
from services.language.words.vocabulary import read_document
from services.rounds.round_actions import RoundActions
from services.rounds.round_list import TEXT_LIMIT_CHARS, RoundPlace, Severity, SignOut
from services.rounds.round_service import RoundService
from services.rounds.round_view import RoundSummary, RoundView
from services.statements.shown import not_supported

if TYPE_CHECKING:
    from jinja2 import Template

# The ward list as a page to print: both identifiers stand on each patient, on each sheet.

_STYLE = Path(__file__).with_name("print.css").read_text("utf-8")
_LANGUAGES = ("en", "de")


@cache
def _ward_list() -> "Template":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # few print a list

    folder = FileSystemLoader(Path(__file__).parent)
    pages = Environment(loader=folder, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    pages.filters["not_supported"] = not_supported
    return pages.get_template("ward_list.html")


_CARD = {**OBJECT, "description": "`RoundCard`, with its parts as a list of part and view."}
_BodyT = TypeVar("_BodyT", bound=BaseModel)
Text = Annotated[str, Field(min_length=1, max_length=TEXT_LIMIT_CHARS)]
Words = Annotated[str, Field(max_length=TEXT_LIMIT_CHARS)]


class NewRound(ClosedValue):
    """Whom a round is for: patients by id, or by name and birth date; else who is seen on a day."""

    patients: list[Annotated[str, Field(max_length=200)]] = Field(default=[], max_length=200)
    day: date | None = None
    language: Literal["en", "de"] = "en"


class Tick(ClosedValue):
    """Whether a patient is done."""

    done: bool = True


class NewNote(ClosedValue):
    """A note on a patient."""

    text: Text


class NewSignOut(ClosedValue):
    """A hand-over after I-PASS, to a colleague's principal."""

    to: Annotated[str, Field(min_length=1, max_length=400)]
    illness_severity: Severity
    patient_summary: Text
    action_list: Words = ""
    situation_awareness: Words = ""


class Acceptance(ClosedValue):
    """What a colleague who takes over understood."""

    synthesis: Text


async def create_round(request: web.Request) -> RoundSummary:
    """`POST /api/rounds`: a new list; it is prepared in the background."""
    asked = await _body(request, NewRound)
    return await _service(request).create(
        owner=principal_of(request).id,
        entries=asked.patients,
        day=asked.day,
        language=asked.language,
    )


async def list_rounds(request: web.Request) -> Json:
    """`GET /api/rounds`: the caller's lists, and those handed over to the caller."""
    return {"rounds": await _service(request).list_lists(principal_of(request).id)}


async def show_round(request: web.Request) -> RoundView:
    """`GET /api/rounds/{round_id}`: who is on it and how far the preparation is."""
    round_id = request.match_info["round_id"]
    return await _service(request).show(round_id, principal=principal_of(request).id)


async def show_card(request: web.Request) -> Json:
    """`GET /api/rounds/{round_id}/patients/{patient_id}`: one card."""
    card = await _service(request).card(_place(request))
    found: Json = card.model_dump(mode="json", exclude={"parts"})
    shown = () if card.parts is None else card.parts.views
    return {**found, "parts": [{"part": name, "view": view_document(one)} for name, one in shown]}


async def print_round(request: web.Request) -> web.Response:
    """`GET /api/rounds/{round_id}/print`: the ward list as a page to print."""
    round_id = request.match_info["round_id"]
    cards = await _service(request).ward_list(round_id, principal=principal_of(request).id)
    language = request.query.get("lang", "en")
    lang = language if language in _LANGUAGES else _LANGUAGES[0]
    words = read_document(lang, "ward_list")
    page = _ward_list().render(cards=cards, lang=lang, words=words, at=_now(request))
    return web.Response(text=page, content_type="text/html")


async def print_style(_: web.Request) -> web.Response:
    """`GET /print.css`: how the ward list looks on paper; nobody's words are in it."""
    return web.Response(text=_STYLE, content_type="text/css")


async def tick_patient(request: web.Request) -> None:
    """`POST …/tick`: done, or not any more."""
    asked = await _body(request, Tick)
    await _actions(request).tick(_place(request), is_done=asked.done)


async def note_patient(request: web.Request) -> None:
    """`POST …/note`: a note."""
    asked = await _body(request, NewNote)
    await _actions(request).note(_place(request), text=asked.text)


async def hand_over_patient(request: web.Request) -> None:
    """`POST …/hand-over`: to a colleague, signed out with the headings of I-PASS."""
    asked = await _body(request, NewSignOut)
    place = _place(request)
    sign_out = SignOut(by=place.principal, at=_now(request), **asked.model_dump())
    await _actions(request).hand_over(place, sign_out)


async def accept_patient(request: web.Request) -> None:
    """`POST …/accept`: taken over, in the colleague's own words."""
    asked = await _body(request, Acceptance)
    await _actions(request).accept(_place(request), synthesis=asked.synthesis)


async def prepare_patient(request: web.Request) -> None:
    """`POST …/prepare`: once more."""
    await _actions(request).prepare_again(_place(request))


def round_routes() -> list[Endpoint]:
    """Return the routes of rounds."""
    lists, one = "/api/rounds", "/api/rounds/{round_id}"
    patient = f"{one}/patients/{{patient_id}}"
    listed, style = of(rounds=rows(RoundSummary)), {"text/css": {"type": "string"}}
    language = in_query("lang", "Of the page's own words.", {"enum": list(_LANGUAGES)})
    return [
        Endpoint("POST", lists, create_round, RoundSummary, status=201, sent=NewRound),
        Endpoint("GET", lists, list_rounds, listed),
        Endpoint("GET", one, show_round, RoundView),
        Endpoint("GET", f"{one}/print", print_round, media=HTML, parameters=(language,)),
        Endpoint("GET", "/print.css", print_style, media=style),
        Endpoint("GET", patient, show_card, _CARD),
        Endpoint("POST", f"{patient}/tick", tick_patient, sent=Tick),
        Endpoint("POST", f"{patient}/note", note_patient, sent=NewNote),
        Endpoint("POST", f"{patient}/hand-over", hand_over_patient, sent=NewSignOut),
        Endpoint("POST", f"{patient}/accept", accept_patient, sent=Acceptance),
        Endpoint("POST", f"{patient}/prepare", prepare_patient),
    ]


def _place(request: web.Request) -> RoundPlace:
    named = request.match_info
    return RoundPlace(named["round_id"], named["patient_id"], principal_of(request).id)


def _now(request: web.Request) -> datetime:
    return request.app[CONTEXT].clock.now()


async def _body(request: web.Request, model: type[_BodyT]) -> _BodyT:
    return await read_body(request, model, refusal=BadFrameError(f"not a {model.__name__}"))


def _service(request: web.Request) -> RoundService:
    return request.app[CONTEXT].rounds


def _actions(request: web.Request) -> RoundActions:
    return request.app[CONTEXT].round_actions
