"""The ward list as a page to print: both identifiers stand on each patient, on each sheet."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from html import escape

from data_models.chart_view import ChartView, ViewRow
from services.rounds.round_card import Who
from services.rounds.round_list import SignOut
from services.rounds.round_view import RoundCard
from services.statements.shown import not_supported

PRINT_STYLE = """
@page { size: A4; margin: 14mm; }
body { font: 10pt/1.35 sans-serif; color: #000; }
article { break-inside: auto; border-top: 2px solid #000; padding-top: 2mm; margin-bottom: 6mm; }
table.patient { width: 100%; border-collapse: collapse; }
table.patient > thead { display: table-header-group; }
th.who { text-align: left; font-size: 12pt; padding-bottom: 1mm; }
h1 { font-size: 14pt; }
h3 { font-size: 10pt; margin: 2mm 0 0.5mm; break-after: avoid; }
ul { margin: 0; padding-left: 5mm; }
li { break-inside: avoid; }
.note { white-space: pre-wrap; }
.left { color: #333; font-style: italic; }
"""
_WORDS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "title": "Ward list", "why": "Why here", "changes": "Changes since you last looked",
        "results": "Results to look at", "open": "Open questions", "medications": "Medications now",
        "allergies": "Allergies", "said": "Summary of the agents (checked)", "notes": "Notes",
        "sign_out": "Hand-over (I-PASS)", "born": "born", "number": "record number",
        "id": "id", "no_name": "name not in the record", "no_birth": "birth date not in the record",
        "done": "done", "not_open": "not shown", "more": "more", "printed": "printed",
        "illness_severity": "Illness severity", "patient_summary": "Patient summary",
        "action_list": "Action list", "situation_awareness": "Situation awareness",
        "synthesis": "Synthesis by receiver", "handed_to": "handed over to",
    },
    "de": {
        "title": "Visitenliste", "why": "Warum hier", "changes": "Neu seit dem letzten Blick",
        "results": "Anzusehende Ergebnisse", "open": "Offene Fragen",
        "medications": "Medikation jetzt", "allergies": "Allergien",
        "said": "Zusammenfassung der Agenten (geprüft)", "notes": "Notizen",
        "sign_out": "Übergabe (I-PASS)", "born": "geb.", "number": "Aktennummer", "id": "Nr.",
        "no_name": "Name nicht in der Akte", "no_birth": "Geburtsdatum nicht in der Akte",
        "done": "erledigt", "not_open": "nicht gezeigt", "more": "weitere", "printed": "gedruckt",
        "illness_severity": "Schwere der Erkrankung", "patient_summary": "Zusammenfassung",
        "action_list": "Aufgaben", "situation_awareness": "Worauf zu achten ist",
        "synthesis": "Rückmeldung", "handed_to": "übergeben an",
    },
}  # fmt: skip
_ROW_PARTS = ("name", "value", "unit", "flag", "status", "date", "detail")


def ward_list_page(cards: Sequence[RoundCard], *, language: str, at: datetime) -> str:
    """Return the page; every text of the record and of people is escaped.

    Args:
        language: `de`, else English.
    """
    words = _WORDS.get(language, _WORDS["en"])
    printed = f"{words['printed']} {at:%Y-%m-%d %H:%M} UTC"
    body = "\n".join(line for card in cards for line in _card(card, words))
    lang = language if language in _WORDS else "en"
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
            told = "\n\n".join(filter(None, [one.text, not_supported(one)]))
            yield f'<p class="note">{escape(told)}</p>'
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


def _identity(who: Who, words: Mapping[str, str]) -> str:
    born = f"{words['born']} {who.birth_date}" if who.birth_date else words["no_birth"]
    number = f"{words['number']} {', '.join(who.numbers)}" if who.numbers else ""
    parts = [who.name or words["no_name"], born, who.sex, who.deceased, number]
    return " · ".join(filter(None, parts))


def _view(title: str, view: ChartView, words: Mapping[str, str]) -> Iterator[str]:
    lines = [_line(row) for row in view.rows] or [view.nothing]
    yield from _list(title, lines)
    left = [f"{one.count} {words['more']}: {one.what}" for one in view.left_out]
    if left or view.notes:
        yield f'<p class="left">{escape("; ".join([*left, *view.notes]))}</p>'


def _line(row: ViewRow) -> str:
    return " · ".join(filter(None, (str(row.__dict__[name]) for name in _ROW_PARTS)))


def _sign_out(found: SignOut, words: Mapping[str, str]) -> Iterator[str]:
    for name in (
        "illness_severity", "patient_summary", "action_list", "situation_awareness", "synthesis"
    ):  # fmt: skip
        yield f"{words[name]}: {found.__dict__[name] or '—'}"


def _list(title: str, lines: Iterator[str] | Sequence[str]) -> Iterator[str]:
    yield f"<h3>{escape(title)}</h3>"
    items = "".join(f'<li class="note">{escape(line)}</li>' for line in lines)
    yield f"<ul>{items}</ul>"
