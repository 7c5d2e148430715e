"""What each tool derives from its result (spec page 2.3)."""

from collections.abc import Mapping

from services.entities.session import Derives

_SLOTS_SECONDS = 900.0
_PROPOSAL_SECONDS = 3_600.0
_COVERAGE_SECONDS = 86_400.0

DERIVES: Mapping[str, tuple[Derives, ...]] = {
    "find_doctor": (Derives("doctor_uuid", ("doctor_uuid",), depends_on=("doctor_preference",)),),
    "available_slots": (
        Derives("doctor_uuid", ("doctor_uuid",), depends_on=("doctor_preference",)),
        Derives(
            "available_slots",
            ("slots",),
            valid_for=_SLOTS_SECONDS,
            depends_on=("doctor_preference", "date_preference"),
        ),
    ),
    "book_appointment": (
        Derives(
            "appointment_proposal",
            ("proposal",),
            valid_for=_PROPOSAL_SECONDS,
            depends_on=("doctor_preference", "date_preference", "time_preference"),
        ),
    ),
    "move_appointment": (
        Derives("appointment_proposal", ("proposal",), valid_for=_PROPOSAL_SECONDS),
    ),
    "cancel_appointment": (
        Derives("appointment_proposal", ("proposal",), valid_for=_PROPOSAL_SECONDS),
    ),
    "find_person": (Derives("patient_id_retrieved", ("patient_id_retrieved",)),),
    "register_person": (
        Derives("appointment_proposal", ("proposal",), valid_for=_PROPOSAL_SECONDS),
    ),
    "insurance_eligibility": (
        Derives("eligibility_checked", ("eligible",), valid_for=_COVERAGE_SECONDS),
        Derives("insurance_verified", ("coverage",), valid_for=_COVERAGE_SECONDS),
    ),
}
