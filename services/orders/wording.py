"""What the user reads about drafts of orders, their card first, in English and German. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from data_models.chart_view import ViewRow
from data_models.identifiers import PatientId
from services.orders.draft_order import ORDER, DraftOrder, KeptDraft
from services.orders.may_be_drafted import is_same_test
from services.records.concepts.words import words_of
from services.records.finding import find_series
from services.records.measurements import row_of_part, series_of
from services.records.record import PatientRecord
from services.records.rows import row_of
from services.records.views.lists import allergies

_TEXTS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "card": "**Draft of an order** (a proposal, not an active order)",
        "patient": "Patient",
        "test": "Test",
        "when": "When",
        "no_time": "not said",
        "rests": "Rests on",
        "nothing": "no earlier result of that name in the record",
        "before": "Ordered before",
        "allergies": "Allergies",
        "no_allergies": "nothing is recorded; that does not say that there are none",
        "ask": "Make this draft? yes / no",
        "ask_all": "Make these {number} drafts? yes / no",
        "few": "at most {number} drafts in one question: name the most urgent ones first",
        "ask_again": "The server did not answer, so it is not known whether the draft was made: "
        "{test}. Try again? It is made once at most. yes / no",
        "made": "Made a draft for {patient}: {test}{when}. It is not ordered: somebody has to "
        "activate it in the order system. “undo” takes it back.",
        "declined": "No draft was made: {test}.",
        "not_drafted": "No draft was made: {problem}.",
        "odd": "The server keeps {test} with status {status}, not as the draft that was sent. "
        "Please look at it in the order system now.",
        "kept": "Drafted here for {patient}, not ordered yet: {names}.",
        "none": "No draft of {test} stands here for {patient}. Rounds itself orders nothing.",
        "on_record": "Open in the record: {rows}.",
        "ask_back": "Take back the draft of {test} for {patient}? yes / no",
        "back": "Took back the draft of {test}.",
        "stays": "Nothing was changed: the draft of {test} stays.",
        "unsure_back": "The server did not answer: it is not known whether the draft of {test} "
        "was taken back. Please ask again.",
        "no_role": "you may not order here; a user with the role `order` can",
        "no_server": "the records server does not take drafts of orders",
        "refused": "the server refused it",
        "conflict": "the server keeps something else under this draft's number",
        "not_accepted": "the server did not accept it ({status})",
        "not_a_draft": "it is no draft any more (status {status}); use the order system",
        "gone": "the patient has no such draft",
        "which": "several drafts may be meant; say which: {names}",
        "not_asked": "nobody has asked for an order",
        "one": "one draft at a time: answer the open question first",
        "not_said": "that test was not named; say which test is meant",
        "medication": "only tests and examinations can be drafted here; Rounds orders, gives and "
        "drafts no drug, that is done in the order system",
        "drug_or_test": "that may be a drug or its level; write “level” if the test is meant. A "
        "drug cannot be drafted here",
        "unknown": "that is not known as a test or examination; give its full name, such as "
        "“potassium level” or “CT chest”. A drug cannot be drafted here",
        "days": "several days may be meant; name the one day",
        "past_day": "that day has passed; give the day with its year",
        "past_time": "that time has passed; give day and time",
        "at": ", {when}",
        "who": "{name}, born {day}",
        "unnamed": "no name recorded",
        "unborn": "(birth date not recorded)",
    },
    "de": {
        "card": "**Entwurf einer Anordnung** (ein Vorschlag, keine aktive Anordnung)",
        "patient": "Patient",
        "test": "Untersuchung",
        "when": "Wann",
        "no_time": "nicht gesagt",
        "rests": "Grundlage",
        "nothing": "kein früherer Befund dieses Namens in der Akte",
        "before": "Früher angeordnet",
        "allergies": "Allergien",
        "no_allergies": "nichts eingetragen; das heißt nicht, dass es keine gibt",
        "ask": "Diesen Entwurf anlegen? ja / nein",
        "ask_all": "Diese {number} Entwürfe anlegen? ja / nein",
        "few": "höchstens {number} Entwürfe in einer Frage: bitte die dringendsten zuerst",
        "ask_again": "Der Server hat nicht geantwortet; ob der Entwurf angelegt wurde, ist nicht "
        "bekannt: {test}. Noch einmal versuchen? Er wird höchstens einmal angelegt. ja / nein",
        "made": "Entwurf angelegt für {patient}: {test}{when}. Angeordnet ist damit nichts: er "
        "muss im Anordnungssystem freigegeben werden. „rückgängig“ nimmt ihn zurück.",
        "declined": "Es wurde kein Entwurf angelegt: {test}.",
        "not_drafted": "Es wurde kein Entwurf angelegt: {problem}.",
        "odd": "Der Server führt {test} mit Status {status}, nicht als den gesendeten Entwurf. "
        "Bitte jetzt im Anordnungssystem nachsehen.",
        "kept": "Hier für {patient} entworfen, noch nicht angeordnet: {names}.",
        "none": "Hier liegt für {patient} kein Entwurf von {test}. Rounds selbst ordnet nichts an.",
        "on_record": "Offen in der Akte: {rows}.",
        "ask_back": "Den Entwurf {test} für {patient} zurücknehmen? ja / nein",
        "back": "Der Entwurf {test} wurde zurückgenommen.",
        "stays": "Nichts wurde geändert: der Entwurf {test} bleibt.",
        "unsure_back": "Der Server hat nicht geantwortet: ob der Entwurf {test} zurückgenommen "
        "wurde, ist nicht bekannt. Bitte noch einmal fragen.",
        "no_role": "Sie dürfen hier nicht anordnen; das kann, wer die Rolle `order` hat",
        "no_server": "der Server der Akten nimmt keine Entwürfe von Anordnungen an",
        "refused": "der Server hat ihn abgelehnt",
        "conflict": "unter der Nummer dieses Entwurfs führt der Server etwas anderes",
        "not_accepted": "der Server hat ihn nicht angenommen ({status})",
        "not_a_draft": "er ist kein Entwurf mehr (Status {status}); bitte im Anordnungssystem",
        "gone": "der Patient hat keinen solchen Entwurf",
        "which": "mehrere Entwürfe können gemeint sein; welcher: {names}?",
        "not_asked": "niemand hat um eine Anordnung gebeten",
        "one": "ein Entwurf nach dem anderen: bitte erst die offene Frage beantworten",
        "not_said": "diese Untersuchung wurde nicht genannt; welche ist gemeint?",
        "medication": "nur Untersuchungen können hier entworfen werden; Rounds verordnet, gibt und "
        "entwirft kein Arzneimittel, das geschieht im Anordnungssystem",
        "drug_or_test": "das kann ein Arzneimittel oder sein Spiegel sein; schreiben Sie "
        "„…spiegel“, wenn die Untersuchung gemeint ist. Ein Arzneimittel wird hier nicht entworfen",
        "unknown": "das ist hier nicht als Untersuchung bekannt; bitte den vollen Namen, etwa "
        "„Kalium im Blut“ oder „CT Thorax“. Ein Arzneimittel wird hier nicht entworfen",
        "days": "mehrere Tage können gemeint sein; bitte den einen Tag nennen",
        "past_day": "dieser Tag ist vorbei; bitte den Tag mit Jahr nennen",
        "past_time": "diese Zeit ist vorbei; bitte Tag und Uhrzeit nennen",
        "at": ", {when}",
        "who": "{name}, geb. {day}",
        "unnamed": "kein Name eingetragen",
        "unborn": "(Geburtsdatum nicht eingetragen)",
    },
}
LANGUAGES = frozenset(_TEXTS)


def said_in(language: str, name: str, /, **fields: str) -> str:
    """Return a sentence in `language`, in English where nobody wrote it in that."""
    return _TEXTS.get(language, _TEXTS["en"])[name].format(**fields)


def moment_shown(occurs: str) -> str:
    """Return a FHIR dateTime for people, date first: `2026-11-24 08:00`."""
    return occurs if "T" not in occurs else f"{datetime.fromisoformat(occurs):%Y-%m-%d %H:%M}"


_SHOWN = 3


@dataclass(frozen=True, slots=True)
class CardRows:
    """What the chart says beside a draft, found by code.

    Attributes:
        results: The newest value of each series of this test, and the newest examination or
            report whose name holds all its words: `MRI brain with gadolinium` for "brain MRI".
        before: Earlier orders of the same test that are not over.
        allergies: All that are active; "none known" where the record says so.
    """

    results: tuple[ViewRow, ...]
    before: tuple[ViewRow, ...]
    allergies: tuple[ViewRow, ...]


def card_rows(record: PatientRecord, test: str) -> CardRows:
    """Return the rows of the chart that stand on the card."""
    found = find_series(series_of(record), test)
    series = () if found.read_as else found.series[:_SHOWN]
    orders = [row_of(record, each) for each in record.entries_of("ServiceRequest")]
    open_ones = [row for row in orders if row.status in ("active", "draft", "on-hold")]
    again = [row for row in open_ones if is_same_test(test, row.name)]
    known = [row for row in allergies(record).rows if row.status.casefold() in ("active", "")]
    values = tuple(row_of_part(record, each.parts[-1]) for each in series if each.parts)
    return CardRows(
        values or _examined(record, test),
        tuple(again[:_SHOWN]),
        tuple(known),
    )


def standing_text(
    kept: Sequence[KeptDraft], rows: CardRows, test: str, *, patient: str, language: str
) -> str:
    """Return what stands of an order of `test`: drafts made here, and open orders on record."""
    same = [each for each in kept if is_same_test(test, each.test)]
    names = "; ".join(f"{_plain(one.test)} {moment_shown(one.occurs)}".strip() for one in same)
    text = said_in(
        language, "kept" if same else "none", names=names, test=_plain(test), patient=patient
    )
    ours = {f"{ORDER}/{one.order_id}" for one in same}
    others = "; ".join(_shown(row) for row in rows.before if ours.isdisjoint(row.sources))
    return f"{text} {said_in(language, 'on_record', rows=others)}" if others else text


def _examined(record: PatientRecord, test: str) -> tuple[ViewRow, ...]:
    wanted = frozenset(words_of(test))
    done = [row_of(record, each) for each in record.entries_of("ImagingStudy", "Procedure")]
    done += [
        ViewRow(kind=one.kind, name=one.title, date=one.date or "", sources=(one.ref,))
        for one in record.documents
        if one.kind.endswith("report") and not one.is_superseded
    ]
    named = [row for row in done if wanted and wanted <= frozenset(words_of(row.name))]
    return tuple(sorted(named, key=lambda row: row.date, reverse=True)[:1])


def card_text(order: DraftOrder, rows: CardRows, *, patient_id: PatientId) -> str:
    """Return the card with both identifiers; the question follows it."""

    def said(name: str) -> str:
        return said_in(order.language, name)

    rests = [_shown(row) for row in rows.results]
    lines = [
        said("card"),
        f"- {said('patient')}: {_plain(order.patient)} · `{patient_id}`",
        f"- {said('test')}: {_plain(order.test)}",
        f"- {said('when')}: {moment_shown(order.occurs) or said('no_time')}",
        f"- {said('rests')}: {'; '.join(rests) or said('nothing')}",
    ]
    if rows.before:
        lines.append(f"- {said('before')}: {'; '.join(_shown(row) for row in rows.before)}")
    names = "; ".join(_shown(row) for row in rows.allergies)
    lines.append(f"- {said('allergies')}: {names or said('no_allergies')}")
    return "\n".join(lines)


def _shown(row: ViewRow) -> str:
    source = f"[{row.sources[0]}]" if row.sources else ""
    parts = (row.name, row.value, row.status if not row.value else "", row.date[:10])
    return f"{_plain(', '.join(filter(None, parts)))} {source}".strip()


def _plain(text: str) -> str:
    """Return a text of the chart or the user as one line without marks of its own."""
    return " ".join(text.replace("*", "").replace("`", "").split())
