"""The server's own snapshot and footer, and what becomes of texts that imitate them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from operator import attrgetter

from data_models.identifiers import PatientId
from data_models.patient_context_models import PatientContext, PatientIdentity
from services.language.words.folding import fold, with_plain_letters
from services.patient_context.reading.markers import FOOTER_MARK, MARK, MARK_ENDS, SNAPSHOT_PREFIX

SHOWN_PATIENTS = 50
_QUOTED = {"snapshot": "[quoted snapshot]", "footer": "[quoted footer]"}


@dataclass(frozen=True, slots=True)
class ShownRoster:
    """The part of a roster that snapshots, footers and clients list.

    Attributes:
        patient_ids: Sorted; of more than 50 the active one and the 49 last used.
        count: All patients of the conversation, listed or not.
    """

    patient_ids: tuple[PatientId, ...]
    count: int

    @property
    def is_whole(self) -> bool:
        """Whether every patient is listed."""
        return self.count == len(self.patient_ids)


def shown_roster(
    roster: Mapping[PatientId, PatientContext], active: PatientId | None
) -> ShownRoster:
    """Choose what to list of `roster`."""
    if len(roster) <= SHOWN_PATIENTS:
        return ShownRoster(tuple(sorted(roster)), len(roster))
    newest_first = sorted(roster.values(), key=attrgetter("updated_at"), reverse=True)
    chosen = [active] if active is not None else []
    chosen += [row.patient_id for row in newest_first if row.patient_id != active]
    return ShownRoster(tuple(sorted(chosen[:SHOWN_PATIENTS])), len(roster))


def build_snapshot(
    *,
    conversation_id: str,
    patient_id: PatientId | None,
    roster: ShownRoster,
    now: datetime,
    patient: PatientIdentity | None = None,
    today: date | None = None,
) -> str:
    """Return the system message that grounds the agents for one turn (spec page 1.6).

    Args:
        now: When what it says came to be so: its bytes change only with it.
        today: The day of the turn; agents count from it.
    """
    at = now.astimezone(UTC).isoformat(timespec="milliseconds")
    fields: dict[str, object] = {
        "conversation_id": conversation_id,
        "patient_id": patient_id,
        "all_patient_ids": roster.patient_ids,
        "generated_at": at.replace("+00:00", "Z"),
    }
    if today is not None:
        fields["today"] = today.isoformat()
    if patient is not None:
        fields["patient"] = patient._asdict()
    if not roster.is_whole:
        fields["patient_count"] = roster.count
    return f"{SNAPSHOT_PREFIX} {json.dumps(fields, ensure_ascii=False, separators=(',', ':'))}"


def may_imitate(text: str) -> bool:
    """Whether a mark can be in `text`, as it is or as JSON."""
    return any(map(with_plain_letters(text).lower().__contains__, MARK_ENDS))


def neutralise(text: str) -> str:
    """Return `text` with imitated marks replaced, for user, tool and stored text shown to a model.

    Case, full-width and look-alike letters, invisible characters and markdown do not hide a mark.
    Neutralising twice changes nothing more.
    """
    if not may_imitate(text):
        return text
    folded, origin = fold(text)
    pieces: list[str] = []
    done = 0
    for mark in MARK.finditer(folded):
        start, last = origin[mark.start()], origin[mark.end() - 1]
        kind = "snapshot" if mark["snapshot"] is not None else "footer"
        pieces += [text[done:start], _QUOTED[kind]]
        done = last + 1
    return "".join([*pieces, text[done:]]) if pieces else text


def footer(
    *,
    conversation_id: str,
    patient_id: PatientId | None,
    roster: ShownRoster,
    patient: PatientIdentity | None = None,
) -> str:
    """Return what ends every agent message on the surface, and only there (spec page 1.9).

    Args:
        conversation_id: Empty where it is not shown.
    """
    if patient_id is None:
        first = "- *No active patient.*"
    else:
        first = f"- **Patient ID:** {_code(patient_id)}"
    who = [] if patient is None else [f"- **Patient:** {patient.label}"]
    lines = ["---", FOOTER_MARK, *who, first]
    if roster.patient_ids:
        marks = (" (active)" if one == patient_id else "" for one in roster.patient_ids)
        listed = map("{}{}".format, map(_code, roster.patient_ids), marks)
        count = "" if roster.is_whole else f" ({roster.count} in all)"
        lines.append(f"- **Session Patients:** {', '.join(listed)}{count}")
    if conversation_id:
        lines.append(f"- **Conversation ID:** {_code(conversation_id)}")
    return "\n".join(lines)


def _code(text: str) -> str:
    """Return `text` as inline code that it cannot leave."""
    return f"`{' '.join(text.replace('`', chr(39)).split())}`"
