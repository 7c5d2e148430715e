"""The ward round over HTTP: lists, cards, what people do on them, the printed ward list."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from html import escape
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from aiohttp import web
from pydantic import BaseModel, Field

from data_models.chart_view import ChartView
from data_models.errors import BadFrameError
from data_models.values import ClosedValue
from routes.requests.context import CONTEXT, principal_of
from routes.requests.endpoint import HTML, OBJECT, Endpoint, Json, in_query, of, rows
from routes.requests.json_input import read_body, view_document
from services.language.words.vocabulary import read_document
from services.records.views.demographics import Demographics
from services.rounds.round_actions import RoundActions
from services.rounds.round_list import TEXT_LIMIT_CHARS, Severity, SignOut
from services.rounds.round_service import RoundService
from services.rounds.round_view import RoundCard, RoundSummary, RoundView
from services.statements.shown import not_supported

# The ward list as a page to print: both identifiers stand on each patient, on each sheet.

_STYLE = Path(__file__).with_name("print.css").read_text("utf-8")
_LANGUAGES = ("en", "de")
_ROW_PARTS = ("name", "value", "unit", "flag", "status", "date", "detail")


def ward_list_page(cards: Sequence[RoundCard], *, language: str, at: datetime) -> str:
    """Return the page; every text of the record and of people is escaped.

    Args:
        language: `de`, else English.
    """
    lang = language if language in _LANGUAGES else _LANGUAGES[0]
    words = read_document(lang, "ward_list")
    printed = f"{words['printed']} {at:%Y-%m-%d %H:%M} UTC"
    body = "\n".join(line for card in cards for line in _card(card, words))
    return (
        f'<!doctype html>\n<html lang="{lang}">\n<head><meta charset="utf-8">'
        f"<title>{words['title']}</title>"
        '<link rel="icon" href="data:,"><link rel="stylesheet" href="/print.css"></head>\n'
        f"<body>\n<h1>{words['title']}</h1>\n<p>{printed}</p>\n{body}\n</body>\n</html>\n"
    )


def _card(card: RoundCard, words: Mapping[str, str]) -> Iterator[str]:
    """The head of a table is repeated on each sheet: who it is stands on every page."""
    yield '<article><table class="patient">'
    yield f'<thead><tr><th class="who">{_who(card, words)}</th></tr></thead>'
    yield "<tbody><tr><td>"
    if card.row.problem:
        yield f"<p><strong>{escape(card.row.problem)}</strong></p>"
    for name, view in () if card.parts is None else card.parts.views:
        yield from _view(words[name], view, words)
    if card.said:
        yield f"<h3>{words['said']}</h3>"
        for one in card.said:
            text = "\n\n".join(filter(None, [one.text, not_supported(one)]))
            yield f'<p class="note">{escape(text)}</p>'
    if card.notes:
        lines = (f"{one.by}, {one.at:%Y-%m-%d %H:%M}: {one.text}" for one in card.notes)
        yield from _list(words["notes"], lines)
    if card.sign_outs:
        yield from _list(words["sign_out"], _sign_out(card.sign_outs[-1], words))
    yield "</td></tr></tbody></table></article>"


def _who(card: RoundCard, words: Mapping[str, str]) -> str:
    who, row = card.row.who, card.row
    label = words["not_open"] if who is None else _identity(who, words)
    done = f" — ☑ {words['done']}" if row.ticked_at else ""
    handed = f" — {words['handed_to']} {row.handed_to}" if row.handed_to else ""
    return escape(
        f"{card.place}/{card.of} · {label} · {words['id']} {row.patient_id}{done}{handed}"
    )


def _identity(who: Demographics, words: Mapping[str, str]) -> str:
    born = f"{words['born']} {who.birth_date}" if who.birth_date else words["no_birth"]
    number = f"{words['number']} {', '.join(who.numbers)}" if who.numbers else ""
    parts = [who.name or words["no_name"], born, who.sex, who.deceased, number]
    return " · ".join(filter(None, parts))


def _view(title: str, view: ChartView, words: Mapping[str, str]) -> Iterator[str]:
    every = ([str(row.__dict__[name]) for name in _ROW_PARTS] for row in view.rows)
    yield from _list(title, [" · ".join(filter(None, row)) for row in every] or [view.nothing])
    left = [f"{one.count} {words['more']}: {one.what}" for one in view.left_out]
    if left or view.notes:
        yield f'<p class="left">{escape("; ".join([*left, *view.notes]))}</p>'


def _sign_out(found: SignOut, words: Mapping[str, str]) -> Iterator[str]:
    for name in (
        "illness_severity", "patient_summary", "action_list", "situation_awareness", "synthesis"
    ):  # fmt: skip
        yield f"{words[name]}: {found.__dict__[name] or '—'}"


def _list(title: str, lines: Iterator[str] | Sequence[str]) -> Iterator[str]:
    yield f"<h3>{escape(title)}</h3>"
    items = "".join(f'<li class="note">{escape(line)}</li>' for line in lines)
    yield f"<ul>{items}</ul>"


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
    card = await _service(request).card(*_place(request), principal=principal_of(request).id)
    return card_document(card)


async def print_round(request: web.Request) -> web.Response:
    """`GET /api/rounds/{round_id}/print`: the ward list as a page to print."""
    round_id = request.match_info["round_id"]
    cards = await _service(request).ward_list(round_id, principal=principal_of(request).id)
    page = ward_list_page(cards, language=request.query.get("lang", "en"), at=_now(request))
    return web.Response(text=page, content_type="text/html")


async def print_style(_: web.Request) -> web.Response:
    """`GET /print.css`: how the ward list looks on paper; nobody's words are in it."""
    return web.Response(text=_STYLE, content_type="text/css")


