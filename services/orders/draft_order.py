"""What may be drafted as an order, what a user reads of it, and its FHIR ServiceRequest. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, TypeAlias

from data_models.chart_view import ViewRow
from data_models.conversations.conversation import DRAFT_ACTION
from data_models.errors import RecordsUnreadableError
from data_models.identifiers import PatientId
from data_models.plain_yaml import read_yaml
from data_models.resource import Resource
from services.language.requests.orders import things_joined_in
from services.language.words.vocabulary import read_table
from services.records.concepts.table import concept_table
from services.records.concepts.words import words_of
from services.records.resources.entry import label, one
from services.records.resources.record import PatientRecord
from services.records.rows.finding import find_series
from services.records.rows.measurements import row_of_part, series_of
from services.records.rows.medications import drugs_of
from services.records.rows.rows import row_of
from services.records.views.lists import allergies

SYSTEM = "https://rounds.example/fhir/order-draft"
ORDER = "ServiceRequest"
WITHDRAW = "withdraw_order_draft"
ORDER_MADE = "order_made"
"""The run of a yes that made a draft."""
_NOTE = "Prepared in Rounds as a proposal. Nobody has ordered it yet."


@dataclass(frozen=True, slots=True)
class DraftOrder:
    """What a yes is bound to: nothing of it changes between the card and the server.

    Attributes:
        key: Its identifier on the server: the same at every attempt, and no other draft has it.
        test: In the user's words.
        occurs: When, as FHIR writes it; "" where the user said nothing of it.
        patient: Name and birth date, as the card shows them.
        rests_on: Source ids of the rows that the card shows.
        agent: Who prepared it.
        language: Of the user's words: `en` or `de`.
    """

    key: str
    test: str
    occurs: str
    patient: str
    rests_on: tuple[str, ...]
    agent: str
    language: str = "en"

    def payload(self) -> dict[str, Any]:
        """Return it as an open question keeps it."""
        return {"action": DRAFT_ACTION, **asdict(self), "rests_on": list(self.rests_on)}


@dataclass(frozen=True, slots=True)
class KeptDraft:
    """A draft of ours as the back end holds it."""

    order_id: str
    test: str
    occurs: str
    status: str


def draft_of(payload: Mapping[str, Any]) -> DraftOrder | None:
    """Return what an open question asks about; None if that is no draft of an order."""
    if payload.get("action") != DRAFT_ACTION:
        return None
    names = ("key", "test", "occurs", "patient", "agent", "language")
    texts = {name: str(payload[name]) for name in names}
    return DraftOrder(**texts, rests_on=tuple(map(str, payload["rests_on"])))


def payload_of(orders: Sequence[DraftOrder]) -> dict[str, Any]:
    """Return drafts that one question asks about as it keeps them."""
    return orders[0].payload() | {"more": [one.payload() for one in orders[1:]]}


def drafts_of(payload: Mapping[str, Any]) -> list[DraftOrder]:
    """Return what an open question asks about, in its order; none if that is no draft."""
    found = map(draft_of, [payload, *payload.get("more", ())])
    return [one for one in found if one is not None]


def service_request(
    order: DraftOrder, *, patient_key: str, requester: str, now: datetime
) -> dict[str, Any]:
    """Return the resource to store: a draft and a proposal, never an active order.

    Args:
        patient_key: Id of the Patient resource.
        requester: Name of the user whose yes it is, for people to read.
    """
    body: dict[str, Any] = {
        "resourceType": ORDER,
        "identifier": [{"system": SYSTEM, "value": order.key}],
        "status": "draft",
        "intent": "proposal",
        "code": {"text": order.test},
        "subject": {"reference": f"Patient/{patient_key}"},
        "authoredOn": now.isoformat(timespec="seconds"),
        "requester": {"display": requester},
        "note": [{"text": _NOTE}],
    }
    if order.occurs:
        body["occurrenceDateTime"] = order.occurs
    if order.rests_on:
        body["supportingInfo"] = [{"reference": each} for each in order.rests_on]
    return body


def is_draft_of(body: Mapping[str, Any], patient_key: str) -> bool:
    """Whether a resource is a draft that was made here for this patient, and nothing more."""
    subject = body.get("subject")
    reference = str(subject.get("reference", "")) if isinstance(subject, dict) else ""
    is_theirs = reference == f"Patient/{patient_key}" or reference.endswith(
        f"/Patient/{patient_key}"
    )
    return is_theirs and is_made_here(body) and body.get("intent") == "proposal"


def is_made_here(body: Mapping[str, Any]) -> bool:
    """Whether a resource carries an identifier of ours."""
    rows = body.get("identifier")
    found = rows if isinstance(rows, list) else []
    return any(isinstance(each, dict) and each.get("system") == SYSTEM for each in found)


def kept_draft(kept: Resource) -> KeptDraft:
    """Read a draft of ours.

    Raises:
        RecordsUnreadableError: it has no id.
    """
    body = kept.body
    if not body.get("id"):
        raise RecordsUnreadableError("the order has no id")
    code = body.get("code")
    test = str(code.get("text", "")) if isinstance(code, dict) else ""
    occurs = str(body.get("occurrenceDateTime", ""))
    return KeptDraft(str(body["id"]), test, occurs, str(body.get("status", "")))


# Whether what a model wants to draft is a test that the user named. What is not known to be one is
# none: the user is asked, since a drug with an unknown name would look the same.

Refusal: TypeAlias = Literal["not_said", "medication", "drug_or_test", "unknown"]

_LONGEST_WORDS = 4
_WORDS = {name: frozenset(words_of(said)) for name, said in read_table("order_drafts").items()}
_TESTS = _WORDS["tests"]
_ENDINGS = tuple(sorted(word for word in _TESTS if len(word) >= len("echo")))
_RECORDED = ("ServiceRequest", "Procedure", "DiagnosticReport", "ImagingStudy")


def refusal_of(test: str, *, said: Iterable[str], record: PatientRecord) -> Refusal | None:
    """Return why `test` may not be drafted; None if it may.

    Args:
        said: What the user typed, the newest first; nothing of a model or of the record.
    """
    wanted = words_of(test)
    naming = [text for text in said if wanted and _holds(words_of(text), wanted)]
    if not naming:
        return "not_said"
    if any(_speaks_of_giving(_apart(text)) for text in naming):
        return "medication"
    if names_a_test(wanted):
        return None
    if any(_is_of_drug(words_of(text), wanted) for text in naming):
        return "drug_or_test"
    is_drug, is_result = _is_drug(wanted, record), is_known(test, record)
    if is_drug:
        return "drug_or_test" if is_result else "medication"
    return None if is_result else "unknown"


def tests_in(test: str, *, said: Sequence[str], record: PatientRecord) -> list[str]:
    """Return each test that "CBC and a creatinine" names.

    The whole where a part may not be drafted by itself: "CT chest and abdomen" is one.
    """
    parts = things_joined_in(test)
    fit = all(refusal_of(part, said=said, record=record) is None for part in parts)
    return list(dict.fromkeys(parts)) if len(parts) > 1 and fit else [test]


def is_same_test(test: str, text: str) -> bool:
    """Whether a text or a name of the record names that test."""
    table, wanted = concept_table(), words_of(test)
    concept = table.named("result", test)
    is_alike = concept is not None and table.named("result", text) is concept
    return is_alike or (bool(wanted) and _holds(words_of(text), wanted))


def names_a_test(words: Sequence[str]) -> bool:
    """Whether a word says by itself that something is examined: `CT`, `level`, `Blutkultur`."""
    return any(word in _TESTS or word.endswith(_ENDINGS) for word in words) or (
        "x" in words and "ray" in words
    )


def is_known(test: str, record: PatientRecord) -> bool:
    """Whether it is a result of the table of concepts, or was done or ordered before."""
    if concept_table().named("result", test) is not None:
        return True
    wanted = frozenset(words_of(test))
    if any(one_series.words == wanted for one_series in series_of(record)):
        return True
    codes = (label(one(each.raw, "code")) for each in record.entries_of(*_RECORDED))
    return any(frozenset(words_of(code)) == wanted for code in codes)


def _is_drug(wanted: Sequence[str], record: PatientRecord) -> bool:
    if any(map(_names_a_drug, _spans(wanted))):
        return True
    return any(words_of(drug.name)[: len(wanted)] == tuple(wanted) for drug in drugs_of(record))


def _is_of_drug(words: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether a text names a way into the body, or a drug that holds the words of the test.

    "Potassium chloride" and "iv potassium" are no potassium level.
    """
    longer = [span for span in _spans(words) if len(span) > len(wanted) and _holds(span, wanted)]
    is_salt = any(not _WORDS["salts"].isdisjoint(span[len(wanted) :][:1]) for span in longer)
    return is_salt or not _WORDS["routes"].isdisjoint(words) or any(map(_names_a_drug, longer))


