"""One draft of an order, and the FHIR R4 ServiceRequest that keeps it. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from data_models.conversations.conversation import DRAFT_ACTION
from data_models.errors import RecordsUnreadableError
from data_models.resource import Resource

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