async def tick_patient(request: web.Request) -> None:
    """`POST …/tick`: done, or not any more."""
    asked = await _body(request, Tick)
    caller = principal_of(request).id
    await _actions(request).tick(*_place(request), principal=caller, is_done=asked.done)


async def note_patient(request: web.Request) -> None:
    """`POST …/note`: a note."""
    asked = await _body(request, NewNote)
    caller = principal_of(request).id
    await _actions(request).note(*_place(request), principal=caller, text=asked.text)


async def hand_over_patient(request: web.Request) -> None:
    """`POST …/hand-over`: to a colleague, signed out with the headings of I-PASS."""
    asked = await _body(request, NewSignOut)
    by, at = principal_of(request).id, _now(request)
    sign_out = SignOut(by=by, at=at, **asked.model_dump())
    await _actions(request).hand_over(*_place(request), sign_out=sign_out)


async def accept_patient(request: web.Request) -> None:
    """`POST …/accept`: taken over, in the colleague's own words."""
    asked = await _body(request, Acceptance)
    caller = principal_of(request).id
    await _actions(request).accept(*_place(request), principal=caller, synthesis=asked.synthesis)


async def prepare_patient(request: web.Request) -> None:
    """`POST …/prepare`: once more."""
    await _actions(request).prepare_again(*_place(request), principal=principal_of(request).id)


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


def card_document(card: RoundCard) -> Json:
    """Return a card as plain JSON values; its parts as a list, in their order."""
    found: Json = card.model_dump(mode="json", exclude={"parts"})
    shown = () if card.parts is None else card.parts.views
    return {**found, "parts": [{"part": name, "view": view_document(one)} for name, one in shown]}


def _place(request: web.Request) -> tuple[str, str]:
    return request.match_info["round_id"], request.match_info["patient_id"]


def _now(request: web.Request) -> datetime:
    return request.app[CONTEXT].clock.now()


async def _body(request: web.Request, model: type[_BodyT]) -> _BodyT:
    return await read_body(request, model, refusal=BadFrameError(f"not a {model.__name__}"))


def _service(request: web.Request) -> RoundService:
    return request.app[CONTEXT].rounds


def _actions(request: web.Request) -> RoundActions:
    return request.app[CONTEXT].round_actions