def _names_a_drug(words: Sequence[str]) -> bool:
    table, name = concept_table(), " ".join(words)
    return table.named("drug", name) is not None or table.named("vaccine", name) is not None


def _spans(words: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield every run of a few words."""
    for size in range(1, _LONGEST_WORDS + 1):
        yield from (words[at : at + size] for at in range(len(words) - size + 1))


def _speaks_of_giving(words: Sequence[str]) -> bool:
    """Whether words are of a drug that is given: a form, a verb, or a figure with its unit."""
    doses = pairwise(words)
    return bool(frozenset(words) & (_WORDS["forms"] | _WORDS["giving"])) or any(
        figure.isdecimal() and unit in _WORDS["units"] for figure, unit in doses
    )


def _apart(text: str) -> tuple[str, ...]:
    """Return the words of a text, a figure parted from its unit: `5mg` is 5 and mg."""
    parted = "".join(
        f" {char}" if at and char.isalpha() and text[at - 1].isdecimal() else char
        for at, char in enumerate(text)
    )
    return words_of(parted)


def _holds(words: Sequence[str], wanted: Sequence[str]) -> bool:
    size = len(wanted)
    return any(tuple(words[at : at + size]) == tuple(wanted) for at in range(len(words)))


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
    """Return the rows of the chart that stand on the card; for no test every open order."""
    found = find_series(series_of(record), test)
    series = () if found.read_as or not test else found.series[:_SHOWN]
    orders = [row_of(record, each) for each in record.entries_of("ServiceRequest")]
    open_ones = [row for row in orders if row.status in ("active", "draft", "on-hold")]
    again = [row for row in open_ones if not test or is_same_test(test, row.name)]
    known = [row for row in allergies(record).rows if row.status.casefold() in ("active", "")]
    values = tuple(row_of_part(record, each.parts[-1]) for each in series if each.parts)
    return CardRows(values or _examined(record, test), tuple(again[:_SHOWN]), tuple(known))


def standing_text(
    kept: Sequence[KeptDraft], rows: CardRows, test: str, *, patient: str, language: str
) -> str:
    """Return what stands of an order of `test`: drafts made here, and open orders on record.

    For no test: what stands of any.
    """
    same = [each for each in kept if not test or is_same_test(test, each.test)]
    names = "; ".join(f"{_plain(one.test)} {moment_shown(one.occurs)}".strip() for one in same)
    name = "kept" if same else "none" if test else "none_at_all"
    text = said_in(language, name, names=names, test=_plain(test), patient=patient)
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
