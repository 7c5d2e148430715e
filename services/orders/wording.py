"""What the user reads about drafts of orders, their card first, in English and German. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from data_models.chart_view import ViewRow
from data_models.identifiers import PatientId
from data_models.plain_yaml import read_yaml
from services.orders.draft_order import ORDER, DraftOrder, KeptDraft
from services.orders.may_be_drafted import is_same_test
from services.records.concepts.words import words_of
from services.records.finding import find_series
from services.records.measurements import row_of_part, series_of
from services.records.record import PatientRecord
from services.records.rows import row_of
from services.records.views.lists import allergies

_TEXTS: Mapping[str, Mapping[str, str]] = read_yaml(
    Path(__file__).with_name("texts.yaml").read_text("utf-8")
)
LANGUAGES = frozenset(_TEXTS)


def said_in(language: str, name: str, /, **fields: str) -> str:
    """Return a sentence in `language`, in English where nobody wrote it in that."""
    return _TEXTS.get(language, _TEXTS["en"])[name].format(**fields)


def moment_shown(occurs: str) -> str:
    """Return a FHIR dateTime for people, date first: `2026-11-24 08:00`."""
    return occurs if "T" not in occurs else f"{datetime.fromisoformat(occurs):%Y-%m-%d %H:%M}"


_SHOWN, _BETWEEN = 3, "\n\n"


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
    return CardRows(values or _examined(record, test), tuple(again[:_SHOWN]), tuple(known))


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


def question_text(orders: Sequence[DraftOrder], cards: Sequence[str]) -> str:
    """Return the cards, and the one question behind them."""
    name = "ask" if len(orders) == 1 else "ask_all"
    asked = said_in(orders[0].language, name, number=str(len(orders)))
    return _BETWEEN.join([*cards, asked])


def cards_in(text: str, orders: Sequence[DraftOrder]) -> list[tuple[DraftOrder, str]]:
    """Return each of `orders` with its card in such a question; none where it shows no cards."""
    *cards, _ = text.split(_BETWEEN)
    return list(zip(orders, cards, strict=True)) if len(cards) == len(orders) else []


def _shown(row: ViewRow) -> str:
    source = f"[{row.sources[0]}]" if row.sources else ""
    parts = (row.name, row.value, row.status if not row.value else "", row.date[:10])
    return f"{_plain(', '.join(filter(None, parts)))} {source}".strip()


def _plain(text: str) -> str:
    """Return a text of the chart or the user as one line without marks of its own."""
    return " ".join(text.replace("*", "").replace("`", "").split())
