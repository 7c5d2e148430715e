"""The message by which a record system opens its patient here: a turn as any other."""

from datetime import datetime

from data_models.identifiers import PatientId
from data_models.incoming_message import WEB, IncomingMessage, Sender
from services.access.principal import Principal


def opening(
    user: Principal, conversation_id: str, patient_id: PatientId, *, message_id: str, now: datetime
) -> IncomingMessage:
    """Return it: linked, asked of the guard, answered with both identifiers."""
    return IncomingMessage(
        conversation_id=conversation_id,
        channel=WEB,
        channel_id=WEB,
        owner=user.id,
        sender=Sender(
            principal_id=user.id,
            display_name=user.name,
            tenant_id=user.tenant or "",
            may_order="order" in user.roles,
        ),
        message_id=message_id,
        text=f"open {patient_id}",
        received_at=now,
    )
