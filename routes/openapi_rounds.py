"""What `/api/rounds` answers, for `GET /api/openapi.json`."""

from typing import Any

from routes.described import (
    OPEN,
    Json,
    content,
    in_path,
    in_query,
    of,
    operation,
    refusals,
    rows,
    schemas_of,
)
from routes.rounds import Acceptance, NewNote, NewRound, NewSignOut, Tick
from services.rounds.round_view import RoundCard, RoundSummary, RoundView

_REFUSED = refusals(
    "401",
    "404",
    s400="The request is malformed, or an entry is not one patient's; the text says which.",
    s403="The chart is not open to the caller, or to the colleague.",
    s409="A stored document cannot be read.",
)
_LANGUAGE = in_query("lang", "Of the page's own words.", {"enum": ["en", "de"]})
_PAGE = content({"type": "string"}, "text/html")
_ONE = "/api/rounds/{round_id}"
_PATIENT = f"{_ONE}/patients/{{patient_id}}"
_ROUTES: tuple[tuple[Any, ...], ...] = (
    ("get", "/api/rounds", "listRounds", "The caller's lists, newest first",
     content(of(rounds=rows("RoundSummary"))), None),
    ("post", "/api/rounds", "createRound",
     "Prepare a list of patients, by name or of a day, in the background",
     content("RoundSummary"), "NewRound"),
    ("get", _ONE, "showRound", "Who is on it, how far it is", content("RoundView"), None),
    ("get", f"{_ONE}/print", "printRound", "The ward list as a page to print", _PAGE, None),
    ("get", _PATIENT, "showRoundCard", "One patient's card", content("RoundCard"), None),
    ("post", f"{_PATIENT}/tick", "tickPatient", "Tick off, or take that back", {}, "Tick"),
    ("post", f"{_PATIENT}/note", "notePatient", "Add a note", {}, "NewNote"),
    ("post", f"{_PATIENT}/hand-over", "handOverPatient", "Hand over to a colleague (I-PASS)", {},
     "NewSignOut"),
    ("post", f"{_PATIENT}/accept", "acceptPatient", "Take over, with a synthesis", {},
     "Acceptance"),
    ("post", f"{_PATIENT}/prepare", "preparePatient", "Prepare once more", {}, None),
)  # fmt: skip


def round_paths() -> Json:
    """Return the paths of rounds."""
    style = ("200", "A style sheet.", content({"type": "string"}, "text/css"))
    paths: Json = {
        "/print.css": {
            "get": operation("printStyle", "How the ward list looks on paper", style, **OPEN)
        }
    }
    for method, path, name, summary, answer, body in _ROUTES:
        status = "204" if not answer else "201" if method == "post" else "200"
        in_it = (in_path(one) for one in ("round_id", "patient_id") if f"{{{one}}}" in path)
        paths.setdefault(path, {})[method] = operation(
            name, summary, (status, "Done.", answer), refused=_REFUSED,
            parameters=(*in_it, *((_LANGUAGE,) if name == "printRound" else ())),
            body=None if body is None else content(body),
        )  # fmt: skip
    return paths


def round_schemas() -> Json:
    """Return the models that the paths name."""
    found = schemas_of(RoundSummary, RoundView, RoundCard)
    part = of(part={"type": "string"}, view={"$ref": "#/components/schemas/ChartPart"})
    found["RoundCard"]["properties"]["parts"] = rows(part)
    return found | schemas_of(NewRound, Tick, NewNote, NewSignOut, Acceptance, mode="validation")
